//! `connect`: one entry goes into the client's file, everything else stays as it was, and `--undo` takes it back.

use std::{
    fs::{self, Permissions},
    os::unix::fs::{PermissionsExt, symlink},
};

use serde_json::{Value, json};

use super::bed::home::{Home, Ran};

const BACKUP: &str = "mcp.json.toolgate-backup";

fn home(text: &str) -> Home {
    let home = Home::bare();
    home.write("mcp.json", text);
    home
}

fn read(home: &Home, name: &str) -> String {
    fs::read_to_string(home.path(name)).unwrap_or_else(|fault| panic!("{name}: {fault}"))
}

fn connect(home: &Home, more: &[&str]) -> Ran {
    home.run(&[&["connect", "cursor", "--file", "mcp.json"], more].concat())
}

#[track_caller]
fn good(ran: Ran) -> Ran {
    assert_eq!(ran.code, Some(0), "{ran:?}");
    ran
}

#[track_caller]
fn refused(ran: Ran, words: &str) {
    assert_eq!(ran.code, Some(2), "{ran:?}");
    assert!(ran.err.contains(words), "{words}: {}", ran.err);
}

#[test]
fn the_entry_goes_in_and_everything_else_stays_as_it_was_written() {
    let inline = r#"{"type":"http","url":"http://127.0.0.1:8484/mcp"}"#;
    let lines = |indent: &str, unit: &str| {
        format!(
            "{{\n{indent}{unit}\"type\": \"http\",\n{indent}{unit}\"url\": \"http://127.0.0.1:8484/mcp\"\n{indent}}}"
        )
    };
    let cases = [
        ("{}", format!("{{\n  \"mcpServers\": {{\n    \"toolgate\": {}\n  }}\n}}", lines("    ", "  "))),
        ("{\"mcpServers\":{}}", format!("{{\"mcpServers\":{{\"toolgate\": {inline}}}}}")),
        ("{\"mcpServers\":{\"a\":{}, }}\n", format!("{{\"mcpServers\":{{\"a\":{{}}, \"toolgate\": {inline}}}}}\n")),
        ("{\"mcpServers\": {\"a\": {} } }", format!("{{\"mcpServers\": {{\"a\": {{}}, \"toolgate\": {inline} }} }}")),
        (
            "{\n\t// mine\n\t\"mcpServers\": {\n\t\t\"a\": {} // first\n\t\t/* last, */\n\t},\n\t\"x\": 1.50 // kept\n}\n",
            format!(
                "{{\n\t// mine\n\t\"mcpServers\": {{\n\t\t\"a\": {{}}, // first\n\t\t/* last, */\n\t\t\"toolgate\": {}\n\t}},\n\t\"x\": 1.50 // kept\n}}\n",
                lines("\t\t", "\t")
            ),
        ),
        (
            "{\n    \"mcpServers\": {\n        \"a\": {},\n    },\n}",
            format!(
                "{{\n    \"mcpServers\": {{\n        \"a\": {{}},\n        \"toolgate\": {},\n    }},\n}}",
                lines("        ", "    ")
            ),
        ),
        (
            "{\n  \"mcpServers\": {\n    // none yet\n  }\n}\n",
            format!("{{\n  \"mcpServers\": {{\n    // none yet\n    \"toolgate\": {}\n  }}\n}}\n", lines("    ", "  ")),
        ),
        (
            "{\n  \"mcpServers\": {},\n  \"b\": 2\n}\n",
            format!("{{\n  \"mcpServers\": {{\n    \"toolgate\": {}\n  }},\n  \"b\": 2\n}}\n", lines("    ", "  ")),
        ),
        (
            "{\r\n  \"mcpServers\": {\r\n    \"a\": {}\r\n  }\r\n}\r\n",
            format!(
                "{{\n  \"mcpServers\": {{\n    \"a\": {{}},\n    \"toolgate\": {}\n  }}\n}}\n",
                lines("    ", "  ")
            )
            .replace('\n', "\r\n"),
        ),
        (
            "\u{feff}{\n  \"b\": \"é}\"\n}",
            format!(
                "\u{feff}{{\n  \"b\": \"é}}\",\n  \"mcpServers\": {{\n    \"toolgate\": {}\n  }}\n}}",
                lines("    ", "  ")
            ),
        ),
    ];
    for (before, after) in cases {
        let home = home(before);
        good(connect(&home, &[]));
        assert_eq!(read(&home, "mcp.json"), after);
        assert_eq!(read(&home, BACKUP), before);
        good(connect(&home, &["--undo"]));
        assert_eq!(read(&home, "mcp.json"), before);
        assert!(!home.path(BACKUP).exists());
    }
}

