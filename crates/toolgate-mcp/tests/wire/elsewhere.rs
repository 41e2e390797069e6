//! Clients that are sent to an address: in each era by its own words, and told that they have been there where there is a word.

use bytes::Bytes;
use serde_json::{Value, json};
use tokio::sync::mpsc;

use crate::{
    events::{events, next},
    house::Site,
    lines::Client,
    requests::{Ask, Got, can, initialize, legacy, modern},
    source::{ADDRESS, seen},
};

fn by_address() -> Value {
    json!({"elicitation": {"url": {}}})
}

fn addresses() -> Value {
    json!({"elicitations": [{"mode": "url", "elicitationId": "e", "url": "https://example.com", "message": "go"}], "odd": 1.5})
}

fn call(session: &str, name: &str, arguments: Value) -> Ask {
    legacy("tools/call", json!({"name": name, "arguments": arguments})).session(session)
}

fn newer(name: &str, arguments: Value, more: Value, capabilities: Value) -> Ask {
    let mut params = json!({"name": name, "arguments": arguments, "_meta": can(capabilities)});
    params.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    modern("tools/call", params)
}

fn ended(name: &str) -> Value {
    let params = json!({"elicitationId": name, "odd": 1.5});
    json!({"jsonrpc": "2.0", "method": "notifications/elicitation/complete", "params": params})
}

async fn stream_of(session: &str, token: &str, site: &Site) -> mpsc::Receiver<Bytes> {
    let ask = Ask::of("").session(session).bearer(token).set("accept", "text/event-stream");
    events(ask.get(site).await)
}

#[tokio::test(start_paused = true)]
async fn an_older_client_gets_the_error_as_it_is_and_hears_of_the_end_on_its_own_stream() {
    let site = Site::new();
    let alices = initialize(&site, Some("user:alice"), by_address()).await;
    let others = initialize(&site, Some("user:alice"), by_address()).await;
    let bobs = initialize(&site, Some("user:bob"), by_address()).await;
    let got = call(&alices, "elsewhere", addresses()).bearer("user:alice").post(&site).await;
    assert_eq!((got.error(), got.json()["error"]["data"].clone()), ((200, -32042), addresses()));
    // before there is a stream, and while there is one
    assert!(site.fixture.ended("e"));
    let mut stream = stream_of(&alices, "user:alice", &site).await;
    let mut silent = [stream_of(&others, "user:alice", &site).await, stream_of(&bobs, "user:bob", &site).await];
    assert_eq!(next(&mut stream).await.unwrap(), ended("e"));
    assert!(site.fixture.ended("f"));
    assert_eq!(next(&mut stream).await.unwrap(), ended("f"));
    for stream in &mut silent {
        assert_eq!(next(stream).await, None, "neither another caller nor another client of the same one");
    }
    // whoever has ended its session hears nothing any more
    assert_eq!(Ask::of("").session(&alices).bearer("user:alice").delete(&site).await.status, 204);
    site.fixture.ended("g");
    assert_eq!(next(&mut stream).await, None);
}

#[tokio::test(start_paused = true)]
async fn an_end_while_the_call_runs_comes_on_the_stream_of_the_call() {
    let site = Site::new();
    let session = initialize(&site, None, by_address()).await;
    let given = json!({"mode": "url", "elicitationId": "e", "url": "https://example.com", "message": "go"});
    let mut stream = events(call(&session, "elsewhere_first", given.clone()).reply(&site).await);
    let asked = next(&mut stream).await.unwrap();
    assert_eq!((&asked["method"], &asked["params"]), (&json!("elicitation/create"), &given), "as it came");
    let yes = json!({"jsonrpc": "2.0", "id": asked["id"], "result": {"action": "accept"}}).to_string();
    assert_eq!(Ask::of(yes).session(&session).post(&site).await.status, 202);
    assert_eq!(next(&mut stream).await.unwrap(), ended("e"));
    assert_eq!(next(&mut stream).await.unwrap()["id"], 1);
}

#[tokio::test(start_paused = true)]
async fn a_client_that_hung_up_on_its_call_hears_of_the_end_on_its_stream() {
    let site = Site::new();
    let session = initialize(&site, Some("user:alice"), by_address()).await;
    let given = json!({"mode": "url", "elicitationId": "e", "url": "https://example.com", "message": "go"});
    let mut answers = events(call(&session, "elsewhere_first", given).bearer("user:alice").reply(&site).await);
    let asked = next(&mut answers).await.unwrap();
    drop(answers);
    let yes = json!({"jsonrpc": "2.0", "id": asked["id"], "result": {"action": "accept"}}).to_string();
    assert_eq!(Ask::of(yes).session(&session).bearer("user:alice").post(&site).await.status, 202);
    let mut stream = stream_of(&session, "user:alice", &site).await;
    assert_eq!(next(&mut stream).await.unwrap(), ended("e"));
}

