//! A database restored from an older copy: nobody is served from it until an operator accepts it, on record.

use std::fs;

use serde_json::json;

use super::bed::{
    home::Home,
    message::{Era, Message},
    served::Served,
};

fn serve(home: &Home) -> Served {
    Served::start(home.command(&["serve", "--listen", "127.0.0.1:0"]))
}

#[test]
fn nothing_is_served_from_an_older_copy_of_the_database_until_it_is_accepted() {
    let home = Home::with("[packs.todo]\n");
    let gate = serve(&home);
    gate.terminate();
    gate.ended();
    let key = home.json(&["key", "create", "--user", "ann", "--name", "laptop"]);
    let id = key["id"].as_str().unwrap();
    let (database, backup) = (home.path(".toolgate/toolgate.db"), home.path("backup.db"));
    fs::copy(&database, &backup).unwrap();
    home.json(&["key", "revoke", id]);
    assert_eq!(home.json(&["store", "accept-restore"]), json!({"accepted": false}), "nothing is missing");
    // a killed gateway leaves nothing behind that looks like a restore
    drop(serve(&home));
    drop(serve(&home));

    fs::copy(&backup, &database).unwrap();
    for more in ["-wal", "-shm"] {
        let _ = fs::remove_file(home.path(&format!(".toolgate/toolgate.db{more}")));
    }
    for command in [&["serve", "--listen", "127.0.0.1:0"][..], &["stdio"]] {
        let refused = home.run(command);
        assert_eq!(refused.code, Some(2), "{}", refused.err);
        assert!(refused.err.contains("older copy") && refused.err.contains("accept-restore"), "{}", refused.err);
    }
    assert!(home.run(&["key", "list"]).out.contains(id), "it can be looked at");
    assert_eq!(home.run(&["ledger", "verify"]).code, Some(0));
    let refused = home.run(&["key", "create", "--user", "bob", "--name", "desk"]);
    assert_ne!(refused.code, Some(0));
    assert!(refused.err.contains("older copy"), "{}", refused.err);

    let accepted = home.json(&["store", "accept-restore", "--by", "ann"]);
    assert_eq!(accepted["accepted"], true);
    let recorded = home.run(&["ledger", "export"]).out;
    let recorded = recorded.lines().find(|line| line.contains("restored")).expect("it is on record");
    assert!(recorded.contains("ann"), "{recorded}");
    assert_eq!(home.run(&["ledger", "verify"]).code, Some(0));
    home.json(&["key", "revoke", id]);
    drop(serve(&home));
}

#[test]
fn a_ledger_that_lost_the_number_of_writes_is_served_only_once_the_database_is_accepted() {
    let home = Home::with("[packs.todo]\n");
    let gate = serve(&home);
    gate.ask(&Message::call(Era::Late, "list_tasks", json!({})).bearer(&home.mint("--user ann")));
    gate.terminate();
    gate.ended();
    let count = home.path(".toolgate/toolgate-ledger/store.writes");
    fs::remove_file(&count).unwrap();
    assert!(home.run(&["ledger", "export"]).out.contains("list_tasks"), "the ledger has records");

    let refused = home.run(&["serve", "--listen", "127.0.0.1:0"]);
    assert_eq!(refused.code, Some(2), "{}", refused.err);
    assert!(refused.err.contains("store.writes") && refused.err.contains("accept-restore"), "{}", refused.err);
    assert_eq!(home.run(&["ledger", "verify"]).code, Some(0));

    let accepted = home.json(&["store", "accept-restore", "--by", "ann"]);
    assert_eq!((&accepted["accepted"], &accepted["known"]), (&json!(true), &json!(null)));
    assert!(count.exists());
    drop(serve(&home));
}
