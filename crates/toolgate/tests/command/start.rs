//! The lines that `serve` prints while it starts, and the lines of its log about calls.

use std::process::{Command, Stdio};

use serde_json::json;

use super::bed::{
    home::{Home, Ran},
    message::{Era, Message},
    served::Said,
    wait::until,
};

const FIXTURE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../toolgate-upstream/tests/fixture/server.py");

fn server(name: &str) -> String {
    let args = json!([FIXTURE, "stdio", "legacy"]);
    format!("[[upstreams]]\nname = \"{name}\"\nprefix = \"{name}_\"\ncommand = \"python3\"\nargs = {args}\n")
}

#[test]
fn the_start_says_version_places_packs_and_the_next_command() {
    let home = Home::bare();
    let gate = home.serve();
    let lines = gate.out();
    let folder = home.path(".toolgate").canonicalize().unwrap();
    for expected in [
        format!("Toolgate {}", env!("CARGO_PKG_VERSION")),
        format!("MCP address: http://{}/mcp", gate.address),
        format!("Data folder: {}", folder.display()),
        "Configuration: none; the built-in demonstration packs are served".to_owned(),
        "Your own servers: toolgate add NAME -- COMMAND".to_owned(),
        "Next: toolgate connect".to_owned(),
    ] {
        assert!(lines.lines().any(|line| line == expected), "{expected}\n{lines}");
    }
    assert!(lines.contains("Packs: admin (") && lines.contains("todo (") && !lines.contains("fitness"), "{lines}");
}

#[test]
fn the_next_command_finds_the_same_files() {
    let home = Home::bare();
    home.write("other/own.toml", "[packs.gate]\n");
    let serve = home.command(&["serve", "--listen", "127.0.0.1:0", "--config", "other/own.toml", "--data", "kept"]);
    let gate = super::bed::served::Served::start(serve);
    let lines = gate.out();
    let config = home.path("other/own.toml").canonicalize().unwrap();
    assert!(lines.contains(&format!("Configuration: {}", config.display())), "{lines}");
    assert!(lines.contains("Next: toolgate connect --config other/own.toml --data kept\n"), "{lines}");
}

#[test]
fn each_upstream_is_reported_as_it_connects_with_what_waits_for_acceptance() {
    let missing = "[[upstreams]]\nname = \"gone\"\ncommand = \"toolgate-no-such-program\"\n";
    let home = Home::with(&format!("{}{missing}", server("fix")));
    let gate = home.serve();
    assert!(gate.out().contains("Upstreams: fix, gone\n"), "{}", gate.out());
    until("both upstreams are reported", || {
        let lines = gate.out();
        let waiting = lines
            .lines()
            .any(|line| line.starts_with("  fix: connected in ") && line.ends_with("toolgate upstream accept fix"));
        (waiting && lines.contains("  gone: not connected, trying again: ")).then_some(())
    });
    let accepted = home.run(&["upstream", "accept", "fix", "--all"]);
    assert_eq!(accepted.code, Some(0), "{accepted:?}");
    until("what is accepted does not wait", || gate.out().contains(", all accepted\n").then_some(()));
    gate.terminate();
    let ended = gate.ended();
    assert_eq!(ended.code, Some(0));
    let said = |words: &str| ended.out.matches(words).count();
    assert_eq!(said("gone: not connected"), 1, "once, however often it is tried: {}", ended.out);
    assert_eq!(ended.err.matches("tools wait to be accepted").count(), 1, "{}", ended.err);
}

#[test]
fn an_address_that_other_machines_reach_is_warned_about() {
    let home = Home::with("[packs.gate]\n");
    let command = |listen: &str| home.command(&["serve", "--listen", listen]);
    assert!(start_and_stop(command("0.0.0.0:0")).err.contains("clear text"));
    assert!(!start_and_stop(command("127.0.0.1:0")).err.contains("clear text"));
}

/// Starts a server whose address may not be one that can be called, and ends it once it has started.
fn start_and_stop(mut command: Command) -> Ran {
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let (mut out, mut err) = (Said::by(child.stdout.take().unwrap()), Said::by(child.stderr.take().unwrap()));
    until("it has started", || out.so_far().contains("Next: ").then_some(()));
    let asked = Command::new("kill").args(["-TERM", &child.id().to_string()]).status().unwrap();
    assert!(asked.success());
    let status = until("it ends", || child.try_wait().unwrap());
    Ran { code: status.code(), out: out.whole(), err: err.whole() }
}

#[test]
fn a_call_that_did_not_run_is_in_the_log_with_its_id_its_time_and_its_approval() {
    let home = Home::with("[packs.todo]\n[tools.add_task]\napproval = \"required\"\n");
    let gate = home.serve();
    let alice = home.mint("--user alice");
    let call = Message::call(Era::Modern, "add_task", json!({"title": "milk"})).bearer(&alice);
    gate.ask(&call);
    let line = gate.logs("needs_approval");
    let approval = home.json(&["approvals", "list"])[0]["id"].as_str().unwrap().to_owned();
    assert!(line.contains(&format!("approval={approval}")) && line.contains("took="), "{line}");
    let tail = home.run(&["ledger", "tail"]);
    let records = home.run(&["ledger", "export"]).out;
    let id = line.split("call=\"").nth(1).and_then(|rest| rest.split('"').next()).unwrap();
    assert!(records.contains(id), "the ledger has that call: {line}\n{tail:?}");
}
