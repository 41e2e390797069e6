//! The ledger on SQLite: a file of its own beside the store's, one thread that appends, one that reads.

mod appender;
mod insert;
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

use super::{Message, Sqlite, ask, file, migrate, read_only, reader, run::fault, spawn};
use crate::{
    StoreError,
    error::Fault,
    ledger::{Chain, Checker, Job, LedgerSettings, LedgerUnavailable, Scan},
    migration,
    statement::{Row, Statement},
};

/// Records that may wait; more are refused at once.
const QUEUE: usize = 4096;
/// How long the write-ahead log gets before it is written back: 16 MiB. The newest pages are written to it again and
/// again, so a longer log writes back less.
const LOG_PAGES: i64 = 4096;

pub(crate) struct SqliteLedger {
    writer: Arc<str>,
    path: PathBuf,
    appender: SyncSender<Message<Job>>,
    reader: SyncSender<Message<reader::Job>>,
    threads: Mutex<Vec<JoinHandle<()>>>,
}

impl Sqlite {
    pub(crate) async fn ledger(&self, settings: LedgerSettings) -> Result<SqliteLedger, StoreError> {
        let path = beside(&self.path);
        match tokio::task::spawn_blocking(move || SqliteLedger::open(path, &settings)).await {
            Ok(opened) => opened,
            Err(_) => Err(Fault::Closed.during(file::OPEN)),
        }
    }
}

/// `toolgate.db` has its ledger in `toolgate-ledger.db`: two stores in one directory have two.
fn beside(store: &Path) -> PathBuf {
    let mut name = store.file_stem().unwrap_or_default().to_owned();
    name.push("-ledger.db");
    store.with_file_name(name)
}

impl SqliteLedger {
    fn open(path: PathBuf, settings: &LedgerSettings) -> Result<Self, StoreError> {
        file::create(&path)?;
        let mut connection = file::connect(&path)?;
        migrate::migrate(&mut connection, &migration::SQLITE_LEDGER)?;
        limit(&connection, settings).map_err(|error| fault(&error).during(file::OPEN))?;
        let set = connection.pragma_update(None, "wal_autocheckpoint", LOG_PAGES);
        set.map_err(|error| fault(&error).during(file::OPEN))?;
        let no_name = |_| Fault::Other("the system has no random numbers".to_owned()).during(file::OPEN);
        let chain = Chain::new().map_err(no_name)?;
        let writer = chain.writer().clone();

        let (appender, queue) = mpsc::sync_channel(QUEUE);
        let work = appender::Appender::new(connection, wal(&path), queue, chain);
        let mut threads = vec![spawn("ledger-writer", move || work.run())?];
        let (reader, queue) = mpsc::sync_channel(QUEUE);
        let connection = read_only(file::connect(&path)?)?;
        threads.push(spawn("ledger-reader", move || reader::run(&connection, &Mutex::new(queue)))?);
        Ok(Self { writer, path, appender, reader, threads: Mutex::new(threads) })
    }

    pub(crate) fn writer(&self) -> &str {
        &self.writer
    }

    pub(crate) fn submit(&self, job: Job) -> Result<(), LedgerUnavailable> {
        self.appender.try_send(Message::Job(job)).map_err(|refused| match refused {
            TrySendError::Full(_) => LedgerUnavailable::new("too many records are waiting for the disk"),
            TrySendError::Disconnected(_) => LedgerUnavailable::new("the ledger is closed"),
        })
    }

    pub(crate) async fn read(&self, statement: Statement) -> Result<Vec<Row>, Fault> {
        ask(&self.reader, |answer| reader::Job { statement, answer }).await
    }

    pub(crate) async fn scan(&self, scans: Vec<Scan>, checker: Checker) -> Result<Checker, Fault> {
        let path = self.path.clone();
        let scanned = tokio::task::spawn_blocking(move || scan::scan(&path, &scans, checker)).await;
        scanned.unwrap_or(Err(Fault::Closed))
    }

    pub(crate) async fn close(&self) {
        let threads = std::mem::take(&mut *self.threads.lock().unwrap_or_else(PoisonError::into_inner));
        let (appender, reader) = (self.appender.clone(), self.reader.clone());
        let stop = move || {
            // A queue without a receiver means that thread has ended already.
            let _ = appender.send(Message::Stop);
            let _ = reader.send(Message::Stop);
            for thread in threads {
                let _ = thread.join();
            }
        };
        let _ = tokio::task::spawn_blocking(stop).await;
    }
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
