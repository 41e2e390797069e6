//! What works the same over every transport and in every era.

use std::time::Duration;

use serde_json::value::RawValue;
use tokio::sync::mpsc;
use toolgate_core::tool::{Effect, Permission};
use toolgate_spine::{Client, Line, Outcome, Said, ToolSource};
use toolgate_upstream::UpstreamConfig;

use crate::site::{KINDS, Site, Way, ask, said, within};

#[tokio::test]
async fn the_era_is_found_and_the_list_is_read_to_its_end() {
    for (way, era) in KINDS {
        let site = Site::new(way, era, &[]).await;
        let status = site.upstream.status();
        let version = if era == "modern" { "2026-07-28" } else { "2025-11-25" };
        assert_eq!(status.version.as_deref(), Some(version), "{way:?} {era}");
        let names: Vec<String> = site.upstream.definitions().into_iter().map(|definition| definition.name).collect();
        assert!(names.len() > 20 && names.iter().any(|name| name == "both"), "{names:?}");
        assert!(!names.iter().any(|name| name == "not a name"));
        // a header that can't be repeated is the business of HTTP alone
        assert_eq!(names.iter().any(|name| name == "bad_mirror"), way == Way::Stdio);
        assert!(site.works().await);
        site.upstream.stop().await;
        assert!(site.call("echo").await.contains("upstream 'fix' was stopped"));
    }
}

#[tokio::test]
async fn offers_have_the_facts_of_an_unknown_tool() {
    let site = Site::new(Way::Stdio, "modern", &[]).await;
    let offers = site.upstream.tools();
    let facts = &offers.first().unwrap().facts;
    assert_eq!((facts.effect, facts.permission, facts.advertised), (Effect::Write, Permission::SignedIn, false));
    assert_eq!(site.upstream.name(), "fix");
    site.upstream.stop().await;
}

#[tokio::test]
async fn only_wanted_tools_are_offered() {
    let change = |config: &mut toolgate_upstream::UpstreamConfig| {
        config.include = vec!["e*".to_owned(), "odd".to_owned()];
        config.exclude = vec!["env".to_owned()];
    };
    let site = Site::with(Way::Stdio, "modern", &[], change).await;
    let names: Vec<String> = site.upstream.definitions().into_iter().map(|definition| definition.name).collect();
    assert_eq!(names, ["odd", "echo", "error500"]);
    site.upstream.stop().await;
}

#[tokio::test]
async fn progress_reaches_the_caller() {
    for (way, era) in KINDS {
        let site = Site::new(way, era, &[]).await;
        let (said_to, mut notes) = mpsc::channel(16);
        let capabilities = RawValue::from_string("{}".to_owned()).unwrap();
        let line = Line { said: said_to, wants_progress: true, log: None, capabilities, address: None };
        let outcome = site.outcome("steps", "{}", Client::on(line)).await;
        assert!(said(outcome).contains("steps"));
        let mut seen = Vec::new();
        while let Ok(Said::Progress(note)) = notes.try_recv() {
            seen.push((note.progress, note.total, note.message.unwrap_or_default()));
        }
        let step = |n: f64, text: &str| (n, Some(3.0), text.to_owned());
        assert_eq!(seen, [step(1.0, "s1"), step(2.0, "s2"), step(3.0, "s3")], "{way:?} {era}");
        site.upstream.stop().await;
    }
}

#[tokio::test]
async fn a_refusal_reaches_the_caller_as_it_came() {
    for (way, era) in KINDS {
        let site = Site::new(way, era, &[]).await;
        match site.outcome("refuse", "{}", Client::default()).await {
            Outcome::Rejected { code, message, .. } => {
                assert_eq!((code, message.as_str()), (-32602, "no such thing as that"), "{way:?} {era}");
            }
            other => panic!("{other:?}"),
        }
        site.upstream.stop().await;
    }
}

#[tokio::test]
async fn a_call_past_its_deadline_fails_clearly_and_is_called_off() {
    for (way, era) in KINDS {
        let site = Site::with(way, era, &[], |config| config.timeout_ms = 300).await;
        let text = site.call("hang").await;
        assert!(text.contains("upstream 'fix' did not answer within 300 ms"), "{text}");
        called_off(&site, way, era).await;
        assert!(site.works().await, "{way:?} {era}");
        assert_eq!(site.fixture.calls("hang"), 1);
        site.upstream.stop().await;
    }
}

#[tokio::test]
async fn a_call_nobody_waits_for_is_called_off() {
    for (way, era) in KINDS {
        let site = Site::new(way, era, &[]).await;
        let call = ask(&site.spine, "hang", "{}", Client::default());
        assert!(tokio::time::timeout(Duration::from_millis(300), call).await.is_err());
        called_off(&site, way, era).await;
        assert_eq!(site.upstream.status().calls_under_way, 0);
        site.upstream.stop().await;
    }
}

/// Told so, where hanging up does not say it.
async fn called_off(site: &Site, way: Way, era: &str) {
    if (way, era) == (Way::Http, "modern") {
        return;
    }
    let id = site.fixture.messages("tools/call")[0]["id"].clone();
    let cancelled =
        async || site.fixture.messages("notifications/cancelled").iter().any(|told| told["params"]["requestId"] == id);
    within(3, "the call is called off", cancelled).await;
}

#[tokio::test]
async fn an_older_upstreams_questions_are_answered_without_promises() {
    for way in [Way::Stdio, Way::Http] {
        let site = Site::new(way, "legacy", &[]).await;
        assert!(site.call("asks").await.contains("asks"));
        let log = site.fixture.log().replace('\\', "");
        assert!(log.contains(r#""id":"s0","result":{}"#), "{way:?} {log}");
        for id in ["s1", "s2", "s3"] {
            assert!(log.contains(&format!(r#""id":"{id}","error":{{"code":-32601"#)), "{way:?} {log}");
        }
        site.upstream.stop().await;
    }
}

#[tokio::test]
async fn more_calls_than_allowed_are_turned_away_at_once() {
    for (way, era) in KINDS {
        let wide = |config: &mut UpstreamConfig| (config.concurrency, config.caller_concurrency) = (2, Some(2));
        let site = Site::with(way, era, &[], wide).await;
        let slow = || ask(&site.spine, "slow", "{}", Client::default());
        let (one, two, three) = tokio::join!(slow(), slow(), slow());
        let texts = [one, two, three].map(said);
        assert_eq!(texts.iter().filter(|text| text.contains(r#""text": "slow""#)).count(), 2);
        assert!(texts.iter().any(|text| text.contains("upstream 'fix' is busy with 2 calls")), "{texts:?}");
        site.upstream.stop().await;
    }
}

#[tokio::test]
async fn one_caller_gets_half_of_an_upstreams_places() {
    for (way, era) in KINDS {
        let site = Site::with(way, era, &[], |config| config.concurrency = 3).await;
        let slow = || ask(&site.spine, "slow", "{}", Client::default());
        let (one, two) = tokio::join!(slow(), slow());
        let texts = [one, two].map(said);
        assert_eq!(texts.iter().filter(|text| text.contains(r#""text": "slow""#)).count(), 1, "{texts:?}");
        let refused = "upstream 'fix' is busy with 1 calls of yours, as many as one caller may have at once";
        assert!(texts.iter().any(|text| text.contains(refused)), "{texts:?}");
        assert!(said(slow().await).contains(r#""text": "slow""#), "the place comes back");
        site.upstream.stop().await;
    }
}
