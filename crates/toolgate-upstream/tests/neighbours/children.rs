//! No process outlives its upstream.

use std::time::Duration;

use serde_json::Value;

use crate::site::{Site, Way, is_alive, within};

async fn grandchild(site: &Site) -> u32 {
    let result: Value = serde_json::from_str(&site.call("spawn").await).unwrap();
    result["content"][0]["text"].as_str().unwrap().parse().unwrap()
}

#[tokio::test]
async fn stopping_ends_the_child_and_what_it_started() {
    for flags in [&[][..], &["ignore_term"][..]] {
        let site = Site::new(Way::Stdio, "modern", flags).await;
        let (child, grandchild) = (site.upstream.status().process.unwrap(), grandchild(&site).await);
        assert!(is_alive(child) && is_alive(grandchild));
        site.upstream.stop().await;
        assert!(!is_alive(child), "{flags:?}");
        within(2, "the grandchild is gone", async || !is_alive(grandchild)).await;
        assert_eq!(site.upstream.status().process, None);
    }
}

#[tokio::test]
async fn a_crash_takes_what_the_child_started_along() {
    let site = Site::new(Way::Stdio, "legacy", &[]).await;
    let grandchild = grandchild(&site).await;
    site.call("crash").await;
    within(2, "the grandchild is gone", async || !is_alive(grandchild)).await;
    site.upstream.stop().await;
}

#[tokio::test]
async fn dropping_the_upstream_ends_the_child_too() {
    let Site { upstream, spine, fixture } = Site::new(Way::Stdio, "modern", &[]).await;
    let child = upstream.status().process.unwrap();
    drop((upstream, spine));
    within(3, "the child is gone", async || !is_alive(child)).await;
    drop(fixture);
}

#[test]
fn the_end_of_the_runtime_ends_the_child_too() {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let (site, child, grandchild) = runtime.block_on(async {
        let site = Site::new(Way::Stdio, "modern", &["ignore_term"]).await;
        let (child, grandchild) = (site.upstream.status().process.unwrap(), grandchild(&site).await);
        (site, child, grandchild)
    });
    runtime.shutdown_timeout(Duration::from_secs(2));
    std::thread::sleep(Duration::from_millis(300));
    assert!(!is_alive(child) && !is_alive(grandchild));
    drop(site);
}

#[tokio::test]
async fn calls_under_way_fail_when_the_upstream_is_stopped() {
    let site = Site::new(Way::Stdio, "modern", &[]).await;
    let stop = async {
        tokio::time::sleep(Duration::from_millis(200)).await;
        site.upstream.stop().await;
    };
    let (text, ()) = tokio::join!(site.call("hang"), stop);
    assert!(text.contains("upstream 'fix' broke off") && text.contains("it was stopped"), "{text}");
}

#[tokio::test]
async fn neither_descriptors_nor_tasks_are_left_behind() {
    let descriptors =
        || std::fs::read_dir("/proc/self/fd").unwrap().filter_map(|entry| std::fs::read_link(entry.ok()?.path()).ok());
    // the streams of this very child, since other tests run beside this one
    let streams = |child: u32| (0..3).map(move |fd| std::fs::read_link(format!("/proc/{child}/fd/{fd}")).unwrap());
    let before = tokio::runtime::Handle::current().metrics().num_alive_tasks();
    for era in ["modern", "legacy"] {
        let site = Site::new(Way::Stdio, era, &[]).await;
        let shared: Vec<_> = streams(site.upstream.status().process.unwrap()).collect();
        assert!(descriptors().any(|link| shared.contains(&link)));
        site.call("crash").await;
        site.recovers().await;
        site.upstream.stop().await;
        let left: Vec<_> = descriptors().filter(|link| shared.contains(link)).collect();
        assert!(left.is_empty(), "{era}: {left:?} of {shared:?}");
    }
    let alive = || tokio::runtime::Handle::current().metrics().num_alive_tasks();
    within(2, "all tasks are over", async || alive() <= before).await;
}
