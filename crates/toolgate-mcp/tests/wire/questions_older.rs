//! Questions to clients of the older era: on the stream of the call, answered with a message of their own.

use std::time::Duration;

use bytes::Bytes;
use serde_json::{Value, json};
use tokio::{sync::mpsc, time};

use crate::{
    events::{events, next},
    house::Site,
    lines::Client,
    requests::{Ask, Got, initialize, legacy},
};

fn all() -> Value {
    json!({"elicitation": {}, "sampling": {}, "roots": {}})
}

fn call(session: &str, name: &str) -> Ask {
    legacy("tools/call", json!({"name": name})).session(session)
}

fn response(question: &Value, result: Value) -> Ask {
    Ask::of(json!({"jsonrpc": "2.0", "id": question["id"], "result": result}).to_string())
}

async fn accepted(ask: Ask, site: &Site) {
    let got = ask.post(site).await;
    assert_eq!((got.status, got.body.as_str()), (202, ""));
}

fn text(answer: &Value) -> &str {
    answer["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{answer}"))
}

/// What the source was told instead of an answer.
fn fault(answer: &Value) -> (i64, &str) {
    let fault = &answer["result"]["structuredContent"];
    (fault["code"].as_i64().unwrap(), fault["message"].as_str().unwrap())
}

async fn question(stream: &mut mpsc::Receiver<Bytes>, method: &str) -> Value {
    let question = next(stream).await.unwrap();
    assert_eq!((&question["jsonrpc"], &question["method"]), (&json!("2.0"), &json!(method)), "{question}");
    question
}

/// What the client hears of a question that needs no answer any more.
fn withdrawn(question: &Value) -> Value {
    let params = json!({"requestId": question["id"], "reason": "the server no longer wants to know"});
    json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params})
}

#[tokio::test(start_paused = true)]
async fn a_client_hears_that_its_answer_is_not_wanted_any_more() {
    let site = Site::new();
    let session = initialize(&site, None, all()).await;
    let mut stream = events(call(&session, "ask_briefly").reply(&site).await);
    let asked = question(&mut stream, "elicitation/create").await;
    assert_eq!(next(&mut stream).await.unwrap(), withdrawn(&asked));
    assert_eq!(text(&next(&mut stream).await.unwrap()), "went on without");
    let mut client = Client::new(&site, None);
    client.ask(1, "initialize", json!({"protocolVersion": "2025-11-25", "capabilities": all()})).await;
    client.hear().await.unwrap();
    client.ask(2, "tools/call", json!({"name": "ask_briefly"})).await;
    let asked = client.hear().await.unwrap();
    time::sleep(Duration::from_secs(5)).await;
    assert_eq!(client.hear().await.unwrap(), withdrawn(&asked));
    assert_eq!(text(&client.hear().await.unwrap()), "went on without");
}

#[tokio::test(start_paused = true)]
async fn each_question_comes_on_the_stream_and_its_answer_completes_the_call() {
    let site = Site::new();
    let session = initialize(&site, Some("user:alice"), all()).await;
    for (tool, method, what) in [
        ("ask_elicitation", "elicitation/create", "elicitation"),
        ("ask_sampling", "sampling/createMessage", "sampling"),
        ("ask_roots", "roots/list", "roots"),
        ("ask_writing", "elicitation/create", "elicitation"),
    ] {
        let mut stream = events(call(&session, tool).bearer("user:alice").reply(&site).await);
        let asked = question(&mut stream, method).await;
        assert_eq!(asked["params"], json!({"for": what}));
        accepted(response(&asked, json!({"x": what})).session(&session).bearer("user:alice"), &site).await;
        let answer = next(&mut stream).await.unwrap();
        assert_eq!((&answer["id"], text(&answer)), (&json!(1), &*json!({"x": what}).to_string()));
        assert_eq!(stream.recv().await, None, "the stream ends with the answer");
    }
}

#[tokio::test(start_paused = true)]
async fn nobody_can_guess_the_id_of_a_question() {
    let site = Site::new();
    let session = initialize(&site, None, all()).await;
    let mut ids = std::collections::BTreeSet::new();
    for _ in 0..8 {
        let mut stream = events(call(&session, "ask_elicitation").reply(&site).await);
        let asked = question(&mut stream, "elicitation/create").await;
        let id = asked["id"].as_str().unwrap().to_owned();
        assert!(id.len() >= 22, "128 bits: {id}");
        assert!(ids.insert(id));
    }
}

