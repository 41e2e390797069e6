//! `[[upstreams]]`: read, checked and counted; a wrong one is refused with its place and its name.

use super::bed::home::Home;

const GOOD: &str = r#"
[packs.todo]

[[upstreams]]
name = "files"
prefix = "files."
command = "npx"
args = ["-y", "server"]
cwd = "work"
include = ["read_*"]
exclude = ["read_secret"]
timeout_ms = 5000
concurrency = 4
[upstreams.env]
PLAIN = "text"
FROM = { env = "VARIABLE" }
KEPT = { file = "secrets/key" }

[[upstreams]]
name = "remote_1"
url = "https://tools.example/mcp"
headers.Authorization = { file = "secrets/token" }
enabled = false
"#;

#[test]
fn upstreams_are_read_and_counted() {
    let home = Home::with(GOOD);
    assert_eq!(home.json(&["check"])["upstreams"], 2);
    assert!(
        home.run(&["check"])
            .out
            .ends_with("; 2 upstreams, 1 of them without an accepted tool: toolgate upstream accept --all\n")
    );
    let refused = home.run(&["serve", "--listen", "127.0.0.1:0"]);
    assert_eq!(refused.code, Some(2), "a secret that is not there is said before anything is served");
    assert!(
        refused.err.contains("the upstream 'files' takes 'FROM' from the variable VARIABLE, which is not set"),
        "{refused:?}"
    );
    let without = Home::with("[packs.todo]\n");
    assert_eq!(without.json(&["check"])["upstreams"], 0);
    assert!(!without.run(&["check"]).out.contains("upstream"));
}

#[test]
fn a_variable_overrides_beside_upstreams() {
    let home = Home::with(GOOD);
    let mut command = home.command(&["check", "--json"]);
    command.env("TOOLGATE_LIMITS__DEPTH", "7");
    let ran = super::bed::home::Ran::of(&mut command);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert_eq!(ran.json()["upstreams"], 2);
}

#[track_caller]
fn refused(upstream: &str, words: &str) {
    let home = Home::with(&format!("[[upstreams]]\n{upstream}\n"));
    let ran = home.run(&["check"]);
    assert_eq!(ran.code, Some(1), "{upstream}: {ran:?}");
    assert!(ran.out.starts_with("toolgate.toml:") && ran.out.contains(words), "{upstream}: {}", ran.out);
    assert_eq!(home.run(&["serve", "--listen", "127.0.0.1:0"]).code, Some(2), "serve refuses it as well");
}

#[test]
fn a_wrong_upstream_is_refused() {
    refused("command = \"x\"", "name");
    refused("name = \"\"\ncommand = \"x\"", "is not of a-z");
    refused("name = \"Files\"\ncommand = \"x\"", "'Files' is not of a-z");
    refused("name = \"a b\"\ncommand = \"x\"", "is not of a-z");
    refused("name = \"é\"\ncommand = \"x\"", "is not of a-z");
    refused("name = \"a\"", "'a' has neither command nor url");
    refused("name = \"a\"\ncommand = \"x\"\nurl = \"https://h/mcp\"", "'a' has both command and url");
    refused("name = \"a\"\ncommand = \" \"", "empty command");
    refused("name = \"a\"\nurl = \"ftp://h\"", "https://");
    refused("name = \"a\"\nurl = \"https://\"", "https://");
    refused("name = \"a\"\nurl = \"https://h\"\nargs = [\"x\"]", "which are for command");
    refused("name = \"a\"\ncommand = \"x\"\nheaders.A = \"b\"", "which are for url");
    refused("name = \"a\"\nurl = \"https://h\"\nheaders.\"A b\" = \"b\"", "no header");
    refused("name = \"a\"\ncommand = \"x\"\nenv.\"A=B\" = \"b\"", "has = in it");
    refused("name = \"a\"\ncommand = \"x\"\ntimeout_ms = 0", "has 0");
    refused("name = \"a\"\ncommand = \"x\"\nenv.A = 1", "expected text, { env");
    refused("name = \"a\"\ncommand = \"x\"\nenv.A = { fil = \"x\" }", "{ file = \"path\" }");
    refused("name = \"a\"\ncommand = \"x\"\nenv.A = { file = \"x\", env = \"y\" }", "expected text");
    refused("name = \"a\"\ncomand = \"x\"", "did you mean 'command'?");
    refused(
        "name = \"a\"\ncommand = \"x\"\n[[upstreams]]\nname = \"a\"\nurl = \"https://h\"",
        "two upstreams are named 'a'",
    );
}

#[test]
fn a_wrong_word_for_writes_is_refused() {
    refused("name = \"a\"\ncommand = \"x\"\nwrites = \"never\"", "`allow` or `ask`");
}

#[test]
fn check_warns_of_a_pattern_that_matches_nothing() {
    let home = Home::with("[[upstreams]]\nname = \"a\"\nurl = \"https://h/mcp\"\n[tools.\"a_*\"]\neffect = \"read\"\n");
    let ran = home.run(&["check"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(ran.out.contains("warning: [tools.\"a_*\"] matches no tool that is built in or accepted\n"), "{ran:?}");
    let alone = Home::with("[packs.todo]\n[tools.\"a_*\"]\neffect = \"read\"\n").run(&["check"]);
    assert!(alone.code == Some(1) && alone.out.contains("matches no tool"), "{alone:?}");
}
