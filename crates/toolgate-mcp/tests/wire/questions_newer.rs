//! Questions to clients of the newer era: they are the answer, and the call goes on with the next try.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::time;
use toolgate_mcp::Peer;

use crate::{
    events::events as stream,
    house::{Site, everything},
    lines::Client,
    requests::{Ask, Got, able, can, meta, modern},
};

/// Calls a tool and brings back what `earlier` asked for.
fn again(tool: &str, earlier: &Value, responses: Value) -> Ask {
    let state = &earlier["requestState"];
    modern("tools/call", json!({"name": tool, "_meta": able(), "inputResponses": responses, "requestState": state}))
}

fn call(tool: &str) -> Ask {
    modern("tools/call", json!({"name": tool, "_meta": able()}))
}

/// The result of a call that asked.
async fn asked(ask: Ask, site: &Site) -> Value {
    let got = ask.post(site).await;
    assert_eq!((got.status, got.header("content-type")), (200, "application/json"));
    let result = got.result();
    assert_eq!(result["resultType"], "input_required", "{result}");
    assert!(!result["requestState"].as_str().unwrap().is_empty());
    result
}

fn keys(result: &Value) -> Vec<String> {
    result["inputRequests"].as_object().unwrap().keys().cloned().collect()
}

fn key(result: &Value) -> String {
    let keys = keys(result);
    assert_eq!(keys.len(), 1, "{result}");
    keys[0].clone()
}

fn text(got: &Got) -> String {
    let result = got.result();
    assert_eq!(result["resultType"], "complete");
    result["content"][0]["text"].as_str().unwrap().to_owned()
}

#[tokio::test(start_paused = true)]
async fn each_question_is_the_answer_and_the_next_try_completes_the_call() {
    let site = Site::new();
    for (tool, method, what) in [
        ("ask_elicitation", "elicitation/create", "elicitation"),
        ("ask_sampling", "sampling/createMessage", "sampling"),
        ("ask_roots", "roots/list", "roots"),
        ("ask_writing", "elicitation/create", "elicitation"),
    ] {
        let before = site.fixture.runs();
        let result = asked(call(tool), &site).await;
        let key = key(&result);
        assert_eq!(result["inputRequests"][&key], json!({"method": method, "params": {"for": what}}));
        let got = again(tool, &result, json!({key: {"x": what}})).post(&site).await;
        assert_eq!(text(&got), json!({"x": what}).to_string());
        assert_eq!(site.fixture.runs(), before + 1, "one call, however often it is tried");
    }
}

#[tokio::test(start_paused = true)]
async fn without_an_accept_header_it_is_the_same() {
    let site = Site::new();
    let result = asked(call("ask_elicitation").without("accept"), &site).await;
    let key = key(&result);
    let got = again("ask_elicitation", &result, json!({key: 1})).without("accept").post(&site).await;
    assert_eq!(text(&got), "1");
    let lacking = modern("tools/call", json!({"name": "ask_elicitation"})).without("accept").post(&site).await;
    assert_eq!(lacking.error(), (400, -32021));
}

