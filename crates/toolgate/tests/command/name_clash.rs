//! A tool of an upstream whose name another tool has is said before it is accepted, and left out alone.

use serde_json::json;

use super::bed::{
    home::Home,
    message::{Era, Message},
};

const FIXTURE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../toolgate-upstream/tests/fixture/server.py");

#[test]
fn a_name_that_is_taken_is_warned_of_and_keeps_no_gate_from_starting() {
    let args = json!([FIXTURE, "stdio", "legacy"]);
    let home = Home::with(&format!(
        "[packs.echo]\ndefinitions = \"tools.json\"\n[[upstreams]]\nname = \"fix\"\ncommand = \"python3\"\nargs = {args}\n"
    ));
    home.write("tools.json", &json!([{"name": "echo", "inputSchema": {"type": "object"}}]).to_string());
    let warning = "name_clash: echo has a tool 'echo'";
    assert!(home.run(&["upstream", "diff", "fix"]).out.contains(warning));
    let accepted = home.run(&["upstream", "accept", "fix", "--all"]);
    assert!(accepted.code == Some(0) && accepted.out.contains(warning), "{accepted:?}");
    assert_eq!(home.run(&["check"]).code, Some(0));
    let gate = home.serve();
    let alice = home.mint("--user alice");
    let list = gate.ask(&Message::list(Era::Late).bearer(&alice)).message();
    let names: Vec<&str> =
        list["result"]["tools"].as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    assert_eq!(names.iter().filter(|name| **name == "echo").count(), 1, "{names:?}");
    assert!(names.contains(&"steps"), "the others are there: {names:?}");
    gate.logs("a tool is left out: echo has a tool of that name");
    gate.terminate();
}
