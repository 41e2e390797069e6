//! The ledger on SQLite: a file of its own beside the store's, one thread that appends, one that reads.

mod appender;
mod insert;
mod records;
mod scan;

use std::{
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex, PoisonError,
        mpsc::{self, SyncSender, TrySendError},
    },
    thread::JoinHandle,
};

use rusqlite::Connection;

pub(crate) use self::records::SqliteRecords;
use super::{Message, Sqlite, file, migrate, run::fault, spawn};
use crate::{
    StoreError,
    error::Fault,
    ledger::{Chain, Job, LedgerSettings, LedgerUnavailable},
    migration,
};

/// Records that may wait; more are refused at once.
const QUEUE: usize = 4096;
/// How long the write-ahead log gets before it is written back: 16 MiB. The newest pages are written to it again and
/// again, so a longer log writes back less.
const LOG_PAGES: i64 = 4096;

/// The side that appends.
pub(crate) struct SqliteLedger {
    writer: Arc<str>,
    queue: SyncSender<Message<Job>>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

impl Sqlite {
    pub(crate) async fn ledger(&self, settings: LedgerSettings) -> Result<(SqliteLedger, SqliteRecords), StoreError> {
        let path = beside(&self.path);
        opened(move || Ok((SqliteLedger::open(&path, &settings)?, SqliteRecords::open(path)?))).await
    }

    /// `None` if there is no file: nothing is created.
    pub(crate) async fn ledger_records(&self) -> Result<Option<SqliteRecords>, StoreError> {
        let path = beside(&self.path);
        opened(move || {
            if !path.exists() {
                return Ok(None);
            }
            migrate::migrate(&mut file::connect(&path)?, &migration::SQLITE_LEDGER)?;
            SqliteRecords::open(path).map(Some)
        })
        .await
    }
}

async fn opened<T: Send + 'static>(
    open: impl FnOnce() -> Result<T, StoreError> + Send + 'static,
) -> Result<T, StoreError> {
    tokio::task::spawn_blocking(open).await.unwrap_or_else(|_| Err(Fault::Closed.during(file::OPEN)))
}

/// `toolgate.db` has its ledger in `toolgate-ledger.db`: two stores in one directory have two.
fn beside(store: &Path) -> PathBuf {
    let mut name = store.file_stem().unwrap_or_default().to_owned();
    name.push("-ledger.db");
    store.with_file_name(name)
}

impl SqliteLedger {
    fn open(path: &Path, settings: &LedgerSettings) -> Result<Self, StoreError> {
        file::create(path)?;
        let mut connection = file::connect(path)?;
        migrate::migrate(&mut connection, &migration::SQLITE_LEDGER)?;
        limit(&connection, settings).map_err(|error| fault(&error).during(file::OPEN))?;
        let set = connection.pragma_update(None, "wal_autocheckpoint", LOG_PAGES);
        set.map_err(|error| fault(&error).during(file::OPEN))?;
        let no_name = |_| Fault::Other("the system has no random numbers".to_owned()).during(file::OPEN);
        let chain = Chain::new().map_err(no_name)?;
        let writer = chain.writer().clone();

        let (queue, jobs) = mpsc::sync_channel(QUEUE);
        let work = appender::Appender::new(connection, wal(path), jobs, chain);
        let thread = spawn("ledger-writer", move || work.run())?;
        Ok(Self { writer, queue, thread: Mutex::new(Some(thread)) })
    }

    pub(crate) fn writer(&self) -> &str {
        &self.writer
    }

    pub(crate) fn submit(&self, job: Job) -> Result<(), LedgerUnavailable> {
        self.queue.try_send(Message::Job(job)).map_err(|refused| match refused {
            TrySendError::Full(_) => LedgerUnavailable::new("too many records are waiting for the disk"),
            TrySendError::Disconnected(_) => LedgerUnavailable::new("the ledger is closed"),
        })
    }

    pub(crate) async fn close(&self) {
        stop(&self.queue, &self.thread).await;
    }
}

/// Ends a thread once it has done what was asked of it.
async fn stop<Job: Send + 'static>(queue: &SyncSender<Message<Job>>, thread: &Mutex<Option<JoinHandle<()>>>) {
    let thread = thread.lock().unwrap_or_else(PoisonError::into_inner).take();
    let queue = queue.clone();
    let stop = move || {
        // A queue without a receiver means that the thread has ended already.
        let _ = queue.send(Message::Stop);
        if let Some(thread) = thread {
            let _ = thread.join();
        }
    };
    let _ = tokio::task::spawn_blocking(stop).await;
}

fn limit(connection: &Connection, settings: &LedgerSettings) -> rusqlite::Result<()> {
    let Some(bytes) = settings.max_bytes else { return Ok(()) };
    let page: i64 = connection.pragma_query_value(None, "page_size", |row| row.get(0))?;
    let pages = i64::try_from(bytes).unwrap_or(i64::MAX) / page.max(1);
    connection.pragma_update_and_check(None, "max_page_count", pages.max(1), |_| Ok(()))
}

/// SQLite's write-ahead log of a database.
fn wal(path: &Path) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push("-wal");
    path.with_file_name(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_store_has_its_own_ledger() {
        assert_eq!(beside(Path::new("a/toolgate.db")), Path::new("a/toolgate-ledger.db"));
        assert_eq!(beside(Path::new("other.db")), Path::new("other-ledger.db"));
        assert_eq!(wal(Path::new("a/x.db")), Path::new("a/x.db-wal"));
    }
}