#[test]
fn a_dry_run_shows_the_change_and_makes_none() {
    let text = "{\n  \"mcpServers\": {\n    \"a\": {}\n  }\n}\n";
    let home = home(text);
    let ran = good(connect(&home, &["--dry-run"]));
    assert!(
        ran.out.starts_with(
            "--- mcp.json\n+++ mcp.json\n@@ -1,5 +1,9 @@\n {\n   \"mcpServers\": {\n-    \"a\": {}\n+    \"a\": {},\n"
        ),
        "{}",
        ran.out
    );
    assert_eq!(read(&home, "mcp.json"), text);
    assert!(!home.path(BACKUP).exists());
    let printed = home.json(&["connect", "cursor", "--file", "mcp.json", "--dry-run"]);
    assert_eq!((&printed["changed"], &printed["would_change"]), (&json!(false), &json!(true)));
    assert!(printed["diff"].as_str().unwrap().contains("+    \"toolgate\": {\n"));
}

#[test]
fn the_second_time_changes_nothing() {
    let home = home("{}\n");
    good(connect(&home, &[]));
    let (file, backup) = (read(&home, "mcp.json"), read(&home, BACKUP));
    let again = home.json(&["connect", "cursor", "--file", "mcp.json"]);
    assert_eq!(again["changed"], false);
    assert_eq!((read(&home, "mcp.json"), read(&home, BACKUP)), (file, backup));
    good(connect(&home, &["--undo"]));
    good(connect(&home, &["--undo"]));
    assert_eq!(read(&home, "mcp.json"), "{}\n");
}

#[test]
fn an_entry_of_that_name_is_replaced_and_comes_back() {
    let text = "{\n  \"mcpServers\": {\n    \"toolgate\": {\n      \"url\": \"http://old\"\n    }, // ours\n    \"b\": {}\n  }\n}\n";
    let home = home(text);
    good(connect(&home, &["--url", "https://tools.example/mcp"]));
    let value: Value = serde_json::from_str(&read(&home, "mcp.json").replace("// ours", "")).unwrap();
    assert_eq!(value["mcpServers"]["toolgate"], json!({"type": "http", "url": "https://tools.example/mcp"}));
    good(connect(&home, &["--url", "http://127.0.0.1:9/mcp"]));
    assert!(read(&home, "mcp.json").contains("127.0.0.1:9") && !read(&home, "mcp.json").contains("tools.example"));
    good(connect(&home, &["--undo"]));
    assert_eq!(read(&home, "mcp.json"), text);
}

#[test]
fn a_backup_of_something_else_is_not_lost() {
    let home = home("{}\n");
    home.write(BACKUP, "the only copy");
    refused(connect(&home, &[]), "is there already and differs");
    assert_eq!((read(&home, "mcp.json"), read(&home, BACKUP)), ("{}\n".to_owned(), "the only copy".to_owned()));
}

#[test]
fn undo_refuses_where_the_file_was_changed_since() {
    let home = home("{\n  \"a\": 1\n}\n");
    good(connect(&home, &[]));
    let changed = read(&home, "mcp.json").replace("\"a\": 1", "\"a\": 2");
    home.write("mcp.json", &changed);
    refused(connect(&home, &["--undo"]), "was changed since");
    assert_eq!(read(&home, "mcp.json"), changed);
    assert!(home.path(BACKUP).exists());
    good(connect(&home, &["--undo", "--force"]));
    assert_eq!(read(&home, "mcp.json"), "{\n  \"a\": 1\n}\n");
    home.write("mcp.json", "{\"mcpServers\": {\"toolgate\": {\"url\": \"x\"}}, \"a\": 1}");
    refused(connect(&home, &["--undo"]), "is not there");
}

#[test]
fn a_file_that_was_not_there_is_made_and_goes_again() {
    let home = Home::bare();
    good(connect(&home, &["--token", "abc.def"]));
    let value: Value = serde_json::from_str(&read(&home, "mcp.json")).unwrap();
    assert_eq!(value["mcpServers"]["toolgate"]["headers"]["Authorization"], "Bearer abc.def");
    assert_eq!(fs::metadata(home.path("mcp.json")).unwrap().permissions().mode() & 0o777, 0o600);
    assert!(!home.path(BACKUP).exists());
    good(connect(&home, &["--undo"]));
    assert!(!home.path("mcp.json").exists());
}

