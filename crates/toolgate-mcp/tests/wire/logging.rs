//! Log messages: as urgent as the client wants them, in their order, before the answer.

use serde_json::{Value, json};

use crate::{
    house::Site,
    lines::Client,
    requests::{Ask, Got, initialize, legacy, meta, modern},
};

const LEVEL: &str = "io.modelcontextprotocol/logLevel";
const BOTH: [&str; 2] = ["notifications/message", "notifications/progress"];

fn levels(got: &Got) -> Vec<String> {
    let logs = got.events().into_iter().filter(|event| event["method"] == "notifications/message");
    logs.map(|log| log["params"]["level"].as_str().unwrap().to_owned()).collect()
}

fn logs(session: &str) -> Ask {
    legacy("tools/call", json!({"name": "logs"})).session(session)
}

fn set_level(session: &str, level: Value) -> Ask {
    legacy("logging/setLevel", json!({"level": level})).session(session)
}

#[tokio::test]
async fn a_newer_client_hears_only_what_it_asked_for_with_the_request() {
    let site = Site::new();
    let silent = modern("tools/call", json!({"name": "logs"})).post(&site).await;
    assert_eq!(silent.header("content-type"), "application/json");
    for (level, heard) in [
        ("debug", &["debug", "info", "warning", "emergency"][..]),
        ("notice", &["warning", "emergency"]),
        ("warning", &["warning", "emergency"]),
        ("emergency", &["emergency"]),
    ] {
        let got = modern("tools/call", json!({"name": "logs", "_meta": {LEVEL: level}})).post(&site).await;
        assert_eq!(levels(&got), heard, "{level}");
        assert!(got.body.contains(r#""params":{"level":"emergency","data":[1.50]}"#), "as it came");
    }
    let again = modern("tools/call", json!({"name": "logs"})).post(&site).await;
    assert_eq!(again.header("content-type"), "application/json", "a level is for one request");
    for bad in [json!("loud"), json!(3), json!("Info"), json!(null)] {
        let got = modern("tools/call", json!({"name": "logs", "_meta": {LEVEL: bad}})).post(&site).await;
        assert_eq!(got.error(), (400, -32602), "{bad}");
        assert!(got.message().contains("logLevel"), "{}", got.message());
    }
}

#[tokio::test]
async fn an_older_session_hears_from_info_on_until_it_says_otherwise() {
    let site = Site::new();
    let (one, other) = (initialize(&site, None, json!({})).await, initialize(&site, None, json!({})).await);
    assert_eq!(levels(&logs(&one).post(&site).await), ["info", "warning", "emergency"]);
    let set = set_level(&one, json!("critical")).post(&site).await;
    assert_eq!(set.body, r#"{"jsonrpc":"2.0","id":1,"result":{}}"#);
    assert_eq!(levels(&logs(&one).post(&site).await), ["emergency"]);
    assert_eq!(levels(&logs(&other).post(&site).await), ["info", "warning", "emergency"], "its own session's alone");
    for bad in [json!("loud"), json!(null), json!(7)] {
        let got = set_level(&one, bad).post(&site).await;
        assert_eq!(got.error(), (400, -32602));
        assert!(got.message().contains("params.level"), "{}", got.message());
    }
    assert_eq!(levels(&logs(&one).post(&site).await), ["emergency"], "a bad level changes nothing");
    let newer = legacy("tools/call", json!({"name": "logs", "_meta": {LEVEL: "debug"}})).session(&one);
    assert_eq!(levels(&newer.post(&site).await), ["emergency"], "the newer era's way to say it does not count");
}

#[tokio::test]
async fn a_level_is_set_by_the_sessions_owner_alone() {
    let site = Site::new();
    let session = initialize(&site, Some("user:alice"), json!({})).await;
    let set = |level: &str| set_level(&session, json!(level));
    assert_eq!(set("emergency").bearer("user:bob").post(&site).await.status, 404);
    assert_eq!(set("emergency").post(&site).await.status, 404);
    let heard = levels(&logs(&session).bearer("user:alice").post(&site).await);
    assert_eq!(heard, ["info", "warning", "emergency"]);
    let sessionless = legacy("logging/setLevel", json!({"level": "debug"})).post(&site).await;
    assert_eq!(sessionless.result(), json!({}));
    let got = legacy("tools/call", json!({"name": "logs"})).post(&site).await;
    assert_eq!(got.header("content-type"), "application/json", "nothing is said without a session");
}

#[tokio::test]
async fn progress_and_log_messages_come_in_order_before_the_answer() {
    let site = Site::new();
    let session = initialize(&site, None, json!({})).await;
    let newer = json!({"name": "logs", "_meta": {LEVEL: "info", "progressToken": "t"}});
    let older = json!({"name": "logs", "_meta": {"progressToken": "t"}});
    for ask in [modern("tools/call", newer.clone()), legacy("tools/call", older.clone()).session(&session)] {
        assert_in_order(&ask.post(&site).await.events());
    }
    for (mut params, era) in [(newer, meta()), (older, json!({}))] {
        let mut client = Client::new(&site, None);
        client.ask(0, "initialize", json!({"protocolVersion": "2025-11-25"})).await;
        client.hear().await.unwrap();
        params["_meta"].as_object_mut().unwrap().extend(era.as_object().unwrap().clone());
        client.ask(1, "tools/call", params).await;
        let mut heard = Vec::new();
        for _ in 0..8 {
            heard.push(client.hear().await.unwrap());
        }
        assert_in_order(&heard);
    }
}

fn assert_in_order(heard: &[Value]) {
    let told = |message: &Value| match message["method"].as_str() {
        Some(method) if method == BOTH[0] => message["params"]["level"].clone(),
        Some(method) if method == BOTH[1] => message["params"]["progress"].clone(),
        _ => message["result"]["content"][0]["text"].clone(),
    };
    let told: Vec<Value> = heard.iter().map(told).collect();
    let expected = [json!(1), json!(2), json!("info"), json!(3), json!("warning"), json!(4), json!("emergency")];
    assert_eq!(told[..7], expected);
    assert_eq!(told[7], "done");
}

#[tokio::test]
async fn a_level_set_on_stdio_lasts_for_that_client() {
    let site = Site::new();
    let mut client = Client::new(&site, None);
    client.ask(1, "initialize", json!({"protocolVersion": "2025-11-25"})).await;
    client.hear().await.unwrap();
    client.ask(2, "logging/setLevel", json!({"level": "emergency"})).await;
    assert_eq!(client.hear().await.unwrap()["result"], json!({}));
    client.ask(3, "tools/call", json!({"name": "logs"})).await;
    assert_eq!(client.hear().await.unwrap()["params"]["level"], "emergency");
    assert_eq!(client.hear().await.unwrap()["id"], 3);
}
