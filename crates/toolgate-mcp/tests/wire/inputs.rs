//! Sources that want input first: asked of the client in its era's way, and handed back as it came. And sources that refuse.

use std::time::Duration;

use bytes::Bytes;
use serde_json::{Value, json};
use tokio::{sync::mpsc, time};

use crate::{
    events::{events, next},
    house::Site,
    lines::Client,
    requests::{Ask, able, can, initialize, legacy, meta, modern},
    source::{STATE, seen},
};

fn newer(tool: &str, meta: Value) -> Ask {
    modern("tools/call", json!({"name": tool, "_meta": meta}))
}

fn again(tool: &str, state: &Value, responses: Value) -> Ask {
    modern("tools/call", json!({"name": tool, "_meta": able(), "requestState": state, "inputResponses": responses}))
}

#[tokio::test]
async fn a_newer_client_is_asked_in_the_answer_and_the_source_gets_all_of_it_back() {
    let site = Site::new();
    let got = newer("wants", able()).post(&site).await;
    let asked = r#""inputRequests":{"a":{"method":"elicitation/create","params":{"odd":1.50}},"b":{"method":"roots/list","params":{"odd":1.50}}}"#;
    assert!(got.body.contains(asked), "as they came: {}", got.body);
    let result = got.result();
    assert_eq!(result["resultType"], "input_required");
    let state = &result["requestState"];
    assert_ne!(state, STATE, "sealed");
    let responses = json!({"a": {"action": "accept"}, "unasked": [1, {"x": null}]});
    let got = again("wants", state, responses.clone()).post(&site).await;
    assert_eq!(got.result()["resultType"], "complete");
    assert_eq!(seen(&got.result()), (responses, json!(STATE)));
}

#[tokio::test]
async fn a_prompt_may_want_input_too() {
    let site = Site::new();
    let got = modern("prompts/get", json!({"name": "wants", "_meta": able()})).post(&site).await.result();
    assert_eq!(got["resultType"], "input_required");
    let back =
        json!({"name": "wants", "_meta": able(), "requestState": got["requestState"], "inputResponses": {"a": 1}});
    let got = modern("prompts/get", back).post(&site).await.result();
    assert_eq!(seen(&got), (json!({"a": 1}), json!(STATE)));
}

#[tokio::test]
async fn answers_without_a_state_are_the_sources_to_judge() {
    let site = Site::new();
    for state in [json!(null), Value::Null] {
        let got = again("wants", &state, json!({"a": 1})).post(&site).await;
        assert_eq!(seen(&got.result()), (json!({"a": 1}), Value::Null));
    }
    let plain = legacy("tools/call", json!({"name": "wants", "inputResponses": {"a": 1}})).post(&site).await;
    assert_eq!(plain.error(), (200, -32603), "there are none in the older era: it is asked, and can't be");
    assert_eq!(again("wants", &json!(null), json!("x")).post(&site).await.error(), (400, -32602));
}

#[tokio::test]
async fn several_rounds_each_have_their_own_state() {
    let site = Site::new();
    let one = newer("wants_rounds", able()).post(&site).await.result();
    assert_eq!(one["inputRequests"]["a"]["method"], "elicitation/create");
    let two = again("wants_rounds", &one["requestState"], json!({"a": 1})).post(&site).await.result();
    assert_eq!(two["inputRequests"]["a"]["method"], "sampling/createMessage");
    assert_ne!(one["requestState"], two["requestState"]);
    let done = again("wants_rounds", &two["requestState"], json!({"a": 2})).post(&site).await.result();
    assert_eq!(seen(&done), (json!({"a": 2}), json!("two")));
}

#[tokio::test]
async fn a_source_may_want_its_state_back_and_nothing_else() {
    let site = Site::new();
    let result = newer("wants_state", json!({})).post(&site).await.result();
    assert_eq!(result["resultType"], "input_required");
    assert_eq!(result.get("inputRequests"), None);
    let params = json!({"name": "wants_state", "requestState": result["requestState"]});
    let done = modern("tools/call", params).post(&site).await.result();
    assert_eq!(seen(&done), (Value::Null, json!("only")));
}

