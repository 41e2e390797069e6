//! Resources that callers watch.

use std::sync::Arc;

use serde_json::json;
use toolgate_core::{Caller, Kind};
use toolgate_spine::{Call, Client, Outcome, Watch};
use toolgate_upstream::Transport;

use crate::site::{KINDS, Site, Way, within};

async fn watch(site: &Site, address: &str) -> Result<Watch, Outcome> {
    let call = Call::of(Kind::Resource, address, None, site.spine.gate().lang());
    site.spine.watch(&Arc::new(Caller::anonymous()), call).await
}

/// Says that it changed until that is heard: a stream may open a moment after it was asked for.
async fn changes(site: &Site, address: &str, watch: &mut Watch) {
    let before = *watch.changes.borrow_and_update();
    within(10, "the change is heard", async || {
        site.outcome("touch", &json!({ "uri": address }).to_string(), Client::default()).await;
        *watch.changes.borrow() > before
    })
    .await;
}

#[tokio::test]
async fn a_change_reaches_whoever_watches_and_the_last_to_go_ends_it() {
    for (way, era) in KINDS {
        let site = Site::new(way, era, &[]).await;
        let (one, two) = tokio::join!(watch(&site, "test://odd"), watch(&site, "test://odd"));
        let (mut one, mut two) = (one.ok().unwrap(), two.ok().unwrap());
        let other = watch(&site, "test://é").await.ok().unwrap();
        changes(&site, "test://odd", &mut one).await;
        changes(&site, "test://odd", &mut two).await;
        assert_eq!(*other.changes.borrow(), 0, "{way:?} {era}");
        let subscribed = |method: &str| {
            let all = site.fixture.messages(method);
            all.iter().filter(|message| message.to_string().contains("test://odd")).count()
        };
        let method = if era == "modern" { "subscriptions/listen" } else { "resources/subscribe" };
        assert_eq!(subscribed(method), 1, "{way:?} {era}: one subscription, however many watch");
        drop(one);
        changes(&site, "test://odd", &mut two).await;
        assert_eq!(subscribed("resources/unsubscribe"), 0);
        drop(two);
        match (way, era) {
            (_, "legacy") => {
                within(5, "it is ended", async || subscribed("resources/unsubscribe") == 1).await;
            }
            (Way::Stdio, _) => {
                let called_off = async || !site.fixture.messages("notifications/cancelled").is_empty();
                within(5, "the stream is called off", called_off).await;
            }
            (Way::Http, _) => {}
        }
        // and it can begin again
        let mut again = watch(&site, "test://odd").await.ok().unwrap();
        changes(&site, "test://odd", &mut again).await;
        assert_eq!(subscribed(method), 2);
        site.upstream.stop().await;
    }
}

#[tokio::test]
async fn a_watch_outlives_the_connection() {
    for (way, era) in [(Way::Stdio, "modern"), (Way::Stdio, "legacy"), (Way::Http, "legacy")] {
        let site = Site::new(way, era, &[]).await;
        let mut watched = watch(&site, "test://odd").await.ok().unwrap();
        changes(&site, "test://odd", &mut watched).await;
        let before = *watched.changes.borrow_and_update();
        site.call(if way == Way::Stdio { "crash" } else { "forget" }).await;
        site.recovers().await;
        // what changed meanwhile is not known, so it counts as a change
        within(10, "watched again", async || *watched.changes.borrow() > before).await;
        changes(&site, "test://odd", &mut watched).await;
        site.upstream.stop().await;
    }
}

#[tokio::test]
async fn a_watch_outlives_a_server_that_is_started_anew() {
    let mut site = Site::new(Way::Http, "modern", &[]).await;
    let mut watched = watch(&site, "test://odd").await.ok().unwrap();
    changes(&site, "test://odd", &mut watched).await;
    let before = *watched.changes.borrow_and_update();
    let Transport::Http { url, .. } = &site.upstream.config().transport else { panic!() };
    let port = url.trim_end_matches("/mcp").rsplit(':').next().unwrap().to_owned();
    site.fixture.kill();
    site.fixture.serve(&port);
    within(20, "watched again", async || *watched.changes.borrow() > before).await;
    site.recovers().await;
    changes(&site, "test://odd", &mut watched).await;
    site.upstream.stop().await;
}

#[tokio::test]
async fn a_refused_watch_is_an_error_of_the_protocol() {
    for way in [Way::Stdio, Way::Http] {
        let site = Site::new(way, "legacy", &[]).await;
        let refused = watch(&site, "test://missing").await.err();
        assert!(matches!(&refused, Some(Outcome::Rejected { code: -32002, data: Some(_), .. })), "{refused:?}");
        site.upstream.stop().await;
        let site = Site::new(way, "modern", &[]).await;
        let refused = watch(&site, "test://missing").await.err();
        assert!(matches!(&refused, Some(Outcome::Rejected { code: -32601, .. })), "{refused:?}");
        site.upstream.stop().await;
    }
}

#[tokio::test]
async fn a_server_that_tells_of_no_changes_is_not_asked() {
    let site = Site::new(Way::Stdio, "legacy", &["no_subscribe"]).await;
    let refused = watch(&site, "test://odd").await.err();
    assert!(matches!(&refused, Some(Outcome::Rejected { code: -32601, .. })), "{refused:?}");
    assert!(site.fixture.messages("resources/subscribe").is_empty());
    site.upstream.stop().await;
}
