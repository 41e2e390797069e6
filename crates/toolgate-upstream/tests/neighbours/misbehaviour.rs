//! A child that does what no server should: its callers get a clear error or their answer, and nobody else notices.

use std::time::{Duration, Instant};

use toolgate_spine::Client;
use toolgate_upstream::{Fault, State, Transport, Upstream, UpstreamConfig};

use crate::site::{Site, Way, ask, fixture, said, within};

#[tokio::test]
async fn a_crash_fails_the_call_clearly_and_the_child_is_started_again() {
    for era in ["modern", "legacy"] {
        let site = Site::new(Way::Stdio, era, &[]).await;
        let other = Site::new(Way::Stdio, era, &[]).await;
        let text = site.call("crash").await;
        assert!(text.contains("upstream 'fix' broke off before its answer"), "{text}");
        assert!(text.contains("exit status: 3") && text.contains("look before calling again"), "{text}");
        assert!(other.works().await);
        site.recovers().await;
        assert_eq!(site.fixture.calls("crash"), 1, "never sent twice");
        assert_eq!(site.upstream.status().connections, 2);
        site.upstream.stop().await;
        other.upstream.stop().await;
    }
}

#[tokio::test]
async fn garbage_half_lines_wrong_ids_and_second_answers_are_passed_over() {
    let site = Site::new(Way::Stdio, "modern", &["noise"]).await;
    let before = site.upstream.status().garbage;
    assert_eq!(before, 2);
    assert!(site.call("garbage").await.contains(r#""text": "garbage""#));
    assert_eq!(site.upstream.status().garbage, before + 4);
    assert!(site.call("half").await.contains(r#""text": "half""#));
    assert!(site.call("wrong").await.contains(r#""text": "wrong""#));
    assert!(site.call("twice").await.contains(r#""text": "twice""#));
    assert!(site.works().await);
    assert_eq!(site.upstream.status().unmatched, 3);
    let text = site.call("both").await;
    assert!(text.contains("upstream 'fix'"), "{text}");
    site.upstream.stop().await;
}

#[tokio::test]
async fn a_line_too_long_to_read_is_an_error_of_its_call_alone() {
    let site = Site::with(Way::Stdio, "modern", &[], |config| config.result_bytes = 100_000).await;
    for size in [200_000, 100_000_000] {
        let arguments = format!("{{\"size\":{size}}}");
        let huge = ask(&site.spine, "huge", &arguments, Client::default());
        let (huge, fine) = tokio::join!(huge, site.works());
        let text = said(huge);
        assert!(text.contains("upstream 'fix' answered with more than 100000 bytes"), "{text}");
        assert!(fine);
    }
    assert!(site.works().await);
    assert_eq!(site.upstream.status().connections, 1);
    site.upstream.stop().await;
}

#[tokio::test]
async fn a_flood_of_notifications_holds_up_nobody_else() {
    let site = Site::new(Way::Stdio, "legacy", &[]).await;
    let other = Site::new(Way::Stdio, "legacy", &[]).await;
    let neighbour = async {
        let mut slowest = Duration::ZERO;
        for _ in 0..20 {
            let started = Instant::now();
            assert!(other.works().await);
            slowest = slowest.max(started.elapsed());
        }
        slowest
    };
    let (flood, slowest) = tokio::join!(site.call("flood"), neighbour);
    assert!(flood.contains(r#""text": "flood""#), "{flood}");
    assert!(slowest < Duration::from_millis(500), "{slowest:?}");
    assert!(site.upstream.status().notifications >= 20_000);
    site.upstream.stop().await;
    other.upstream.stop().await;
}

#[tokio::test]
async fn a_slow_start_delays_nothing_and_an_upstream_that_never_answers_the_newer_question_is_asked_the_older() {
    for (era, version) in [("modern", "2026-07-28"), ("legacy", "2025-11-25"), ("silent", "2025-11-25")] {
        let (_fixture, mut config) = fixture(Way::Stdio, era, &["slow_start"]);
        config.patience.probe = Duration::from_millis(200);
        let started = Instant::now();
        let upstream = Upstream::start(config);
        assert!(started.elapsed() < Duration::from_millis(100));
        assert_eq!(upstream.ready(Duration::from_millis(100)).await, Err(Fault::Starting));
        upstream.ready(Duration::from_secs(10)).await.unwrap();
        assert_eq!(upstream.status().version.as_deref(), Some(version), "{era}");
        upstream.stop().await;
    }
}

async fn never_ready(flags: &[&str], era: &str, change: impl FnOnce(&mut UpstreamConfig)) -> String {
    let (_fixture, mut config) = fixture(Way::Stdio, era, flags);
    change(&mut config);
    let upstream = Upstream::start(config);
    let fault = upstream.ready(Duration::from_millis(1500)).await.unwrap_err();
    upstream.stop().await;
    assert_eq!(upstream.status().state, State::Stopped);
    fault.about("fix")
}

#[tokio::test]
async fn an_upstream_that_never_gets_ready_says_why() {
    let text = never_ready(&["die_at_once"], "modern", |_| {}).await;
    assert!(text.contains("exit status: 7"), "{text}");
    let text = never_ready(&["endless"], "modern", |_| {}).await;
    assert!(text.contains("does not end within 200 pages"), "{text}");
    let text = never_ready(&["circle"], "legacy", |_| {}).await;
    assert!(text.contains("goes in a circle"), "{text}");
    let text = never_ready(&["old_version"], "legacy", |_| {}).await;
    assert!(text.contains("wants version '1999-01-01'"), "{text}");
    let text =
        never_ready(&["hang_list"], "legacy", |config| config.patience.connect = Duration::from_millis(700)).await;
    assert!(text.contains("is not connected (it did not get ready within 700 ms)"), "{text}");
    let text = never_ready(&[], "modern", |config| {
        let Transport::Child { cwd, .. } = &mut config.transport else { return };
        *cwd = Some("no-such-directory".into());
    })
    .await;
    assert!(text.contains("there is no directory 'no-such-directory'"), "{text}");
    let text = never_ready(&[], "modern", |config| {
        let Transport::Child { command, .. } = &mut config.transport else { return };
        *command = "no-such-program-anywhere".to_owned();
    })
    .await;
    assert!(
        text.contains("program 'no-such-program-anywhere' can't be started") && text.contains("configuration"),
        "{text}"
    );
}

#[tokio::test]
async fn an_upstream_that_keeps_failing_rests_and_is_tried_again() {
    let site = Site::with(Way::Stdio, "modern", &[], |config| {
        config.timeout_ms = 200;
        config.patience.failures = 2;
        config.patience.trial_after = Duration::from_millis(800);
    })
    .await;
    site.call("hang").await;
    site.call("hang").await;
    let text = site.call("echo").await;
    assert!(text.contains("upstream 'fix' failed 2 times in a row") && text.contains("try again in 1 s"), "{text}");
    assert!(site.upstream.status().resting);
    assert_eq!(site.fixture.calls("echo"), 0);
    tokio::time::sleep(Duration::from_millis(850)).await;
    site.call("hang").await;
    assert!(
        site.call("echo").await.contains("failed 3 times in a row"),
        "a failed trial is the start of another pause"
    );
    within(3, "the trial works", async || site.works().await).await;
    assert!(!site.upstream.status().resting);
    site.upstream.stop().await;
}
