//! `add`: one server more in the configuration, with its secrets kept out of sight, and the next steps that work.

use std::{fs, os::unix::fs::PermissionsExt};

use serde_json::json;

use super::bed::{
    home::{Home, Ran},
    message::{Era, Message},
    wait::until,
};

const FIXTURE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../toolgate-upstream/tests/fixture/server.py");
const CANARY: &str = "canary-5e1f";

fn read(home: &Home, name: &str) -> String {
    fs::read_to_string(home.path(name)).unwrap_or_else(|fault| panic!("{name}: {fault}"))
}

#[track_caller]
fn unseen(ran: &Ran) {
    assert!(!ran.out.contains(CANARY) && !ran.err.contains(CANARY), "{ran:?}");
}

#[test]
fn a_command_makes_a_configuration_that_is_good() {
    let home = Home::bare();
    let secret = format!("GITHUB_TOKEN={CANARY}");
    let ran =
        home.run(&["add", "github", "--env", &secret, "--env", "LOG=debug", "--", "npx", "-y", "server", "--all"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    unseen(&ran);
    assert_eq!(
        ran.out,
        "Added 'github' to toolgate.toml: npx -y server --all\n\
         Secrets are in: .toolgate/secrets/github.github_token\n\
         Calls wait for approval, unless the tool is known to read: [tools.NAME] effect = \"read\".\n\
         To run them without approval: writes = \"allow\" in [[upstreams]].\n\
         Next:\n  toolgate upstream accept github  # review its tools and accept them\n  \
         toolgate serve                   # one that runs follows the file by itself\n"
    );
    let written = read(&home, "toolgate.toml");
    let block = "[[upstreams]]\nname = \"github\"\ncommand = \"npx\"\nargs = [\"-y\", \"server\", \"--all\"]\nwrites = \"ask\"\n\
                 env.GITHUB_TOKEN = { file = \".toolgate/secrets/github.github_token\" }\nenv.LOG = \"debug\"\n";
    assert!(written.ends_with(block) && written.contains("\n[packs.gate]") && !written.contains(CANARY), "{written}");
    assert_eq!(read(&home, ".toolgate/secrets/github.github_token"), CANARY);
    let mode = fs::metadata(home.path(".toolgate/secrets/github.github_token")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    assert_eq!(home.json(&["check"])["upstreams"], 1);
}

#[test]
fn an_address_is_added_to_a_configuration_that_stays_as_it_was_written() {
    let before = "# mine\n[packs.todo] # the tools\n\n[[upstreams]]\nname = \"old\"\nurl = \"https://old.example/mcp\"";
    let home = Home::with(before);
    let header = format!("Authorization: Bearer {CANARY}");
    let added = home.run(&[
        "add",
        "tickets",
        "https://tickets.example/mcp",
        "--header",
        &header,
        "--header",
        "X-Team: a: b",
        "--prefix",
        "t_",
        "--writes",
        "allow",
        "--json",
    ]);
    assert_eq!(added.code, Some(0), "{added:?}");
    unseen(&added);
    assert_eq!(added.json()["secrets"], json!([".toolgate/secrets/tickets.authorization"]));
    let after = read(&home, "toolgate.toml");
    let block = "\n\n[[upstreams]]\nname = \"tickets\"\nprefix = \"t_\"\nurl = \"https://tickets.example/mcp\"\n\
                 headers.Authorization = { file = \".toolgate/secrets/tickets.authorization\" }\nheaders.X-Team = \"a: b\"\n";
    assert_eq!(after, format!("{before}{block}"));
    assert_eq!(read(&home, ".toolgate/secrets/tickets.authorization"), format!("Bearer {CANARY}"));
}

#[test]
fn what_can_not_be_an_upstream_is_refused_and_nothing_is_written() {
    let config = "[[upstreams]]\nname = \"taken\"\ncommand = \"x\"\n";
    let secret = format!("Authorization: {CANARY}");
    let wrong: &[(&[&str], &str)] = &[
        (&["taken", "--", "x"], "has an upstream 'taken' already"),
        (&["Files", "--", "x"], "'Files' is not of a-z"),
        (&["vault", "--", "x"], "the name of a pack"),
        (&["a", "ftp://h/mcp"], "has a url that is not https"),
        (&["a", "npx"], "a program stands after --: toolgate add a -- npx"),
        (&["a", "--", " "], "empty command"),
        (&["a"], "required"),
        (&["a", "https://h/mcp", "--", "x"], "cannot be used with"),
        (&["a", "https://h/mcp", "--env", "A=b"], "cannot be used with"),
        (&["a", "--header", &secret, "--", "x"], "cannot be used with"),
        (&["a", "https://h/mcp", "--header", CANARY], "write --header 'NAME: VALUE'"),
        (&["a", "https://h/mcp", "--header", &secret, "--header", &secret], "'Authorization' is given twice"),
        (&["a", "https://h/mcp", "--header", "A B: c"], "whose name is no header's"),
        (&["a", "--env", "x", "--", "x"], "write --env NAME=VALUE"),
        (&["a", "--env", "=x", "--", "x"], "name is empty"),
    ];
    for (arguments, words) in wrong {
        let home = Home::with(config);
        let ran = home.run(&[&["add"], *arguments].concat());
        assert_eq!((ran.code, ran.out.as_str()), (Some(2), ""), "{arguments:?}: {ran:?}");
        assert!(ran.err.contains(words), "{arguments:?}: {}", ran.err);
        if !words.contains("cannot") {
            unseen(&ran);
        }
        assert_eq!(read(&home, "toolgate.toml"), config, "{arguments:?}");
        assert!(!home.path(".toolgate").exists(), "{arguments:?}");
    }
}

/// From nothing to a call that waits for a person, by the commands that each step names as the next.
#[test]
fn a_server_added_beside_a_running_gateway_is_served_and_its_writes_wait_for_approval() {
    let home = Home::bare();
    assert_eq!(home.run(&["init"]).code, Some(0));
    let gate = home.serve();
    let alice = home.mint("--user alice");
    assert_eq!(home.run(&["add", "fix", "--", "python3", FIXTURE, "stdio", "legacy"]).code, Some(0));
    let accepted = home.run(&["upstream", "accept", "--all"]);
    assert_eq!(accepted.code, Some(0), "{accepted:?}");
    let call = || gate.ask(&Message::call(Era::Late, "echo", json!({})).bearer(&alice)).message().to_string();
    until("the call waits for approval", || call().contains("approval_required").then_some(()));
    let listed = home.json(&["approvals", "list"]);
    assert!(listed.to_string().contains("\"echo\""), "{listed}");
    gate.terminate();
}
