//! News of resources and lists: to those who asked and may read them, for as long as they may.

use std::sync::atomic::Ordering;

use serde_json::{Value, json};
use toolgate_core::Tool;
use toolgate_mcp::Peer;

use crate::{
    events::{events, next},
    house::{Site, everything},
    lines::Client,
    requests::{Ask, initialize, legacy, meta, modern},
};

const ID: &str = "io.modelcontextprotocol/subscriptionId";

fn without(name: &str) -> Vec<Tool> {
    everything().into_iter().filter(|tool| tool.name.as_str() != name).collect()
}

fn listen(notifications: Value) -> Ask {
    modern("subscriptions/listen", json!({"notifications": notifications}))
}

fn stream_of(session: &str) -> Ask {
    Ask::of("").without("content-type").set("accept", "text/event-stream").session(session)
}

fn subscribe(session: &str, uri: &str) -> Ask {
    legacy("resources/subscribe", json!({"uri": uri})).session(session)
}

fn updated(uri: &str) -> Value {
    json!({"jsonrpc": "2.0", "method": "notifications/resources/updated", "params": {"uri": uri}})
}

#[tokio::test(start_paused = true)]
async fn only_what_is_honoured_is_acknowledged() {
    let site = Site::new();
    let all = json!({"toolsListChanged": true, "promptsListChanged": true, "resourcesListChanged": true,
        "resourceSubscriptions": ["file:///open", "file:///secret", "file:///none", "note://7", "file:///open"]});
    let honoured = |uris: &[&str]| {
        let mut honoured = all.clone();
        honoured["resourceSubscriptions"] = json!(uris);
        honoured
    };
    let mut stranger = events(listen(all.clone()).reply(&site).await);
    let told = next(&mut stranger).await.unwrap();
    assert_eq!(told["params"], json!({"_meta": {ID: 1}, "notifications": honoured(&["file:///open", "note://7"])}));
    let mut alice = events(listen(all.clone()).bearer("user:alice").reply(&site).await);
    let told = next(&mut alice).await.unwrap();
    assert_eq!(told["params"]["notifications"], honoured(&["file:///open", "file:///secret", "note://7"]));
    let tools = Site::of_tools();
    tools.replace(crate::house::tools(), 1000);
    let mut stream = events(listen(all).reply(&tools).await);
    let told = next(&mut stream).await.unwrap();
    assert_eq!(told["params"]["notifications"], json!({"toolsListChanged": true}));
}

