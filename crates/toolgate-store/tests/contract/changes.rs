use toolgate_store::Change;

use crate::{
    bed::{Bed, next},
    keys::key,
    tasks::task,
};

on_both! {
    async fn what_changed_is_announced_and_what_did_not_is_not(bed: Bed) {
        let store = bed.open().await;
        let mut changes = store.changes();
        let named = |id: &str| id.to_owned();

        store.keys().insert(key("k", 1)).await.unwrap();
        store.keys().insert(key("k", 1)).await.unwrap_err();
        store.keys().revoke("nobody", 2).await.unwrap();
        store.keys().revoke("k", 2).await.unwrap();
        store.keys().revoke("k", 3).await.unwrap();
        assert_eq!(next(&mut changes).await, Change::Key { id: named("k") });
        assert_eq!(next(&mut changes).await, Change::Key { id: named("k") });

        store.tasks().start(task("t", 1, None, false)).await.unwrap();
        store.tasks().finish("nobody", 1).await.unwrap();
        store.tasks().finish("t", 1).await.unwrap();
        assert_eq!(next(&mut changes).await, Change::Task { task_id: named("t") });
        assert_eq!(next(&mut changes).await, Change::Task { task_id: named("t") });

        store.sessions().bind("s", "user:ann", 9).await.unwrap();
        store.sessions().bind("s", "user:bob", 9).await.unwrap();
        store.sessions().end("s", 9).await.unwrap();
        store.sessions().bind("s", "user:bob", 9).await.unwrap();
        assert_eq!(next(&mut changes).await, Change::SessionBound { id: named("s"), principal: named("user:ann") });
        assert_eq!(next(&mut changes).await, Change::SessionEnded { id: named("s") });

        store.sessions().end("last", 9).await.unwrap();
        assert_eq!(next(&mut changes).await, Change::SessionEnded { id: named("last") });
    }

    async fn a_change_reaches_another_store_on_the_same_database(bed: Bed) {
        let (here, there) = (bed.open().await, bed.open().await);
        let mut heard = there.changes();
        here.sessions().end("s", 9).await.unwrap();
        // SQLite knows only that someone wrote.
        let expected = if bed.is_postgres() { Change::SessionEnded { id: "s".into() } } else { Change::Resync };
        assert_eq!(next(&mut heard).await, expected);
        assert_eq!(there.sessions().load(0).await.unwrap().len(), 1);
    }

    async fn a_principal_too_long_to_announce_is_bound_all_the_same(bed: Bed) {
        let (here, there) = (bed.open().await, bed.open().await);
        let mut heard = there.changes();
        let principal = "p".repeat(100_000);
        assert_eq!(here.sessions().bind("s", &principal, 9).await, Ok(Some(principal.clone())));
        assert_eq!(next(&mut heard).await, Change::Resync);
        assert_eq!(there.sessions().load(0).await.unwrap()[0].principal, Some(principal));
    }

    async fn a_subscriber_that_sleeps_is_told_to_read_again(bed: Bed) {
        let store = bed.open().await;
        let mut changes = store.changes();
        for n in 0..1_100 {
            store.sessions().end(&format!("s{n}"), 9).await.unwrap();
        }
        // The last one has arrived once another subscriber, there from before it, has it.
        let mut fresh = store.changes();
        store.sessions().end("last", 9).await.unwrap();
        while next(&mut fresh).await != (Change::SessionEnded { id: "last".into() }) {}
        assert_eq!(next(&mut changes).await, Change::Resync);
    }

    async fn subscriptions_end_with_the_store(bed: Bed) {
        let store = bed.open().await;
        let mut before = store.changes();
        store.close().await;
        assert_eq!(before.next().await, None);
        assert_eq!(store.changes().next().await, None);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn postgres_a_lost_listener_comes_back_and_asks_for_a_resync() {
    let check = async |bed: Bed| {
        let store = bed.open().await;
        let mut changes = store.changes();
        bed.on_server("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = 'DATABASE_NAME'").await;
        assert_eq!(next(&mut changes).await, Change::Resync);
        store.sessions().end("s", 9).await.unwrap();
        assert_eq!(next(&mut changes).await, Change::SessionEnded { id: "s".into() });
    };
    Bed::postgres().await.run(check).await;
}
