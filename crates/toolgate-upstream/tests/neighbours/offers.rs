//! Prompts, resources and completions: listed, got, read, and passed on as they came.

use std::{sync::Arc, time::Duration};

use serde_json::{Value, json};
use toolgate_core::{Caller, Kind};
use toolgate_spine::{Call, Client, Outcome};
use toolgate_upstream::{Definition, Upstream};

use crate::site::{KINDS, Site, Way, get, raw, said, within};

fn names(definitions: &[Definition]) -> Vec<&str> {
    definitions.iter().map(|definition| definition.name.as_str()).collect()
}

#[tokio::test]
async fn every_list_is_read_to_its_end_and_kept_byte_for_byte() {
    for (way, era) in KINDS {
        let site = Site::new(way, era, &[]).await;
        let (prompts, resources, templates) =
            (site.upstream.prompts(), site.upstream.resources(), site.upstream.templates());
        assert_eq!(prompts.len(), 19, "{way:?} {era}");
        assert_eq!(prompts[0].raw.get(), r#"{ "zeta":1.0e5,"name" : "odd", "arguments":[ ],"title":"\u00e9 é"}"#);
        assert_eq!(names(&resources), ["test://odd", "test://é", "test://missing", "test://input"]);
        let odd = r#"{"size":1.0e2 , "uri":"test://odd","name":"odd","_meta":{"b":-0.0}}"#;
        assert_eq!(resources[0].raw.get(), odd);
        assert_eq!(names(&templates), ["test://{kind}/é{?q}"]);
        assert_eq!(*site.upstream.changes().borrow(), 1);
        site.upstream.stop().await;
        assert_eq!(site.upstream.prompts().len(), 19, "kept while it is away");
    }
}

#[tokio::test]
async fn a_server_with_tools_alone_is_asked_for_nothing_else() {
    let site = Site::new(Way::Stdio, "modern", &["tools_only"]).await;
    assert!(site.upstream.prompts().is_empty());
    assert!(site.fixture.messages("prompts/list").is_empty());
    site.upstream.stop().await;
}

#[tokio::test]
async fn results_of_prompts_and_resources_pass_as_they_are() {
    for (way, era) in KINDS {
        let site = Site::new(way, era, &[]).await;
        let odd = said(get(&site, Kind::Prompt, "odd", "{}").await);
        let messages =
            r#"{ "messages":[{"role":"user","content":{"type":"hologram","n":1.0e5}}],"description":"\u00e9 é"}"#;
        assert_eq!(odd, messages, "{way:?} {era}");
        let greeted = said(get(&site, Kind::Prompt, "greet", r#"{"who":"é"}"#).await);
        assert!(greeted.contains(r#"greet {\"who\": \"\\u00e9\"}"#), "{greeted}");
        let odd = said(get(&site, Kind::Resource, "test://odd", "{}").await);
        let cache = if era == "modern" { r#","ttlMs":1.0e3,"cacheScope":"private""# } else { "" };
        let contents = r#"{"contents":[ {"uri":"test://odd","text":"\u00e9 \/"}]CACHE, "_meta":{"x":-0.0}}"#;
        assert_eq!(odd, contents.replace("CACHE", cache), "{way:?} {era}");
        // by a template: the address that was asked for is the one that is read
        let other = said(get(&site, Kind::Resource, "test://some/%C3%A9?q=1", "{}").await);
        assert!(other.contains(r#""uri":"test://some/%C3%A9?q=1""#), "{other}");
        site.upstream.stop().await;
    }
}

#[tokio::test]
async fn the_newer_era_repeats_names_and_addresses_in_a_header() {
    let site = Site::new(Way::Http, "modern", &[]).await;
    get(&site, Kind::Prompt, "greet", "{}").await;
    get(&site, Kind::Resource, "test://é", "{}").await;
    let log = site.fixture.log();
    let name = |method: &str| {
        let line = log.lines().find(|line| line.contains(method)).unwrap();
        serde_json::from_str::<Value>(line).unwrap()["headers"]["mcp-name"].clone()
    };
    assert_eq!(name("prompts/get"), "greet");
    assert_eq!(name("resources/read"), "=?base64?dGVzdDovL8Op?=");
    site.upstream.stop().await;
}

#[tokio::test]
async fn refusals_are_errors_of_the_protocol_with_their_own_code_and_data() {
    for (way, era) in KINDS {
        let site = Site::new(way, era, &[]).await;
        let rejected = |outcome: Outcome| match outcome {
            Outcome::Rejected { code, message, data, .. } => (code, message, data.unwrap()),
            other => panic!("{other:?}"),
        };
        let said = "no such thing as that".to_owned();
        let data = |name: &str| format!(r#"{{"asked": "{name}", "n": 1.5}}"#);
        let prompt = rejected(get(&site, Kind::Prompt, "refuse", "{}").await);
        assert_eq!(prompt, (-32602, said.clone(), data("refuse")), "{way:?} {era}");
        let resource = rejected(get(&site, Kind::Resource, "test://missing", "{}").await);
        assert_eq!(resource, (-32002, said, data("test://missing")), "{way:?} {era}");
        // a tool's refusal that tells a client what to do is one too; any other is a result
        for (arguments, code) in [("{}", -32021), (r#"{"url":true}"#, -32042)] {
            let tool = rejected(site.outcome("incapable", arguments, Client::default()).await);
            assert_eq!((tool.0, tool.2.as_str()), (code, r#"{"requiredCapabilities": {"sampling": {}}}"#));
        }
        assert!(matches!(
            site.outcome("refuse", "{}", Client::default()).await,
            Outcome::Rejected { code: -32602, .. }
        ));
        site.upstream.stop().await;
    }
}

async fn complete(site: &Site, kind: Kind, name: &str) -> Outcome {
    let params =
        raw(r#"{"argument":{"name":"who", "value":"é"},"context":{"arguments":{"n":"1.0"}},"ref":"not mine"}"#);
    let call = Call::of(kind, name, None, site.spine.gate().lang());
    site.spine.complete(&Arc::new(Caller::anonymous()), call, &params).await
}

#[tokio::test]
async fn arguments_are_completed_by_the_server_that_knows_them() {
    for (way, era) in KINDS {
        let site = Site::new(way, era, &[]).await;
        let result = said(complete(&site, Kind::Prompt, "greet").await);
        assert!(result.starts_with(r#"{ "completion":"#) && result.ends_with(r#""total":1.0}}"#), "{result}");
        let asked = |result: &str| -> Value {
            let result: Value = serde_json::from_str(result).unwrap();
            serde_json::from_str(result["completion"]["values"][0].as_str().unwrap()).unwrap()
        };
        let expected = json!({"ref": {"type": "ref/prompt", "name": "greet"},
            "argument": {"name": "who", "value": "é"}, "context": {"arguments": {"n": "1.0"}}});
        assert_eq!(asked(&result), expected, "{way:?} {era}");
        let result = said(complete(&site, Kind::Template, "test://{kind}/é{?q}").await);
        assert_eq!(asked(&result)["ref"], json!({"type": "ref/resource", "uri": "test://{kind}/é{?q}"}));
        site.upstream.stop().await;
    }
}

#[tokio::test]
async fn entries_that_are_no_prompts_are_left_out_and_the_others_stay() {
    for (way, era) in KINDS {
        let site = Site::new(way, era, &["bad_prompts"]).await;
        let prompts = site.upstream.prompts();
        assert_eq!(prompts.len(), 19, "{way:?} {era}: {:?}", names(&prompts));
        assert_eq!(names(&prompts)[..5], ["odd", "greet", "refuse", "input", "p0"]);
        assert!(site.works().await);
        site.upstream.stop().await;
    }
}

#[tokio::test]
async fn a_list_that_fails_takes_no_other_down() {
    for (way, era) in KINDS {
        for flag in ["no_prompts", "hang_prompts"] {
            let site = Site::with(way, era, &[flag], |config| config.patience.probe = Duration::from_millis(300)).await;
            assert!(site.upstream.prompts().is_empty());
            // at the latest when it is asked again, with more patience
            within(10, "the resources are known", async || site.upstream.resources().len() == 4).await;
            assert!(site.works().await, "{way:?} {era} {flag}");
            site.upstream.stop().await;
        }
    }
}

#[tokio::test]
async fn a_changed_list_of_prompts_or_resources_is_noticed_and_no_other_is_read() {
    for (way, era) in KINDS {
        let site = Site::new(way, era, &[]).await;
        let listening = async || {
            way == Way::Stdio
                || site.fixture.log().contains("subscriptions/listen")
                || site.fixture.log().contains("GET")
        };
        within(3, "somebody listens", listening).await;
        let changes = |list: &str| format!(r#"{{"list":"{list}"}}"#);
        let grows = async |list: &str, upstream: &Upstream| {
            // told again until it is heard: the stream may open a moment after it was asked for
            site.outcome("change", &changes(list), Client::default()).await;
            match list {
                "prompts" => upstream.prompts().iter().any(|one| one.name == "extra 0"),
                _ => upstream.resources().iter().any(|one| one.name == "test://extra/0"),
            }
        };
        within(10, "the new prompt is known", async || grows("prompts", &site.upstream).await).await;
        assert_eq!(site.upstream.resources().len(), 4);
        within(10, "the new resource is known", async || grows("resources", &site.upstream).await).await;
        assert!(*site.upstream.changes().borrow() >= 3);
        let first = |method: &str| {
            let lists = site.fixture.messages(method);
            lists.iter().filter(|list| list["params"]["cursor"].is_null()).count()
        };
        assert_eq!(first("tools/list"), 1, "{way:?} {era}");
        assert!(first("resources/templates/list") >= 2, "{way:?} {era}");
        if era == "modern" {
            let asked = json!({"toolsListChanged": true, "promptsListChanged": true, "resourcesListChanged": true});
            assert_eq!(site.fixture.messages("subscriptions/listen")[0]["params"]["notifications"], asked);
        }
        site.upstream.stop().await;
    }
}
