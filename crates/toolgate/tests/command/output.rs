//! What commands print: JSON where it is asked for, and an exit code that says how it went.

use std::process::{Command, Stdio};

use serde_json::{Value, json};

use super::bed::{
    home::{Home, Ran},
    message::{Era, Message},
};

fn home() -> Home {
    Home::with("[packs.gate]\n[packs.todo]\n[server]\nlisten = \"127.0.0.1:0\"\n")
}

#[test]
fn every_command_that_prints_for_people_prints_json_too() {
    let home = home();
    home.write("good.test.toml", "[[test]]\nname = \"strangers\"\nlists_exactly = [\"help\"]\n");
    let key = home.json(&["key", "create", "--user", "alice", "--name", "laptop", "--ttl", "7d"]);
    let task = home.json(&["task", "start", "--owner", "alice", "--process", "p", "--name", "n"]);
    let (key, task) = (key["id"].as_str().unwrap(), task["task_id"].as_str().unwrap());
    let commands: Vec<(Vec<&str>, Value)> = vec![
        (vec!["check"], json!({"good": true})),
        (vec!["doctor"], json!({"good": true})),
        (vec!["explain", "add_task", "--as", "user=u"], json!({"explanation": {"outcome": "allow"}})),
        (vec!["matrix"], json!({})),
        (vec!["test"], json!({"passed": 1, "failed": 0, "failures": []})),
        (vec!["token", "mint", "--user", "u", "--ttl", "90s"], json!({"expires_in": 90})),
        (vec!["key", "list"], json!([{"id": key, "name": "laptop", "state": "live", "facts": {"sub": "alice"}}])),
        (vec!["key", "revoke", key], json!({"id": key, "revoked": true})),
        (
            vec!["task", "show", task],
            json!({"task_id": task, "owner": "alice", "process": "p", "name": "n", "live": true}),
        ),
        (vec!["task", "finish", task], json!({"task_id": task, "finished": true})),
        (vec!["init", "--config", "new.toml"], json!({"written": "new.toml"})),
    ];
    for (command, expected) in commands {
        let printed = home.json(&command);
        assert!(holds(&printed, &expected), "{command:?}: {printed}");
    }
}

/// Whether everything expected is there; more may be.
fn holds(printed: &Value, expected: &Value) -> bool {
    match (printed, expected) {
        (Value::Object(printed), Value::Object(expected)) => {
            expected.iter().all(|(key, value)| printed.get(key).is_some_and(|printed| holds(printed, value)))
        }
        (Value::Array(printed), Value::Array(expected)) => {
            printed.len() == expected.len()
                && printed.iter().zip(expected).all(|(printed, value)| holds(printed, value))
        }
        (printed, expected) => printed == expected,
    }
}

#[test]
fn the_answer_no_is_one_and_wrong_use_is_two() {
    let home = home();
    home.write("bad.test.toml", "[[test]]\nname = \"strangers\"\ncallable = [\"add_task\"]\n");
    home.json(&["key", "create", "--user", "alice"]);
    let no: [&[&str]; 5] = [
        &["explain", "add_task"],
        &["test", "bad.test.toml"],
        &["key", "revoke", "key_unknown"],
        &["task", "finish", "task_unknown"],
        &["task", "show", "task_unknown"],
    ];
    for command in no {
        let ran = home.run(command);
        assert_eq!(ran.code, Some(1), "{command:?}: {ran:?}");
        let ran = home.run(&[command, &["--json"]].concat());
        assert_eq!(ran.code, Some(1), "{command:?}: {ran:?}");
        ran.json();
    }
    let misuse: [&[&str]; 13] = [
        &[],
        &["nonsense"],
        &["serve", "--nonsense"],
        &["explain", "ad_task"],
        &["explain", "add_task", "--as", "user"],
        &["explain", "add_task", "--as", "role=admin"],
        &["explain", "add_task", "--as", "user=u", "--arguments", "{"],
        &["token", "mint"],
        &["token", "mint", "--user", "u", "--ttl", "soon"],
        &["token", "mint", "--agent", "a", "--kind", "boss"],
        &["key", "create"],
        &["test", "missing.test.toml"],
        &["key", "list", "--database", "mysql://x"],
    ];
    for command in misuse {
        let ran = home.run(command);
        assert_eq!(ran.code, Some(2), "{command:?}: {ran:?}");
        assert_eq!(ran.out, "", "{command:?}: what went wrong goes to standard error");
        assert!(!ran.err.is_empty(), "{command:?}");
    }
}

