//! `import`: what each client's file becomes, and that secrets are seen by nobody on the way.

use std::{
    fs::{self, Permissions},
    os::unix::fs::{PermissionsExt, symlink},
    path::Path,
};

use serde_json::Value;

use super::bed::home::{Home, Ran};

/// Stands in every file below where a secret stands.
const CANARY: &str = "canary-5e1f";

fn claude_desktop() -> String {
    format!(
        r#"{{"globalShortcut": "x", "mcpServers": {{
            "My Files": {{"command": "npx", "args": ["-y", "server-filesystem", "/srv/data"]}},
            "github": {{"command": "npx", "args": ["server"], "env": {{"GITHUB_TOKEN": "{CANARY}", "LOG": "debug", "N": 3}}}}
        }}}}"#
    )
}

fn vscode() -> String {
    format!(
        r#"{{
  // asked once
  "inputs": [{{"type": "promptString", "id": "api-key", "description": "Key of the search", "password": true}},],
  "servers": {{
    "search": {{"type": "stdio", "command": "search", "env": {{"API_KEY": "${{input:api-key}}", "HOST": "${{env:SEARCH_HOST}}"}}, "envFile": ".env"}},
    /* remote */
    "remote": {{"type": "http", "url": "https://tools.example/mcp", "headers": {{"X-Api-Key": "{CANARY}", "Authorization": "Bearer ${{TOKEN}}"}}}},
  }},
}}"#
    )
}

fn home(name: &str, text: &str) -> Home {
    let home = Home::bare();
    home.write(name, text);
    home
}

fn read(home: &Home, name: &str) -> String {
    fs::read_to_string(home.path(name)).unwrap_or_else(|fault| panic!("{name}: {fault}"))
}

#[track_caller]
fn unseen(ran: &Ran) {
    assert!(!ran.out.contains(CANARY) && !ran.err.contains(CANARY), "{ran:?}");
}

#[track_caller]
fn refused(home: &Home, arguments: &[&str], words: &[&str]) {
    let ran = home.run(arguments);
    assert_eq!(ran.code, Some(2), "{arguments:?}: {ran:?}");
    assert_eq!(ran.out, "");
    for words in words {
        assert!(ran.err.contains(words), "{words}: {}", ran.err);
    }
    unseen(&ran);
}

