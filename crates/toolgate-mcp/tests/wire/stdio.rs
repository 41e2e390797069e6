//! One client on lines: both eras, many requests at once, cancelled ones silent.

use std::{sync::atomic::Ordering, time::Duration};

use serde_json::{Value, json};
use tokio::time;

use crate::{
    house::{Site, everything},
    lines::Client,
    requests::meta,
};

#[tokio::test]
async fn both_eras_are_served_on_one_channel() {
    let site = Site::new();
    let mut client = Client::new(&site, None);
    client.ask(1, "server/discover", json!({"_meta": meta()})).await;
    assert_eq!(client.hear().await.unwrap()["result"]["resultType"], "complete");
    client.ask(2, "initialize", json!({"protocolVersion": "2025-06-18"})).await;
    assert_eq!(client.hear().await.unwrap()["result"]["protocolVersion"], "2025-06-18");
    client.ask(3, "tools/list", json!({})).await;
    assert!(client.hear().await.unwrap()["result"].get("resultType").is_none());
    client.ask(4, "tools/list", json!({"_meta": meta()})).await;
    assert_eq!(client.hear().await.unwrap()["result"]["resultType"], "complete");
    client.ask(5, "ping", json!({})).await;
    assert_eq!(client.hear().await.unwrap()["result"], json!({}));
    client.ask(6, "ping", json!({"_meta": meta()})).await;
    assert_eq!(client.hear().await.unwrap()["error"]["code"], -32601);
    client.ask(7, "tools/list", json!({"_meta": {"io.modelcontextprotocol/protocolVersion": "2026-07-28"}})).await;
    assert_eq!(client.hear().await.unwrap()["error"]["code"], -32602);
    client.ask(8, "tools/list", json!({"_meta": {"io.modelcontextprotocol/protocolVersion": "1900-01-01"}})).await;
    assert_eq!(client.hear().await.unwrap()["error"]["code"], -32022);
}

#[tokio::test]
async fn the_sessions_token_identifies_where_a_message_has_none() {
    let site = Site::new();
    let mut client = Client::new(&site, Some("user:alice"));
    client.ask(1, "tools/call", json!({"name": "diary", "arguments": {"a": 1}})).await;
    assert_eq!(client.hear().await.unwrap()["result"]["content"][0]["text"], r#"{"a":1}"#);
    let mut stranger = Client::new(&site, None);
    stranger.ask(1, "tools/call", json!({"name": "diary"})).await;
    assert_eq!(stranger.hear().await.unwrap()["result"]["isError"], true);
}

#[tokio::test]
async fn bad_lines_are_answered_and_the_next_one_is_read() {
    let site = Site::with(|config| config.limits.body_bytes = 500);
    let mut client = Client::new(&site, None);
    for (line, code) in
        [("{", -32700), ("[]", -32600), (&*" ".repeat(400), 0), (&*format!("\"{}\"", "x".repeat(600)), -32600)]
    {
        client.say(line).await;
        if code != 0 {
            assert_eq!(client.hear().await.unwrap()["error"]["code"], code, "{line}");
        }
    }
    client.say(r#"{"jsonrpc":"2.0","id":9,"result":{}}"#).await;
    client.ask(1, "ping", json!({})).await;
    assert_eq!(client.hear().await.unwrap()["id"], 1);
}

#[tokio::test]
async fn requests_run_side_by_side_and_a_cancelled_one_stays_silent() {
    let site = Site::new();
    let mut client = Client::new(&site, None);
    client.ask(1, "tools/call", json!({"name": "forever"})).await;
    client.ask(2, "tools/call", json!({"name": "echo"})).await;
    assert_eq!(client.hear().await.unwrap()["id"], 2);
    client.say(json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 99}})).await;
    client.say(json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}})).await;
    time::timeout(Duration::from_secs(5), async {
        while site.fixture.dropped.load(Ordering::SeqCst) == 0 {
            time::sleep(Duration::from_millis(1)).await;
        }
    })
    .await
    .unwrap();
    client.ask(3, "ping", json!({})).await;
    assert_eq!(client.hear().await.unwrap()["id"], 3, "nothing is said of request 1");
}

#[tokio::test]
async fn progress_comes_as_lines_before_the_answer() {
    let site = Site::new();
    let mut client = Client::new(&site, None);
    client.ask(1, "tools/call", json!({"name": "steps", "_meta": {"progressToken": 7}})).await;
    for step in 1..=3 {
        let note = client.hear().await.unwrap();
        assert_eq!(note["params"], json!({"progressToken": 7, "progress": step, "total": 3}));
    }
    assert_eq!(client.hear().await.unwrap()["id"], 1);
}

#[tokio::test]
async fn changes_are_told_to_subscribers_and_to_initialized_clients() {
    let site = Site::new();
    let fewer = || everything().into_iter().skip(1).collect();
    let mut modern = Client::new(&site, None);
    modern.ask(5, "subscriptions/listen", json!({"_meta": meta(), "notifications": {"toolsListChanged": true}})).await;
    assert_eq!(modern.hear().await.unwrap()["method"], "notifications/subscriptions/acknowledged");
    let mut legacy = Client::new(&site, None);
    legacy.ask(1, "initialize", json!({"protocolVersion": "2025-11-25"})).await;
    legacy.hear().await.unwrap();
    legacy.say(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#).await;
    legacy.ask(2, "ping", json!({})).await;
    legacy.hear().await.unwrap();
    site.replace(fewer(), 1000);
    let told = modern.hear().await.unwrap();
    assert_eq!(told["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"], 5);
    assert_eq!(legacy.hear().await.unwrap()["method"], "notifications/tools/list_changed");
    modern.say(json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 5}})).await;
    site.replace(everything(), 1000);
    modern.ask(6, "tools/list", json!({"_meta": meta()})).await;
    assert_eq!(modern.hear().await.unwrap()["id"], 6, "a cancelled subscription is silent");
}

#[tokio::test]
async fn the_end_of_input_lets_calls_finish_and_then_ends_everything() {
    let site = Site::new();
    let mut client = Client::new(&site, None);
    client.ask(1, "tools/call", json!({"name": "steps"})).await;
    client.ask(2, "subscriptions/listen", json!({"_meta": meta(), "notifications": {}})).await;
    client.ask(3, "tools/call", json!({"name": "forever"})).await;
    let Client { session, mut lines } = client;
    session.finish(Duration::from_millis(200)).await;
    let mut ids = Vec::new();
    while let Some(line) = lines.recv().await {
        let message: Value = serde_json::from_slice(&line).unwrap();
        ids.extend(message["id"].as_u64());
    }
    assert_eq!(ids, [1]);
}