#[test]
fn a_minted_token_stands_alone_on_standard_output() {
    let home = home();
    assert_eq!(home.mint("--user bob").split_whitespace().count(), 1, "where the key is made first, too");
    let ran = home.run(&["token", "mint", "--user", "alice"]);
    assert_eq!(ran.err, "");
    assert_eq!(ran.out.lines().count(), 1);
    assert_eq!(ran.out.trim_end().split('.').count(), 3, "{}", ran.out);
}

#[test]
fn a_key_is_shown_once() {
    let home = home();
    let made = home.run(&["key", "create", "--user", "alice"]);
    let key = made.out.trim_end();
    assert!(!key.contains(char::is_whitespace), "the secret stands alone: {key}");
    assert!(made.err.contains("toolgate key revoke key_") && !made.err.contains(key), "{}", made.err);
    // a secret may have a '_' of its own
    let secret = key.splitn(3, '_').last().unwrap();
    for command in [&["key", "list"][..], &["key", "list", "--json"]] {
        let listed = home.run(command);
        assert!(listed.out.contains("key_"), "{}", listed.out);
        assert!(!listed.out.contains(secret), "{}", listed.out);
    }
}

#[test]
fn a_reader_that_stops_early_is_no_crash() {
    let home = home();
    let mut command: Command = home.command(&["matrix", "--json"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let ended = child.wait_with_output().unwrap();
    let complaint = String::from_utf8_lossy(&ended.stderr);
    assert!(!complaint.contains("panicked"), "{complaint}");
}

#[test]
fn help_and_version_are_good_answers() {
    let home = Home::bare();
    let version: Ran = home.run(&["--version"]);
    assert_eq!((version.code, version.out.trim_end()), (Some(0), concat!("toolgate ", env!("CARGO_PKG_VERSION"))));
    let help = home.run(&["--help"]);
    assert_eq!(help.code, Some(0));
    let commands = [
        "serve",
        "stdio",
        "init",
        "check",
        "doctor",
        "explain",
        "matrix",
        "test",
        "token",
        "key",
        "task",
        "approvals",
        "ledger",
        "receipts",
    ];
    for command in commands {
        assert!(help.out.contains(&format!("  {command} ")), "{command}: {}", help.out);
    }
}

#[test]
fn the_operator_reads_what_a_caller_noted() {
    let home = Home::with("[packs.vault]\nroot = \"docs\"\n");
    std::fs::create_dir(home.path("docs")).unwrap();
    let gate = home.serve();
    for (user, note) in [("ann", "first"), ("bob", "his"), ("ann", "second")] {
        let arguments = json!({"name": "noted", "payload": {"note": note, "password": "hunter2"}});
        let token = home.mint(&format!("--user {user}"));
        let answer = gate.ask(&Message::call(Era::Late, "events.log", arguments).bearer(&token));
        assert_eq!(answer.verdict(), "ok", "{answer:?}");
    }
    let events = home.json(&["events", "user:ann"]);
    let notes: Vec<&str> =
        events.as_array().unwrap().iter().filter_map(|event| event["payload"]["note"].as_str()).collect();
    assert_eq!(notes, ["second", "first"], "{events}");
    assert!(!events.to_string().contains("hunter2"));
    let text = home.run(&["events", "user:ann", "--limit", "1"]).out;
    assert!(text.starts_with("TIME ") && text.lines().count() == 2 && text.contains("second"), "{text}");
    assert!(home.run(&["events", "user:eve"]).out.contains("noted nothing"));
}
