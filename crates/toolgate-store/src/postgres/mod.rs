//! PostgreSQL: a pool of connections, and one more that listens for what other replicas changed.

mod attempt;
mod lease;
mod ledger;
mod listen;
mod migrate;
mod outage;
mod pool;
mod run;
mod session;

use std::{
    sync::{Mutex, PoisonError},
    time::Duration,
};

use sqlx::{ConnectOptions, postgres::PgConnectOptions};
use tokio::{sync::broadcast, task::JoinHandle};

pub(crate) use self::ledger::{PostgresLedger, PostgresRecords, select};
use self::pool::Pool;
use crate::{
    Change, StoreError,
    error::Fault,
    location::postgres_options,
    migration::{self, SchemaPolicy},
    statement::Statement,
};

/// How long a call waits for a connection.
const PATIENCE: Duration = Duration::from_secs(2);
/// How long it then waits for an answer. The server gives up before that: see [`session`].
const ANSWER: Duration = Duration::from_secs(5);
const OPEN: &str = "open the database";

pub(crate) struct Postgres {
    pool: Pool,
    options: Box<PgConnectOptions>,
    listener: Mutex<Option<JoinHandle<()>>>,
    policy: SchemaPolicy,
}

impl Postgres {
    pub(crate) async fn open(
        url: &str,
        announcer: broadcast::Sender<Change>,
        policy: SchemaPolicy,
    ) -> Result<Self, StoreError> {
        let options = postgres_options(url)?.application_name("toolgate").disable_statement_logging();
        let pool = Pool::new(options.clone());
        let mut connection = pool.acquire().await.map_err(|fault| fault.during(OPEN))?;
        let migrated = match connection.connection() {
            Ok(connection) => migrate::migrate(connection, &migration::POSTGRES, policy).await,
            Err(fault) => Err(fault.during(OPEN)),
        };
        connection.give_back();
        migrated?;
        let listener = listen::start(options.clone(), announcer).await.map_err(|fault| fault.during(OPEN))?;
        Ok(Self { pool, options: Box::new(options), listener: Mutex::new(Some(listener)), policy })
    }

    pub(crate) async fn ping(&self) -> Result<(), Fault> {
        self.read(Statement::new("SELECT TRUE", [])).await.map(drop)
    }

    pub(crate) async fn close(&self) {
        let listener = self.listener.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(listener) = listener {
            listener.abort();
            let _ = listener.await;
        }
        self.pool.close().await;
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        let listener = self.listener.get_mut().unwrap_or_else(PoisonError::into_inner);
        if let Some(listener) = listener.take() {
            listener.abort();
        }
    }
}
