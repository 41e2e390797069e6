//! While the database is away: lists as they were last known, never wider; calls fail; and all is well again by itself.

use serde_json::json;

use super::bed::{
    database::Database,
    home::Home,
    message::{ERAS, Era, Message},
    wait::until,
};

const CONFIG: &str = "disabled_tools = [\"delete_task\"]\n[packs.gate]\n[packs.todo]\n[packs.admin]\n";

#[test]
fn lists_stay_as_they_were_calls_fail_and_recovery_needs_no_restart() {
    let database = Database::create();
    let home = Home::with(CONFIG).on(&database.url());
    home.json(&["tenant", "add", "acme", "--owner", "ada"]);
    home.json(&["tenant", "member", "set", "acme", "mia", "--role", "member"]);
    home.json(&["override", "set", "acme", "complete_task", "off"]);
    let gate = home.serve();
    let (mia, nora, key) = (home.mint("--user mia"), home.mint("--user nora --tenant acme --role owner"), {
        let made = home.run(&["key", "create", "--user", "mia", "--name", "k"]);
        made.out.trim_end().to_owned()
    });
    let list = |token: &str, era| gate.ask(&Message::list(era).bearer(token)).tools();
    let call = |token: &str| gate.ask(&Message::call(Era::Late, "add_task", json!({"title": "x"})).bearer(token));
    let known = list(&mia, Era::Modern);
    assert_eq!(known, ["add_task", "help", "list_tasks", "update_task"], "one is switched off, one is off for all");
    assert_eq!(list(&nora, Era::Modern), ["help"], "not of that tenant: refused");

    database.go_away();
    until("calls fail", || (call(&mia).status == 503).then_some(()));
    for era in ERAS {
        assert_eq!(list(&mia, era), known, "as last known");
        let unknown = list(&nora, era);
        assert_eq!(unknown, ["add_task", "complete_task", "help", "list_tasks", "update_task"]);
        assert_eq!(list(&key, era), ["help"], "a key is nothing without its row");
    }
    for token in [&mia, &nora, &key] {
        assert_eq!(call(token).status, 503);
    }

    database.come_back();
    until("calls work again", || (call(&mia).verdict() == "ok").then_some(()));
    assert_eq!(list(&mia, Era::Modern), known);
    assert_eq!(list(&nora, Era::Modern), ["help"]);
}

/// One prober looks for the database; nobody who asks waits for it, or for anybody else who asks.
#[test]
fn many_who_ask_at_once_are_answered_at_once() {
    let database = Database::create();
    let home = Home::with(CONFIG).on(&database.url());
    let gate = home.serve();
    let token = home.mint("--user nora");
    let list = Message::list(Era::Modern).bearer(&token);
    let call = Message::call(Era::Modern, "list_tasks", json!({})).bearer(&token);
    let known = gate.ask(&list).tools();
    database.go_away();
    until("calls fail", || (gate.ask(&call).status == 503).then_some(()));

    // the database is away until all are answered, so that no answer waited for it
    std::thread::scope(|scope| {
        let asking: Vec<_> =
            (0..60).map(|_| scope.spawn(|| (gate.ask(&list).tools(), gate.ask(&call).status))).collect();
        for asked in asking {
            assert_eq!(asked.join().unwrap(), (known.clone(), 503));
        }
    });
    database.come_back();
    until("calls work again", || (gate.ask(&call).status == 200).then_some(()));
}

#[test]
fn a_write_whose_table_is_locked_is_refused_and_never_done() {
    let database = Database::create();
    let home = Home::with(CONFIG).on(&database.url());
    let gate = home.serve();
    let token = home.mint("--user nora");
    let add = |title: &str| gate.ask(&Message::call(Era::Modern, "add_task", json!({"title": title})).bearer(&token));
    assert_eq!(add("before").verdict(), "ok");
    let locked = database.lock("todo_tasks");
    let refused = add("during").result();
    assert_eq!(refused["structuredContent"], json!({"error": "Failed to create task", "code": "internal"}));
    drop(locked);
    let listed = gate.ask(&Message::call(Era::Modern, "list_tasks", json!({})).bearer(&token)).result();
    let tasks = listed["structuredContent"]["tasks"].as_array().unwrap().len();
    assert_eq!(tasks, 1, "what was refused is not done later");
}

/// What may have been done is not called a failure: not in the answer, not on record, not in the receipt.
#[test]
fn a_write_whose_answer_is_lost_is_unknown_everywhere() {
    let database = Database::create();
    let home = Home::with(CONFIG).on(&database.url());
    let gate = home.serve();
    let add = Message::call(Era::Modern, "add_task", json!({"title": "lost"})).bearer(&home.mint("--user nora"));
    database.stall("todo_tasks");
    let answer = std::thread::scope(|scope| {
        let asked = scope.spawn(|| gate.ask(&add).result());
        while !asked.is_finished() {
            database.end_stalled();
        }
        asked.join().unwrap()
    });
    assert_eq!((&answer["isError"], &answer["structuredContent"]["code"]), (&json!(true), &json!("outcome_unknown")));
    let said = answer["structuredContent"]["error"].as_str().unwrap();
    assert!(said.contains("Look before trying again"), "{said}");
    let receipt = answer["_meta"]["toolgate/receipt"].as_str().unwrap();
    assert_eq!(home.json(&["receipts", "show", receipt])["state"], "unknown");
    let records = home.run(&["ledger", "export", "--outcome", "unknown"]).out;
    assert!(records.contains("add_task") && records.contains("outcome_unknown"), "{records}");
}
