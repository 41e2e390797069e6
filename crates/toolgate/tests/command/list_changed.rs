//! Who listens hears of a change of its own list, and of no other.

use serde_json::json;

use super::bed::{
    events::Events,
    home::Home,
    http::Request,
    message::{Era, Message},
    served::Served,
};

const CHANGED: &str = "notifications/tools/list_changed";
const CONFIG: &str = "[packs.gate]\n[packs.todo]\n";

/// A stranger's list is `help` alone.
fn change(home: &Home, disabled: &[&str]) {
    home.write("toolgate.toml", &format!("disabled_tools = {disabled:?}\n{CONFIG}"));
}

fn subscription(token: Option<&str>, filter: serde_json::Value) -> Request {
    let listen = Message::new(Era::Modern, "subscriptions/listen").param("notifications", filter).id(json!("sub-1"));
    token.iter().fold(listen, |listen, token| listen.bearer(token)).request()
}

fn stream(gate: &Served, token: Option<&str>) -> Events {
    let initialize = token.iter().fold(Message::initialize(Era::Late), |ask, token| ask.bearer(token));
    let session = gate.ask(&initialize).header("mcp-session-id").unwrap().to_owned();
    let request = Request::new("GET", "/mcp")
        .header("Accept", "text/event-stream")
        .header("MCP-Protocol-Version", Era::Late.version())
        .header("Mcp-Session-Id", &session);
    let events = gate.open(&token.iter().fold(request, |request, token| request.bearer(token)));
    assert_eq!(events.status, 200);
    events
}

#[test]
fn a_subscription_hears_of_changes_of_its_own_list_only() {
    let home = Home::with(CONFIG);
    let gate = home.serve();
    let token = home.mint("--user alice");
    let mut alice = gate.open(&subscription(Some(&token), json!({"toolsListChanged": true})));
    let mut stranger = gate.open(&subscription(None, json!({"toolsListChanged": true})));
    let mut deaf = gate.open(&subscription(Some(&token), json!({})));
    let acknowledged = alice.next().unwrap();
    assert_eq!(acknowledged["method"], "notifications/subscriptions/acknowledged");
    assert_eq!(acknowledged["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"], "sub-1");
    assert_eq!(acknowledged["params"]["notifications"], json!({"toolsListChanged": true}));
    assert_eq!(stranger.method(), "notifications/subscriptions/acknowledged");
    assert_eq!(deaf.next().unwrap()["params"]["notifications"], json!({}));

    change(&home, &["add_task"]);
    let changed = alice.next().unwrap();
    assert_eq!(changed["method"], CHANGED);
    assert_eq!(changed["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"], "sub-1");
    // concerns both; what the stranger hears first must be this one
    change(&home, &["add_task", "help"]);
    assert_eq!(alice.method(), CHANGED);
    assert_eq!(stranger.method(), CHANGED);
    gate.terminate();
    let farewell = ["notifications/cancelled", "result"];
    assert_eq!(alice.rest(), farewell);
    assert_eq!(stranger.rest(), farewell, "the stranger heard of one change only");
    assert_eq!(deaf.rest(), farewell, "who asked for nothing hears nothing");
    assert_eq!(gate.ended().code, Some(0));
}

#[test]
fn a_legacy_stream_hears_of_changes_of_its_own_list_only() {
    let home = Home::with(CONFIG);
    let gate = home.serve();
    let token = home.mint("--user alice");
    let (mut alice, mut stranger) = (stream(&gate, Some(&token)), stream(&gate, None));
    change(&home, &["add_task"]);
    assert_eq!(alice.next(), Some(json!({"jsonrpc": "2.0", "method": CHANGED})));
    change(&home, &["add_task", "help"]);
    assert_eq!(alice.method(), CHANGED);
    assert_eq!(stranger.method(), CHANGED);
    gate.terminate();
    assert_eq!(alice.rest(), [""; 0]);
    assert_eq!(stranger.rest(), [""; 0], "the stranger heard of one change only");
    assert_eq!(gate.ended().code, Some(0));
}

#[test]
fn a_change_that_changes_no_list_is_no_news() {
    let home = Home::with(CONFIG);
    let gate = home.serve();
    let mut stranger = gate.open(&subscription(None, json!({"toolsListChanged": true})));
    assert_eq!(stranger.method(), "notifications/subscriptions/acknowledged");
    home.write("toolgate.toml", &format!("plans = [\"free\", \"paid\"]\n{CONFIG}"));
    gate.logs("the configuration was reloaded");
    gate.terminate();
    assert_eq!(stranger.rest(), ["notifications/cancelled", "result"]);
}

#[test]
fn a_session_that_is_ended_ends_its_stream() {
    let home = Home::with(CONFIG);
    let gate = home.serve();
    let token = home.mint("--user alice");
    let session =
        gate.ask(&Message::initialize(Era::Early).bearer(&token)).header("mcp-session-id").unwrap().to_owned();
    let with_session = |method: &str| Request::new(method, "/mcp").header("Mcp-Session-Id", &session).bearer(&token);
    let mut events = gate.open(&with_session("GET").header("Accept", "text/event-stream"));
    assert_eq!(events.status, 200);
    assert_eq!(gate.send(&with_session("DELETE")).status, 204);
    // the stream looks again when something changes
    change(&home, &["help"]);
    while let Some(message) = events.next() {
        assert_eq!(message["method"], CHANGED);
    }
    assert_eq!(gate.ask(&Message::list(Era::Early).header("Mcp-Session-Id", &session).bearer(&token)).status, 404);
}
