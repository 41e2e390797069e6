//! The ledger on PostgreSQL: tables in the store's database, and one connection of its own that appends.

mod appender;
mod insert;
mod scan;
pub(crate) mod select;

use std::sync::{Arc, Mutex, PoisonError};

use sqlx::postgres::PgConnectOptions;
use tokio::{
    sync::mpsc::{self, Sender, error::TrySendError},
    task::JoinHandle,
};

use super::{OPEN, Postgres, migrate};
use crate::{
    StoreError,
    error::Fault,
    ledger::{Chain, Checker, Job, LedgerUnavailable, Scan},
    migration,
    statement::Statement,
};

/// Records that may wait; more are refused at once.
const QUEUE: usize = 4096;

const EXISTS: &str = "SELECT to_regclass('ledger') IS NOT NULL";

/// The side that appends.
pub(crate) struct PostgresLedger {
    writer: Arc<str>,
    /// Taken to end the task: it stops when nobody can send to it any more.
    queue: Mutex<Option<Sender<Job>>>,
    task: Mutex<Option<JoinHandle<()>>>,
}

/// The side that verifies; all other reading goes through the store's pool.
pub(crate) struct PostgresRecords {
    options: Box<PgConnectOptions>,
}

impl Postgres {
    pub(crate) async fn ledger(&self) -> Result<(PostgresLedger, PostgresRecords), StoreError> {
        self.migrate_ledger().await?;
        let no_name = |_| Fault::Other("the system has no random numbers".to_owned()).during(OPEN);
        let chain = Chain::new().map_err(no_name)?;
        let writer = chain.writer().clone();
        let (sender, queue) = mpsc::channel(QUEUE);
        let task = tokio::spawn(appender::Appender::new(self.options.clone(), queue, chain).run());
        let ledger = PostgresLedger { writer, queue: Mutex::new(Some(sender)), task: Mutex::new(Some(task)) };
        Ok((ledger, PostgresRecords { options: self.options.clone() }))
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

    async fn migrate_ledger(&self) -> Result<(), StoreError> {
        let mut connection = self.pool.acquire().await.map_err(|fault| fault.during(OPEN))?;
        migrate::migrate(&mut connection, &migration::POSTGRES_LEDGER).await
    }
}

impl PostgresRecords {
    pub(crate) async fn scan(&self, scans: Vec<Scan>, checker: Checker) -> Result<Checker, Fault> {
        scan::scan(&self.options, scans, checker).await
    }
}

impl PostgresLedger {
    pub(crate) fn writer(&self) -> &str {
        &self.writer
    }

    pub(crate) fn submit(&self, job: Job) -> Result<(), LedgerUnavailable> {
        let queue = self.queue.lock().unwrap_or_else(PoisonError::into_inner);
        let closed = || LedgerUnavailable::new("the ledger is closed");
        queue.as_ref().ok_or_else(closed)?.try_send(job).map_err(|refused| match refused {
            TrySendError::Full(_) => LedgerUnavailable::new("too many records are waiting for the database"),
            TrySendError::Closed(_) => closed(),
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