#[tokio::test]
async fn ends_come_as_lines_too() {
    let site = Site::new();
    let mut client = Client::new(&site, None);
    client.ask(1, "initialize", json!({"protocolVersion": "2025-11-25", "capabilities": by_address()})).await;
    client.hear().await.unwrap();
    client.say(json!({"jsonrpc": "2.0", "method": "notifications/initialized"})).await;
    client.ask(2, "tools/call", json!({"name": "elsewhere", "arguments": addresses()})).await;
    assert_eq!(client.hear().await.unwrap()["error"]["code"], -32042);
    assert!(site.fixture.ended("e"));
    assert_eq!(client.hear().await.unwrap(), ended("e"));
}

#[tokio::test]
async fn who_has_no_session_or_cannot_be_sent_anywhere_is_not_told() {
    let site = Site::new();
    legacy("tools/call", json!({"name": "elsewhere", "arguments": addresses()})).post(&site).await;
    assert!(!site.fixture.ended("e"));
    let session = initialize(&site, None, json!({"elicitation": {}})).await;
    call(&session, "elsewhere", addresses()).post(&site).await;
    assert!(!site.fixture.ended("e"));
}

#[tokio::test]
async fn a_newer_client_is_asked_to_go_there_and_calls_again() {
    let site = Site::new();
    let ask = |more: Value| newer("elsewhere", addresses(), more, by_address());
    let asked = ask(json!({})).post(&site).await.result();
    assert_eq!(asked["resultType"], "input_required");
    let params = addresses()["elicitations"][0].clone();
    assert_eq!(asked["inputRequests"], json!({"1": {"method": "elicitation/create", "params": params}}));
    let back =
        |action: &str| json!({"requestState": asked["requestState"], "inputResponses": {"1": {"action": action}}});
    // the source knows whether it has been there: this one always says no
    let again = ask(back("accept")).post(&site).await.result();
    assert_eq!((&again["resultType"], site.fixture.runs()), (&json!("input_required"), 2));
    for no in ["decline", "cancel"] {
        let got = ask(back(no)).post(&site).await;
        assert_eq!(got.error(), (200, -32603));
        assert!(got.message().contains("the client declined"), "{}", got.message());
    }
    assert_eq!(site.fixture.runs(), 2, "a no runs nothing");
    // the state is of this call and this caller
    let other = newer("elsewhere", json!({"elicitations": []}), back("accept"), by_address()).post(&site).await;
    assert_eq!(other.error(), (200, -32602));
    let bobs = ask(back("accept")).bearer("user:bob").post(&site).await;
    assert_eq!((bobs.error(), site.fixture.runs()), ((200, -32602), 2));
}

#[tokio::test]
async fn a_newer_client_never_sees_the_older_error() {
    let site = Site::new();
    let cannot = newer("elsewhere", addresses(), json!({}), json!({"elicitation": {}})).post(&site).await;
    assert_eq!(cannot.error(), (400, -32021));
    assert_eq!(cannot.json()["error"]["data"], json!({"requiredCapabilities": {"elicitation": {"url": {}}}}));
    // what names no addresses is an error of the source like any other
    for wrong in [json!({}), json!({"elicitations": [{"mode": "form"}]})] {
        let got: Got = newer("elsewhere", wrong.clone(), json!({}), by_address()).post(&site).await;
        assert_eq!((got.error(), &got.json()["error"]["data"]), ((200, -32603), &wrong));
    }
}

#[tokio::test(start_paused = true)]
async fn an_older_client_is_given_a_name_for_where_a_newer_source_sends_it() {
    let site = Site::new();
    let session = initialize(&site, None, by_address()).await;
    let mut stream = events(call(&session, "wants_address", json!({})).reply(&site).await);
    let asked = next(&mut stream).await.unwrap();
    let mut params = asked["params"].clone();
    let name = params.as_object_mut().unwrap().remove("elicitationId").unwrap();
    assert!(name.as_str().unwrap().len() >= 22, "{name}");
    assert_eq!(params, serde_json::from_str::<Value>(ADDRESS).unwrap());
    let yes = json!({"jsonrpc": "2.0", "id": asked["id"], "result": {"action": "accept"}}).to_string();
    assert_eq!(Ask::of(yes).session(&session).post(&site).await.status, 202);
    let answer = next(&mut stream).await.unwrap();
    assert_eq!(seen(&answer["result"]).0, json!({"a": {"action": "accept"}}));
    // a newer client gets it byte for byte
    let got = newer("wants_address", json!({}), json!({}), by_address()).post(&site).await;
    assert!(got.body.contains(&format!(r#""params":{ADDRESS}"#)), "{}", got.body);
}
