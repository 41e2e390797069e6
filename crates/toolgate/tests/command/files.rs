//! What is made on disk, for whose eyes, and what is never touched.

use std::{
    fs::{self, Permissions},
    net::TcpListener,
    os::unix::fs::PermissionsExt,
};

use serde_json::json;

use super::bed::{
    home::Home,
    message::{Era, Message},
};

fn mode(home: &Home, name: &str) -> u32 {
    fs::metadata(home.path(name)).unwrap_or_else(|fault| panic!("{name}: {fault}")).permissions().mode() & 0o777
}

#[test]
fn the_data_folder_and_what_is_in_it_are_for_their_owner_alone() {
    let home = Home::bare();
    let gate = home.serve();
    gate.ask(&Message::call(Era::Late, "add_task", json!({"title": "x"})).bearer(&home.mint("--user a")));
    assert_eq!(mode(&home, ".toolgate"), 0o700);
    let mut names: Vec<_> =
        fs::read_dir(home.path(".toolgate")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    assert!(
        names.iter().any(|name| name == "signing.key") && names.iter().any(|name| name == "toolgate.db"),
        "{names:?}"
    );
    for name in names {
        let name = format!(".toolgate/{}", name.to_str().unwrap());
        let expected = if name.ends_with("-ledger") { 0o700 } else { 0o600 };
        assert_eq!(mode(&home, &name), expected, "{name}");
    }
    for entry in fs::read_dir(home.path(".toolgate/toolgate-ledger")).unwrap() {
        assert_eq!(entry.unwrap().metadata().unwrap().permissions().mode() & 0o777, 0o600);
    }
}

#[test]
fn whichever_command_comes_first_makes_them_so() {
    for first in [&["token", "mint", "--user", "a"][..], &["key", "create", "--user", "a"], &["task", "start"]] {
        let home = Home::bare();
        home.run(first);
        assert_eq!(mode(&home, ".toolgate"), 0o700, "{first:?}");
        for entry in fs::read_dir(home.path(".toolgate")).unwrap() {
            let entry = entry.unwrap();
            assert_eq!(entry.metadata().unwrap().permissions().mode() & 0o777, 0o600, "{first:?} {entry:?}");
        }
    }
}

#[test]
fn a_second_start_uses_the_same_key_and_the_same_tasks() {
    let home = Home::bare();
    let token = home.mint("--user alice");
    let key = fs::read(home.path(".toolgate/signing.key")).unwrap();
    let add = Message::call(Era::Late, "add_task", json!({"title": "kept"})).bearer(&token);
    let gate = home.serve();
    assert_eq!(gate.ask(&add).verdict(), "ok");
    let session = gate.ask(&Message::initialize(Era::Late).bearer(&token)).header("mcp-session-id").unwrap().to_owned();
    gate.terminate();
    assert_eq!(gate.ended().code, Some(0));
    let gate = home.serve();
    assert_eq!(fs::read(home.path(".toolgate/signing.key")).unwrap(), key);
    let list = Message::call(Era::Late, "list_tasks", json!({})).bearer(&token).header("Mcp-Session-Id", &session);
    assert_eq!(gate.ask(&list).result()["structuredContent"]["tasks"][0]["title"], "kept");
}

#[test]
fn a_key_that_others_can_read_is_refused() {
    let home = Home::bare();
    home.mint("--user alice");
    fs::set_permissions(home.path(".toolgate/signing.key"), Permissions::from_mode(0o644)).unwrap();
    for command in [&["serve", "--listen", "127.0.0.1:0"][..], &["token", "mint", "--user", "a"]] {
        let ran = home.run(command);
        assert_eq!(ran.code, Some(2), "{ran:?}");
        assert!(ran.err.contains("signing.key"), "{}", ran.err);
    }
    let doctor = home.run(&["doctor", "--json"]);
    assert_eq!(doctor.code, Some(1));
    let found = doctor.json();
    let key = found["findings"].as_array().unwrap().iter().find(|finding| finding["what"] == "signing key").unwrap();
    assert_eq!(key["good"], false);
}

#[test]
fn a_vault_folder_that_is_missing_or_a_file_is_found_without_serving() {
    let home = Home::with("[packs.vault]\nroot = \"documents\"\n");
    let found = |home: &Home| {
        let findings = home.run(&["doctor", "--json"]).json()["findings"].clone();
        findings.as_array().unwrap().iter().find(|finding| finding["what"] == "vault folder").unwrap().clone()
    };
    let refused = |home: &Home| {
        let check = home.run(&["check"]);
        assert_eq!(check.code, Some(1), "{check:?}");
        assert!(check.out.contains("documents") && check.out.contains("[packs.vault]"), "{}", check.out);
        assert_eq!(found(home)["good"], false);
    };
    refused(&home);
    home.write("documents", "a file");
    refused(&home);
    fs::remove_file(home.path("documents")).unwrap();
    fs::create_dir(home.path("documents")).unwrap();
    assert_eq!(home.run(&["check"]).code, Some(0));
    assert_eq!(found(&home)["good"], true);
}

#[test]
fn a_key_file_that_is_garbled_is_refused_and_left_as_it_is() {
    let home = Home::bare();
    home.mint("--user alice");
    fs::write(home.path(".toolgate/signing.key"), "half a ke").unwrap();
    let ran = home.run(&["serve", "--listen", "127.0.0.1:0"]);
    assert_eq!(ran.code, Some(2), "{ran:?}");
    assert_eq!(fs::read_to_string(home.path(".toolgate/signing.key")).unwrap(), "half a ke");
}

#[test]
fn init_writes_a_configuration_that_is_good_and_never_overwrites_one() {
    let home = Home::bare();
    let ran = home.run(&["init"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert_eq!(home.json(&["check"])["good"], true);
    assert_eq!(home.serve().ask(&Message::list(Era::Late)).tools(), ["help"]);
    home.write("toolgate.toml", "# mine\n[packs.todo]\n");
    let again = home.run(&["init"]);
    assert_eq!(again.code, Some(2));
    assert!(again.err.contains("never overwritten"), "{}", again.err);
    assert_eq!(fs::read_to_string(home.path("toolgate.toml")).unwrap(), "# mine\n[packs.todo]\n");
    assert_eq!(home.json(&["init", "--config", "other.toml"])["written"], "other.toml");
}

#[test]
fn a_port_that_is_taken_is_said_and_nothing_is_made() {
    let home = Home::bare();
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let ran = home.run(&["serve", "--listen", &address]);
    assert_eq!(ran.code, Some(2), "{ran:?}");
    assert!(ran.err.contains(&format!("can't listen on {address}")) && ran.err.contains("--listen"), "{}", ran.err);
    assert!(!home.path(".toolgate").exists());
}

#[test]
fn a_database_of_somebody_else_is_refused_and_left_as_it_is() {
    let home = Home::bare();
    home.write(
        "notes.txt",
        "not a database, and longer than a header of one would be so that it is looked at as a whole",
    );
    let before = fs::read(home.path("notes.txt")).unwrap();
    let ran = home.run(&["serve", "--listen", "127.0.0.1:0", "--database", "sqlite:notes.txt"]);
    assert_eq!(ran.code, Some(2), "{ran:?}");
    assert_eq!(fs::read(home.path("notes.txt")).unwrap(), before);
}

#[cfg(unix)]
#[test]
fn a_data_folder_that_others_may_write_to_is_warned_of() {
    use std::{fs, os::unix::fs::PermissionsExt};

    let home = Home::with("[packs.todo]\n");
    fs::create_dir(home.path(".toolgate")).unwrap();
    for (mode, warned) in [(0o777, true), (0o720, true), (0o755, false), (0o700, false)] {
        fs::set_permissions(home.path(".toolgate"), fs::Permissions::from_mode(mode)).unwrap();
        let gate = home.serve();
        assert_eq!(gate.log().contains("others may write to the data folder"), warned, "{mode:o}: {}", gate.log());
    }
}

#[test]
fn a_pipe_in_place_of_the_key_is_an_error_and_holds_nothing_up() {
    let home = Home::bare();
    home.mint("--user alice");
    let key = home.path(".toolgate/signing.key");
    fs::remove_file(&key).unwrap();
    assert!(std::process::Command::new("mkfifo").arg(&key).status().unwrap().success());
    for command in [&["token", "mint", "--user", "a"][..], &["serve", "--listen", "127.0.0.1:0"]] {
        let ran = home.run(command);
        assert!(ran.code == Some(2) && ran.err.contains("signing.key"), "{command:?}: {ran:?}");
    }
}

/// Somebody else may have put them there.
#[test]
fn a_pipe_in_place_of_a_file_is_an_error_and_holds_nothing_up() {
    for (name, commands) in [
        ("toolgate.toml", [&["check"][..], &["serve", "--listen", "127.0.0.1:0"], &["approvals", "list"]]),
        ("toolgate.lock", [&["check"], &["serve", "--listen", "127.0.0.1:0"], &["explain", "help"]]),
    ] {
        let home = Home::bare();
        if name == "toolgate.lock" {
            home.write("toolgate.toml", "[packs.gate]\n[[upstreams]]\nname = \"a\"\ncommand = \"a\"\n");
        }
        assert!(std::process::Command::new("mkfifo").arg(home.path(name)).status().unwrap().success());
        for command in commands {
            let ran = home.run(command);
            assert_ne!(ran.code, Some(0), "{name} {command:?}");
            assert!(format!("{}{}", ran.out, ran.err).contains("not a regular file"), "{name} {command:?}: {ran:?}");
        }
    }
}
