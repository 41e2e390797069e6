//! What only goes wrong over HTTP.

use std::time::Duration;

use serde_json::Value;
use toolgate_spine::Client;
use toolgate_upstream::{Fault, State, Transport, Upstream, UpstreamConfig};

use crate::site::{Site, Way, fixture, said, within};

#[tokio::test]
async fn errors_of_the_server_are_counted_and_calls_are_kept_from_it_for_a_while() {
    for era in ["modern", "legacy"] {
        let site = Site::with(Way::Http, era, &[], |config| {
            config.patience.failures = 3;
            config.patience.trial_after = Duration::from_millis(500);
        })
        .await;
        for _ in 0..3 {
            let text = site.call("error500").await;
            assert!(
                text.contains("upstream 'fix' answered with HTTP status 500") && text.contains("its log"),
                "{text}"
            );
        }
        let text = site.call("echo").await;
        assert!(text.contains("failed 3 times in a row"), "{text}");
        assert_eq!(site.fixture.calls("error500"), 3, "never sent twice");
        site.recovers().await;
        site.upstream.stop().await;
    }
}

#[tokio::test]
async fn an_answer_that_breaks_off_is_an_error_and_the_call_is_not_made_again() {
    for era in ["modern", "legacy"] {
        let site = Site::new(Way::Http, era, &[]).await;
        let text = site.call("cut").await;
        assert!(text.contains("upstream 'fix' broke off before its answer"), "{text}");
        let closed = site.call("close").await;
        assert!(closed.contains("upstream 'fix' broke off before its answer (it closed the stream)"), "{closed}");
        assert_eq!((site.fixture.calls("cut"), site.fixture.calls("close")), (1, 1));
        assert!(site.works().await);
        let text = site.call("crash").await;
        assert!(text.contains("upstream 'fix' broke off before its answer"), "{text}");
        // a connection that was kept may break off first
        within(3, "it is seen to be away", async || {
            let text = site.call("echo").await;
            text.contains("upstream 'fix' can't be reached") && text.contains("check that it runs")
        })
        .await;
        site.upstream.stop().await;
    }
}

