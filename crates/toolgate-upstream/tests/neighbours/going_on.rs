//! An older server closes the stream of a call before its answer, and goes on with it when the gate comes back.

use serde_json::{Value, json};
use toolgate_spine::{Client, LogLevel, Said};

use crate::site::{Site, Way, client, raw, said, within};

const CLOSED: &str = "upstream 'fix' broke off before its answer (it closed the stream)";

async fn call(site: &Site, key: &str, streams: Value, client: Client) -> String {
    let arguments = json!({"key": key, "streams": streams}).to_string();
    said(site.outcome("go_on", &arguments, client).await)
}

fn went_on(text: &str) -> bool {
    text.contains(r#""text": "went on""#)
}

/// The headers of the requests that went on with a stream.
fn came_back(site: &Site) -> Vec<Value> {
    let log = site.fixture.log();
    let lines = log.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let gets = lines.filter(|line| line["method"] == "GET").map(|line| line["headers"].clone());
    gets.filter(|headers| headers.get("last-event-id").is_some()).collect()
}

fn from(site: &Site) -> Vec<String> {
    came_back(site).iter().map(|headers| headers["last-event-id"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn the_answer_comes_on_another_stream_and_the_call_is_made_once() {
    let site = Site::new(Way::Http, "legacy", &[]).await;
    // nothing is said about when to come back
    let streams = json!([{"events": "id: k-1\ndata:\n\n"}, {"events": "id: k-2\ndata: ANSWER\n\n"}]);
    let text = call(&site, "k", streams, Client::default()).await;
    assert!(went_on(&text), "{text}");
    let headers = &came_back(&site)[0];
    assert_eq!((&headers["last-event-id"], &headers["mcp-session-id"]), (&json!("k-1"), &json!("s0")));
    assert_eq!(
        (&headers["mcp-protocol-version"], &headers["accept"]),
        (&json!("2025-11-25"), &json!("text/event-stream"))
    );
    assert_eq!(headers["authorization"], "Bearer the-gates-own");

    // the id of an event that was not whole does not count, nor does a connection that goes at once
    let streams = json!([
        {"events": "id: l-1\nretry: 10\n\n"},
        {"events": "id: l-2\ndata: {}\n\nid: l-3\ndata: {\"jsonrpc\":"},
        {"gone": true},
        {"events": "id: l-2\ndata: ANSWER\n\n"},
    ]);
    let text = call(&site, "l", streams, Client::default()).await;
    assert!(went_on(&text), "{text}");
    assert_eq!(from(&site), ["k-1", "l-1", "l-2", "l-2"]);
    assert_eq!(site.fixture.calls("go_on"), 2, "never sent twice");
    site.upstream.stop().await;
}

#[tokio::test]
async fn a_stream_that_breaks_off_goes_on_as_well() {
    let site = Site::new(Way::Http, "legacy", &[]).await;
    let streams = json!([
        {"events": "retry: 10\nid: k-1\ndata:\n\ndata: {\"jsonrpc\":\"2", "cut": true},
        {"events": "id: k-2\n\n", "cut": true},
        {"events": "data: ANSWER\n\n", "cut": true},
    ]);
    let text = call(&site, "k", streams, Client::default()).await;
    assert!(went_on(&text), "{text}");
    assert_eq!((from(&site), site.fixture.calls("go_on")), (vec!["k-1".to_owned(), "k-2".to_owned()], 1));
    site.upstream.stop().await;
}

#[tokio::test]
async fn what_is_asked_and_noted_on_the_new_stream_reaches_the_client_of_the_call() {
    let site = Site::new(Way::Http, "legacy", &[]).await;
    let streams = |key: &str| {
        let question = json!({"jsonrpc": "2.0", "id": key, "method": "elicitation/create", "params": {"message": key}});
        let note =
            json!({"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "error", "data": key}});
        json!([
            {"events": format!("id: {key}-1\nretry: 10\ndata:\n\n")},
            {"events": format!("data: {note}\n\nid: {key}-2\ndata: {question}\n\n")},
            {"events": "data: ANSWER\n\n", "answered": key},
        ])
    };
    let one = async |key: &str| {
        let (who, mut heard) = client(r#"{"elicitation":{}}"#, Some(LogLevel::Info));
        let (text, ()) = tokio::join!(call(&site, key, streams(key), who), async {
            let Some(Said::Log(note)) = heard.recv().await else { panic!("no note") };
            assert!(note.get().contains(&format!("\"{key}\"")), "{note}");
            let Some(Said::Question(question)) = heard.recv().await else { panic!("no question") };
            assert!(question.params.get().contains(&format!("\"{key}\"")), "{}", question.params);
            question.answer.send(Ok(raw(r#"{"action":"accept"}"#))).unwrap();
        });
        assert!(went_on(&text), "{text}");
    };
    one("k").await;
    one("l").await;
    assert_eq!(site.fixture.calls("go_on"), 2);
    site.upstream.stop().await;
}

/// A server that overlooks which stream is meant would put another call's question there.
#[tokio::test]
async fn what_is_asked_on_the_new_stream_while_several_calls_run_is_put_to_nobody() {
    let site = Site::new(Way::Http, "legacy", &[]).await;
    let question = json!({"jsonrpc": "2.0", "id": "k", "method": "elicitation/create", "params": {"message": "k"}});
    let asks = json!([
        {"events": "id: k-1\nretry: 10\n\n"},
        {"events": format!("id: k-2\ndata: {question}\n\n")},
        {"events": "data: ANSWER\n\n", "answered": "k"},
    ]);
    let waits = json!([{"events": "id: l-1\nretry: 10\n\n"}, {"events": "data: ANSWER\n\n", "answered": "k"}]);
    let ((one, mut one_heard), (other, mut other_heard)) =
        (client(r#"{"elicitation":{}}"#, None), client(r#"{"elicitation":{}}"#, None));
    let (waited, asked) = tokio::join!(call(&site, "l", waits, other), async {
        within(10, "the other call runs", async || from(&site) == ["l-1"]).await;
        call(&site, "k", asks, one).await
    });
    assert!(went_on(&waited) && went_on(&asked), "{waited} {asked}");
    assert!(one_heard.try_recv().is_err() && other_heard.try_recv().is_err());
    site.upstream.stop().await;
}

#[tokio::test]
async fn a_server_that_does_not_go_on_has_broken_off() {
    let site = Site::new(Way::Http, "legacy", &[]).await;
    for status in [202, 400, 404, 405, 409, 500] {
        let streams = json!([{"events": "id: k-1\nretry: 10\n\n"}, {"status": status}]);
        let text = call(&site, "k", streams, Client::default()).await;
        assert!(text.contains(CLOSED), "{status}: {text}");
        assert!(site.works().await);
    }
    assert_eq!((came_back(&site).len(), site.fixture.calls("go_on")), (6, 6), "each is asked once");
    assert_eq!(site.upstream.status().connections, 1);
    site.upstream.stop().await;
}

#[tokio::test]
async fn a_server_that_closes_without_end_is_left_after_some_tries() {
    let site = Site::new(Way::Http, "legacy", &[]).await;
    let text = call(&site, "k", json!([{"events": "id: k-1\nretry: 0\ndata:\n\n"}]), Client::default()).await;
    assert!(text.contains(CLOSED), "{text}");
    assert_eq!((came_back(&site).len(), site.fixture.calls("go_on")), (10, 1));
    site.upstream.stop().await;
}

#[tokio::test]
async fn a_pause_past_the_time_of_the_call_is_not_cut_short() {
    let site = Site::with(Way::Http, "legacy", &[], |config| config.timeout_ms = 300).await;
    let streams = json!([{"events": "id: k-1\nretry: 60000\n\n"}, {"events": "data: ANSWER\n\n"}]);
    let text = call(&site, "k", streams, Client::default()).await;
    assert!(text.contains("upstream 'fix' did not answer within 300 ms"), "{text}");
    within(5, "the server is told", async || site.fixture.messages("notifications/cancelled").len() == 1).await;
    assert!(came_back(&site).is_empty());
    site.upstream.stop().await;
}

#[tokio::test]
async fn nothing_goes_on_without_an_id_or_in_the_newer_era() {
    let plain = "data: {}\n\n";
    for (era, events) in [("legacy", plain), ("legacy", "id: k-1\n\nid:\n\n"), ("modern", "id: k-1\nretry: 10\n\n")] {
        let site = Site::new(Way::Http, era, &[]).await;
        let streams = json!([{ "events": events }, {"events": "data: ANSWER\n\n"}]);
        let text = call(&site, "k", streams, Client::default()).await;
        assert!(text.contains(CLOSED), "{era}: {text}");
        assert!(came_back(&site).is_empty(), "{era}");
        site.upstream.stop().await;
    }
}
