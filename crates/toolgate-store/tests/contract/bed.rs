//! A fresh database for one test, on either engine, gone when the test ends.

use std::{
    future::Future,
    panic::resume_unwind,
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
    time::Duration,
};

use sqlx::{AssertSqlSafe, Connection, PgConnection};
use tempfile::TempDir;
use toolgate_store::{Change, Changes, Location, Store};

/// Makes a test for each engine out of each function.
macro_rules! on_both {
    ($(async fn $name:ident($bed:ident: Bed) $body:block)+) => {
        $(mod $name {
            use super::*;

            async fn check($bed: Bed) $body

            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn sqlite() {
                Bed::sqlite().run(check).await;
            }

            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn postgres() {
                Bed::postgres().await.run(check).await;
            }
        })+
    };
}

#[derive(Clone)]
pub(crate) enum Bed {
    Sqlite(Arc<TempDir>),
    Postgres { server: String, database: String },
}

impl Bed {
    pub(crate) fn sqlite() -> Self {
        Bed::Sqlite(Arc::new(tempfile::tempdir().unwrap()))
    }

    pub(crate) async fn postgres() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let Ok(server) = std::env::var("TOOLGATE_TEST_POSTGRES") else {
            panic!(
                "TOOLGATE_TEST_POSTGRES is not set, so nothing is known about PostgreSQL: run `cargo xtask test`, which \
                 starts a server, or set it to the URL of one where databases may be created"
            );
        };
        let database = format!("toolgate_test_{}_{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let bed = Bed::Postgres { server, database };
        bed.on_server("CREATE DATABASE DATABASE_NAME ENCODING 'UTF8' TEMPLATE template0").await;
        bed
    }

    pub(crate) fn is_postgres(&self) -> bool {
        matches!(self, Bed::Postgres { .. })
    }

    pub(crate) fn location(&self) -> Location {
        match self {
            Bed::Sqlite(directory) => Location::Sqlite(directory.path().join("new").join("toolgate.db")),
            Bed::Postgres { .. } => self.url().parse().unwrap(),
        }
    }

    /// The value of `--database` for this bed.
    pub(crate) fn url(&self) -> String {
        match self {
            Bed::Sqlite(directory) => format!("sqlite:{}", directory.path().join("new").join("toolgate.db").display()),
            Bed::Postgres { server, database } => {
                let (server, parameters) = server.split_once('?').unwrap_or((server, ""));
                let (scheme, rest) = server.split_once("://").unwrap();
                let authority = rest.split('/').next().unwrap();
                format!("{scheme}://{authority}/{database}?{parameters}")
            }
        }
    }

    pub(crate) async fn open(&self) -> Store {
        Store::open(&self.location()).await.unwrap()
    }

    /// Runs SQL behind the store's back, in the database.
    pub(crate) async fn sql(&self, sql: &str) {
        match self {
            Bed::Sqlite(directory) => {
                let path = directory.path().join("new").join("toolgate.db");
                rusqlite::Connection::open(path).unwrap().execute_batch(sql).unwrap();
            }
            Bed::Postgres { .. } => execute(&self.url(), sql).await,
        }
    }

    /// Waits until nobody is connected: PostgreSQL finishes what a killed process last asked of it.
    pub(crate) async fn until_alone(&self) {
        if !self.is_postgres() {
            return;
        }
        let mut connection = PgConnection::connect(&self.url()).await.unwrap();
        let others =
            "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()";
        let until = std::time::Instant::now() + Duration::from_secs(20);
        while sqlx::query_scalar::<_, i64>(others).fetch_one(&mut connection).await.unwrap() > 0 {
            assert!(std::time::Instant::now() < until, "the connections of a killed process end");
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        connection.close().await.unwrap();
    }

    /// Where the embedded store has its ledger.
    pub(crate) fn ledger_folder(&self) -> std::path::PathBuf {
        let Bed::Sqlite(directory) = self else { panic!("PostgreSQL has no files") };
        directory.path().join("new").join("toolgate-ledger")
    }

    /// Runs SQL beside the database, where `DATABASE_NAME` stands for its name.
    pub(crate) async fn on_server(&self, sql: &str) {
        let Bed::Postgres { server, database } = self else { panic!("SQLite has no server") };
        execute(server, &sql.replace("DATABASE_NAME", database)).await;
    }

    /// Runs a test and cleans up whether or not it passed.
    pub(crate) async fn run<F: Future<Output = ()> + Send + 'static>(self, check: impl FnOnce(Bed) -> F) {
        let outcome = tokio::spawn(tokio::time::timeout(Duration::from_secs(90), check(self.clone()))).await;
        if self.is_postgres() {
            self.on_server("DROP DATABASE DATABASE_NAME WITH (FORCE)").await;
        }
        match outcome {
            Ok(finished) => finished.expect("the test takes too long"),
            Err(failed) => resume_unwind(failed.into_panic()),
        }
    }
}

async fn execute(url: &str, sql: &str) {
    let mut connection = PgConnection::connect(url).await.expect("the PostgreSQL of TOOLGATE_TEST_POSTGRES answers");
    sqlx::raw_sql(AssertSqlSafe(sql)).execute(&mut connection).await.unwrap();
    connection.close().await.unwrap();
}

pub(crate) async fn next(changes: &mut Changes) -> Change {
    let next = tokio::time::timeout(Duration::from_secs(10), changes.next()).await;
    next.expect("a change is announced").expect("the store is open")
}