#[test]
fn tokens_and_keys_of_others_are_not_shown() {
    let home = home(
        "{\n  \"mcpServers\": {\n    \"a\": {\"env\": {\"API_KEY\": \"canary-1\"}, \"args\": [\"--token\", \"canary-2\"]}\n  }\n}\n",
    );
    for more in [&["--dry-run"][..], &["--json", "--dry-run"], &[], &["--undo"]] {
        let token: &[&str] = if more == ["--undo"] { &[] } else { &["--token", "canary-3"] };
        let ran = good(connect(&home, &[more, token].concat()));
        assert!(!ran.out.contains("canary") && !ran.err.contains("canary"), "{ran:?}");
    }
    refused(connect(&home, &["--token", "a\nb"]), "no token has");
    refused(connect(&home, &["--token", ""]), "no token has");
}

#[test]
fn links_and_rights_stay_as_they_are() {
    let home = Home::bare();
    home.write("dotfiles/real.json", "{}\n");
    fs::set_permissions(home.path("dotfiles/real.json"), Permissions::from_mode(0o640)).unwrap();
    symlink("dotfiles/real.json", home.path("mcp.json")).unwrap();
    good(connect(&home, &[]));
    assert_eq!(fs::read_link(home.path("mcp.json")).unwrap().to_str(), Some("dotfiles/real.json"));
    assert!(read(&home, "dotfiles/real.json").contains("toolgate"));
    for name in ["dotfiles/real.json", BACKUP] {
        assert_eq!(fs::metadata(home.path(name)).unwrap().permissions().mode() & 0o777, 0o640, "{name}");
    }
    good(connect(&home, &["--undo"]));
    assert!(home.path("mcp.json").is_symlink());
    assert_eq!(read(&home, "dotfiles/real.json"), "{}\n");
    fs::remove_file(home.path("dotfiles/real.json")).unwrap();
    refused(connect(&home, &[]), "leads nowhere");
}

#[test]
fn a_read_only_file_is_left() {
    let home = home("{}\n");
    fs::set_permissions(home.path("mcp.json"), Permissions::from_mode(0o444)).unwrap();
    refused(connect(&home, &[]), "read-only");
    assert_eq!(read(&home, "mcp.json"), "{}\n");
    assert!(!home.path(BACKUP).exists());
}

#[test]
fn files_that_are_not_what_they_should_be_are_left() {
    let wrong = [
        ("hello", "not JSON"),
        ("{\"mcpServers\": {}", "not JSON"),
        ("[]", "a list where an object"),
        ("{\"mcpServers\": []}", "a list where an object"),
        ("{\"mcpServers\": null}", "null where an object"),
        ("{\"mcpServers\": {}, \"mcpServers\": {}}", "twice"),
        ("{\"mcpServers\": {\"toolgate\": {}, \"toolgate\": {}}}", "twice"),
    ];
    for (text, words) in wrong {
        let home = home(text);
        refused(connect(&home, &[]), words);
        assert_eq!(read(&home, "mcp.json"), text);
        assert!(!home.path(BACKUP).exists());
    }
    let home = home("{}");
    fs::File::create(home.path("mcp.json")).unwrap().set_len(17 << 20).unwrap();
    refused(connect(&home, &[]), "that large");
    refused(home.run(&["connect", "cursor", "--file", "."]), "not a file");
    refused(home.run(&["connect", "cursor", "--file", "missing/mcp.json"]), "no folder missing");
}

#[test]
fn an_empty_file_is_filled_and_emptied() {
    let home = home("");
    good(connect(&home, &[]));
    assert!(read(&home, "mcp.json").contains("toolgate"));
    good(connect(&home, &["--undo"]));
    assert_eq!(read(&home, "mcp.json"), "");
}

/// The entry a client got, and the file it is in, from a home with these files.
fn entry(files: &[&str], arguments: &[&str]) -> (String, Value) {
    let home = Home::bare();
    for file in files {
        home.write(file, "{}\n");
    }
    let mut command = home.command(&[&["connect"], arguments, &["--json"]].concat());
    let ran = good(Ran::of(command.env("HOME", home.path("me"))));
    let file = ran.json()["file"].as_str().unwrap().to_owned();
    let written: Value = serde_json::from_str(&fs::read_to_string(home.path(&file)).unwrap()).unwrap();
    let key = if arguments[0] == "vscode" { "servers" } else { "mcpServers" };
    let base = format!("{}/", home.path("").display()).replace("//", "/");
    (file.replace(&base, ""), written[key]["toolgate"].clone())
}