#[test]
fn without_write_it_shows_and_changes_nothing() {
    let home = home("claude_desktop_config.json", &claude_desktop());
    let ran = home.run(&["import", "claude_desktop_config.json"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert_eq!(
        ran.out,
        r#"[[upstreams]]
name = "my-files"
prefix = "my_files_"
command = "npx"
args = ["-y", "server-filesystem", "/srv/data"]
writes = "ask"

[[upstreams]]
name = "github"
prefix = "github_"
command = "npx"
args = ["server"]
writes = "ask"
env.GITHUB_TOKEN = { file = ".toolgate/secrets/github.github_token" }
env.LOG = "debug"
env.N = "3"
"#
    );
    unseen(&ran);
    assert!(!home.path("toolgate.toml").exists() && !home.path(".toolgate").exists());
}

#[test]
fn write_makes_a_configuration_that_is_good_and_secrets_for_their_owner() {
    let home = home("mcp.json", &claude_desktop());
    let ran = home.run(&["import", "mcp.json", "--write"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    unseen(&ran);
    assert_eq!(home.json(&["check"])["upstreams"], 2);
    assert!(!read(&home, "toolgate.toml").contains(CANARY));
    assert_eq!(read(&home, ".toolgate/secrets/github.github_token"), CANARY);
    for (name, mode) in [(".toolgate/secrets", 0o700), (".toolgate/secrets/github.github_token", 0o600)] {
        assert_eq!(fs::metadata(home.path(name)).unwrap().permissions().mode() & 0o777, mode, "{name}");
    }
    assert_eq!(read(&home, "mcp.json"), claude_desktop(), "the client's file is left as it is");
}

#[test]
fn the_second_time_adds_nothing() {
    let home = home("mcp.json", &claude_desktop());
    home.run(&["import", "mcp.json", "--write"]);
    let before = read(&home, "toolgate.toml");
    let again = home.json(&["import", "mcp.json", "--write"]);
    assert_eq!(again["added"], serde_json::json!([]));
    assert_eq!(read(&home, "toolgate.toml"), before);
}

#[test]
fn it_adds_to_a_configuration_and_keeps_what_is_there() {
    let home = home("mcp.json", &claude_desktop());
    let before = "# mine\n[packs.todo] # the tools\n[[upstreams]]\nname = \"old\"\nurl = \"https://old.example/mcp\"";
    home.write("toolgate.toml", before);
    fs::set_permissions(home.path("toolgate.toml"), Permissions::from_mode(0o640)).unwrap();
    assert_eq!(home.run(&["import", "mcp.json", "--write", "--prefix"]).code, Some(0));
    let after = read(&home, "toolgate.toml");
    assert!(after.starts_with(before) && after.contains("prefix = \"my_files_\""), "{after}");
    assert_eq!(fs::metadata(home.path("toolgate.toml")).unwrap().permissions().mode() & 0o777, 0o640);
    let checked = home.json(&["check"]);
    assert_eq!((&checked["upstreams"], &checked["tools"]), (&Value::from(3), &Value::from(5)));
}

#[test]
fn vs_code_with_comments_inputs_and_variables() {
    let home = home(".vscode/mcp.json", &vscode());
    let ran = home.run(&["import", ".vscode/mcp.json", "--write", "--json"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    unseen(&ran);
    let printed = ran.json();
    let (search, remote) = (&printed["upstreams"][0], &printed["upstreams"][1]);
    assert_eq!(search["env"], serde_json::json!({"API_KEY": {"env": "API_KEY"}, "HOST": {"env": "SEARCH_HOST"}}));
    assert_eq!(remote["headers"]["X-Api-Key"]["file"], ".toolgate/secrets/remote.x-api-key");
    assert_eq!(remote["headers"]["Authorization"]["env"], "REMOTE_AUTHORIZATION");
    let notes = printed["notes"].to_string();
    for words in ["left out: 'envFile'", "set the variable API_KEY", "Key of the search", "to Bearer ${TOKEN}"] {
        assert!(notes.contains(words), "{words}: {notes}");
    }
    assert_eq!(read(&home, ".toolgate/secrets/remote.x-api-key"), CANARY);
}

#[test]
fn cursor_windsurf_and_claude_code_have_words_of_their_own() {
    let text = r#"{"mcpServers": {
        "a": {"serverUrl": "https://a.example/mcp", "disabledTools": ["drop_*"], "disabled": true},
        "b": {"type": "sse", "url": "https://b.example/sse", "autoApprove": ["x"]},
        "c": {"type": "stdio", "command": "c", "cwd": "/srv/c", "env": {"WHERE": "${WHERE:-canary-5e1f}"}},
        "toolgate": {"type": "http", "url": "http://127.0.0.1:8484/mcp"},
        "empty": {}
    }}"#;
    let home = home("mcp_config.json", text);
    let ran = home.run(&["import", "mcp_config.json", "--json"]);
    unseen(&ran);
    let printed = ran.json();
    let names: Vec<_> =
        printed["upstreams"].as_array().unwrap().iter().map(|one| one["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["a", "b", "c"]);
    assert_eq!(
        (&printed["upstreams"][0]["enabled"], &printed["upstreams"][0]["exclude"][0]),
        (&Value::from(false), &Value::from("drop_*"))
    );
    assert_eq!(printed["upstreams"][2]["env"]["WHERE"]["env"], "WHERE");
    let notes = printed["notes"].to_string();
    for words in ["'autoApprove'", "the default of WHERE", "Toolgate itself", "neither a command nor a url"] {
        assert!(notes.contains(words), "{words}: {notes}");
    }
}

#[test]
fn secrets_in_arguments_and_addresses_are_not_shown() {
    let text = r#"{"mcpServers": {
        "a": {"command": "a", "args": ["--token", "canary-5e1f", "--api-key=canary-5e1f"]},
        "b": {"url": "https://b.example/mcp?api_key=canary-5e1f"},
        "c": {"url": "https://u:canary-5e1f@c.example/mcp"}
    }}"#;
    let home = home("mcp.json", text);
    for arguments in
        [&["import", "mcp.json"][..], &["import", "mcp.json", "--json"], &["import", "mcp.json", "--write"]]
    {
        let ran = home.run(arguments);
        assert_eq!(ran.code, Some(0), "{ran:?}");
        unseen(&ran);
        assert!(ran.out.contains("looks like a secret") || ran.err.contains("looks like a secret"), "{ran:?}");
    }
    assert!(read(&home, "toolgate.toml").contains(CANARY), "it works as before");
}

#[test]
fn names_that_meet_are_refused_with_the_fix() {
    let home = home("mcp.json", r#"{"mcpServers": {"My Files": {"command": "a"}, "my-files": {"command": "b"}}}"#);
    refused(&home, &["import", "mcp.json"], &["'My Files' and 'my-files'", "rename one"]);
    home.write("mcp.json", r#"{"mcpServers": {"日本": {"command": "a"}}}"#);
    refused(&home, &["import", "mcp.json"], &["日本", "rename it"]);
    home.write("mcp.json", r#"{"mcpServers": {"old": {"command": "a"}}}"#);
    home.write("toolgate.toml", "[[upstreams]]\nname = \"old\"\ncommand = \"other\"\n");
    refused(&home, &["import", "mcp.json", "--write"], &["another upstream 'old'", "remove it there"]);
}

#[test]
fn a_secret_that_is_there_is_overwritten_only_by_force() {
    let home = home("mcp.json", &claude_desktop());
    home.write(".toolgate/secrets/github.github_token", "other");
    refused(&home, &["import", "mcp.json", "--write"], &["holds something else", "--force"]);
    assert_eq!(read(&home, ".toolgate/secrets/github.github_token"), "other");
    assert!(!home.path("toolgate.toml").exists(), "nothing was done by halves");
    assert_eq!(home.run(&["import", "mcp.json", "--write", "--force"]).code, Some(0));
    assert_eq!(read(&home, ".toolgate/secrets/github.github_token"), CANARY);
    let mode = fs::metadata(home.path(".toolgate/secrets/github.github_token")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[test]
fn a_secret_is_never_written_through_a_link() {
    let home = home("mcp.json", &claude_desktop());
    home.write("elsewhere", "kept");
    fs::create_dir_all(home.path(".toolgate/secrets")).unwrap();
    symlink(home.path("elsewhere"), home.path(".toolgate/secrets/github.github_token")).unwrap();
    refused(&home, &["import", "mcp.json", "--write"], &["holds something else"]);
    assert_eq!(home.run(&["import", "mcp.json", "--write", "--force"]).code, Some(0));
    assert_eq!(read(&home, "elsewhere"), "kept");
}

#[test]
fn a_configuration_elsewhere_finds_its_secrets() {
    let home = home("mcp.json", &claude_desktop());
    fs::create_dir(home.path("etc")).unwrap();
    assert_eq!(home.run(&["import", "mcp.json", "--write", "--config", "etc/toolgate.toml"]).code, Some(0));
    let written: toml::Table = read(&home, "etc/toolgate.toml").parse().unwrap();
    let file = written["upstreams"][1]["env"]["GITHUB_TOKEN"]["file"].as_str().unwrap();
    assert!(Path::new(file).is_absolute());
    assert_eq!(fs::read_to_string(file).unwrap(), CANARY);
}

#[test]
fn a_configuration_that_is_wrong_or_read_only_is_left() {
    let home = home("mcp.json", r#"{"mcpServers": {"a": {"command": "a"}}}"#);
    home.write("toolgate.toml", "[server]\nlisen = 1\n");
    refused(&home, &["import", "mcp.json", "--write"], &["toolgate.toml:2:1", "did you mean 'listen'?"]);
    home.write("toolgate.toml", "upstreams = []\n");
    refused(&home, &["import", "mcp.json", "--write"], &["can't be added to", "[[upstreams]]"]);
    home.write("toolgate.toml", "[packs.todo]\n");
    fs::set_permissions(home.path("toolgate.toml"), Permissions::from_mode(0o444)).unwrap();
    refused(&home, &["import", "mcp.json", "--write"], &["read-only"]);
    assert_eq!(read(&home, "toolgate.toml"), "[packs.todo]\n");
}

#[test]
fn files_that_are_not_what_they_should_be_are_refused() {
    let deep = format!("{}{}", "[".repeat(50_000), "]".repeat(50_000));
    let long_name = format!(r#"{{"mcpServers": {{"{}": {{"command": "a"}}}}}}"#, "a".repeat(65));
    let wrong = [
        ("", "not JSON"),
        ("hello", "not JSON"),
        ("{\"mcpServers\": {", "not JSON"),
        ("{'mcpServers': {}}", "not JSON"),
        ("[]", "a list where an object"),
        ("[{\"mcpServers\": {}}]", "a list where an object"),
        ("null", "null where an object"),
        ("{}", "no MCP servers"),
        (r#"{"mcpServers": {}}"#, "no MCP servers"),
        (r#"{"mcpServers": []}"#, "a list where an object"),
        (r#"{"mcpServers": {"a": "npx"}}"#, "'mcpServers.a'"),
        (r#"{"mcpServers": {"a": {"command": ["npx"]}}}"#, "'command' is not a text"),
        (r#"{"mcpServers": {"a": {"command": "a", "args": "x"}}}"#, "'args' is not a list"),
        (r#"{"mcpServers": {"a": {"command": "a", "args": [1]}}}"#, "'args' is not a text"),
        (r#"{"mcpServers": {"a": {"command": "a", "env": ["canary-5e1f"]}}}"#, "'env' is not an object"),
        (r#"{"mcpServers": {"a": {"command": "a", "env": {"K": {"canary-5e1f": 1}}}}}"#, "'K' is not a text"),
        (r#"{"mcpServers": {"a": {"command": "a", "disabled": "yes"}}}"#, "neither true nor false"),
        (r#"{"mcpServers": {"a": {"command": "a", "url": "https://h"}}}"#, "both a command and a url"),
        (r#"{"mcpServers": {"a": {"command": "a"}, "a": {"command": "b"}}}"#, "'a' twice"),
        (r#"{"mcpServers": {}, "mcpServers": {"a": {"command": "b"}}}"#, "'mcpServers' twice"),
        (r#"{"mcpServers": {"a": {"url": "ftp://h/mcp"}}}"#, "'a' has a url that is not https"),
        (r#"{"mcpServers": {"a": {"url": "https://h", "headers": {"A B": "canary-5e1f"}}}}"#, "no header's"),
        (r#"{"mcpServers": {"a": {"command": ""}}}"#, "empty command"),
        (&deep, "not JSON"),
        (&long_name, "rename it"),
    ];
    for (text, words) in wrong {
        let home = home("mcp.json", text);
        refused(&home, &["import", "mcp.json", "--write"], &["mcp.json", words]);
        assert!(!home.path("toolgate.toml").exists());
    }
}

#[test]
fn files_that_can_not_be_read_are_refused() {
    let home = home("latin.json", "");
    fs::write(home.path("latin.json"), [b'{', 0xff, b'}']).unwrap();
    refused(&home, &["import", "latin.json"], &["UTF-8"]);
    refused(&home, &["import", "missing.json"], &["missing.json is not there"]);
    refused(&home, &["import", "."], &["not a file"]);
    fs::File::create(home.path("huge.json")).unwrap().set_len(17 << 20).unwrap();
    refused(&home, &["import", "huge.json"], &["no client's file is that large"]);
    fs::write(home.path("mark.json"), "\u{feff}{\"mcpServers\": {\"a\": {\"command\": \"a\"}}}").unwrap();
    assert_eq!(home.run(&["import", "mark.json"]).code, Some(0), "a byte order mark is no fault");
}

#[test]
fn text_that_would_break_out_of_the_configuration_stays_text() {
    let evil = r#"{"mcpServers": {"a": {"command": "x\"\n[server]\nlisten = \"0.0.0.0:1", "args": ["'''", "\u0000\u007f"], "env": {"A\"B\nC": "]]\n#"}}}}"#;
    let home = home("mcp.json", evil);
    assert_eq!(home.run(&["import", "mcp.json", "--write"]).code, Some(0));
    let written: toml::Table = read(&home, "toolgate.toml").parse().unwrap();
    assert_eq!(written.keys().collect::<Vec<_>>(), ["approvals", "packs", "server", "upstreams"]);
    let upstream = &written["upstreams"][0];
    assert_eq!(upstream["command"].as_str(), Some("x\"\n[server]\nlisten = \"0.0.0.0:1"));
    assert_eq!(upstream["args"][1].as_str(), Some("\0\u{7f}"));
    assert_eq!(upstream["env"]["A\"B\nC"].as_str(), Some("]]\n#"));
}

#[test]
fn a_name_can_not_steer_the_terminal() {
    let home =
        home("mcp.json", r#"{"mcpServers": {"a\u001b[2J": {"command": "a", "\u202ex": 1}, "a-2j": {"command": "b"}}}"#);
    refused(&home, &["import", "mcp.json"], &["'a\\u{1b}[2J' and 'a-2j'"]);
    home.write("mcp.json", r#"{"mcpServers": {"a\u001b[2J": {"command": "a", "\u202ex": 1}}}"#);
    let ran = home.run(&["import", "mcp.json"]);
    assert!(ran.err.contains("a\\u{1b}[2J: left out: '\\u{202e}x'"), "{ran:?}");
}

#[test]
fn a_new_file_loads_help_and_undo_and_the_next_steps_name_the_client() {
    let home = home(".cursor/mcp.json", &claude_desktop());
    let ran = home.run(&["import", ".cursor/mcp.json", "--write"]);
    let next = "Next:\n  toolgate upstream accept --all      # review their tools and accept them\n  \
                toolgate serve                      # one that runs follows the file by itself\n  \
                toolgate connect cursor --user YOU  # point the client here\n";
    assert!(ran.out.ends_with(next), "{ran:?}");
    let written: toml::Table = read(&home, "toolgate.toml").parse().unwrap();
    assert_eq!(written["packs"].as_table().unwrap().keys().collect::<Vec<_>>(), ["gate", "spine"]);
    home.write("mcp.json", r#"{"mcpServers": {"a": {"command": "a"}}}"#);
    let ran = home.run(&["import", "mcp.json", "--write", "--config", "my own.toml"]);
    assert!(ran.out.contains("\n  toolgate connect --config 'my own.toml' "), "{ran:?}");
}

#[test]
fn tools_get_a_prefix_where_there_is_more_than_one_server() {
    let prefix = |home: &Home, options: &[&str], at: usize| {
        let printed = home.json(&[&["import", "mcp.json"], options].concat());
        printed["upstreams"][at]["prefix"].as_str().unwrap().to_owned()
    };
    let one = home("mcp.json", r#"{"mcpServers": {"a": {"command": "a"}}}"#);
    assert_eq!((prefix(&one, &[], 0), prefix(&one, &["--prefix"], 0)), (String::new(), "a_".to_owned()));
    one.write("toolgate.toml", "[[upstreams]]\nname = \"old\"\ncommand = \"other\"\n");
    assert_eq!((prefix(&one, &[], 0), prefix(&one, &["--no-prefix"], 0)), ("a_".to_owned(), String::new()));
    let two = home("mcp.json", r#"{"mcpServers": {"a-b": {"command": "a"}, "a_b": {"command": "b"}}}"#);
    assert_eq!((prefix(&two, &[], 0), prefix(&two, &[], 1)), ("a_b_".to_owned(), "a_b__".to_owned()));
}

#[test]
fn a_server_that_came_alone_stays_as_it_is_when_a_second_one_comes() {
    let home = home("mcp.json", r#"{"mcpServers": {"a": {"command": "a"}}}"#);
    assert_eq!(home.json(&["import", "mcp.json", "--write"])["added"], serde_json::json!(["a"]));
    home.write("mcp.json", r#"{"mcpServers": {"a": {"command": "a"}, "b": {"command": "b"}}}"#);
    assert_eq!(home.json(&["import", "mcp.json", "--write", "--writes", "allow"])["added"], serde_json::json!(["b"]));
    let written: toml::Table = read(&home, "toolgate.toml").parse().unwrap();
    let upstream = |at: usize| (written["upstreams"][at].get("prefix"), written["upstreams"][at].get("writes"));
    assert_eq!(upstream(0), (None, Some(&toml::Value::from("ask"))));
    assert_eq!(upstream(1), (Some(&toml::Value::from("b_")), None));
}

#[test]
fn a_server_with_the_name_of_a_pack_is_refused() {
    let home = home("mcp.json", r#"{"mcpServers": {"todo": {"command": "a"}}}"#);
    refused(&home, &["import", "mcp.json", "--write"], &["'todo'", "name of a pack", "rename it"]);
    assert!(!home.path("toolgate.toml").exists());
}