#[tokio::test(start_paused = true)]
async fn a_changed_list_of_each_kind_is_told_to_whom_it_concerns_and_who_asked() {
    let site = Site::new();
    for (gone, wish, method) in [
        ("Secret plan", "promptsListChanged", "notifications/prompts/list_changed"),
        ("file:///secret", "resourcesListChanged", "notifications/resources/list_changed"),
        ("secret://{id}", "resourcesListChanged", "notifications/resources/list_changed"),
        ("hidden", "toolsListChanged", "notifications/tools/list_changed"),
    ] {
        site.replace(everything(), 1000);
        let mut concerned = events(listen(json!({wish: true})).bearer("user:alice").reply(&site).await);
        let mut stranger = events(listen(json!({wish: true})).reply(&site).await);
        let mut others = json!({"toolsListChanged": true, "promptsListChanged": true, "resourcesListChanged": true});
        others.as_object_mut().unwrap().remove(wish);
        let mut uninterested = events(listen(others).bearer("user:alice").reply(&site).await);
        let session = initialize(&site, Some("user:alice"), json!({})).await;
        let mut older = events(stream_of(&session).bearer("user:alice").get(&site).await);
        for stream in [&mut concerned, &mut stranger, &mut uninterested] {
            next(stream).await.unwrap();
        }
        site.replace(without(gone), 1000);
        let told = next(&mut concerned).await.unwrap();
        assert_eq!(told, json!({"jsonrpc": "2.0", "method": method, "params": {"_meta": {ID: 1}}}));
        assert_eq!(next(&mut older).await.unwrap(), json!({"jsonrpc": "2.0", "method": method}));
        for stream in [&mut concerned, &mut older, &mut stranger, &mut uninterested] {
            assert_eq!(next(stream).await, None, "{gone}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_subscriber_hears_of_its_resources_until_it_hangs_up() {
    let site = Site::new();
    let mut stream = events(listen(json!({"resourceSubscriptions": ["file:///open", "note://7"]})).reply(&site).await);
    let mut other = events(listen(json!({"resourceSubscriptions": ["note://7"]})).reply(&site).await);
    for stream in [&mut stream, &mut other] {
        next(stream).await.unwrap();
    }
    for uri in ["note://7", "file:///open", "note://7"] {
        site.fixture.bump(uri);
        let mut expected = updated(uri);
        expected["params"]["_meta"] = json!({ID: 1});
        assert_eq!(next(&mut stream).await.unwrap(), expected);
    }
    assert_eq!(next(&mut stream).await, None);
    for _ in 0..2 {
        assert_eq!(next(&mut other).await.unwrap()["params"]["uri"], "note://7");
    }
    drop(stream);
    assert_eq!(next(&mut other).await, None, "only of its own");
    assert_eq!(site.fixture.unwatched.load(Ordering::SeqCst), 2, "nothing is watched for who hung up");
}

#[tokio::test(start_paused = true)]
async fn an_older_session_hears_of_what_it_subscribed_to_until_it_unsubscribes() {
    let site = Site::new();
    let session = initialize(&site, None, json!({})).await;
    let mut stream = events(stream_of(&session).get(&site).await);
    let got = subscribe(&session, "file:///open").post(&site).await;
    assert_eq!(got.body, r#"{"jsonrpc":"2.0","id":1,"result":{}}"#);
    assert_eq!(subscribe(&session, "note://7").post(&site).await.result(), json!({}));
    site.fixture.bump("file:///open");
    assert_eq!(next(&mut stream).await.unwrap(), updated("file:///open"));
    // noted before it unsubscribes, and not told after
    drop(stream);
    site.fixture.bump("note://7");
    tokio::task::yield_now().await;
    let unsubscribe = legacy("resources/unsubscribe", json!({"uri": "note://7"})).session(&session);
    assert_eq!(unsubscribe.post(&site).await.result(), json!({}));
    assert_eq!(site.fixture.unwatched.load(Ordering::SeqCst), 1);
    let mut stream = events(stream_of(&session).get(&site).await);
    site.fixture.bump("note://7");
    assert_eq!(next(&mut stream).await, None);
    // nor when it subscribes again
    drop(stream);
    subscribe(&session, "note://7").post(&site).await.result();
    site.fixture.bump("note://7");
    tokio::task::yield_now().await;
    unsubscribe.post(&site).await.result();
    subscribe(&session, "note://7").post(&site).await.result();
    let mut stream = events(stream_of(&session).get(&site).await);
    assert_eq!(next(&mut stream).await, None);
    site.fixture.bump("file:///open");
    assert_eq!(next(&mut stream).await.unwrap(), updated("file:///open"));
    assert_eq!(stream_of(&session).delete(&site).await.status, 204);
    drop(stream);
    tokio::time::sleep(std::time::Duration::from_secs(1)).await;
    assert_eq!(site.fixture.unwatched.load(Ordering::SeqCst), 4, "an ended session watches nothing");
}

#[tokio::test(start_paused = true)]
async fn a_change_between_two_streams_of_a_session_is_told_on_the_next() {
    let site = Site::new();
    let session = initialize(&site, None, json!({})).await;
    subscribe(&session, "file:///open").post(&site).await.result();
    site.fixture.bump("file:///open");
    let mut stream = events(stream_of(&session).get(&site).await);
    assert_eq!(next(&mut stream).await.unwrap(), updated("file:///open"));
    assert_eq!(next(&mut stream).await, None);
}

#[tokio::test(start_paused = true)]
async fn who_loses_the_right_to_read_hears_no_more() {
    let site = Site::new();
    let session = initialize(&site, Some("user:alice"), json!({})).await;
    let alice = |ask: Ask| ask.bearer("user:alice");
    assert_eq!(alice(subscribe(&session, "file:///secret")).post(&site).await.result(), json!({}));
    let mut older = events(alice(stream_of(&session)).get(&site).await);
    let mut newer = events(alice(listen(json!({"resourceSubscriptions": ["file:///secret"]}))).reply(&site).await);
    next(&mut newer).await.unwrap();
    site.fixture.bump("file:///secret");
    assert_eq!(next(&mut older).await.unwrap(), updated("file:///secret"));
    assert_eq!(next(&mut newer).await.unwrap()["method"], "notifications/resources/updated");
    // both at once: whichever is looked at first, nothing is told of what is no longer hers
    site.fixture.bump("file:///secret");
    site.replace(without("file:///secret"), 1000);
    assert_eq!(next(&mut older).await.unwrap()["method"], "notifications/resources/list_changed");
    assert_eq!(next(&mut older).await, None);
    assert_eq!(next(&mut newer).await, None);
    site.replace(everything(), 1000);
    next(&mut older).await.unwrap();
    site.fixture.bump("file:///secret");
    assert_eq!(next(&mut older).await, None, "what was lost is asked for anew");
}

#[tokio::test(start_paused = true)]
async fn a_revoked_caller_hears_of_no_change_and_one_not_identified_hears_of_it_later() {
    let site = Site::new();
    let listen = || listen(json!({"resourceSubscriptions": ["file:///secret"]})).bearer("user:alice");
    let mut stream = events(listen().reply(&site).await);
    next(&mut stream).await.unwrap();
    site.names.out_of_order.store(true, Ordering::SeqCst);
    site.fixture.bump("file:///secret");
    assert_eq!(next(&mut stream).await, None);
    site.names.out_of_order.store(false, Ordering::SeqCst);
    assert_eq!(next(&mut stream).await.unwrap()["params"]["uri"], "file:///secret");
    site.names.revoked.lock().unwrap().insert("user:alice".to_owned());
    site.fixture.bump("file:///secret");
    assert_eq!(next(&mut stream).await.unwrap()["method"], "notifications/cancelled");
    assert_eq!(next(&mut stream).await.unwrap()["id"], 1);
    assert!(stream.recv().await.is_none());
}

#[tokio::test]
async fn only_a_session_can_subscribe_and_only_to_what_can_be_watched() {
    let site = Site::new();
    let got = legacy("resources/subscribe", json!({"uri": "file:///open"})).post(&site).await;
    assert_eq!(got.error(), (400, -32600));
    let session = initialize(&site, Some("user:alice"), json!({})).await;
    assert_eq!(subscribe(&session, "file:///open").bearer("user:bob").post(&site).await.status, 404);
    let dull = subscribe(&session, "note://dull").bearer("user:alice").post(&site).await;
    assert_eq!(dull.error(), (200, -32603), "a watch can't ask for input");
    for number in 0..256 {
        let got = subscribe(&session, &format!("note://{number}")).bearer("user:alice").post(&site).await;
        assert_eq!(got.result(), json!({}));
    }
    let more = subscribe(&session, "note://256").bearer("user:alice").post(&site).await;
    assert_eq!(more.error(), (200, -32603));
    assert!(more.message().contains("too much is watched"), "{}", more.message());
    let again = subscribe(&session, "note://7").bearer("user:alice").post(&site).await;
    assert_eq!(again.result(), json!({}), "what is watched already may be asked for again");
}

#[tokio::test]
async fn news_of_resources_come_as_lines_too() {
    let site = Site::new();
    let mut older = Client::new(&site, None);
    older.ask(1, "initialize", json!({"protocolVersion": "2025-11-25"})).await;
    older.hear().await.unwrap();
    older.say(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#).await;
    older.ask(2, "resources/subscribe", json!({"uri": "file:///open"})).await;
    assert_eq!(older.hear().await.unwrap()["result"], json!({}));
    older.ask(3, "resources/subscribe", json!({"uri": "file:///secret"})).await;
    assert_eq!(older.hear().await.unwrap()["error"]["code"], -32002);
    let mut newer = Client::new(&site, None);
    let wish = json!({"resourceSubscriptions": ["file:///open", "file:///secret"]});
    newer.ask(9, "subscriptions/listen", json!({"_meta": meta(), "notifications": wish})).await;
    let told = newer.hear().await.unwrap();
    assert_eq!(told["params"]["notifications"], json!({"resourceSubscriptions": ["file:///open"]}));
    site.fixture.bump("file:///open");
    assert_eq!(older.hear().await.unwrap(), updated("file:///open"));
    let told = newer.hear().await.unwrap();
    assert_eq!((&told["params"]["uri"], &told["params"]["_meta"][ID]), (&json!("file:///open"), &json!(9)));
    older.ask(4, "resources/unsubscribe", json!({"uri": "file:///open"})).await;
    assert_eq!(older.hear().await.unwrap()["id"], 4);
    site.fixture.bump("file:///open");
    assert_eq!(newer.hear().await.unwrap()["params"]["uri"], "file:///open");
    older.ask(5, "ping", json!({})).await;
    assert_eq!(older.hear().await.unwrap()["id"], 5, "nothing is said of what it unsubscribed from");
}

#[tokio::test(start_paused = true)]
async fn a_stream_without_a_credential_takes_nothing_from_whoever_signed_in_to_the_session() {
    let site = Site::new();
    let session = initialize(&site, None, json!({})).await;
    subscribe(&session, "file:///secret").bearer("user:alice").post(&site).await.result();
    // somebody else who knows the session's name, and may not read that
    let mut stranger = events(stream_of(&session).get(&site).await);
    site.replace(without("hidden"), 1000);
    site.fixture.bump("file:///secret");
    while let Some(told) = next(&mut stranger).await {
        assert_ne!(told["method"], "notifications/resources/updated", "{told}");
    }
    drop(stranger);
    tokio::time::sleep(std::time::Duration::from_secs(1)).await;
    let mut alice = events(stream_of(&session).bearer("user:alice").get(&site).await);
    site.fixture.bump("file:///secret");
    assert_eq!(next(&mut alice).await.unwrap(), updated("file:///secret"));
}

#[tokio::test(start_paused = true)]
async fn one_owner_watches_so_many_resources_in_all_its_sessions() {
    let site = Site::new();
    let mut refused = 0;
    for opened in 0..3 {
        let session = initialize(&site, Some("user:alice"), json!({})).await;
        for number in 0..100 {
            let uri = format!("note://{opened}{number}");
            let got = subscribe(&session, &uri).bearer("user:alice").post(&site).await;
            refused += usize::from(!got.body.contains("\"result\":{}"));
        }
    }
    assert_eq!(refused, 300 - 256);
    let session = initialize(&site, Some("user:bob"), json!({})).await;
    assert_eq!(subscribe(&session, "note://7").bearer("user:bob").post(&site).await.result(), json!({}));
}

#[tokio::test(start_paused = true)]
async fn news_of_a_session_go_to_its_holder_however_many_others_listen() {
    let site = Site::new();
    let session = initialize(&site, None, json!({})).await;
    subscribe(&session, "file:///secret").bearer("user:alice").post(&site).await.result();
    let _stranger = events(stream_of(&session).get(&site).await);
    let mut alice = events(stream_of(&session).bearer("user:alice").get(&site).await);
    for _ in 0..5 {
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
        site.fixture.bump("file:///secret");
        assert_eq!(next(&mut alice).await.unwrap(), updated("file:///secret"));
    }
}

#[tokio::test(start_paused = true)]
async fn a_stream_ends_with_the_credential_that_opened_it() {
    let site = Site::new();
    let wish = json!({"notifications": {"toolsListChanged": true}});
    let reply = modern("subscriptions/listen", wish).bearer("user:alice").reply(&site).await;
    let mut stream = events(reply);
    assert_eq!(next(&mut stream).await.unwrap()["method"], "notifications/subscriptions/acknowledged");
    site.names.revoked.lock().unwrap().insert("user:alice".to_owned());
    let mut told = Vec::new();
    while let Some(note) = next(&mut stream).await {
        told.push(note["method"].clone());
    }
    assert!(told.contains(&json!("notifications/cancelled")), "{told:?}");
}

#[tokio::test(start_paused = true)]
async fn anonymous_callers_leave_room_for_what_others_watch() {
    let site = Site::new();
    let mut honoured = 0;
    let mut streams = Vec::new();
    for last in 0..10 {
        let wanted: Vec<String> = (0..100).map(|number| format!("note://{last}-{number}")).collect();
        let wish = json!({"notifications": {"resourceSubscriptions": wanted}});
        let peer = Peer { address: Some([192, 0, 2, last].into()), place: None };
        let ask = modern("subscriptions/listen", wish);
        let head = ask.head(http::Method::POST);
        let mut stream = events(site.wire.post(&head, ask.body.clone().into(), &peer).await);
        let told = next(&mut stream).await.unwrap();
        let own = told["params"]["notifications"]["resourceSubscriptions"].as_array().map_or(0, Vec::len);
        assert!(own <= 64, "{own} from one address");
        honoured += own;
        streams.push(stream);
    }
    assert_eq!(honoured, 256);
}