#[tokio::test]
async fn results_past_the_limit_are_errors_and_what_else_comes_on_a_stream_is_passed_over() {
    let site = Site::with(Way::Http, "modern", &[], |config| config.result_bytes = 100_000).await;
    for size in [200_000, 100_000_000] {
        let text = said(site.outcome("huge", &format!("{{\"size\":{size}}}"), Client::default()).await);
        assert!(text.contains("upstream 'fix' answered with more than 100000 bytes"), "{text}");
    }
    assert!(site.call("wrong").await.contains(r#""text": "wrong""#));
    assert!(site.call("garbage").await.contains(r#""text": "garbage""#));
    assert!(site.call("flood").await.contains(r#""text": "flood""#));
    assert!(site.call("both").await.contains("does not speak the protocol"));
    assert!(site.works().await);
    site.upstream.stop().await;
}

#[tokio::test]
async fn a_lost_session_is_opened_again_and_the_call_is_left_to_the_caller() {
    let site = Site::new(Way::Http, "legacy", &[]).await;
    site.call("forget").await;
    let text = site.call("echo").await;
    assert!(text.contains("no longer knows its session") && text.contains("was not run"), "{text}");
    assert_eq!(site.fixture.calls("echo"), 1);
    site.recovers().await;
    assert_eq!(site.upstream.status().connections, 2);
    site.upstream.stop().await;
    assert!(site.fixture.log().contains("DELETE"), "the session is given back");
}

#[tokio::test]
async fn the_newer_era_repeats_the_body_in_headers_and_the_older_names_its_session() {
    let site = Site::new(Way::Http, "modern", &[]).await;
    site.outcome("mirrored", r#"{"region":"Köln"}"#, Client::default()).await;
    let headers = head_of(&site, "tools/call");
    assert_eq!(headers["mcp-protocol-version"], "2026-07-28");
    assert_eq!((&headers["mcp-method"], &headers["mcp-name"]), (&"tools/call".into(), &"mirrored".into()));
    assert_eq!(headers["mcp-param-region"], "=?base64?S8O2bG4=?=");
    assert!(headers.get("mcp-session-id").is_none());
    site.upstream.stop().await;

    let site = Site::new(Way::Http, "legacy", &[]).await;
    site.call("echo").await;
    let headers = head_of(&site, "tools/call");
    assert_eq!(headers["mcp-protocol-version"], "2025-11-25");
    assert_eq!(headers["mcp-session-id"], "s0");
    assert!(headers.get("mcp-method").is_none());
    assert_eq!(site.fixture.messages("notifications/initialized").len(), 1);
    site.upstream.stop().await;
}

#[tokio::test]
async fn a_server_that_dies_quietly_is_seen_to_be_down_and_to_come_back() {
    for era in ["modern", "legacy"] {
        let mut site = Site::new(Way::Http, era, &[]).await;
        let Transport::Http { url, .. } = &site.upstream.config().transport else { panic!() };
        let port = url.trim_end_matches("/mcp").rsplit(':').next().unwrap().to_owned();
        site.fixture.kill();
        assert!(!site.works().await);
        let state = site.upstream.status().state;
        assert!(matches!(state, State::Down(Fault::Unreachable { .. } | Fault::Lost { .. })), "{era}: {state:?}");
        site.fixture.serve(&port);
        // nobody calls it meanwhile
        within(10, "it is up again", async || site.upstream.status().state == State::Up).await;
        assert!(site.works().await, "{era}");
        site.upstream.stop().await;
    }
}

#[tokio::test]
async fn many_calls_share_one_connection() {
    for era in ["modern", "legacy"] {
        let site = Site::new(Way::Http, era, &[]).await;
        assert!(site.works().await);
        let connections = || site.fixture.log().matches(r#""connected""#).count();
        // the stream of changes has a connection of its own
        let listens =
            async || site.fixture.log().contains("subscriptions/listen") || site.fixture.log().contains("GET");
        within(5, "it listens", listens).await;
        let before = connections();
        for _ in 0..20 {
            assert!(site.works().await);
        }
        assert_eq!(connections(), before, "{era}");
        site.upstream.stop().await;
    }
}

fn head_of(site: &Site, method: &str) -> Value {
    let log = site.fixture.log();
    let line = log.lines().find(|line| line.contains(method)).unwrap();
    serde_json::from_str::<Value>(line).unwrap()["headers"].clone()
}

#[tokio::test]
async fn hanging_up_is_how_a_call_of_the_newer_era_is_called_off() {
    let site = Site::new(Way::Http, "modern", &[]).await;
    let call = site.call("drip");
    assert!(tokio::time::timeout(Duration::from_millis(300), call).await.is_err());
    within(3, "the stream is closed", async || site.fixture.log().contains(r#""hung_up": "drip""#)).await;
    assert!(site.fixture.messages("notifications/cancelled").is_empty());
    site.upstream.stop().await;
}

#[tokio::test]
async fn an_older_server_that_is_rude_silent_or_without_a_stream_is_understood_all_the_same() {
    for (era, flags) in [("legacy", &["rude"][..]), ("silent", &[]), ("legacy", &["no_stream"])] {
        let change = |config: &mut UpstreamConfig| config.patience.probe = Duration::from_millis(300);
        let site = Site::with(Way::Http, era, flags, change).await;
        assert_eq!(site.upstream.status().version.as_deref(), Some("2025-11-25"));
        tokio::time::sleep(Duration::from_millis(200)).await;
        assert!(site.works().await, "{era} {flags:?}");
        assert_eq!(site.upstream.status().connections, 1, "{era} {flags:?}");
        site.upstream.stop().await;
    }
}

async fn never_ready(flags: &[&str], change: impl FnOnce(&mut UpstreamConfig)) -> String {
    let (fixture, mut config) = fixture(Way::Http, "modern", flags);
    change(&mut config);
    let upstream = Upstream::start(config);
    let fault = upstream.ready(Duration::from_millis(700)).await.unwrap_err();
    upstream.stop().await;
    assert!(!fixture.log().contains("elsewhere"));
    fault.about("fix")
}

#[tokio::test]
async fn an_upstream_that_never_gets_ready_says_why() {
    let text = never_ready(&["redirect"], |_| {}).await;
    assert!(text.contains("HTTP status 307") && text.contains("redirects are not followed"), "{text}");
    let text = never_ready(&["unauthorized"], |_| {}).await;
    assert!(text.contains("HTTP status 401") && text.contains("credentials"), "{text}");
    let text = never_ready(&["html"], |_| {}).await;
    assert!(text.contains("neither JSON nor events but 'text/html'"), "{text}");
    let to = |url: &'static str| {
        move |config: &mut UpstreamConfig| {
            config.transport = Transport::Http { url: url.to_owned(), headers: Vec::new(), auth: None };
        }
    };
    let text = never_ready(&[], to("http://127.0.0.1:1/mcp")).await;
    assert!(text.contains("upstream 'fix' can't be reached"), "{text}");
    let text = never_ready(&[], to("file:///etc/hosts")).await;
    assert!(text.contains("neither http nor https"), "{text}");
}

#[tokio::test]
async fn an_address_that_speaks_no_tls_is_unreachable() {
    let (_fixture, mut config) = fixture(Way::Http, "modern", &[]);
    let Transport::Http { url, .. } = &mut config.transport else { panic!() };
    *url = url.replace("http:", "https:");
    let upstream = Upstream::start(config);
    within(5, "the handshake fails", async || {
        matches!(upstream.ready(Duration::from_millis(50)).await, Err(Fault::Unreachable { .. }))
    })
    .await;
    upstream.stop().await;
}
