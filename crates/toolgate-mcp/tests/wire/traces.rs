//! What is over leaves nothing behind: no task, no watch.

use std::{sync::atomic::Ordering, time::Duration};

use serde_json::json;
use tokio::{runtime::Handle, time};

use crate::{
    events::{events, next},
    house::Site,
    lines::Client,
    requests::{Ask, able, initialize, legacy, modern},
};

/// Tasks that are there once everything that could end has.
async fn tasks() -> usize {
    time::sleep(Duration::from_secs(1)).await;
    Handle::current().metrics().num_alive_tasks()
}

#[tokio::test(start_paused = true)]
async fn a_question_that_was_answered_leaves_no_task() {
    let site = Site::new();
    let before = tasks().await;
    for tool in ["ask_elicitation", "ask_writing"] {
        let asked = modern("tools/call", json!({"name": tool, "_meta": able()})).post(&site).await.result();
        let wrong = json!({"name": tool, "_meta": able(), "requestState": asked["requestState"]});
        let asked = modern("tools/call", wrong).post(&site).await.result();
        let back = json!({"name": tool, "_meta": able(), "requestState": asked["requestState"],
            "inputResponses": {"1": "yes"}});
        assert_eq!(modern("tools/call", back).post(&site).await.result()["resultType"], "complete");
        assert_eq!(tasks().await, before, "{tool}, newer");
        let session = initialize(&site, None, json!({"elicitation": {}})).await;
        let mut stream = events(legacy("tools/call", json!({"name": tool})).session(&session).reply(&site).await);
        let id = next(&mut stream).await.unwrap()["id"].clone();
        let response = json!({"jsonrpc": "2.0", "id": id, "result": {}}).to_string();
        assert_eq!(Ask::of(response).session(&session).post(&site).await.status, 202);
        next(&mut stream).await.unwrap();
        assert_eq!(tasks().await, before, "{tool}, older");
    }
}

#[tokio::test(start_paused = true)]
async fn who_hangs_up_leaves_neither_task_nor_watch() {
    let site = Site::new();
    let before = tasks().await;
    let wish = json!({"notifications": {"resourceSubscriptions": ["file:///open", "note://7"]}});
    let mut stream = events(modern("subscriptions/listen", wish).reply(&site).await);
    next(&mut stream).await.unwrap();
    assert!(tasks().await > before);
    drop(stream);
    assert_eq!(tasks().await, before);

    let session = initialize(&site, None, json!({})).await;
    let subscribe = legacy("resources/subscribe", json!({"uri": "file:///open"})).session(&session);
    subscribe.post(&site).await.result();
    let get = Ask::of("").without("content-type").set("accept", "text/event-stream").session(&session);
    drop(events(get.get(&site).await));
    assert_eq!(get.delete(&site).await.status, 204);
    assert_eq!(tasks().await, before);

    let mut client = Client::new(&site, None);
    client.ask(1, "initialize", json!({"protocolVersion": "2025-11-25"})).await;
    client.hear().await.unwrap();
    client.say(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#).await;
    client.ask(2, "resources/subscribe", json!({"uri": "file:///open"})).await;
    client.hear().await.unwrap();
    let Client { session, lines } = client;
    session.finish(Duration::ZERO).await;
    drop(lines);
    assert_eq!(tasks().await, before);
    assert_eq!(site.fixture.unwatched.load(Ordering::SeqCst), 4);
}
