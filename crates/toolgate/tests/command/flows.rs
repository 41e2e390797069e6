//! Flows that the configuration names: what they allow stands there, whoever opens them.

use serde_json::{Value, json};

use super::bed::{
    home::Home,
    http::Request,
    message::{Era, Message},
};

const CONFIG: &str = "[packs.spine]\n[packs.todo]\n
[tools.delete_task]\npermission = \"admin_only\"\nwhen_denied = \"hidden\"\n
[flows.tidy-up]\nallowlist = [\"list_tasks\", \"complete_task\", \"delete_task\"]\nttl = \"10m\"\n
[flows.look]\nallowlist = []\n";

fn home() -> Home {
    Home::with(CONFIG)
}

#[test]
fn a_flow_of_a_configured_name_allows_what_stands_there() {
    let home = home();
    let gate = home.serve();
    let alice = home.mint("--user alice");
    let open = |asked: Value| {
        let opened = gate.ask(&Message::call(Era::Modern, "flow_open", asked).bearer(&alice)).result();
        opened["structuredContent"].clone()
    };
    let opened = open(json!({"name": "tidy-up", "ttl": 86_400}));
    assert_eq!(
        opened["allowlist"],
        json!(["complete_task", "list_tasks"]),
        "what is hidden from her is not named to her"
    );
    let long = open(json!({"name": "other", "ttl": 86_400}))["expires"].as_i64().unwrap();
    assert!(opened["expires"].as_i64().unwrap() < long - 80_000_000, "no longer than is configured");
    let within = |message: Message| message.meta("toolgate/flow", opened["flow"].clone()).bearer(&alice);
    assert_eq!(gate.ask(&within(Message::list(Era::Modern))).tools(), ["complete_task", "list_tasks"]);
    let added = gate.ask(&within(Message::call(Era::Modern, "add_task", json!({"title": "x"}))));
    assert_eq!(added.verdict(), "not_in_allowlist");

    let narrower = open(json!({"name": "tidy-up", "allowlist": ["list_tasks", "add_task"]}));
    assert_eq!(narrower["allowlist"], json!(["list_tasks"]), "a list that is given only narrows");
    assert_eq!(open(json!({"name": "look"}))["allowlist"], json!([]));
    assert_eq!(open(json!({"name": "other"})).get("allowlist"), None);
}

#[test]
fn a_token_for_a_configured_flow_carries_its_list() {
    let home = home();
    let gate = home.serve();
    let token = home.mint("--user alice --flow tidy-up");
    assert_eq!(gate.ask(&Message::list(Era::Modern).bearer(&token)).tools(), ["complete_task", "list_tasks"]);
    let own = home.mint("--user alice --flow tidy-up --allow add_task");
    assert_eq!(gate.ask(&Message::list(Era::Modern).bearer(&own)).tools(), [""; 0], "no more than is configured");
    let refused = gate.ask(&Message::call(Era::Modern, "add_task", json!({"title": "x"})).bearer(&own));
    assert_eq!(refused.verdict(), "not_in_allowlist");
    drop(gate);
    home.write("toolgate.toml", &CONFIG.replace("\"list_tasks\", \"complete_task\", ", "\"list_tasks\", "));
    let gate = home.serve();
    let narrowed = gate.ask(&Message::list(Era::Modern).bearer(&token)).tools();
    assert_eq!(narrowed, ["list_tasks"], "to narrow the flow is to narrow its tokens");
}

#[test]
fn a_token_for_a_configured_flow_is_narrowed_over_rest_as_over_mcp() {
    let home = Home::with("[packs.admin]\n[packs.gate]\n[flows.look]\nallowlist = [\"admin_list_tenants\"]\n");
    let gate = home.serve();
    let token = home.mint("--user olga --operator --flow look --allow admin_list_tenants --allow admin_create_tenant");
    let made = json!({"id": "acme", "owner": "ada"});
    let called = gate.ask(&Message::call(Era::Modern, "admin_create_tenant", made.clone()).bearer(&token));
    assert_eq!(called.verdict(), "not_in_allowlist");
    let send = |method: &str, body: &Value| {
        let path = "/api/v1/admin/tenants".to_owned();
        gate.send(&Request { method: method.to_owned(), path, ..Request::json(body.to_string()) }.bearer(&token))
    };
    let refused = send("POST", &made);
    assert_eq!(
        (refused.status, refused.message()["code"].as_str()),
        (403, Some("not_in_allowlist")),
        "{}",
        refused.text()
    );
    let listed = send("GET", &Value::Null);
    assert_eq!(listed.status, 200, "{}", listed.text());
}

#[test]
fn a_flow_that_can_not_be_followed_is_refused_with_the_fix() {
    for (wrong, told) in [
        ("allowlist = [\"list_task\"]", "list_tasks"),
        ("ttl = \"soon\"", "write 90s, 15m, 1h or 7d"),
        ("allow = []", "allowlist"),
    ] {
        let home = Home::with(&format!("[packs.todo]\n[flows.x]\n{wrong}\n"));
        let ran = home.run(&["check"]);
        assert_eq!(ran.code, Some(1), "{wrong}");
        assert!(format!("{}{}", ran.out, ran.err).contains(told), "{wrong}: {}{}", ran.out, ran.err);
    }
}
