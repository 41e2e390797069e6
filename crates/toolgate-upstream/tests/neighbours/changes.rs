//! Tools that change under the gate.

use std::time::Duration;

use serde_json::json;
use toolgate_spine::Client;

use crate::site::{KINDS, Site, Way, within};

#[tokio::test]
async fn a_changed_list_is_noticed_once_however_often_it_is_told() {
    for (way, era) in KINDS {
        let site = Site::new(way, era, &[]).await;
        let changes = site.upstream.changes();
        assert_eq!(*changes.borrow(), 1);
        site.call("change").await;
        let known = async || site.upstream.definitions().iter().any(|definition| definition.name == "extra_0");
        within(5, "the new tool is known", known).await;
        tokio::time::sleep(Duration::from_millis(700)).await;
        assert_eq!(*changes.borrow(), 2, "{way:?} {era}");
        let lists = lists(&site, "tools/list");
        assert!(lists <= 3, "{way:?} {era}: {lists} lists for 50 notifications");
        site.upstream.stop().await;
    }
}

fn lists(site: &Site, method: &str) -> usize {
    site.fixture.messages(method).iter().filter(|list| list["params"]["cursor"].is_null()).count()
}

async fn change(site: &Site, list: &str) {
    site.outcome("change", &json!({ "list": list }).to_string(), Client::default()).await;
}

#[tokio::test]
async fn a_change_is_followed_at_once_and_only_more_of_the_same_list_wait() {
    for (way, era) in KINDS {
        // whatever would wait would wait longer than the test
        let site = Site::with(way, era, &[], |config| config.patience.relist = Duration::from_secs(3600)).await;
        let knows = |all: Vec<toolgate_upstream::Definition>, name: &str| all.iter().any(|one| one.name == name);
        change(&site, "tools").await;
        within(10, "the new tool is known", async || knows(site.upstream.definitions(), "extra_0")).await;
        change(&site, "tools").await;
        change(&site, "prompts").await;
        within(10, "the new prompt is known", async || knows(site.upstream.prompts(), "extra 0")).await;
        change(&site, "resources").await;
        within(10, "the new resource is known", async || knows(site.upstream.resources(), "test://extra/0")).await;
        assert!(!knows(site.upstream.definitions(), "extra_1"));
        let read = ["tools/list", "prompts/list", "resources/list"].map(|method| lists(&site, method));
        assert_eq!(read, [2, 2, 2], "{way:?} {era}: 200 notifications");
        site.upstream.stop().await;
    }
}

#[tokio::test]
async fn a_list_that_is_another_every_time_is_read_no_more_often() {
    let site = Site::new(Way::Stdio, "legacy", &["fickle"]).await;
    for _ in 0..10 {
        site.call("change").await;
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    let lists = lists(&site, "tools/list");
    assert!(lists <= 4, "{lists}");
    assert!(site.works().await);
    site.upstream.stop().await;
}

#[tokio::test]
async fn the_last_known_tools_stay_while_the_upstream_is_away() {
    let site = Site::with(Way::Stdio, "modern", &[], |config| {
        config.patience.reconnect = (Duration::from_secs(5), Duration::from_secs(5));
    })
    .await;
    let before = site.upstream.definitions().len();
    site.call("crash").await;
    within(2, "it is seen to be away", async || site.call("echo").await.contains("is not connected")).await;
    assert_eq!(site.upstream.definitions().len(), before);
    assert_eq!(*site.upstream.changes().borrow(), 1);
    site.upstream.stop().await;
}
