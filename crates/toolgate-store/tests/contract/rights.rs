//! What a process remembers of rights never outlives an answered change of them.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use tokio::sync::watch;
use toolgate_core::caller::Role;
use toolgate_store::{
    Follow, Store,
    tenants::{CatalogChange, CatalogRow, Row},
};

use crate::{
    bed::Bed,
    tenants::{joins, put, switched, tenant},
};

#[derive(Default)]
struct Heard {
    catalogs: AtomicUsize,
    rights: AtomicUsize,
}

#[async_trait::async_trait]
impl Follow for Heard {
    async fn catalog(&self) -> Result<(), String> {
        self.catalogs.fetch_add(1, Ordering::SeqCst);
        Ok(())
    }

    fn rights(&self) {
        self.rights.fetch_add(1, Ordering::SeqCst);
    }
}

/// A process that remembers, and hears of changes until `stop` is dropped or true.
struct Process {
    store: Store,
    heard: Arc<Heard>,
    stop: watch::Sender<bool>,
    keeping: tokio::task::JoinHandle<()>,
}

impl Process {
    async fn start(bed: &Bed) -> Self {
        let store = bed.open().await;
        store.rights().catch_up().await.unwrap();
        let (heard, (stop, stopped)) = (Arc::<Heard>::default(), watch::channel(false));
        let keeping = tokio::spawn(store.rights().keep(heard.clone(), store.changes(), stopped));
        let process = Self { store, heard, stop, keeping };
        process.until_current().await;
        process
    }

    async fn until_current(&self) {
        while !self.store.rights().is_current() {
            tokio::task::yield_now().await;
        }
    }

    fn revisions(&self) -> [u64; 3] {
        let rights = self.store.rights();
        [rights.revision(Some("acme"), None), rights.revision(Some("beta"), None), rights.revision(None, Some("ada"))]
    }

    async fn stop(self) {
        self.stop.send_replace(true);
        self.keeping.await.unwrap();
    }
}

/// Whether what a process remembered under these revisions counts no more: it knows that it missed something, or has
/// another revision.
fn is_dropped(process: &Process, before: u64, now: impl Fn(&Process) -> u64) -> bool {
    !process.store.rights().is_current() || now(process) != before
}

