//! Replay: recorded decisions once more under other rules. What would change is said by caller and tool, what can't be known
//! is said too.

use serde_json::{Value, json, value::RawValue};
use toolgate_store::ledger::{Entry, Outcome};

use super::bed::{
    books::{Books, entry, on_both},
    home::Home,
    http::Answer,
    message::{Era, Message},
    served::Served,
};

const CONFIG: &str = r#"
rules = ["rules"]
[packs.gate]
[packs.spine]
[packs.todo]
[tools.delete_task]
approval = "required"
[tools.update_task]
permission = "admin_only"
when_denied = "hidden"
help_names = false
"#;

const NO_CHORES: &str = r#"
@id("no_chores") @code("chore") @message("Tool '{tool}' does not take chores.")
forbid (principal, action == Action::"call:add_task", resource)
when { context.arguments has title && context.arguments.title == "chore" };
"#;

const STRICTER: &str = r#"
@id("bob_lists_nothing") @message("Not for bob.")
forbid (principal, action in Action::"call", resource == Tool::"list_tasks")
when { principal has user && principal.user == "bob" };
@id("milk_is_dear") @obligation("approval") @message("Milk needs a yes.")
forbid (principal, action == Action::"call:add_task", resource)
when { context.arguments has title && context.arguments.title == "milk" };
"#;

const CONFIG_OF_TENANTS: &str = r#"
rules = ["rules"]
[packs.gate]
[packs.todo]
[packs.admin]
[tools.update_task]
when_denied = "hidden"
help_names = false
"#;

const ON_IS_HIDDEN: &str = r#"
@id("on_is_hidden") @hides("yes") @message("Switched on.")
forbid (principal, action in Action::"call", resource == Tool::"update_task")
when { context has override && context.override };
"#;

fn home() -> Home {
    let home = Home::with(CONFIG);
    home.write("rules/chores.cedar", NO_CHORES);
    home.write("next/stricter.cedar", STRICTER);
    home
}

fn call(gate: &Served, token: &str, tool: &str, arguments: Value) -> Answer {
    gate.ask(&Message::call(Era::Late, tool, arguments).bearer(token))
}

/// One call of each kind of ending.
fn a_day(home: &Home) {
    let gate = home.serve();
    let (alice, bob) = (home.mint("--user alice"), home.mint("--user bob"));
    for title in ["milk", "milk", "bread", "chore"] {
        call(&gate, &alice, "add_task", json!({ "title": title }));
    }
    call(&gate, &alice, "add_task", json!({"title": 7}));
    call(&gate, &alice, "delete_task", json!({"task_id": 1}));
    gate.ask(
        &Message::call(Era::Late, "delete_task", json!({"task_id": 1}))
            .bearer(&alice)
            .meta("toolgate/dryRun", json!(true)),
    );
    call(&gate, &alice, "update_task", json!({"task_id": 1, "title": "x"}));
    call(&gate, &alice, "no_such_tool", json!({}));
    call(&gate, &bob, "list_tasks", json!({}));
    gate.ask(&Message::call(Era::Late, "add_task", json!({"title": "stranger"})));
    let opened = call(&gate, &bob, "flow.open", json!({"name": "look", "allowlist": ["complete_task"]})).result();
    let flow = opened["structuredContent"]["flow"].clone();
    for (tool, arguments) in [("complete_task", json!({"task_id": 99})), ("add_task", json!({"title": "no"}))] {
        gate.ask(&Message::call(Era::Late, tool, arguments).bearer(&bob).meta("toolgate/flow", flow.clone()));
    }
}

#[test]
fn under_the_same_rules_nothing_changes_and_under_others_it_says_what_and_for_whom() {
    let home = home();
    a_day(&home);
    let same = home.json(&["replay"]);
    assert_eq!((&same["changes"], &same["not_redecided"]), (&json!([]), &json!([])), "{same:#}");
    assert_eq!((&same["same"], &same["changed"]), (&json!(14), &json!(0)));

    let ran = home.run(&["replay", "--rulebook", "next", "--since", "1h", "--json"]);
    assert_eq!(ran.code, Some(1), "{}", ran.err);
    let replay = ran.json();
    let change = |caller: &str, tool: &str, was: &str, would_be: &str, rule: &str, count: u32| json!({"caller": caller, "tool": tool, "was": was, "would_be": would_be, "rule": rule, "count": count});
    assert_eq!(
        replay["changes"],
        json!([
            change("user:alice", "add_task", "allowed", "needs_approval", "milk_is_dear", 2),
            change("user:alice", "add_task", "denied", "allowed", "no_chores", 1),
            change("user:bob", "list_tasks", "allowed", "denied", "bob_lists_nothing", 1),
        ])
    );
    assert_eq!((&replay["same"], &replay["changed"], &replay["undecided"]), (&json!(10), &json!(4), &json!(0)));

    let text = home.run(&["replay", "--rulebook", "next"]).out;
    assert!(text.starts_with("14 decisions again, under the shipped rules and 1 file(s): 4 would change"), "{text}");
    assert!(text.contains("user:alice  add_task    allowed → needs_approval  milk_is_dear"), "{text}");

    let of = |filter: [&str; 2]| {
        home.run(&["replay", "--rulebook", "next", filter[0], filter[1], "--json"]).json()["changed"].clone()
    };
    assert_eq!(of(["--tool", "add_task"]), 3);
    assert_eq!(of(["--principal", "user:bob"]), 1);
    assert_eq!(of(["--until", "1h"]), 0);
}

