//! The database goes away and comes back: calls fail in time, and recover by themselves.

use std::time::Duration;

use toolgate_store::{Location, Store, StoreError};

use crate::{bed::Bed, proxy::Proxy};

fn unavailable<T: std::fmt::Debug>(outcome: Result<T, StoreError>) {
    assert!(matches!(outcome, Err(StoreError::Unavailable { .. })), "{outcome:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sqlite_while_another_process_holds_the_lock_writes_fail_in_time_and_reads_go_on() {
    let bed = Bed::sqlite();
    let store = bed.open().await;
    let todo = store.todo("ann").unwrap();
    let kept = todo.add("before", None).await.unwrap();
    let Location::Sqlite(path) = bed.location() else { panic!() };
    let other = rusqlite::Connection::open(path).unwrap();
    other.execute_batch("BEGIN EXCLUSIVE").unwrap();

    // all are answered while the lock is held: nobody waits for it
    let (first, ping, late) = tokio::join!(todo.add("during", None), store.ping(), todo.add("late", None));
    unavailable(first);
    unavailable(ping);
    unavailable(late);
    assert_eq!(todo.list().await, Ok(vec![kept]), "nothing half-written, and reads go on");

    other.execute_batch("ROLLBACK").unwrap();
    todo.add("after", None).await.unwrap();
    store.ping().await.unwrap();
    assert_eq!(todo.list().await.unwrap().len(), 2);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn postgres_that_restarts_its_connections_is_found_again() {
    let check = async |bed: Bed| {
        let store = bed.open().await;
        let (todo, sessions) = (store.todo("ann").unwrap(), store.sessions());
        // Several connections, all fresh.
        let warm = (0..8).map(|_| {
            tokio::spawn({
                let todo = store.todo("ann").unwrap();
                async move { todo.list().await }
            })
        });
        for one in warm.collect::<Vec<_>>() {
            one.await.unwrap().unwrap();
        }
        bed.on_server("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = 'DATABASE_NAME'").await;
        // Reads, and writes that began nothing, do not even notice.
        sessions.end("s", 9).await.unwrap();
        todo.list().await.unwrap();
        todo.add("after", None).await.unwrap();
        store.ping().await.unwrap();
    };
    Bed::postgres().await.run(check).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn postgres_that_is_gone_fails_in_time_and_recovers() {
    let check = async |bed: Bed| {
        let store = bed.open().await;
        let todo = store.todo("ann").unwrap();
        todo.add("before", None).await.unwrap();
        bed.on_server("ALTER DATABASE DATABASE_NAME ALLOW_CONNECTIONS false").await;
        bed.on_server("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = 'DATABASE_NAME'").await;

        // all are answered while nobody gets in
        for _ in 0..3 {
            let keys = store.keys();
            let (add, end, list, ping) =
                tokio::join!(todo.add("during", None), keys.revoke("k", 1), todo.list(), store.ping());
            // sent on a connection that was cut meanwhile, nobody can say what became of it
            assert!(
                add.is_err_and(|fault| fault.is_outcome_unknown() || matches!(fault, StoreError::Unavailable { .. }))
            );
            unavailable(end);
            unavailable(list);
            unavailable(ping);
        }

        bed.on_server("ALTER DATABASE DATABASE_NAME ALLOW_CONNECTIONS true").await;
        recovered(&store).await;
        todo.add("after", None).await.unwrap();
        assert_eq!(todo.list().await.unwrap().len(), 2);
    };
    Bed::postgres().await.run(check).await;
}

/// Whoever asks while the server is away is told at once, however many ask: nobody waits for anybody else's wait.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn postgres_that_is_gone_is_said_at_once_to_any_number_of_callers() {
    let check = async |bed: Bed| {
        let proxy = Proxy::before(&bed).await;
        let store = Store::open(&proxy.location()).await.unwrap();
        let rights = store.rights();
        rights.catch_up().await.unwrap();
        proxy.stop();
        // an answer may still be on its way
        while store.ping().await.is_ok() {
            tokio::task::yield_now().await;
        }

        // the server is away until all are answered, so that no answer waited for it
        let asking = (0..400).map(|_| {
            let rights = rights.clone();
            tokio::spawn(async move { rights.catch_up().await })
        });
        for asked in asking.collect::<Vec<_>>() {
            unavailable(asked.await.unwrap());
        }

        proxy.go_on();
        recovered(&store).await;
        rights.catch_up().await.unwrap();
    };
    Bed::postgres().await.run(check).await;
}

/// Returns once the server is found again.
async fn recovered(store: &Store) {
    while store.ping().await.is_err() {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

#[tokio::test]
async fn postgres_that_never_answers_fails_in_time_and_keeps_the_password() {
    // One address refuses; the other takes the connection and says nothing.
    let silent = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let refusing = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    for address in [silent.local_addr().unwrap(), refusing] {
        let url = format!("postgres://ann:hunter2@{address}/gate");
        let error = Store::open(&url.parse().unwrap()).await.err().unwrap();
        assert!(!format!("{error} {error:?}").contains("hunter2"));
        unavailable::<()>(Err(error));
    }
}
