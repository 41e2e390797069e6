//! What a server logs reaches the client of the call it belongs to, if that client wants it, and nobody else.

use serde_json::{Value, json};
use tokio::sync::mpsc;
use toolgate_spine::{Client, LogLevel, Said};

use crate::site::{KINDS, Site, Way, ask, client, within};

/// The levels heard so far.
fn levels(heard: &mut mpsc::Receiver<Said>) -> Vec<String> {
    let mut levels = Vec::new();
    while let Ok(said) = heard.try_recv() {
        let Said::Log(params) = said else { panic!("{said:?}") };
        let params: Value = serde_json::from_str(params.get()).unwrap();
        assert_eq!(params["data"]["n"], 1.5);
        levels.push(params["level"].as_str().unwrap().to_owned());
    }
    levels
}

#[tokio::test]
async fn a_client_hears_what_is_as_urgent_as_it_wants() {
    for (way, era) in KINDS {
        let site = Site::new(way, era, &[]).await;
        let (wants, mut heard) = client("{}", Some(LogLevel::Info));
        site.outcome("logs", "{}", wants).await;
        assert_eq!(levels(&mut heard), ["info", "error"], "{way:?} {era}");
        let (silent, mut heard) = client("{}", None);
        site.outcome("logs", "{}", silent).await;
        assert!(levels(&mut heard).is_empty());
        site.upstream.stop().await;
    }
}

#[tokio::test]
async fn an_older_server_is_told_the_least_urgent_level_once() {
    for way in [Way::Stdio, Way::Http] {
        let site = Site::new(way, "legacy", &[]).await;
        site.call("echo").await;
        let set = || -> Vec<Value> {
            let messages = site.fixture.messages("logging/setLevel");
            messages.iter().map(|message| message["params"]["level"].clone()).collect()
        };
        assert!(set().is_empty(), "nobody wanted to hear anything");
        for level in [LogLevel::Warning, LogLevel::Error, LogLevel::Warning, LogLevel::Debug, LogLevel::Info] {
            site.outcome("echo", "{}", client("{}", Some(level)).0).await;
        }
        assert_eq!(set(), [json!("warning"), json!("debug")], "{way:?}");
        site.upstream.stop().await;
    }
    let site = Site::new(Way::Stdio, "legacy", &["tools_only"]).await;
    site.outcome("echo", "{}", client("{}", Some(LogLevel::Debug)).0).await;
    assert!(site.fixture.messages("logging/setLevel").is_empty(), "it never said that it logs");
    site.upstream.stop().await;
}

#[tokio::test]
async fn nobody_hears_the_log_of_a_call_that_may_be_anothers() {
    for (way, era) in KINDS {
        let site = Site::new(way, era, &[]).await;
        let (one, mut one_heard) = client("{}", Some(LogLevel::Debug));
        let (other, mut other_heard) = client("{}", Some(LogLevel::Debug));
        let held = ask(&site.spine, "hold", r#"{"key":"a"}"#, one);
        let meanwhile = async {
            within(5, "the call is held", async || site.fixture.log().contains(r#""holding": "a""#)).await;
            site.outcome("logs", "{}", other).await;
            site.outcome("release", r#"{"key":"a"}"#, Client::default()).await;
        };
        tokio::join!(held, meanwhile);
        assert!(levels(&mut one_heard).is_empty(), "{way:?} {era}");
        // over HTTP the stream says whose it is
        let expected: &[&str] = if way == Way::Http { &["debug", "info", "error"] } else { &[] };
        assert_eq!(levels(&mut other_heard), expected, "{way:?} {era}");
        site.upstream.stop().await;
    }
}