#[cfg(target_os = "linux")]
#[test]
fn each_client_has_its_own_file_and_words() {
    let address = "http://127.0.0.1:8484/mcp";
    let http = json!({"type": "http", "url": address});
    assert_eq!(entry(&["me/.claude.json"], &["claude-code"]), ("me/.claude.json".to_owned(), http.clone()));
    assert_eq!(entry(&[".mcp.json", "me/.claude.json"], &["claude-code"]), (".mcp.json".to_owned(), http.clone()));
    assert_eq!(entry(&["me/.cursor/mcp.json"], &["cursor"]).0, "me/.cursor/mcp.json");
    assert_eq!(entry(&[".cursor/mcp.json"], &["cursor"]), (".cursor/mcp.json".to_owned(), http.clone()));
    assert_eq!(entry(&[".vscode/mcp.json"], &["vscode"]), (".vscode/mcp.json".to_owned(), http.clone()));
    assert_eq!(
        entry(&["me/.config/Code/User/mcp.json"], &["vscode"]),
        ("me/.config/Code/User/mcp.json".to_owned(), http)
    );
    let windsurf = entry(&["me/.codeium/windsurf/mcp_config.json"], &["windsurf"]);
    assert_eq!(windsurf, ("me/.codeium/windsurf/mcp_config.json".to_owned(), json!({"serverUrl": address})));
    let (file, desktop) = entry(&["me/.config/Claude/claude_desktop_config.json"], &["claude-desktop", "--token", "t"]);
    assert_eq!(file, "me/.config/Claude/claude_desktop_config.json");
    assert_eq!((&desktop["args"][0], &desktop["env"]["TOOLGATE_TOKEN"]), (&json!("stdio"), &json!("t")));
    let missing = Home::bare();
    refused(
        Ran::of(missing.command(&["connect", "windsurf"]).env("HOME", missing.path("me"))),
        "start the client once",
    );
    refused(missing.run(&["connect", "windsurf"]), "HOME is not set");
    refused(missing.run(&["connect", "claude-desktop", "--file", "x.json", "--url", "http://h/mcp"]), "only commands");
}

#[test]
fn the_address_is_the_configured_one() {
    let cases = [
        ("[server]\nlisten = \"0.0.0.0:9000\"\n", "http://127.0.0.1:9000/mcp"),
        ("[server]\nlisten = \"[::]:9000\"\n", "http://[::1]:9000/mcp"),
        ("[server]\nlisten = \"localhost:9000\"\n", "http://localhost:9000/mcp"),
        ("[server]\npublic_url = \"https://tools.example/mcp\"\n", "https://tools.example/mcp"),
    ];
    for (config, address) in cases {
        let home = Home::with(config);
        good(connect(&home, &[]));
        let value: Value = serde_json::from_str(&read(&home, "mcp.json")).unwrap();
        assert_eq!(value["mcpServers"]["toolgate"]["url"], address);
    }
    refused(connect(&Home::with("[server]\nlisten = \"127.0.0.1:0\"\n"), &[]), "--url");
    refused(connect(&Home::bare(), &["--url", "tools.example"]), "is no address");
    refused(connect(&Home::with("[server]\nlisen = 1\n"), &[]), "did you mean 'listen'?");
}

#[test]
fn a_client_that_starts_it_is_answered() {
    let home = Home::with("[packs.todo]\n");
    good(home.run(&["connect", "claude-desktop", "--file", "mcp.json"]));
    let value: Value = serde_json::from_str(&read(&home, "mcp.json")).unwrap();
    let entry = &value["mcpServers"]["toolgate"];
    let arguments: Vec<&str> = entry["args"].as_array().unwrap().iter().map(|one| one.as_str().unwrap()).collect();
    let mut command = std::process::Command::new(entry["command"].as_str().unwrap());
    let elsewhere = Home::bare();
    command.env_clear().current_dir(elsewhere.path("")).args(arguments);
    good(Ran::of(&mut command));
    assert!(home.path(".toolgate/toolgate.db").exists(), "it works where it was connected, not where it was started");
}

#[test]
fn a_comment_can_not_steer_the_terminal() {
    let home = home("{} // \u{1b}[2J\u{202e}\n");
    let ran = good(connect(&home, &[]));
    assert!(ran.out.contains("// \\u{1b}[2J\\u{202e}") && !ran.out.contains('\u{1b}'), "{}", ran.out);
    assert!(read(&home, "mcp.json").contains("// \u{1b}[2J\u{202e}\n"), "the file keeps it");
}
