//! The ledger of a PostgreSQL whose tables somebody else holds: what is refused is never done, and nothing is left behind.

use std::time::Duration;

use sqlx::{AssertSqlSafe, Connection, PgConnection};
use toolgate_store::ledger::{Durability, Filter, Kind, Scope};

use super::{entry, fill, open, whole};
use crate::bed::Bed;

const OTHERS: &str =
    "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()";
const WAITING: &str =
    "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";

/// Lets nobody write. Locks that keep readers out give their transaction a number, which would keep the records of every
/// other test from being settled.
async fn lock(bed: &Bed) -> PgConnection {
    let mut other = PgConnection::connect(&bed.url()).await.unwrap();
    run(&mut other, "BEGIN; LOCK TABLE ledger IN SHARE ROW EXCLUSIVE MODE").await;
    other
}

async fn run(connection: &mut PgConnection, sql: &str) {
    sqlx::raw_sql(AssertSqlSafe(sql)).execute(connection).await.unwrap();
}

async fn count(connection: &mut PgConnection, sql: &'static str) -> i64 {
    sqlx::query_scalar(sql).fetch_one(connection).await.unwrap()
}

/// The server gives up before the caller does: a record that was refused does not appear once the lock is gone.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_append_that_waits_for_a_lock_in_vain_is_never_done_afterwards() {
    let check = async |bed: Bed| {
        let (_store, ledger) = open(&bed).await;
        fill(&ledger, 2).await;
        let mut other = lock(&bed).await;
        for call in ["first", "second"] {
            ledger.append(entry(Kind::Intent, call, 9), Durability::Durable).await.unwrap_err();
            assert_eq!(count(&mut other, WAITING).await, 0, "the server has given up as well");
        }
        run(&mut other, "COMMIT").await;
        fill(&ledger, 2).await;
        let verified = whole(&ledger).await;
        assert!(verified.is_sound() && verified.records == 5, "{verified:?}");
        let calls = ledger.page(&Filter::default(), i64::MIN, 100).await.unwrap();
        assert!(calls.iter().all(|record| record.call != "first" && record.call != "second"), "{calls:?}");
    };
    Bed::postgres().await.run(check).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn connections_to_the_server_are_bounded_while_the_ledger_is_locked() {
    let check = async |bed: Bed| {
        let (_store, ledger) = open(&bed).await;
        fill(&ledger, 1).await;
        let mut other = lock(&bed).await;
        let callers: Vec<_> = (0..24)
            .map(|caller| {
                let ledger = ledger.clone();
                // every other attempt is given up long before the server gives up
                tokio::spawn(async move {
                    for patience in [50, 9_000, 50, 9_000] {
                        let append = ledger.append(entry(Kind::Read, &format!("x{caller}"), 9), Durability::Durable);
                        let _ = tokio::time::timeout(Duration::from_millis(patience), append).await;
                    }
                })
            })
            .collect();
        let mut most = 0;
        while !callers.iter().all(tokio::task::JoinHandle::is_finished) {
            most = most.max(count(&mut other, OTHERS).await);
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        assert!((1..=15).contains(&most), "the store's pool, a listener, a prober and one that appends: {most}");
        run(&mut other, "ROLLBACK").await;
        fill(&ledger, 1).await;
        assert!(whole(&ledger).await.is_sound());
    };
    Bed::postgres().await.run(check).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn verifying_a_locked_ledger_ends_with_an_error_and_leaves_no_backend() {
    let check = async |bed: Bed| {
        let (_store, ledger) = open(&bed).await;
        fill(&ledger, 2).await;
        let wait = "ALTER VIEW ledger_settled RENAME TO really_settled;
            CREATE VIEW ledger_settled AS SELECT r.* FROM really_settled r, pg_advisory_xact_lock_shared(7)";
        bed.sql(wait).await;
        let mut other = PgConnection::connect(&bed.url()).await.unwrap();
        run(&mut other, "SELECT pg_advisory_lock(7)").await;
        ledger.verify(Scope::Whole).await.unwrap_err();
        assert_eq!(count(&mut other, WAITING).await, 0, "the server has given up as well");
        run(&mut other, "SELECT pg_advisory_unlock(7)").await;
        assert!(whole(&ledger).await.is_sound());
    };
    Bed::postgres().await.run(check).await;
}

/// A durable record is on disk when it is acknowledged, whatever the server's default.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_durable_record_waits_for_the_disk() {
    let check = async |bed: Bed| {
        bed.on_server("ALTER DATABASE DATABASE_NAME SET synchronous_commit = local").await;
        let (_store, ledger) = open(&bed).await;
        let refuse = "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS
            'BEGIN IF current_setting(''synchronous_commit'') <> ''on'' THEN RAISE ''not on disk''; END IF; RETURN NEW; END';
            CREATE TRIGGER refuse BEFORE INSERT ON ledger FOR EACH ROW EXECUTE FUNCTION refuse()";
        bed.sql(refuse).await;
        fill(&ledger, 1).await;
    };
    Bed::postgres().await.run(check).await;
}
