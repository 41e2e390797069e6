//! Streams: progress before an answer, and changes to the caller's own list.

use std::{sync::atomic::Ordering, time::Duration};

use serde_json::json;
use tokio::time;
use toolgate_core::Tool;

use crate::{
    events::{events, next},
    house::{Site, everything},
    requests::{Ask, Got, initialize, legacy, modern},
};

const ID: &str = "io.modelcontextprotocol/subscriptionId";

fn listen() -> Ask {
    modern("subscriptions/listen", json!({"notifications": {"toolsListChanged": true, "unheardOf": true}}))
}

fn without(name: &str) -> Vec<Tool> {
    everything().into_iter().filter(|tool| tool.name.as_str() != name).collect()
}

#[tokio::test]
async fn progress_comes_before_the_answer_under_the_clients_token() {
    let site = Site::new();
    for ask in [modern, legacy] {
        let got = ask("tools/call", json!({"name": "steps", "_meta": {"progressToken": "p\"1"}})).post(&site).await;
        assert_eq!(got.header("content-type"), "text/event-stream");
        assert_eq!(got.header("x-accel-buffering"), "no");
        let events = got.events();
        let notes: Vec<_> = events.iter().filter(|event| event["method"] == "notifications/progress").collect();
        assert_eq!(notes.len(), 3);
        for (note, step) in notes.iter().zip(1..) {
            assert_eq!(note["params"], json!({"progressToken": "p\"1", "progress": step, "total": 3}));
        }
        assert_eq!(events[3]["id"], 1);
        assert_eq!(events[3]["result"]["content"][0]["text"], "done");
    }
}

#[tokio::test]
async fn without_a_token_or_a_taste_for_events_the_answer_is_plain() {
    let site = Site::new();
    let plain = modern("tools/call", json!({"name": "steps"})).post(&site).await;
    assert_eq!(plain.header("content-type"), "application/json");
    let ask =
        legacy("tools/call", json!({"name": "steps", "_meta": {"progressToken": 1}})).set("accept", "application/json");
    assert_eq!(ask.post(&site).await.header("content-type"), "application/json");
    let quiet = modern("tools/call", json!({"name": "echo", "_meta": {"progressToken": 1}})).post(&site).await;
    assert_eq!(quiet.header("content-type"), "application/json", "no progress, no stream");
}

#[tokio::test]
async fn hanging_up_cancels_a_modern_call() {
    let site = Site::new();
    let ask = modern("tools/call", json!({"name": "forever", "_meta": {"progressToken": 1}}));
    let mut stream = events(ask.reply(&site).await);
    assert_eq!(next(&mut stream).await.unwrap()["method"], "notifications/progress");
    assert_eq!(site.fixture.dropped.load(Ordering::SeqCst), 0);
    drop(stream);
    time::timeout(Duration::from_secs(5), async {
        while site.fixture.dropped.load(Ordering::SeqCst) == 0 {
            time::sleep(Duration::from_millis(1)).await;
        }
    })
    .await
    .unwrap();
}