#[test]
fn what_is_not_known_any_more_is_said_and_not_guessed() {
    let home = home();
    let gate = home.serve();
    let alice = home.mint("--user alice");
    call(&gate, &alice, "add_task", json!({"title": "https://ann:hunter2hunter2@files.example"}));
    call(&gate, &alice, "list_tasks", json!({}));
    drop(gate);
    assert_eq!(home.run(&["replay", "--tool", "list_tasks"]).code, Some(0));
    let ran = home.run(&["replay", "--json"]);
    assert_eq!(ran.code, Some(1), "what could not be decided again may have changed");
    assert_eq!(ran.json()["not_redecided"][0]["why"], "input_redacted");

    home.write("toolgate.toml", "[packs.gate]\n");
    let gone = home.run(&["replay", "--json"]).json();
    assert_eq!((&gone["undecided"], &gone["changed"]), (&json!(2), &json!(0)));
    assert_eq!(gone["not_redecided"][1]["why"], "tool_gone");
    let text = home.run(&["replay"]).out;
    assert!(
        text.contains("2 can't be decided again exactly:\n  1  add_task: nothing of this name is known here now"),
        "{text}"
    );
}

fn of_a_flow(call: &str, tool: &str, actor: &str, outcome: Outcome) -> Entry {
    let actor = RawValue::from_string(actor.to_owned()).unwrap().into();
    Entry { tool: tool.into(), actor, outcome, input: None, ..entry(call, 1_767_225_600_000) }
}

on_both! {
    fn a_record_without_the_flows_list_is_decided_only_where_the_list_does_not_matter(books: Books) {
        let (old, new) = (r#"{"user":"ann","flow":{"id":"f"}}"#, r#"{"user":"ann","flow":{"id":"f","allowlist":null}}"#);
        books.record(vec![
            of_a_flow("c1", "list_tasks", old, Outcome::Answered),
            of_a_flow("c2", "list_tasks", new, Outcome::Answered),
            of_a_flow("c3", "list_tasks", r#"{"flow":{"id":"f"}}"#, Outcome::Denied),
            of_a_flow("c4", "list_tasks", "[]", Outcome::Denied),
        ]);
        let replay = books.home.run(&["replay", "--json"]).json();
        let open: Vec<_> = replay["not_redecided"].as_array().unwrap().iter().map(|open| open["why"].clone()).collect();
        assert_eq!(open, ["unreadable", "facts_not_recorded"]);
        // with a list of what flow or none, a stranger is denied and ann is not
        assert_eq!((&replay["same"], &replay["changed"]), (&json!(2), &json!(0)), "{replay:#}");
    }
}

on_both! {
    fn a_decision_is_made_again_with_the_tenant_as_it_was_and_the_catalog_as_it_is(books: Books) {
        let home = &books.home;
        home.write("toolgate.toml", CONFIG_OF_TENANTS);
        home.write("rules/hides.cedar", ON_IS_HIDDEN);
        home.json(&["tenant", "add", "acme", "--plan", "starter", "--owner", "bob"]);
        home.json(&["tenant", "member", "set", "acme", "ada", "--role", "member"]);
        home.json(&["catalog", "set", "list_tasks", "--min-plan", "professional"]);
        home.json(&["override", "set", "acme", "add_task", "off"]);
        home.json(&["override", "set", "acme", "update_task", "on"]);
        let gate = home.serve();
        let ada = home.mint("--user ada");
        for (tool, arguments) in
            [("list_tasks", json!({})), ("add_task", json!({"title": "x"})), ("update_task", json!({"id": 1}))]
        {
            call(&gate, &ada, tool, arguments);
        }
        drop(gate);
        let replayed = |filter: &[&str]| {
            let replay = home.run(&[&["replay", "--principal", "user:ada", "--json"], filter].concat()).json();
            json!([replay["same"], replay["changed"], replay["undecided"]])
        };
        assert_eq!(replayed(&["--tool", "list_tasks"]), json!([1, 0, 0]), "the catalog asks for a plan");
        // the tenant's own state is the record's, whatever became of it since
        home.json(&["override", "remove", "acme", "add_task"]);
        home.json(&["tenant", "change", "acme", "--plan", "enterprise"]);
        assert_eq!(replayed(&["--tool", "list_tasks"]), json!([1, 0, 0]), "the plan of then");
        assert_eq!(replayed(&["--tool", "add_task"]), json!([1, 0, 0]), "the override of then");
        home.json(&["catalog", "reset", "list_tasks"]);
        assert_eq!(replayed(&["--tool", "list_tasks"]), json!([0, 1, 0]), "the catalog of now");
        // what was hidden is recorded without the tenant's overrides, so that nobody can know
        let hidden = home.run(&["replay", "--tool", "update_task", "--json"]).json();
        assert_eq!(hidden["not_redecided"][0]["why"], "override_not_recorded", "{hidden:#}");
    }
}

#[test]
fn rules_that_are_not_there_or_not_right_and_places_without_a_ledger_are_said() {
    let home = home();
    let ran = home.run(&["replay", "--rulebook", "nowhere"]);
    assert_eq!(ran.code, Some(2));
    assert!(ran.err.contains("nowhere can't be read"), "{}", ran.err);
    home.write("wrong/a.cedar", "forbid (principal, action, resource) when { principal.shoe };");
    let ran = home.run(&["replay", "--rulebook", "wrong"]);
    assert_eq!(ran.code, Some(2));
    assert!(ran.err.contains("wrong/a.cedar:1"), "{}", ran.err);
    let ran = home.run(&["replay"]);
    assert_eq!(ran.code, Some(2), "no store is wrong use");
    assert!(ran.err.contains("there is no store"), "{}", ran.err);
}