on_both! {
    async fn an_answered_change_is_known_to_every_process_and_about_nobody_else(bed: Bed) {
        let (one, other) = (Process::start(&bed).await, Process::start(&bed).await);
        let outside = bed.open().await;
        for (changed, count) in [(0, 30), (1, 30), (2, 30)] {
            for n in 0..count {
                let before = [one.revisions(), other.revisions()];
                let by = if n % 2 == 0 { &outside } else { &one.store };
                if by.tenants().get("acme").await.unwrap().is_none() {
                    put(by, [Row::Tenant(tenant("acme", 1))]).await.unwrap();
                    put(by, [Row::Tenant(tenant("beta", 1))]).await.unwrap();
                }
                match changed {
                    0 => put(by, [Row::Override(switched("acme", "echo", n % 3 == 0))]).await.unwrap(),
                    1 => put(by, [Row::Override(switched("beta", "echo", n % 3 == 0))]).await.unwrap(),
                    _ => put(by, joins("acme", "ada", Role::Owner, n)).await.unwrap(),
                }
                for (process, before) in [&one, &other].into_iter().zip(before) {
                    assert!(is_dropped(process, before[changed], |process| process.revisions()[changed]), "{n}");
                }
                for (process, before) in [&one, &other].into_iter().zip(before) {
                    process.store.rights().catch_up().await.unwrap();
                    assert!(process.store.rights().is_current());
                    let now = process.revisions();
                    assert_ne!(now[changed], before[changed]);
                    if n > 0 {
                        let untouched = (0..3).filter(|at| *at != changed).all(|at| now[at] == before[at]);
                        assert!(untouched, "one change is one tenant's or one user's: {before:?} {now:?}");
                    }
                }
            }
        }
        assert!(other.heard.rights.load(Ordering::SeqCst) > 0);
        one.stop().await;
        other.stop().await;
    }

    async fn a_changed_catalogue_is_followed_before_it_is_answered(bed: Bed) {
        let process = Process::start(&bed).await;
        let outside = bed.open().await;
        for n in 1..=10 {
            let says = CatalogChange { disabled: n % 2 == 0, group: Some(format!("g{n}")), ..CatalogChange::default() };
            let row = CatalogRow { tool: "echo".into(), says, changed_by: "operator".into(), reason: None, changed_at: n };
            let followed = process.heard.catalogs.load(Ordering::SeqCst);
            put(&outside, [Row::Catalog(row)]).await.unwrap();
            let knows = process.store.rights().is_current();
            assert!(!knows || process.heard.catalogs.load(Ordering::SeqCst) > followed);
            process.store.rights().catch_up().await.unwrap();
            assert!(process.heard.catalogs.load(Ordering::SeqCst) > followed);
        }
        process.stop().await;
    }

    async fn who_does_not_keep_up_is_told_by_asking(bed: Bed) {
        let (idle, outside) = (bed.open().await, bed.open().await);
        let rights = idle.rights();
        assert!(!rights.is_current(), "nothing is known before it was asked for");
        rights.catch_up().await.unwrap();
        let before = rights.revision(Some("acme"), None);
        put(&outside, [Row::Tenant(tenant("acme", 1))]).await.unwrap();
        assert!(!rights.is_current());
        rights.catch_up().await.unwrap();
        assert_ne!(rights.revision(Some("acme"), None), before);
    }

    async fn a_closed_store_is_never_current_again_once_something_changed(bed: Bed) {
        let (process, outside) = (Process::start(&bed).await, bed.open().await);
        let before = process.revisions()[0];
        process.store.close().await;
        put(&outside, [Row::Tenant(tenant("acme", 1))]).await.unwrap();
        assert!(is_dropped(&process, before, |process| process.revisions()[0]));
        assert!(process.store.rights().catch_up().await.is_err());
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn postgres_who_lost_the_database_remembers_nothing_once_the_lease_is_over() {
    let check = async |bed: Bed| {
        let process = Process::start(&bed).await;
        let before = process.revisions()[0];
        // nothing is heard any more, and nothing can be confirmed
        bed.on_server("ALTER DATABASE DATABASE_NAME ALLOW_CONNECTIONS false").await;
        bed.on_server("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = 'DATABASE_NAME'").await;
        while process.store.rights().is_current() {
            tokio::task::yield_now().await;
        }
        assert!(process.store.rights().catch_up().await.is_err());
        bed.on_server("ALTER DATABASE DATABASE_NAME ALLOW_CONNECTIONS true").await;
        let outside = bed.open().await;
        put(&outside, [Row::Tenant(tenant("acme", 1))]).await.unwrap();
        assert!(is_dropped(&process, before, |process| process.revisions()[0]));
        process.until_current().await;
        assert_ne!(process.revisions()[0], before);
        process.stop().await;
    };
    Bed::postgres().await.run(check).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn postgres_who_stops_gives_up_its_lease() {
    let check = async |bed: Bed| {
        let replicas =
            async |count: usize| bed.sql(&format!("SELECT 1 / (count(*) = {count})::INT FROM replicas")).await;
        let process = Process::start(&bed).await;
        replicas(1).await;
        process.stop().await;
        replicas(0).await;
    };
    Bed::postgres().await.run(check).await;
}

/// A clock of the database that was set forward, or that of a server that took over, must not end anybody's lease early.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn postgres_a_lease_is_waited_for_whatever_the_clock_of_the_database_says() {
    let check = async |bed: Bed| {
        let store = bed.open().await;
        // long over, by that clock
        bed.sql("INSERT INTO replicas (id, confirmed, lease_until) VALUES ('replica_paused', 0, 0)").await;
        let start = std::time::Instant::now();
        put(&store, [Row::Tenant(tenant("acme", 1))]).await.unwrap();
        assert!(start.elapsed() >= std::time::Duration::from_secs(3), "{:?}", start.elapsed());
        bed.sql("SELECT 1 / (count(*) = 0)::INT FROM replicas").await;
    };
    Bed::postgres().await.run(check).await;
}