#[tokio::test(start_paused = true)]
async fn an_older_call_is_called_off_by_its_own_session_alone_and_gets_no_answer() {
    let site = Site::new();
    let alices = initialize(&site, Some("user:alice"), json!({})).await;
    let others = initialize(&site, Some("user:alice"), json!({})).await;
    let cancel = |session: &str, token: &str, id: u32| {
        let params = json!({"requestId": id, "reason": "enough"});
        let cancelled = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params});
        Ask::of(cancelled.to_string()).session(session).bearer(token)
    };
    let call = |meta: serde_json::Value| {
        legacy("tools/call", json!({"name": "forever", "_meta": meta})).session(&alices).bearer("user:alice")
    };
    let mut stream = events(call(json!({"progressToken": 1})).reply(&site).await);
    assert_eq!(next(&mut stream).await.unwrap()["method"], "notifications/progress");
    assert_eq!(cancel(&alices, "user:bob", 1).post(&site).await.status, 404, "not bob's session");
    for harmless in [cancel(&others, "user:alice", 1), cancel(&alices, "user:alice", 2)] {
        assert_eq!(harmless.post(&site).await.status, 202);
    }
    time::sleep(Duration::from_secs(1)).await;
    assert_eq!(site.fixture.dropped(), 0);
    assert_eq!(cancel(&alices, "user:alice", 1).post(&site).await.status, 202);
    assert_eq!(stream.recv().await, None, "the stream ends without an answer");
    assert_eq!(site.fixture.dropped(), 1);
    // before anything was said, and where nothing can be
    for (accept, status) in [("application/json, text/event-stream", 200), ("application/json", 202)] {
        let quiet = call(json!({})).set("accept", accept);
        let (got, ()) = tokio::join!(quiet.post(&site), async {
            time::sleep(Duration::from_secs(1)).await;
            assert_eq!(cancel(&alices, "user:alice", 1).post(&site).await.status, 202);
        });
        assert_eq!((got.status, got.body.as_str()), (status, ""));
    }
    assert_eq!(site.fixture.dropped(), 3);
}

#[tokio::test(start_paused = true)]
async fn a_subscription_is_acknowledged_first_and_kept_alive() {
    let site = Site::new();
    let mut stream = events(listen().reply(&site).await);
    let first = next(&mut stream).await.unwrap();
    assert_eq!(first["method"], "notifications/subscriptions/acknowledged");
    assert_eq!(first["params"], json!({"_meta": {ID: 1}, "notifications": {"toolsListChanged": true}}));
    let begun = time::Instant::now();
    assert_eq!(stream.recv().await.unwrap(), ":\n\n");
    assert_eq!(begun.elapsed().as_secs(), 15);
    assert_eq!(stream.recv().await.unwrap(), ":\n\n");
    assert_eq!(begun.elapsed().as_secs(), 30);
}

#[tokio::test(start_paused = true)]
async fn only_those_whose_list_changed_are_told() {
    let site = Site::new();
    let mut stranger = events(listen().reply(&site).await);
    let mut alice = events(listen().bearer("user:alice").reply(&site).await);
    for stream in [&mut stranger, &mut alice] {
        next(stream).await.unwrap();
    }
    site.replace(without("hidden"), 1000);
    let told = next(&mut alice).await.unwrap();
    assert_eq!(
        told,
        json!({"jsonrpc": "2.0", "method": "notifications/tools/list_changed", "params": {"_meta": {ID: 1}}})
    );
    assert_eq!(next(&mut alice).await, None, "once");
    assert_eq!(next(&mut stranger).await, None);
    site.replace(without("hidden"), 1000);
    assert_eq!(next(&mut alice).await, None, "a new revision with the same list is no change");
}

#[tokio::test(start_paused = true)]
async fn a_revoked_caller_is_told_that_its_list_changed_and_its_stream_ends() {
    let site = Site::new();
    let mut alice = events(listen().bearer("user:alice").reply(&site).await);
    next(&mut alice).await.unwrap();
    site.names.revoked.lock().unwrap().insert("user:alice".to_owned());
    assert_eq!(next(&mut alice).await.unwrap()["method"], "notifications/tools/list_changed");
    assert_eq!(next(&mut alice).await.unwrap()["method"], "notifications/cancelled");
    assert_eq!(next(&mut alice).await.unwrap()["id"], 1);
    assert!(alice.recv().await.is_none(), "the stream is closed");
}

#[tokio::test(start_paused = true)]
async fn a_caller_who_can_not_be_identified_is_told_later() {
    let site = Site::new();
    let mut alice = events(listen().bearer("user:alice").reply(&site).await);
    next(&mut alice).await.unwrap();
    site.names.out_of_order.store(true, Ordering::SeqCst);
    site.replace(without("hidden"), 1000);
    assert_eq!(next(&mut alice).await, None, "who can't be identified is told nothing");
    site.names.out_of_order.store(false, Ordering::SeqCst);
    assert_eq!(next(&mut alice).await.unwrap()["method"], "notifications/tools/list_changed");
}

