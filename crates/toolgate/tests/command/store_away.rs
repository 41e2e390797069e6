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
    until("calls work again", || (call(&mia).status == 200).then_some(()));
    assert_eq!(call(&mia).verdict(), "ok");
    assert_eq!(list(&mia, Era::Modern), known);
    assert_eq!(list(&nora, Era::Modern), ["help"]);
}
