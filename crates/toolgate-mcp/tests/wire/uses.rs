//! Prompts that are got and resources that are read: passed on as they came, and hidden ones like none at all.

use serde_json::{Value, json};
use toolgate_mcp::Challenge;

use crate::{
    house::Site,
    lines::Client,
    requests::{Ask, Got, initialize, legacy, meta, modern},
};

fn get(name: &str) -> Value {
    json!({"name": name, "arguments": {"b": 1, "a": 2}})
}

#[tokio::test]
async fn a_prompt_reaches_the_client_as_its_source_wrote_it() {
    let site = Site::new();
    let inner = r#""messages":[{"odd":1.50}],"unheardOf":{"b":1,"a":2}}}"#;
    let new = modern("prompts/get", get("greeting")).post(&site).await;
    assert!(new.body.ends_with(inner), "{}", new.body);
    assert_eq!(new.result()["resultType"], "complete");
    assert_eq!(new.result().get("cacheScope"), None, "a prompt is not kept");
    let old = legacy("prompts/get", get("greeting")).post(&site).await;
    assert_eq!(old.body, format!(r#"{{"jsonrpc":"2.0","id":1,"result":{{{inner}"#));
}

#[tokio::test]
async fn a_resource_is_passed_on_and_kept_by_its_reader_alone() {
    let site = Site::new();
    for uri in ["file:///open", "file:///kept", "note://7"] {
        let read = json!({"uri": uri});
        let contents = format!(r#""contents":[{{"uri":"{uri}","odd":1.50}}]"#);
        let kept = if uri == "file:///kept" { r#","ttlMs":5,"cacheScope":"public""# } else { "" };
        let new = modern("resources/read", read.clone()).post(&site).await;
        assert!(new.body.contains(&contents), "{}", new.body);
        let result = new.result();
        assert_eq!((&result["resultType"], &result["cacheScope"]), (&json!("complete"), &json!("private")));
        assert_eq!(result["ttlMs"], if kept.is_empty() { 0 } else { 5 });
        let old = legacy("resources/read", read).post(&site).await;
        assert_eq!(old.body, format!(r#"{{"jsonrpc":"2.0","id":1,"result":{{{contents}{kept}}}}}"#));
    }
}

#[tokio::test]
async fn who_may_use_it_gets_what_others_do_not_see() {
    let site = Site::new();
    for ask in [modern, legacy] {
        let prompt = ask("prompts/get", get("Secret plan"));
        assert_eq!(prompt.bearer("user:alice").post(&site).await.result()["messages"], json!([{"odd": 1.5}]));
        for uri in ["file:///secret", "secret://7", "note://private-7"] {
            let read = ask("resources/read", json!({"uri": uri}));
            let result = read.bearer("user:alice").post(&site).await.result();
            assert_eq!(result["contents"][0]["uri"], uri);
        }
    }
}

/// Every method that names something, with a name that is hidden and one that is unknown.
fn pairs() -> Vec<(&'static str, Value, Value)> {
    let mut pairs = vec![("prompts/get", get("Secret plan"), get("Secret plam"))];
    let prompt = |name: &str| json!({"ref": {"type": "ref/prompt", "name": name}, "argument": {"name": "a"}});
    pairs.push(("completion/complete", prompt("Secret plan"), prompt("Secret plam")));
    let resource = |uri: &str| json!({"ref": {"type": "ref/resource", "uri": uri}, "argument": {"name": "a"}});
    pairs.push(("completion/complete", resource("secret://{id}"), resource("secrem://{id}")));
    for (hidden, unknown) in
        [("file:///secret", "file:///secrem"), ("secret://7", "secrem://7"), ("note://private/7", "note://privame/7")]
    {
        for method in ["resources/read", "resources/subscribe"] {
            pairs.push((method, json!({"uri": hidden}), json!({"uri": unknown})));
        }
    }
    // an address of the template that is hidden, beside one that no template leads to
    pairs.push(("resources/read", json!({"uri": "note://private-secret"}), json!({"uri": "mote://private-secrem"})));
    pairs
}

/// Whatever can be told of an answer, without the name.
fn told(text: &str) -> String {
    text.replace("note://", "mote://").replace("private", "privame").replace("secret", "secrem").replace("plan", "plam")
}

#[tokio::test]
async fn what_is_hidden_answers_byte_for_byte_as_what_is_unknown() {
    let issuer = Site::with(|config| {
        config.challenge = Some(Challenge { resource_metadata_url: "https://a/".to_owned(), scopes: vec![] });
    });
    for site in [Site::new(), issuer] {
        let session = initialize(&site, None, json!({})).await;
        for (method, hidden, unknown) in pairs() {
            let mut asks: Vec<Box<dyn Fn(Value) -> Ask>> =
                vec![Box::new(|params| legacy(method, params).session(&session))];
            if method != "resources/subscribe" {
                asks.push(Box::new(|params| modern(method, params)));
            }
            for ask in asks {
                for change in [(|ask| ask) as fn(Ask) -> Ask, |ask| ask.bearer("nonsense")] {
                    let one: Got = change(ask(hidden.clone())).post(&site).await;
                    let other = change(ask(unknown.clone())).post(&site).await;
                    assert_eq!(told(&one.body), told(&other.body), "{method} {hidden}");
                    assert_eq!((one.status, &one.headers), (other.status, &other.headers));
                    assert_ne!(other.error().1, 0, "{method} {unknown}");
                }
            }
        }
        assert_eq!(site.fixture.runs(), 0);
    }
}

#[tokio::test]
async fn what_is_hidden_answers_on_stdio_as_what_is_unknown() {
    let site = Site::new();
    let mut client = Client::new(&site, None);
    client.ask(1, "initialize", json!({"protocolVersion": "2025-11-25"})).await;
    client.hear().await.unwrap();
    for (method, hidden, unknown) in pairs() {
        for era in [json!({}), meta()] {
            let mut answers = Vec::new();
            for params in [&hidden, &unknown] {
                let mut params = params.clone();
                params["_meta"] = era.clone();
                client.ask(2, method, params).await;
                let answer = client.hear().await.unwrap();
                assert!(answer.get("error").is_some(), "{answer}");
                answers.push(told(&answer.to_string()));
            }
            assert_eq!(answers[0], answers[1], "{method}");
        }
    }
}

#[tokio::test]
async fn an_unknown_resource_is_told_apart_by_era_and_names_its_address() {
    let site = Site::new();
    for (ask, code) in [(modern as fn(&str, Value) -> Ask, -32602), (legacy, -32002)] {
        let got = ask("resources/read", json!({"uri": "file:///no%22such"})).set("mcp-name", "file:///no%22such");
        let got = got.post(&site).await;
        assert_eq!(got.error(), (200, code));
        assert_eq!(got.json()["error"]["data"], json!({"uri": "file:///no%22such"}));
        assert_eq!(got.message(), "Resource not found: file:///no%22such");
        let prompt = ask("prompts/get", json!({"name": "no such"})).post(&site).await;
        assert_eq!((prompt.error(), prompt.message()), ((200, -32602), "Unknown prompt: no such".to_owned()));
    }
}

#[tokio::test]
async fn a_denied_prompt_is_an_error_that_says_which_rule_and_why() {
    let site = Site::new();
    for ask in [modern, legacy] {
        let got = ask("prompts/get", json!({"name": "minutes"})).post(&site).await;
        assert_eq!(got.error(), (200, -31400));
        let error = &got.json()["error"];
        assert_eq!(error["data"]["code"], "authentication_required");
        assert_eq!(error["data"]["message"], error["message"]);
        assert!(error["data"]["rule"].is_string());
        assert!(got.message().contains("'minutes'"), "{}", got.message());
    }
    let issuer = Site::with(|config| {
        config.challenge = Some(Challenge { resource_metadata_url: "https://a/".to_owned(), scopes: vec![] });
    });
    let got = modern("prompts/get", json!({"name": "minutes"})).post(&issuer).await;
    assert_eq!(got.error(), (401, -31401));
}

#[tokio::test]
async fn the_name_header_mirrors_a_prompts_name_and_a_resources_address() {
    let site = Site::new();
    for (method, params) in
        [("prompts/get", json!({"name": "greeting"})), ("resources/read", json!({"uri": "file:///open"}))]
    {
        let ask = modern(method, params.clone());
        assert_eq!(ask.post(&site).await.status, 200);
        assert_eq!(ask.clone().set("mcp-name", "other").post(&site).await.error(), (400, -32020));
        assert_eq!(ask.clone().without("mcp-name").post(&site).await.error(), (400, -32020));
        let old = legacy(method, params).set("mcp-name", "other");
        assert_eq!(old.post(&site).await.status, 200);
    }
    assert_eq!(site.fixture.runs(), 4);
}

#[tokio::test]
async fn malformed_names_are_refused_by_the_field_they_belong_in() {
    let site = Site::new();
    for (method, params, word) in [
        ("prompts/get", json!({"name": 1}), "params.name"),
        ("prompts/get", json!({"name": "greeting", "arguments": []}), "params.arguments"),
        ("resources/read", json!({"name": "file:///open"}), "params.uri"),
        ("resources/subscribe", json!({}), "params.uri"),
    ] {
        let got = legacy(method, params).post(&site).await;
        assert_eq!(got.error(), (400, -32602), "{method}");
        assert!(got.message().contains(word), "{}", got.message());
    }
}
