//! A change made on one replica holds on the other with its very next list and call, and is told to whom it concerns.

use serde_json::{Value, json};

use super::bed::{
    database::Database,
    events::Events,
    home::Home,
    http::Request,
    message::{Era, Message},
    served::Served,
};

const CONFIG: &str = "[packs.admin]\n[packs.gate]\n[packs.todo]\n";
const CHANGED: &str = "notifications/tools/list_changed";

struct Pair {
    first: Served,
    second: Served,
    home: Home,
    operator: String,
    _other: Home,
    _database: Database,
}

impl Pair {
    /// Acme with Ada and Mel, Beta with Bob.
    fn new() -> Self {
        let database = Database::create();
        let (home, other) = (Home::with(CONFIG).on(&database.url()), Home::with(CONFIG).on(&database.url()));
        let (first, second) = (home.serve(), other.serve());
        let operator = home.mint("--user olga --operator");
        let pair = Self { first, second, home, operator, _other: other, _database: database };
        pair.on_first("POST", "/admin/tenants", json!({"id": "acme", "owner": "ada"}));
        pair.on_first("POST", "/admin/tenants", json!({"id": "beta", "owner": "bob"}));
        pair.on_first("PUT", "/admin/tenants/acme/members/mel", json!({"role": "member"}));
        pair.on_first("PUT", "/admin/tenants/beta/members/ben", json!({"role": "member"}));
        pair
    }

    /// Changes something over HTTP on the first replica.
    fn on_first(&self, method: &str, path: &str, body: Value) {
        let path = format!("/api/v1{path}");
        let request = Request { method: method.to_owned(), path, ..Request::json(body.to_string()) };
        let answer = self.first.send(&request.bearer(&self.operator));
        assert_eq!(answer.status, 200, "{}", answer.text());
        assert_eq!(answer.message()["data"]["changed"], true, "{}", answer.text());
    }

    /// What a caller gets on the second one: whether the tool is on its list, and what a call comes to.
    fn on_second(&self, token: &str, tool: &str) -> (bool, String) {
        let listed = self.second.ask(&Message::list(Era::Modern).bearer(token)).tools().contains(&tool.to_owned());
        let call = Message::call(Era::Modern, tool, json!({"title": "x"})).bearer(token);
        (listed, self.second.ask(&call).verdict())
    }
}

fn is(listed: bool, verdict: &str) -> (bool, String) {
    (listed, verdict.to_owned())
}

#[test]
fn the_very_next_list_and_call_on_another_replica_follow() {
    let pair = Pair::new();
    let (mel, ben) = (pair.home.mint("--user mel"), pair.home.mint("--user ben"));
    for round in 0..3 {
        assert_eq!(pair.on_second(&mel, "add_task"), is(true, "ok"), "{round}");
        assert_eq!(pair.on_second(&ben, "add_task"), is(true, "ok"));
        // an override
        let off = json!({"tool_name": "add_task", "is_enabled": false});
        pair.on_first("POST", "/admin/tools/tenant/acme/override", off);
        assert_eq!(pair.on_second(&mel, "add_task"), is(false, "disabled_for_tenant"));
        assert_eq!(pair.on_second(&ben, "add_task"), is(true, "ok"));
        pair.on_first("DELETE", "/admin/tools/tenant/acme/override/add_task", json!({}));
        assert_eq!(pair.on_second(&mel, "add_task"), is(true, "ok"));
        // a plan
        pair.on_first("PUT", "/admin/tools/catalog/add_task", json!({"min_plan": "professional"}));
        assert_eq!(pair.on_second(&mel, "add_task"), is(false, "plan_restricted"));
        pair.on_first("PATCH", "/admin/tenants/acme", json!({"plan": "professional"}));
        assert_eq!(pair.on_second(&mel, "add_task"), is(true, "ok"));
        assert_eq!(pair.on_second(&ben, "add_task"), is(false, "plan_restricted"));
        pair.on_first("PATCH", "/admin/tenants/acme", json!({"plan": "starter"}));
        assert_eq!(pair.on_second(&mel, "add_task"), is(false, "plan_restricted"));
        pair.on_first("DELETE", "/admin/tools/catalog/add_task", json!({}));
        // a role, and a member who goes
        assert_eq!(pair.on_second(&mel, "admin_get_tenant"), is(false, "-32602"));
        pair.on_first("PUT", "/admin/tenants/acme/members/mel", json!({"role": "admin"}));
        let own = pair.second.ask(&Message::call(Era::Modern, "admin_get_tenant", json!({})).bearer(&mel)).result();
        assert_eq!(own["structuredContent"]["tenant"]["id"], "acme");
        pair.on_first("DELETE", "/admin/tenants/acme/members/mel", json!({}));
        assert_eq!(pair.on_second(&mel, "admin_get_tenant"), is(false, "-32602"));
        pair.on_first("PUT", "/admin/tenants/acme/members/mel", json!({"role": "member"}));
        // a tool for everybody
        pair.on_first("PUT", "/admin/tools/global-disabled/add_task", json!({}));
        assert_eq!(pair.on_second(&mel, "add_task"), is(false, "globally_disabled"));
        assert_eq!(pair.on_second(&ben, "add_task"), is(false, "globally_disabled"));
        pair.on_first("DELETE", "/admin/tools/global-disabled/add_task", json!({}));
    }
}

#[test]
fn a_change_is_told_to_whom_it_concerns_and_to_nobody_else() {
    let pair = Pair::new();
    let listen = |token: Option<&str>| -> Events {
        let listen = Message::new(Era::Modern, "subscriptions/listen")
            .param("notifications", json!({"toolsListChanged": true}))
            .id(json!("sub"));
        let listen = token.iter().fold(listen, |listen, token| listen.bearer(token));
        let mut events = pair.second.open(&listen.request());
        assert_eq!(events.method(), "notifications/subscriptions/acknowledged");
        events
    };
    let (mel, ben) = (pair.home.mint("--user mel"), pair.home.mint("--user ben"));
    let (mut mel, mut ben, stranger) = (listen(Some(&mel)), listen(Some(&ben)), listen(None));
    pair.on_first("POST", "/admin/tools/tenant/acme/override", json!({"tool_name": "add_task", "is_enabled": false}));
    assert_eq!(mel.method(), CHANGED);
    pair.on_first("PUT", "/admin/tenants/acme/members/mel", json!({"role": "admin"}));
    assert_eq!(mel.method(), CHANGED);
    // a tenant's name is on nobody's list
    pair.on_first("PATCH", "/admin/tenants/acme", json!({"name": "Acme Inc."}));
    pair.on_first("PUT", "/admin/tools/global-disabled/delete_task", json!({}));
    assert_eq!(mel.method(), CHANGED);
    assert_eq!(ben.method(), CHANGED, "the first that concerns Beta");
    pair.second.terminate();
    let farewell = ["notifications/cancelled", "result"];
    assert_eq!(mel.rest(), farewell);
    assert_eq!(ben.rest(), farewell);
    assert_eq!(stranger.rest(), farewell, "a stranger's list is help, throughout");
}
