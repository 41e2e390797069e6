//! The ledger on PostgreSQL: tables in the store's database, and one connection of its own that appends.

mod appender;
mod copy;
mod insert;
mod scan;
pub(crate) mod select;

use std::{
    path::Path,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use sqlx::postgres::PgConnectOptions;
use tokio::{
    sync::{
        mpsc::{self, Sender, error::TrySendError},
        oneshot,
    },
    task::JoinHandle,
    time::timeout,
};

use super::{OPEN, PATIENCE, Postgres, migrate, run::fault};
use crate::{
    StoreError,
    error::Fault,
    ledger::{Chain, Checker, CopiedPart, Head, Job, LedgerFailure, LedgerUnavailable, Scan},
    migration,
    statement::Statement,
};

/// Records that may wait; more are refused at once.
const QUEUE: usize = 4096;

const EXISTS: &str = "SELECT to_regclass('ledger') IS NOT NULL";

/// For the task that appends.
enum Message {
    Record(Box<Job>),
    Probe(oneshot::Sender<Result<(), LedgerUnavailable>>),
}

/// The side that appends.
pub(crate) struct PostgresLedger {
    writer: Arc<str>,
    /// Taken to end the task: it stops when nobody can send to it any more.
    queue: Mutex<Option<Sender<Message>>>,
    task: Mutex<Option<JoinHandle<()>>>,
}

/// The side that verifies; all other reading goes through the store's pool.
pub(crate) struct PostgresRecords {
    options: Box<PgConnectOptions>,
}

impl Postgres {
    /// Makes the tables where they are missing.
    pub(crate) async fn make_ledger(&self) -> Result<PostgresRecords, StoreError> {
        self.migrate_ledger().await?;
        Ok(PostgresRecords { options: self.options.clone() })
    }

    /// A new writer, which names these heads.
    pub(crate) fn ledger(&self, heads: Vec<Head>) -> Result<PostgresLedger, StoreError> {
        let no_name = |_| Fault::Other("the system has no random numbers".to_owned()).during(OPEN);
        let mut chain = Chain::new().map_err(no_name)?;
        chain.begin(heads);
        let writer = chain.writer().clone();
        let (sender, queue) = mpsc::channel(QUEUE);
        let task = tokio::spawn(appender::Appender::new(self.options.clone(), queue, chain).run());
        Ok(PostgresLedger { writer, queue: Mutex::new(Some(sender)), task: Mutex::new(Some(task)) })
    }

    /// `None` if there are no tables: nothing is created.
    pub(crate) async fn ledger_records(&self) -> Result<Option<PostgresRecords>, StoreError> {
        let rows = self.read(Statement::new(EXISTS, [])).await;
        let exists = rows.and_then(|rows| rows.into_iter().next().map_or(Ok(false), |mut row| row.bool()));
        if !exists.map_err(|fault| fault.during(OPEN))? {
            return Ok(None);
        }
        self.migrate_ledger().await?;
        Ok(Some(PostgresRecords { options: self.options.clone() }))
    }

    pub(crate) async fn migrate_ledger(&self) -> Result<(), StoreError> {
        let mut connection = self.pool.acquire().await.map_err(|fault| fault.during(OPEN))?;
        let migrated = match connection.connection() {
            Ok(connection) => migrate::migrate(connection, &migration::POSTGRES_LEDGER, self.policy).await,
            Err(fault) => Err(fault.during(OPEN)),
        };
        connection.give_back();
        migrated
    }
}

impl PostgresRecords {
    pub(crate) async fn scan(&self, scans: Vec<Scan>, checker: Checker) -> Result<Checker, Fault> {
        scan::scan(&self.options, scans, checker).await
    }

    /// Copies the oldest records after a position that are all older than a time.
    pub(crate) async fn copy_part(&self, after: i64, before: i64, folder: &Path) -> Result<Option<CopiedPart>, Fault> {
        copy::copy(&self.options, after, before, folder).await
    }
}

impl PostgresLedger {
    pub(crate) fn writer(&self) -> &str {
        &self.writer
    }

    pub(crate) fn submit(&self, job: Job) -> Result<(), LedgerUnavailable> {
        self.send(Message::Record(Box::new(job)))
    }

    /// Whether the connection that appends answers.
    pub(crate) async fn health(&self) -> Result<(), LedgerUnavailable> {
        let (answer, answered) = oneshot::channel();
        self.send(Message::Probe(answer))?;
        match timeout(PATIENCE, answered).await {
            Ok(answer) => answer.unwrap_or_else(|_| Err(LedgerUnavailable::closed())),
            Err(_) => Err(LedgerUnavailable::new(LedgerFailure::Database, "the database does not answer")),
        }
    }

    fn send(&self, message: Message) -> Result<(), LedgerUnavailable> {
        let queue = self.queue.lock().unwrap_or_else(PoisonError::into_inner);
        queue.as_ref().ok_or_else(LedgerUnavailable::closed)?.try_send(message).map_err(|refused| match refused {
            TrySendError::Full(_) => LedgerUnavailable::busy(),
            TrySendError::Closed(_) => LedgerUnavailable::closed(),
        })
    }

    pub(crate) async fn close(&self) {
        drop(self.queue.lock().unwrap_or_else(PoisonError::into_inner).take());
        let task = self.task.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(task) = task {
            let _ = task.await;
        }
    }
}

/// Gives up after a time.
async fn within<T>(time: Duration, work: impl Future<Output = Result<T, sqlx::Error>>) -> Result<T, Fault> {
    match timeout(time, work).await {
        Ok(answer) => answer.map_err(|error| fault(&error)),
        Err(_) => Err(Fault::Unavailable(format!("no answer within {} seconds", time.as_secs()))),
    }
}