#[tokio::test]
async fn what_a_newer_client_did_not_declare_is_not_asked_of_it() {
    let site = Site::new();
    for (tool, declared, lacking) in [
        ("wants", json!({}), "elicitation"),
        ("wants", json!({"elicitation": {}}), "roots"),
        ("wants", json!({"roots": {}, "elicitation": null}), "elicitation"),
        ("wants_sampling", json!({"elicitation": {}, "roots": {}}), "sampling"),
    ] {
        let got = newer(tool, can(declared)).post(&site).await;
        assert_eq!(got.error(), (400, -32021), "{tool}");
        assert_eq!(got.json()["error"]["data"], json!({"requiredCapabilities": {lacking: {}}}));
    }
    assert_eq!(newer("wants_nonsense", able()).post(&site).await.error(), (400, -32021));
}

/// Answers every question on the stream with its number, and gives the answer of the call.
async fn answer_all(stream: &mut mpsc::Receiver<Bytes>, session: &str, site: &Site) -> (Vec<Value>, Value) {
    let mut asked = Vec::new();
    loop {
        let message = next(stream).await.unwrap();
        if message.get("method").is_none() {
            return (asked, message);
        }
        let response = json!({"jsonrpc": "2.0", "id": message["id"], "result": asked.len()}).to_string();
        assert_eq!(Ask::of(response).session(session).post(site).await.status, 202);
        asked.push(json!([message["method"], message["params"]]));
    }
}

#[tokio::test(start_paused = true)]
async fn an_older_client_is_asked_one_by_one_until_the_source_is_content() {
    let site = Site::new();
    let session = initialize(&site, None, json!({"elicitation": {}, "sampling": {}, "roots": {}})).await;
    let odd = json!({"odd": 1.5});
    for (tool, questions, back) in [
        ("wants", json!([["elicitation/create", odd], ["roots/list", odd]]), (json!({"a": 0, "b": 1}), json!(STATE))),
        (
            "wants_rounds",
            json!([["elicitation/create", odd], ["sampling/createMessage", odd]]),
            (json!({"a": 1}), json!("two")),
        ),
    ] {
        let ask = legacy("tools/call", json!({"name": tool})).session(&session);
        let mut stream = events(ask.reply(&site).await);
        let (asked, answer) = answer_all(&mut stream, &session, &site).await;
        assert_eq!(json!(asked), questions, "{tool}");
        assert_eq!(seen(&answer["result"]), back, "{tool}");
        assert_eq!(answer["result"].get("resultType"), None);
    }
    let state = legacy("tools/call", json!({"name": "wants_state"})).session(&session).post(&site).await;
    assert_eq!(seen(&state.result()), (Value::Null, json!("only")));
    let prompt = legacy("prompts/get", json!({"name": "wants"})).session(&session);
    let (_, answer) = answer_all(&mut events(prompt.reply(&site).await), &session, &site).await;
    assert_eq!(seen(&answer["result"]), (json!({"a": 0}), json!(STATE)));
}

#[tokio::test(start_paused = true)]
async fn a_source_that_never_stops_asking_is_given_up() {
    let site = Site::new();
    let session = initialize(&site, None, json!({"elicitation": {}})).await;
    let ask = legacy("tools/call", json!({"name": "wants_forever"})).session(&session);
    let (asked, answer) = answer_all(&mut events(ask.reply(&site).await), &session, &site).await;
    assert_eq!(asked.len(), 32);
    assert_eq!(answer["error"]["code"], -32603);
    let message = answer["error"]["message"].as_str().unwrap();
    assert!(message.contains("'wants_forever' wanted more input 32 times"), "{message}");
}