#[tokio::test(start_paused = true)]
async fn types_not_asked_for_are_not_sent() {
    let site = Site::new();
    let ask = modern("subscriptions/listen", json!({"notifications": {"promptsListChanged": true}}));
    let mut stream = events(ask.reply(&site).await);
    assert_eq!(next(&mut stream).await.unwrap()["params"]["notifications"], json!({"promptsListChanged": true}));
    site.replace(without("echo"), 1000);
    assert_eq!(next(&mut stream).await, None);
    let bad = modern("subscriptions/listen", json!({})).post(&site).await;
    assert_eq!(bad.error(), (400, -32602));
}

#[tokio::test(start_paused = true)]
async fn going_down_ends_subscriptions_in_good_order() {
    let site = Site::new();
    let reply = listen().reply(&site).await;
    let down = site.down.clone();
    tokio::spawn(async move {
        time::sleep(Duration::from_secs(1)).await;
        down.send(true).unwrap();
    });
    let events = Got::of(reply).await.events();
    assert_eq!(events[1]["method"], "notifications/cancelled");
    assert_eq!(events[1]["params"]["requestId"], 1);
    assert_eq!(events[1]["params"]["_meta"], json!({ID: 1}));
    assert_eq!(events[2], json!({"jsonrpc": "2.0", "id": 1, "result": {"resultType": "complete", "_meta": {ID: 1}}}));
}

#[tokio::test(start_paused = true)]
async fn a_legacy_session_has_its_stream() {
    let site = Site::new();
    let opened = legacy("initialize", json!({"protocolVersion": "2025-06-18"})).bearer("user:alice").post(&site).await;
    let session = opened.header("mcp-session-id");
    let ask = Ask::of("").without("content-type").set("accept", "text/event-stream").session(session);
    assert_eq!(ask.clone().bearer("user:bob").get(&site).await.status, 404);
    let mut stream = events(ask.clone().bearer("user:alice").get(&site).await);
    site.replace(without("hidden"), 1000);
    assert_eq!(
        next(&mut stream).await.unwrap(),
        json!({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"})
    );
    assert_eq!(ask.bearer("user:alice").delete(&site).await.status, 204);
    assert_eq!(
        time::timeout(Duration::from_secs(100), async { while stream.recv().await.is_some() {} }).await,
        Ok(()),
        "ended with its session"
    );
}

#[tokio::test(start_paused = true)]
async fn a_change_that_concerns_every_stream_is_looked_at_by_a_few_at_a_time() {
    let site = Site::new();
    let mut streams = Vec::new();
    for _ in 0..200 {
        let mut stream = events(listen().bearer("user:alice").reply(&site).await);
        next(&mut stream).await.unwrap();
        streams.push(stream);
    }
    site.names.most_at_once.store(0, Ordering::SeqCst);
    site.replace(without("hidden"), 1000);
    for stream in &mut streams {
        assert_eq!(next(stream).await.unwrap()["method"], "notifications/tools/list_changed");
    }
    let most = site.names.most_at_once.load(Ordering::SeqCst);
    assert!((2..=32).contains(&most), "{most} at once");
}

#[tokio::test(start_paused = true)]
async fn the_stream_of_an_anonymous_caller_ends_after_a_while_and_that_of_others_does_not() {
    let site = Site::new();
    let mut stranger = events(listen().reply(&site).await);
    let mut alice = events(listen().bearer("user:alice").reply(&site).await);
    for stream in [&mut stranger, &mut alice] {
        next(stream).await.unwrap();
    }
    let ended = time::timeout(Duration::from_secs(601), async { while stranger.recv().await.is_some() {} }).await;
    assert_eq!(ended, Ok(()));
    site.replace(without("hidden"), 1000);
    assert_eq!(next(&mut alice).await.unwrap()["method"], "notifications/tools/list_changed");
}
