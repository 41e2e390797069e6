//! PostgreSQL: a pool of connections, and one more that listens for what other replicas changed.

mod lease;
mod ledger;
mod listen;
mod migrate;
mod pool;
mod run;

use std::{
    sync::{Mutex, PoisonError},
    time::Duration,
};

use sqlx::{ConnectOptions, pool::PoolConnection, postgres::PgConnectOptions};
use tokio::{
    sync::broadcast,
    task::JoinHandle,
    time::{error::Elapsed, timeout},
};

pub(crate) use self::ledger::{PostgresLedger, PostgresRecords, select};
use self::pool::Pool;
use crate::{
    Change, StoreError,
    engine::{Outcome, Write},
    error::Fault,
    location::postgres_options,
    migration,
    statement::{Row, Statement},
};

/// How long a call waits for a connection.
const PATIENCE: Duration = Duration::from_secs(2);
/// How long it then waits for an answer.
const ANSWER: Duration = Duration::from_secs(5);
const OPEN: &str = "open the database";

pub(crate) struct Postgres {
    pool: Pool,
    options: Box<PgConnectOptions>,
    listener: Mutex<Option<JoinHandle<()>>>,
}

impl Postgres {
    pub(crate) async fn open(url: &str, announcer: broadcast::Sender<Change>) -> Result<Self, StoreError> {
        let options = postgres_options(url)?.application_name("toolgate").disable_statement_logging();
        let pool = Pool::new(options.clone());
        let mut connection = pool.acquire().await.map_err(|fault| fault.during(OPEN))?;
        migrate::migrate(&mut connection, &migration::POSTGRES).await?;
        drop(connection);
        let listener = listen::start(options.clone(), announcer).await.map_err(|fault| fault.during(OPEN))?;
        Ok(Self { pool, options: Box::new(options), listener: Mutex::new(Some(listener)) })
    }

    pub(crate) async fn read(&self, statement: Statement) -> Result<Vec<Row>, Fault> {
        // A read that hit a broken connection had no effect: it is tried once more.
        match self.try_read(&statement).await {
            Err(Broken { fault: Fault::Unavailable(_), retry: true }) => self.try_read(&statement).await,
            answer => answer,
        }
        .map_err(|broken| broken.fault)
    }

    async fn try_read(&self, statement: &Statement) -> Result<Vec<Row>, Broken> {
        let mut connection = self.pool.acquire().await?;
        let answer = timeout(ANSWER, run::run(&mut connection, statement)).await;
        self.settle(connection, answer, true)
    }

    pub(crate) async fn write(&self, write: Write) -> Result<Outcome, Fault> {
        // A write is tried once more only if the connection broke before any of it was sent.
        match self.try_write(&write).await {
            Err(Broken { fault: Fault::Unavailable(_), retry: true }) => self.try_write(&write).await,
            answer => answer,
        }
        .map_err(|broken| broken.fault)
    }

    async fn try_write(&self, write: &Write) -> Result<Outcome, Broken> {
        let mut connection = self.pool.acquire().await?;
        let mut sent = false;
        let answer = timeout(ANSWER, run::apply(&mut connection, write, &mut sent)).await;
        self.settle(connection, answer, !sent)
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

    /// Gives the connection back, or closes it where it can't be trusted any more.
    fn settle<T>(
        &self,
        connection: PoolConnection<sqlx::Postgres>,
        answer: Result<Result<T, sqlx::Error>, Elapsed>,
        retry: bool,
    ) -> Result<T, Broken> {
        let (fault, retry) = match answer {
            Ok(Ok(value)) => return Ok(value),
            Ok(Err(error)) => (run::fault(&error), retry),
            Err(_) => (Fault::Unavailable(format!("no answer within {} seconds", ANSWER.as_secs())), false),
        };
        if let Fault::Unavailable(_) = fault {
            self.pool.doubt();
            // Detached and dropped: a goodbye to a server that is gone would keep the connection's
            // place in the pool.
            drop(connection.detach());
        }
        Err(Broken { fault, retry })
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

/// A failed attempt, and whether it may be made again because it had no effect and failed quickly.
struct Broken {
    fault: Fault,
    retry: bool,
}

/// Getting a connection has waited long enough already.
impl From<Fault> for Broken {
    fn from(fault: Fault) -> Self {
        Broken { fault, retry: false }
    }
}
