//! What is said of a write that failed is true: refused is not done, and where nobody knows, that is said.

use std::{fmt::Debug, time::Duration};

use sqlx::{AssertSqlSafe, Connection, PgConnection};
use toolgate_store::{Store, StoreError};

use crate::{
    bed::Bed,
    keys::key,
    proxy::{MARK, Proxy},
};

fn refused<T: Debug>(outcome: Result<T, StoreError>) {
    assert!(matches!(outcome, Err(StoreError::Unavailable { .. })), "{outcome:?}");
}

fn unknown<T: Debug>(outcome: Result<T, StoreError>) {
    assert!(matches!(outcome, Err(StoreError::OutcomeUnknown { .. })), "{outcome:?}");
}

async fn connect(bed: &Bed) -> PgConnection {
    PgConnection::connect(&bed.url()).await.unwrap()
}

async fn sql(connection: &mut PgConnection, text: &str) {
    sqlx::raw_sql(AssertSqlSafe(text)).execute(connection).await.unwrap();
}

async fn titles(store: &Store) -> Vec<String> {
    store.todo("ann").unwrap().list().await.unwrap().into_iter().map(|task| task.title).collect()
}

/// The server gives up before the caller does: nothing is left waiting for the lock.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_write_that_waits_for_a_lock_in_vain_is_never_done_afterwards() {
    let check = async |bed: Bed| {
        let store = bed.open().await;
        let mut other = connect(&bed).await;
        sql(&mut other, "BEGIN; LOCK TABLE todo_tasks IN ACCESS EXCLUSIVE MODE").await;
        let todo = store.todo("ann").unwrap();
        let (one, two) = tokio::join!(todo.add("one", None), todo.complete(1));
        refused(one);
        refused(two);
        let waiting =
            "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";
        let waiting: i64 = sqlx::query_scalar(waiting).fetch_one(&mut other).await.unwrap();
        assert_eq!(waiting, 0, "the server has given up as well");
        sql(&mut other, "COMMIT").await;
        assert!(titles(&store).await.is_empty());
        todo.add("after", None).await.unwrap();
        assert_eq!(titles(&store).await, ["after"]);
    };
    Bed::postgres().await.run(check).await;
}

/// However many give up, each for a statement that still runs on the server.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn connections_to_the_server_are_bounded_while_its_tables_are_locked() {
    let check = async |bed: Bed| {
        let store = bed.open().await;
        let mut other = connect(&bed).await;
        sql(&mut other, "BEGIN; LOCK TABLE todo_tasks IN ACCESS EXCLUSIVE MODE").await;
        let callers: Vec<_> = (0..24)
            .map(|_| {
                let todo = store.todo("ann").unwrap();
                // every other one goes away long before the server gives up
                tokio::spawn(async move {
                    for patience in [50, 9_000, 50, 9_000] {
                        let _ = tokio::time::timeout(Duration::from_millis(patience), todo.add("x", None)).await;
                    }
                })
            })
            .collect();
        let mut most = 0;
        while !callers.iter().all(tokio::task::JoinHandle::is_finished) {
            let count =
                "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()";
            most = most.max(sqlx::query_scalar::<_, i64>(count).fetch_one(&mut other).await.unwrap());
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        assert!((2..=15).contains(&most), "a pool of nine, a prober, a listener, and who is just leaving: {most}");
        sql(&mut other, "ROLLBACK").await;
        assert!(titles(&store).await.is_empty());
    };
    Bed::postgres().await.run(check).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_write_whose_answer_is_lost_is_unknown_and_is_not_made_again() {
    let check = async |bed: Bed| {
        let proxy = Proxy::before(&bed).await;
        let store = Store::open(&proxy.location()).await.unwrap();
        let todo = store.todo("ann").unwrap();
        todo.add("before", None).await.unwrap();
        proxy.lose_answers();
        unknown(todo.add(MARK, None).await);
        proxy.go_on();
        let behind = bed.open().await;
        assert_eq!(titles(&behind).await, [MARK, "before"], "done, and once");
    };
    Bed::postgres().await.run(check).await;
}

/// A trigger that is run by the commit itself keeps it from being answered.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_commit_in_which_the_server_dies_is_unknown_and_a_statement_before_it_is_not() {
    let check = async |bed: Bed| {
        let store = bed.open().await;
        let mut other = connect(&bed).await;
        let wait =
            "CREATE FUNCTION wait() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM pg_sleep(60); RETURN NULL; END'";
        sql(&mut other, wait).await;
        let kill = "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
            WHERE datname = current_database() AND wait_event = 'PgSleep'";
        for (when, is_known) in [("INITIALLY DEFERRED", false), ("INITIALLY IMMEDIATE", true)] {
            sql(
                &mut other,
                &format!("CREATE CONSTRAINT TRIGGER wait AFTER INSERT ON api_keys DEFERRABLE {when} FOR EACH ROW EXECUTE FUNCTION wait()"),
            )
            .await;
            let keys = store.keys();
            let adding = tokio::spawn(async move { keys.insert(key("k", 1)).await });
            let mut killed = 0;
            while !adding.is_finished() {
                killed += sqlx::query_scalar::<_, i64>(kill).fetch_one(&mut other).await.unwrap();
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
            let outcome = adding.await.unwrap();
            assert!(killed > 0);
            if is_known {
                refused(outcome)
            } else {
                unknown(outcome)
            }
            sql(&mut other, "DROP TRIGGER wait ON api_keys").await;
            assert_eq!(store.keys().list().await.unwrap().len(), 0);
        }
    };
    Bed::postgres().await.run(check).await;
}

/// A transaction that the server rolled back because of another one had no effect, and is made again.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn writes_that_conflict_are_made_again() {
    let check = async |bed: Bed| {
        bed.on_server("ALTER DATABASE DATABASE_NAME SET default_transaction_isolation = 'serializable'").await;
        let store = bed.open().await;
        let task = store.todo("ann").unwrap().add("shared", None).await.unwrap();
        let writing: Vec<_> = (0..6)
            .map(|writer| {
                let todo = store.todo("ann").unwrap();
                tokio::spawn(async move {
                    for round in 0..10 {
                        todo.update(task.id, Some(&format!("{writer} {round}")), None).await.unwrap();
                    }
                })
            })
            .collect();
        for writer in writing {
            writer.await.unwrap();
        }
    };
    Bed::postgres().await.run(check).await;
}

/// What is answered is on disk, whatever the server's default.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_commit_waits_for_the_disk() {
    let check = async |bed: Bed| {
        bed.on_server("ALTER DATABASE DATABASE_NAME SET synchronous_commit = off").await;
        let store = bed.open().await;
        let refuse = "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS
            'BEGIN IF current_setting(''synchronous_commit'') <> ''on'' THEN RAISE ''not on disk''; END IF; RETURN NEW; END';
            CREATE TRIGGER refuse BEFORE INSERT ON todo_tasks FOR EACH ROW EXECUTE FUNCTION refuse()";
        bed.sql(refuse).await;
        store.todo("ann").unwrap().add("durable", None).await.unwrap();
    };
    Bed::postgres().await.run(check).await;
}