#[tokio::test(start_paused = true)]
async fn an_answer_of_somebody_else_or_to_nothing_does_nothing() {
    let site = Site::new();
    let session = initialize(&site, Some("user:alice"), all()).await;
    let mut stream = events(call(&session, "ask_elicitation").bearer("user:alice").reply(&site).await);
    let asked = question(&mut stream, "elicitation/create").await;
    let wrong = |id: Value| response(&json!({"id": id}), json!({"wrong": true})).bearer("user:alice");
    accepted(response(&asked, json!({"wrong": true})).bearer("user:bob"), &site).await;
    accepted(response(&asked, json!({"wrong": true})), &site).await;
    for id in [json!("made-up"), json!(1), json!("")] {
        accepted(wrong(id), &site).await;
    }
    let foreign = initialize(&site, Some("user:bob"), all()).await;
    accepted(response(&asked, json!({"wrong": true})).session(&foreign).bearer("user:bob"), &site).await;
    let lost = response(&asked, json!({"wrong": true})).session(&session).bearer("user:bob");
    assert_eq!(lost.post(&site).await.status, 404);
    assert_eq!(next(&mut stream).await, None, "still waiting");
    accepted(response(&asked, json!({"right": true})).bearer("user:alice"), &site).await;
    let answer = next(&mut stream).await.unwrap();
    assert_eq!(text(&answer), r#"{"right":true}"#);
    accepted(response(&asked, json!({"again": true})).bearer("user:alice"), &site).await;
}

#[tokio::test(start_paused = true)]
async fn a_client_that_sends_its_credential_with_calls_only_answers_by_its_session() {
    let site = Site::new();
    let session = initialize(&site, None, all()).await;
    let params = json!({"name": "ask_elicitation", "_meta": {"toolgate/token": "user:alice"}});
    let mut stream = events(legacy("tools/call", params).session(&session).reply(&site).await);
    let asked = question(&mut stream, "elicitation/create").await;
    let other = initialize(&site, None, all()).await;
    accepted(response(&asked, json!({"wrong": 1})).session(&other), &site).await;
    accepted(response(&asked, json!({"wrong": 1})), &site).await;
    accepted(response(&asked, json!({"right": 1})).session(&session), &site).await;
    assert_eq!(text(&next(&mut stream).await.unwrap()), r#"{"right":1}"#);
}

#[tokio::test(start_paused = true)]
async fn a_clients_refusal_reaches_the_source() {
    let site = Site::new();
    let session = initialize(&site, None, all()).await;
    for (error, expected) in [
        (json!({"code": -1, "message": "no \"thanks\"", "data": {"a": 1}}), (-1, "no \"thanks\"")),
        (json!({"code": "x"}), (-32603, "the client's answer can't be read")),
    ] {
        let mut stream = events(call(&session, "ask_roots").reply(&site).await);
        let asked = question(&mut stream, "roots/list").await;
        let refusal = json!({"jsonrpc": "2.0", "id": asked["id"], "error": error}).to_string();
        accepted(Ask::of(refusal).session(&session), &site).await;
        let answer = next(&mut stream).await.unwrap();
        assert_eq!(fault(&answer), expected);
        if let Some(data) = error.get("data") {
            assert_eq!(answer["result"]["structuredContent"]["data"], data.to_string());
        }
    }
}

#[tokio::test(start_paused = true)]
async fn what_was_not_declared_is_never_asked() {
    let site = Site::new();
    let nothing = initialize(&site, None, json!({})).await;
    let roots = initialize(&site, None, json!({"roots": {}})).await;
    let sessionless = legacy("tools/call", json!({"name": "ask_elicitation"}));
    let without_events = initialize(&site, None, all()).await;
    let without_events = call(&without_events, "ask_elicitation").set("accept", "application/json");
    for ask in [call(&nothing, "ask_elicitation"), call(&roots, "ask_elicitation"), sessionless, without_events] {
        let got: Got = ask.post(&site).await;
        assert_eq!(got.header("content-type"), "application/json");
        assert_eq!(fault(&got.json()), (-32601, "the client of this call does not offer elicitation"));
    }
    let got = call(&nothing, "ask_anyway").post(&site).await;
    assert_eq!(text(&got.json()), "went on without");
}

#[tokio::test(start_paused = true)]
async fn three_questions_at_once_are_answered_in_any_order() {
    let site = Site::new();
    let session = initialize(&site, None, all()).await;
    let mut stream = events(call(&session, "ask_three").reply(&site).await);
    let mut asked = Vec::new();
    for method in ["elicitation/create", "sampling/createMessage", "roots/list"] {
        asked.push(question(&mut stream, method).await);
    }
    for (number, asked) in asked.iter().enumerate().rev() {
        accepted(response(asked, json!(number)).session(&session), &site).await;
    }
    assert_eq!(text(&next(&mut stream).await.unwrap()), "0 1 2");
}

#[tokio::test(start_paused = true)]
async fn two_questions_in_a_row_come_in_order_with_what_is_said_between() {
    let site = Site::new();
    let session = initialize(&site, None, all()).await;
    let mut stream = events(call(&session, "ask_twice").reply(&site).await);
    let first = question(&mut stream, "elicitation/create").await;
    accepted(response(&first, json!("one")).session(&session), &site).await;
    assert_eq!(next(&mut stream).await.unwrap()["params"]["data"], "between");
    let second = question(&mut stream, "elicitation/create").await;
    assert_ne!(first["id"], second["id"]);
    accepted(response(&second, json!("two")).session(&session), &site).await;
    assert_eq!(text(&next(&mut stream).await.unwrap()), r#""one" "two""#);
}

#[tokio::test(start_paused = true)]
async fn the_time_a_client_thinks_is_not_the_calls_but_it_does_not_last_for_ever() {
    let site = Site::new();
    let session = initialize(&site, None, all()).await;
    let mut stream = events(call(&session, "ask_slowly").reply(&site).await);
    let asked = question(&mut stream, "elicitation/create").await;
    time::sleep(Duration::from_secs(9 * 60 - 1)).await;
    accepted(response(&asked, json!("late")).session(&session), &site).await;
    assert_eq!(text(&next(&mut stream).await.unwrap()), r#""late""#);

    let mut stream = events(call(&session, "ask_elicitation").reply(&site).await);
    let asked = question(&mut stream, "elicitation/create").await;
    // read all along, as a client does
    let over = loop {
        if let Some(over) = next(&mut stream).await {
            break over;
        }
    };
    assert_eq!(over, withdrawn(&asked));
    let answer = next(&mut stream).await.unwrap();
    assert_eq!(fault(&answer), (-32603, "the client did not answer"));
    accepted(response(&asked, json!("too late")).session(&session), &site).await;
}

#[tokio::test(start_paused = true)]
async fn a_client_that_hung_up_can_still_answer_and_is_not_waited_for_for_ever() {
    let site = Site::new();
    let session = initialize(&site, None, all()).await;
    for answers in [true, false] {
        let before = site.fixture.dropped();
        let mut stream = events(call(&session, "ask_elicitation").reply(&site).await);
        let asked = question(&mut stream, "elicitation/create").await;
        drop(stream);
        time::sleep(Duration::from_secs(60)).await;
        assert_eq!(site.fixture.dropped(), before, "in the older era hanging up calls nothing off");
        if answers {
            accepted(response(&asked, json!("yes")).session(&session), &site).await;
            time::sleep(Duration::from_secs(1)).await;
        } else {
            time::sleep(Duration::from_secs(10 * 60)).await;
        }
        assert_eq!(site.fixture.dropped(), before + 1, "the call is over");
    }
    // a question that can't be sent any more is not waited for at all
    let before = site.fixture.dropped();
    let mut stream = events(call(&session, "ask_twice").reply(&site).await);
    let asked = question(&mut stream, "elicitation/create").await;
    drop(stream);
    accepted(response(&asked, json!("one")).session(&session), &site).await;
    time::sleep(Duration::from_secs(1)).await;
    assert_eq!(site.fixture.dropped(), before + 1);
}

#[tokio::test(start_paused = true)]
async fn questions_come_as_lines_and_are_answered_in_lines() {
    let site = Site::new();
    let mut client = Client::new(&site, Some("user:alice"));
    client.ask(1, "tools/call", json!({"name": "ask_elicitation"})).await;
    assert_eq!(fault(&client.hear().await.unwrap()).0, -32601, "nothing was declared yet");
    client.ask(2, "initialize", json!({"protocolVersion": "2025-11-25", "capabilities": all()})).await;
    client.hear().await.unwrap();
    for token in [json!({}), json!({"toolgate/token": "user:bob"})] {
        client.ask(3, "tools/call", json!({"name": "ask_elicitation", "_meta": token})).await;
        let asked = client.hear().await.unwrap();
        assert_eq!(asked["method"], "elicitation/create");
        let mut other = Client::new(&site, None);
        other.say(json!({"jsonrpc": "2.0", "id": asked["id"], "result": "wrong"})).await;
        client.say(json!({"jsonrpc": "2.0", "id": asked["id"], "result": "right"})).await;
        assert_eq!(text(&client.hear().await.unwrap()), r#""right""#);
    }
    client.ask(4, "tools/call", json!({"name": "ask_elicitation"})).await;
    let asked = client.hear().await.unwrap();
    let before = site.fixture.dropped();
    client.say(json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 4}})).await;
    time::sleep(Duration::from_secs(1)).await;
    assert_eq!(site.fixture.dropped(), before + 1);
    client.say(json!({"jsonrpc": "2.0", "id": asked["id"], "result": "late"})).await;
    client.ask(5, "ping", json!({})).await;
    assert_eq!(client.hear().await.unwrap()["id"], 5, "a cancelled call stays silent");
}
