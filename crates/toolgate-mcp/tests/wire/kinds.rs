//! Prompts, resources and templates: listed to those who may use them, and only there where a source has any.

use serde_json::{Value, json};

use crate::{
    house::{Site, everything},
    lines::Client,
    requests::{Ask, legacy, meta, modern},
};

type Names = &'static [&'static str];

/// Of each list: its method, its member, what names an item, what strangers see, what Alice sees beside.
const LISTS: [(&str, &str, &str, Names, Names); 3] = [
    ("prompts/list", "prompts", "name", &["greeting", "wants"], &["Secret plan", "minutes"]),
    ("resources/list", "resources", "uri", &["file:///kept", "file:///open"], &["file:///secret"]),
    ("resources/templates/list", "resourceTemplates", "uriTemplate", &["note://{id}"], &["secret://{id}"]),
];

type Params = fn() -> Value;

const ALL_OF_MORE: [(&str, Params); 5] = [
    ("prompts/get", || json!({"name": "greeting"})),
    ("resources/read", || json!({"uri": "file:///open"})),
    ("completion/complete", || json!({"ref": {"type": "ref/prompt", "name": "greeting"}, "argument": {}})),
    ("prompts/list", || json!({})),
    ("resources/templates/list", || json!({})),
];

fn named(result: &Value, member: &str, key: &str) -> Vec<String> {
    let items = result[member].as_array().unwrap();
    items.iter().map(|item| item[key].as_str().unwrap().to_owned()).collect()
}

fn with(open: &[&str], more: &[&str]) -> Vec<String> {
    let mut all: Vec<String> = open.iter().chain(more).map(|name| (*name).to_owned()).collect();
    all.sort();
    all
}

#[tokio::test]
async fn each_caller_sees_its_own_prompts_resources_and_templates() {
    let site = Site::new();
    for (method, member, key, open, more) in LISTS {
        for ask in [modern, legacy] {
            let list = ask(method, json!({}));
            let stranger = list.post(&site).await.result();
            assert_eq!(named(&stranger, member, key), with(open, &[]), "{method}");
            let alice = list.bearer("user:alice").post(&site).await.result();
            assert_eq!(named(&alice, member, key), with(open, more), "{method}");
        }
        let old = legacy(method, json!({})).post(&site).await.result();
        assert_eq!(old.as_object().unwrap().keys().collect::<Vec<_>>(), [member]);
        let new = modern(method, json!({})).post(&site).await.result();
        assert_eq!((new["resultType"].clone(), new["cacheScope"].clone()), (json!("complete"), json!("private")));
        assert!(new["ttlMs"].is_u64());
    }
}

#[tokio::test]
async fn lists_of_each_kind_are_the_same_on_stdio() {
    let site = Site::new();
    for (method, member, key, open, more) in LISTS {
        for (token, expected) in [(None, with(open, &[])), (Some("user:alice"), with(open, more))] {
            let mut client = Client::new(&site, token);
            for params in [json!({}), json!({"_meta": meta()})] {
                client.ask(1, method, params).await;
                let answer = client.hear().await.unwrap();
                assert_eq!(named(&answer["result"], member, key), expected, "{method}");
            }
        }
    }
}

#[tokio::test]
async fn pages_of_each_kind_are_turned_by_cursors_of_that_kind_and_caller_alone() {
    let site = Site::new();
    site.replace(everything(), 1);
    let alice = |ask: Ask| ask.bearer("user:alice");
    for ask in [modern, legacy] {
        let mut first_cursors = Vec::new();
        for (method, member, key, open, more) in LISTS {
            let mut seen = Vec::new();
            let mut cursor = Value::Null;
            loop {
                let page = alice(ask(method, json!({"cursor": cursor}))).post(&site).await.result();
                assert_eq!(page[member].as_array().unwrap().len(), 1);
                seen.extend(named(&page, member, key));
                cursor = page["nextCursor"].clone();
                if cursor.is_null() {
                    break;
                }
                if seen.len() == 1 {
                    first_cursors.push((method, cursor.clone()));
                }
            }
            assert_eq!(seen, with(open, more));
        }
        for (of, cursor) in &first_cursors {
            for (method, ..) in LISTS {
                let got = alice(ask(method, json!({"cursor": cursor}))).post(&site).await;
                let expected = if *of == method { (200, 0) } else { (200, -32602) };
                assert_eq!(got.error(), expected, "the cursor of {of} at {method}");
            }
            let tools = alice(ask("tools/list", json!({"cursor": cursor}))).post(&site).await;
            assert_eq!(tools.error(), (200, -32602));
            for other in [ask(of, json!({"cursor": cursor})), ask(of, json!({"cursor": cursor})).bearer("user:bob")] {
                assert_eq!(other.post(&site).await.error(), (200, -32602));
            }
        }
    }
}

#[tokio::test]
async fn where_there_are_only_tools_nothing_else_is_found() {
    let site = Site::of_tools();
    for (method, params) in ALL_OF_MORE {
        let got = modern(method, params()).post(&site).await;
        assert_eq!(got.error(), (404, -32601), "{method}");
        assert_eq!(got.message(), format!("Method not found: {method}"));
        assert_eq!(legacy(method, params()).post(&site).await.error(), (200, -32601), "{method}");
    }
    for method in ["logging/setLevel", "resources/subscribe", "resources/unsubscribe"] {
        let params = json!({"level": "info", "uri": "file:///open"});
        assert_eq!(legacy(method, params).post(&site).await.error(), (200, -32601), "{method}");
    }
    let mut client = Client::new(&site, None);
    client.ask(1, "prompts/list", json!({})).await;
    assert_eq!(client.hear().await.unwrap()["error"]["code"], -32601);
    assert_eq!(site.fixture.runs(), 0);
}

#[tokio::test]
async fn methods_of_the_older_era_are_not_found_in_the_newer() {
    let site = Site::new();
    for method in ["logging/setLevel", "resources/subscribe", "resources/unsubscribe"] {
        let params = json!({"level": "info", "uri": "file:///open"});
        assert_eq!(modern(method, params).post(&site).await.error(), (404, -32601), "{method}");
    }
}

#[tokio::test]
async fn what_the_server_can_do_is_named_as_far_as_a_source_has_it() {
    let all = json!({
        "tools": {"listChanged": true},
        "prompts": {"listChanged": true},
        "resources": {"subscribe": true, "listChanged": true},
        "completions": {},
        "logging": {},
    });
    for (site, expected) in [(Site::new(), all), (Site::of_tools(), json!({"tools": {"listChanged": true}}))] {
        let initialize = json!({"protocolVersion": "2025-11-25", "capabilities": {}});
        let discover = modern("server/discover", json!({})).post(&site).await.result();
        let opened = legacy("initialize", initialize.clone()).post(&site).await.result();
        assert_eq!((&discover["capabilities"], &opened["capabilities"]), (&expected, &expected));
        let mut client = Client::new(&site, None);
        client.ask(1, "server/discover", json!({"_meta": meta()})).await;
        assert_eq!(client.hear().await.unwrap()["result"]["capabilities"], expected);
        client.ask(2, "initialize", initialize).await;
        assert_eq!(client.hear().await.unwrap()["result"]["capabilities"], expected);
    }
}