#[tokio::test(start_paused = true)]
async fn three_questions_at_once_are_one_trip() {
    let site = Site::new();
    let result = asked(call("ask_three"), &site).await;
    let requests = result["inputRequests"].as_object().unwrap();
    let mut methods: Vec<_> = requests.values().map(|request| request["method"].as_str().unwrap()).collect();
    methods.sort_unstable();
    assert_eq!(methods, ["elicitation/create", "roots/list", "sampling/createMessage"]);
    let answers: Value = requests.iter().map(|(key, asked)| (key.clone(), asked["params"]["for"].clone())).collect();
    let got = again("ask_three", &result, answers).post(&site).await;
    assert_eq!(text(&got), r#""elicitation" "sampling" "roots""#);
}

#[tokio::test(start_paused = true)]
async fn a_waiting_call_goes_on_with_whatever_else_it_does() {
    let site = Site::new();
    let result = asked(call("ask_soon"), &site).await;
    let answers: Value = keys(&result).into_iter().map(|key| (key, json!(1))).collect();
    assert_eq!(answers.as_object().unwrap().len(), 2, "what is asked a moment later is asked with it: {result}");
    assert_eq!(text(&again("ask_soon", &result, answers).post(&site).await), "1 1");

    for answers in [true, false] {
        let result = asked(call("ask_briefly"), &site).await;
        time::sleep(Duration::from_secs(60)).await;
        let responses = if answers { json!({key(&result): 1}) } else { json!({}) };
        let got = again("ask_briefly", &result, responses).post(&site).await;
        assert_eq!(text(&got), "went on without", "it no longer wants to know");
    }
}

#[tokio::test(start_paused = true)]
async fn what_was_not_answered_is_asked_again_until_it_is() {
    let site = Site::new();
    let first = asked(call("ask_three"), &site).await;
    let mut open = keys(&first);
    let done = open.remove(0);
    let second = asked(again("ask_three", &first, json!({done: 1})), &site).await;
    assert_eq!(keys(&second), open, "what was answered is not asked again");
    let mut last = second;
    for wrong in [json!({"no": 1}), json!({}), json!(null)] {
        last = asked(again("ask_three", &last, wrong), &site).await;
        assert_eq!(keys(&last), open);
    }
    let rest: Value = open.iter().map(|key| (key.clone(), json!(2))).collect();
    assert_eq!(text(&again("ask_three", &last, rest).post(&site).await), "1 2 2");
    let result = asked(call("ask_elicitation"), &site).await;
    let bad = again("ask_elicitation", &result, json!([1])).post(&site).await;
    assert_eq!(bad.error(), (400, -32602));
    let key = key(&result);
    let got = again("ask_elicitation", &result, json!({key: 1})).post(&site).await;
    assert_eq!(text(&got), "1", "what can't be read uses up nothing");
}

#[tokio::test(start_paused = true)]
async fn a_call_may_ask_twice_and_its_notes_come_on_the_stream_that_is_open() {
    let site = Site::new();
    let logged = |ask: &Value, responses: Value| {
        let mut meta = able();
        meta["io.modelcontextprotocol/logLevel"] = json!("debug");
        let state = &ask["requestState"];
        let params = json!({"name": "ask_twice", "_meta": meta, "inputResponses": responses, "requestState": state});
        modern("tools/call", params)
    };
    let first = asked(logged(&json!({}), json!(null)), &site).await;
    let got = logged(&first, json!({key(&first): "one"})).post(&site).await;
    let heard = got.events();
    assert_eq!(heard[0]["params"]["data"], "between");
    let second = heard[1]["result"].clone();
    assert_eq!(second["resultType"], "input_required");
    assert_ne!(first["requestState"], second["requestState"]);
    let got = again("ask_twice", &second, json!({key(&second): "two"})).post(&site).await;
    assert_eq!(text(&got), r#""one" "two""#);

    // who did not ask for log messages with this try hears none
    let first = asked(logged(&json!({}), json!(null)), &site).await;
    let got = again("ask_twice", &first, json!({key(&first): "one"})).post(&site).await;
    let heard = got.events();
    assert!(heard.iter().all(|message| message.get("method").is_none()), "{heard:?}");
}

#[tokio::test(start_paused = true)]
async fn a_client_without_the_capability_is_told_what_it_lacks() {
    let site = Site::new();
    for (tool, capability) in [
        ("ask_elicitation", "elicitation"),
        ("ask_sampling", "sampling"),
        ("ask_roots", "roots"),
        ("ask_writing", "elicitation"),
    ] {
        let mut declared = json!({"elicitation": {}, "sampling": {}, "roots": {}});
        declared.as_object_mut().unwrap().remove(capability);
        for declared in [json!({}), declared] {
            let got = modern("tools/call", json!({"name": tool, "_meta": can(declared)})).post(&site).await;
            assert_eq!(got.error(), (400, -32021), "{tool}");
            assert_eq!(got.json()["error"]["data"], json!({"requiredCapabilities": {capability: {}}}));
        }
    }
    let got = modern("tools/call", json!({"name": "ask_anyway"})).post(&site).await;
    assert_eq!(text(&got), "went on without", "who manages without has its answer");
}

#[tokio::test(start_paused = true)]
async fn the_time_a_client_thinks_is_not_the_calls() {
    let site = Site::new();
    let result = asked(call("ask_slowly"), &site).await;
    time::sleep(Duration::from_secs(9 * 60 - 1)).await;
    let key = key(&result);
    let got = again("ask_slowly", &result, json!({key: "late"})).post(&site).await;
    let heard = got.events();
    let answer = heard.last().unwrap_or_else(|| panic!("{}", got.body));
    assert_eq!(answer["result"]["content"][0]["text"], r#""late""#);
}

#[tokio::test(start_paused = true)]
async fn hanging_up_calls_off_what_went_on_after_an_answer_but_not_what_still_waits() {
    let site = Site::new();
    let result = asked(call("ask_slowly"), &site).await;
    let stream = stream(again("ask_slowly", &result, json!({key(&result): 1})).reply(&site).await);
    assert_eq!(site.fixture.dropped(), 0);
    drop(stream);
    time::sleep(Duration::from_secs(1)).await;
    assert_eq!(site.fixture.dropped(), 1, "nobody is left to answer to");

    let mut meta = able();
    meta["io.modelcontextprotocol/logLevel"] = json!("debug");
    let first = asked(modern("tools/call", json!({"name": "ask_twice", "_meta": meta})), &site).await;
    let back = json!({"name": "ask_twice", "_meta": meta, "requestState": first["requestState"],
        "inputResponses": {key(&first): "one"}});
    let got = modern("tools/call", back).post(&site).await;
    let second = got.events().last().unwrap()["result"].clone();
    time::sleep(Duration::from_secs(60)).await;
    let got = again("ask_twice", &second, json!({key(&second): "two"})).post(&site).await;
    assert_eq!(text(&got), r#""one" "two""#, "its stream was over, the call was not");
}

#[tokio::test(start_paused = true)]
async fn a_call_nobody_comes_back_to_is_called_off() {
    let site = Site::new();
    for tool in ["ask_elicitation", "ask_writing"] {
        let before = site.fixture.dropped();
        let result = asked(call(tool), &site).await;
        time::sleep(Duration::from_secs(9 * 60)).await;
        assert_eq!(site.fixture.dropped(), before);
        time::sleep(Duration::from_secs(61)).await;
        assert_eq!(site.fixture.dropped(), before + 1, "{tool}");
        let got = again(tool, &result, json!({key(&result): 1})).post(&site).await;
        assert_eq!(got.error(), (200, -32602));
        assert!(got.message().contains("call again without requestState"), "{}", got.message());
    }
    let runs = site.fixture.runs();
    assert_eq!(runs, 2, "an old state runs nothing");
}

#[tokio::test(start_paused = true)]
async fn strangers_that_never_come_back_do_not_take_everybodys_places() {
    let site = Site::new();
    for _ in 0..256 {
        asked(call("ask_elicitation"), &site).await;
    }
    let got = call("ask_elicitation").post(&site).await;
    assert_eq!(got.error(), (503, -32603));
    assert!(got.message().contains("try again later"), "{}", got.message());
    time::sleep(Duration::from_secs(1)).await;
    assert_eq!(site.fixture.dropped(), 1, "what can't wait is called off");
    asked(call("ask_elicitation").bearer("user:alice"), &site).await;
    time::sleep(Duration::from_secs(10 * 60)).await;
    asked(call("ask_elicitation"), &site).await;
}

#[tokio::test(start_paused = true)]
async fn a_call_that_goes_on_needs_one_place() {
    let site = Site::new();
    let places = toolgate_spine::CallPlaces::new(1, 1, 1);
    let peer = || Peer { address: None, place: Some(places.enter(None).expect("a place is free")) };
    let first = call("ask_elicitation").post_from(&site, &peer()).await;
    let result = first.result();
    assert_eq!(result["resultType"], "input_required");
    let back = again("ask_elicitation", &result, json!({key(&result): 7}));
    let got = time::timeout(Duration::from_secs(60), back.post_from(&site, &peer())).await;
    assert_eq!(text(&got.expect("no call waits for the place of its own answer")), "7");
    assert!(!places.is_full(), "and gives it back");
}

#[tokio::test(start_paused = true)]
async fn a_waiting_call_finishes_in_the_house_it_began_in() {
    let site = Site::new();
    let result = asked(call("ask_elicitation"), &site).await;
    site.replace(everything().into_iter().filter(|tool| tool.name.as_str() != "ask_elicitation").collect(), 1000);
    let got = again("ask_elicitation", &result, json!({key(&result): 1})).post(&site).await;
    assert_eq!(text(&got), "1");
    assert_eq!(call("ask_elicitation").post(&site).await.error(), (200, -32602));
}

#[tokio::test(start_paused = true)]
async fn questions_are_the_answer_on_stdio_too() {
    let site = Site::new();
    let mut client = Client::new(&site, None);
    let mut full = meta();
    full.as_object_mut().unwrap().extend(able().as_object().unwrap().clone());
    client.ask(1, "tools/call", json!({"name": "ask_elicitation", "_meta": full})).await;
    let answer = client.hear().await.unwrap();
    let result = &answer["result"];
    assert_eq!((&answer["id"], &result["resultType"]), (&json!(1), &json!("input_required")));
    let back = json!({"name": "ask_elicitation", "_meta": full, "requestState": result["requestState"],
        "inputResponses": {key(result): 7}});
    client.ask(2, "tools/call", back).await;
    assert_eq!(client.hear().await.unwrap()["result"]["content"][0]["text"], "7");
    client.ask(3, "tools/call", json!({"name": "ask_elicitation", "_meta": meta()})).await;
    assert_eq!(client.hear().await.unwrap()["error"]["code"], -32021);
}
