//! Tools that change under the gate.

use std::time::Duration;

use crate::site::{KINDS, Site, Way, within};

#[tokio::test]
async fn a_changed_list_is_noticed_once_however_often_it_is_told() {
    for (way, era) in KINDS {
        let site = Site::new(way, era, &[]).await;
        let changes = site.upstream.changes();
        assert_eq!(*changes.borrow(), 1);
        // the stream of changes must be there before the change
        let streams = async || {
            way == Way::Stdio
                || site.fixture.log().contains("subscriptions/listen")
                || site.fixture.log().contains("GET")
        };
        within(3, "somebody listens", streams).await;
        tokio::time::sleep(Duration::from_millis(100)).await;
        site.call("change").await;
        let known = async || site.upstream.definitions().iter().any(|definition| definition.name == "extra_0");
        within(5, "the new tool is known", known).await;
        tokio::time::sleep(Duration::from_millis(700)).await;
        assert_eq!(*changes.borrow(), 2, "{way:?} {era}");
        let lists =
            site.fixture.messages("tools/list").iter().filter(|list| list["params"]["cursor"].is_null()).count();
        assert!(lists <= 3, "{way:?} {era}: {lists} lists for 50 notifications");
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
    let lists = site.fixture.messages("tools/list").iter().filter(|list| list["params"]["cursor"].is_null()).count();
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
