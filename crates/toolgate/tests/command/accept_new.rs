//! The question of `serve` at a terminal: it holds up nothing, and its answer is told.

use serde_json::json;

use super::bed::{
    home::Home,
    http::{self, Request},
    terminal::Terminal,
};

const FIXTURE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../toolgate-upstream/tests/fixture/server.py");

/// Servers of two tools each.
fn home(names: &[&str]) -> Home {
    let home = Home::bare();
    let mut config = "[packs.gate]\n".to_owned();
    let args = json!([FIXTURE, "stdio", "legacy"]);
    for name in names {
        let log = home.path(name);
        config += &format!(
            "[[upstreams]]\nname = \"{name}\"\nprefix = \"{name}_\"\ncommand = \"python3\"\nargs = {args}\nenv.FIXTURE_LOG = {log:?}\n"
        );
        let tool = |tool: &str| json!({"name": tool, "inputSchema": {"type": "object"}}).to_string();
        home.write(&format!("{name}.definitions"), &["read", "write"].map(tool).join("\n"));
    }
    home.write("toolgate.toml", &config);
    home
}

fn serve(home: &Home) -> Terminal {
    Terminal::start(home.command(&["serve", "--listen", "127.0.0.1:0"]), 100)
}

#[test]
fn while_the_question_is_open_the_gateway_answers_and_signals_end_it() {
    let home = home(&["time"]);
    for end in ["INT", "TERM", "ctrl-c"] {
        let mut terminal = serve(&home);
        terminal.shows("Accept these 2 tools? [y/N]");
        let health = http::exchange(terminal.address(), &Request::new("GET", "/healthz")).unwrap();
        assert_eq!(health.status, 200, "{end}");
        match end {
            "ctrl-c" => terminal.types("\x03"),
            signal => terminal.signal(signal),
        }
        let (code, screen) = terminal.ended();
        assert_eq!(code, Some(0), "{end}: {screen}");
    }
    assert!(!home.path("toolgate.lock").exists(), "nobody said yes");
}

#[test]
fn the_answer_is_told_and_the_next_question_waits_for_it() {
    let home = home(&["one", "two"]);
    let mut terminal = serve(&home);
    let question = "Accept these 2 tools? [y/N]";
    terminal.shows(question);
    let screen = terminal.screen();
    assert_eq!(screen.matches("is new. It offers:").count(), 1, "one question at a time: {screen}");
    let (first, second) = if screen.contains("'one' is new") { ("one", "two") } else { ("two", "one") };
    terminal.types("y\n");
    terminal.shows(&format!("accepted 2 tools of '{first}'; toolgate.lock written"));
    terminal.shows(&format!("The upstream '{second}' is new. It offers:"));
    let told = terminal.screen();
    let place = |words: &str| told.find(words).unwrap_or_else(|| panic!("{words}: {told}"));
    assert!(place("accepted 2 tools") < place(&format!("'{second}' is new")), "{told}");
    terminal.types("n\n");
    terminal.shows(&format!("not accepted; later: toolgate upstream accept {second}"));
    terminal.signal("TERM");
    assert_eq!(terminal.ended().0, Some(0));
    let lock = std::fs::read_to_string(home.path("toolgate.lock")).unwrap();
    assert!(lock.contains(&format!("\n{first} read")) && !lock.contains(&format!("\n{second} ")), "{lock}");
}
