//! A tool of an upstream whose name another tool has is said before it is accepted, and left out alone.

use serde_json::json;

use super::bed::{
    home::Home,
    message::{Era, Message},
    served::Served,
};

const FIXTURE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../toolgate-upstream/tests/fixture/server.py");

/// Two upstreams with a tool of one name, and each with one of its own.
fn two_upstreams(order: [&str; 2]) -> Home {
    let home = Home::bare();
    let args = json!([FIXTURE, "stdio", "legacy"]);
    let mut config = String::from("[tools.read_file]\npermission = \"unauthenticated\"\n");
    for name in order {
        let log = home.path(name);
        config += &format!(
            "[[upstreams]]\nname = \"{name}\"\ncommand = \"python3\"\nargs = {args}\nenv.FIXTURE_LOG = {log:?}\n"
        );
        let tools = ["read_file".to_owned(), format!("only_{name}")].map(|tool| {
            json!({"name": tool, "description": format!("of {name}"), "inputSchema": {"type": "object"}}).to_string()
        });
        home.write(&format!("{name}.definitions"), &tools.join("\n"));
    }
    home.write("toolgate.toml", &config);
    home
}

fn listed(gate: &Served, token: &str) -> Vec<String> {
    let list = gate.ask(&Message::list(Era::Late).bearer(token)).message();
    list["result"]["tools"].as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn accepting_a_tool_takes_no_name_over_from_another_upstream() {
    for order in [["a", "b"], ["b", "a"]] {
        let home = two_upstreams(order);
        assert!(!home.run(&["upstream", "accept", "b", "--all"]).out.contains("name_clash"));
        let gate = home.serve();
        let alice = home.mint("--user alice");
        assert_eq!(listed(&gate, &alice), ["only_b", "read_file"]);
        gate.terminate();
        gate.ended();
        let accepted = home.run(&["upstream", "accept", "a", "--all"]);
        let warning = "name_clash: the upstream b has a tool 'read_file', so that both are left out";
        assert!(accepted.out.contains(warning), "{order:?}: {accepted:?}");
        let remedy = "in [[upstreams]] name = \"a\" add prefix = \"a_\", or exclude one of the tools";
        assert!(accepted.out.contains(remedy), "{order:?}: {accepted:?}");
        let gate = home.serve();
        assert_eq!(listed(&gate, &alice), ["only_a", "only_b"], "{order:?}: the name leads to neither");
        gate.logs("is left out: the upstream b has a tool of that name");
        gate.logs("is left out: the upstream a has a tool of that name");
        gate.terminate();
    }
}

#[test]
fn a_clash_is_warned_of_whatever_the_configuration_says_of_the_tools() {
    let args = json!([FIXTURE, "stdio", "legacy"]);
    let home = Home::with(&format!(
        "disabled_tools = [\"hang\"]\nrules = [\"own.cedar\"]\n[packs.echo]\ndefinitions = \"tools.json\"\n\
         [tools.steps]\neffect = \"read\"\nundo = {{ tool = \"touch\", arguments = \"input\" }}\n[flows.f]\nallowlist = [\"steps\"]\n\
         [[upstreams]]\nname = \"fix\"\ncommand = \"python3\"\nargs = {args}\n"
    ));
    home.write(
        "own.cedar",
        "@id(\"own\") @code(\"own\") @message(\"no\") forbid (principal, action, resource == Tool::\"steps\");\n",
    );
    home.write("tools.json", &json!([{"name": "echo", "inputSchema": {"type": "object"}}]).to_string());
    for command in [&["upstream", "diff", "fix"][..], &["upstream", "accept", "fix", "--all"]] {
        let ran = home.run(command);
        assert!(ran.out.contains("name_clash: echo has a tool 'echo'"), "{ran:?}");
    }
}

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
    gate.logs("is left out: echo has a tool of that name");
    gate.terminate();
}