#[tokio::test(start_paused = true)]
async fn an_older_client_that_cannot_or_will_not_answer_fails_the_call() {
    let site = Site::new();
    let able = initialize(&site, None, json!({"elicitation": {}, "roots": {}})).await;
    let unable = initialize(&site, None, json!({"sampling": {}})).await;
    for (session, tool) in [(&unable, "wants"), (&able, "wants_sampling"), (&able, "wants_nonsense")] {
        let got = legacy("tools/call", json!({"name": tool})).session(session).post(&site).await;
        assert_eq!(got.error(), (200, -32603), "{tool}");
        assert!(got.message().contains("needs an answer of the client first"), "{}", got.message());
    }
    let mut stream = events(legacy("tools/call", json!({"name": "wants"})).session(&able).reply(&site).await);
    let asked = next(&mut stream).await.unwrap();
    let no = json!({"jsonrpc": "2.0", "id": asked["id"], "error": {"code": -1, "message": "will not"}}).to_string();
    assert_eq!(Ask::of(no).session(&able).post(&site).await.status, 202);
    let answer = next(&mut stream).await.unwrap();
    assert!(answer["error"]["message"].as_str().unwrap().contains("will not"), "{answer}");
    // one that is never answered does not wait for ever
    let mut stream = events(legacy("tools/call", json!({"name": "wants"})).session(&able).reply(&site).await);
    next(&mut stream).await.unwrap();
    time::sleep(Duration::from_secs(11 * 60)).await;
    assert_eq!(next(&mut stream).await.unwrap()["method"], "notifications/cancelled");
    let answer = next(&mut stream).await.unwrap();
    assert!(answer["error"]["message"].as_str().unwrap().contains("did not answer"), "{answer}");
}

#[tokio::test(start_paused = true)]
async fn sources_that_want_input_are_served_on_stdio_in_both_eras() {
    let site = Site::new();
    let mut client = Client::new(&site, None);
    let mut full = meta();
    full.as_object_mut().unwrap().extend(able().as_object().unwrap().clone());
    client.ask(1, "tools/call", json!({"name": "wants", "_meta": full})).await;
    let result = client.hear().await.unwrap()["result"].clone();
    let back = json!({"name": "wants", "_meta": full, "requestState": result["requestState"], "inputResponses": {}});
    client.ask(2, "tools/call", back).await;
    assert_eq!(seen(&client.hear().await.unwrap()["result"]), (json!({}), json!(STATE)));
    let declared = json!({"elicitation": {}, "roots": {}});
    client.ask(3, "initialize", json!({"protocolVersion": "2025-11-25", "capabilities": declared})).await;
    client.hear().await.unwrap();
    client.ask(4, "tools/call", json!({"name": "wants"})).await;
    for answer in ["one", "two"] {
        let asked = client.hear().await.unwrap();
        client.say(json!({"jsonrpc": "2.0", "id": asked["id"], "result": answer})).await;
    }
    assert_eq!(seen(&client.hear().await.unwrap()["result"]), (json!({"a": "one", "b": "two"}), json!(STATE)));
}

#[tokio::test]
async fn a_sources_own_error_is_passed_on_unchanged() {
    let site = Site::new();
    let lacking =
        r#""error":{"code":-32021,"message":"lacks a thing","data":{"requiredCapabilities":{"thing":{}},"odd":1.50}}}"#;
    let other = r#""error":{"code":-7,"message":"own \"words\""}}"#;
    for (tool, error, status) in [("rejected_lacking", lacking, 400), ("rejected", other, 200)] {
        let got = newer(tool, json!({})).post(&site).await;
        assert_eq!((got.status, &*got.body), (status, &*format!(r#"{{"jsonrpc":"2.0","id":1,{error}"#)));
        let old = legacy("tools/call", json!({"name": tool})).post(&site).await;
        assert_eq!((old.status, old.body), (200, got.body));
    }
}
