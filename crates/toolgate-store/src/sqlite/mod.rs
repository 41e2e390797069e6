//! SQLite: one thread writes, a few read, and an async front sends them work.
//!
//! Other processes may have the same file open (the command beside the server): what they commit is
//! visible to the next read, and announced as `Resync`.

mod file;
mod mark;
mod migrate;
mod reader;
mod restore_check;
mod run;
mod writer;
mod written_mark;

use std::{
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex, PoisonError,
        mpsc::{self, SyncSender, TrySendError},
    },
    thread::JoinHandle,
    time::Duration,
};

use rusqlite::Connection;
use tokio::sync::{broadcast, oneshot};

use self::run::Steps;

use crate::{
    Change, RestoredDatabase, StoreError,
    engine::{Outcome, Write},
    error::Fault,
    migration::{self, SchemaPolicy},
    statement::{Row, Statement},
};

/// How long a call waits for another process's lock.
const PATIENCE: Duration = Duration::from_secs(2);
const READERS: usize = 4;
/// Calls that may wait; more are refused at once, since they would only time out later.
const QUEUE: usize = 1024;

pub(crate) struct Sqlite {
    path: PathBuf,
    rights: mark::Mark,
    writer: SyncSender<Message<writer::Job>>,
    readers: SyncSender<Message<reader::Job>>,
    threads: Mutex<Vec<JoinHandle<()>>>,
    steps: Arc<Steps>,
    /// Writes are refused for as long as it is not accepted.
    restored: Arc<Mutex<Option<RestoredDatabase>>>,
}

enum Message<Job> {
    Job(Job),
    Stop,
}

type Answer<T> = oneshot::Sender<Result<T, Fault>>;

impl Sqlite {
    pub(crate) async fn open(
        path: PathBuf,
        announcer: broadcast::Sender<Change>,
        policy: SchemaPolicy,
    ) -> Result<Self, StoreError> {
        match tokio::task::spawn_blocking(move || Self::open_blocking(&path, announcer, policy)).await {
            Ok(opened) => opened,
            Err(_) => Err(Fault::Closed.during(file::OPEN)),
        }
    }

    fn open_blocking(
        path: &Path,
        announcer: broadcast::Sender<Change>,
        policy: SchemaPolicy,
    ) -> Result<Self, StoreError> {
        file::create(path)?;
        let mut connection = file::connect(path)?;
        let restore_check::Checked { restored, writes } = restore_check::check(&connection, path)?;
        if restored.is_some() {
            restore_check::keep_apart(&connection)?;
        }
        migrate::migrate(&mut connection, &migration::SQLITE, policy)?;

        let rights = mark::Mark::open(path)
            .map_err(|error| Fault::Other(format!("the file that marks changes: {error}")).during(file::OPEN))?;
        let steps = Arc::new(Steps::default());
        let mut threads = Vec::new();
        let (writer, queue) = mpsc::sync_channel(QUEUE);
        let written = written_mark::WrittenMark::beside(path, writes);
        let is_restored = restored.is_some();
        let restored = Arc::new(Mutex::new(restored));
        let work = writer::Writer::new(connection, queue, announcer, steps.clone(), written, restored.clone());
        threads.push(spawn("store-writer", move || work.run())?);

        let (readers, queue) = mpsc::sync_channel(QUEUE);
        let queue = Arc::new(Mutex::new(queue));
        for _ in 0..READERS {
            let connection = read_only(file::connect(path)?)?;
            if is_restored {
                restore_check::keep_apart(&connection)?;
            }
            let (queue, steps) = (queue.clone(), steps.clone());
            threads.push(spawn("store-reader", move || reader::run(&connection, &queue, &steps))?);
        }
        Ok(Self { path: path.to_owned(), rights, writer, readers, threads: Mutex::new(threads), steps, restored })
    }

    /// What is missing, where this is an older copy of the database.
    pub(crate) fn restored(&self) -> Option<RestoredDatabase> {
        *self.restored.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lets an older copy count as the newest.
    pub(crate) async fn accept_restore(&self) -> Result<(), StoreError> {
        let Some(restored) = self.restored() else { return Ok(()) };
        let path = self.path.clone();
        let accepted = tokio::task::spawn_blocking(move || restore_check::accept(&path, restored)).await;
        accepted.unwrap_or_else(|_| Err(Fault::Closed.during("accept the restored database")))?;
        *self.restored.lock().unwrap_or_else(PoisonError::into_inner) = None;
        Ok(())
    }

    /// Has the ledger's folder know the database. To be called before the ledger gets its first record.
    pub(crate) async fn begin_ledger(&self) -> Result<(), StoreError> {
        if self.restored().is_some() {
            return Ok(());
        }
        let path = self.path.clone();
        let begun = tokio::task::spawn_blocking(move || restore_check::begin(&path)).await;
        begun.unwrap_or_else(|_| Err(Fault::Closed.during("open the ledger")))
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Grows with every change of rights, by whatever process.
    pub(crate) fn rights_mark(&self) -> Option<u64> {
        self.rights.length()
    }

    pub(crate) fn mark_rights(&self) -> Result<(), Fault> {
        self.rights.grow().map_err(|error| Fault::Unavailable(format!("the file that marks changes: {error}")))
    }

    pub(crate) fn steps(&self) -> u64 {
        self.steps.so_far()
    }

    pub(crate) async fn read(&self, statement: Statement) -> Result<Vec<Row>, Fault> {
        ask(&self.readers, |answer| reader::Job { statement, answer }).await
    }

    pub(crate) async fn write(&self, write: Write) -> Result<Outcome, Fault> {
        ask(&self.writer, |answer| writer::Job::new(write, answer)).await
    }

    /// Takes the write lock and gives it back.
    pub(crate) async fn ping(&self) -> Result<(), Fault> {
        self.write(Write { statements: Vec::new(), announce: None }).await.map(drop)
    }

    pub(crate) async fn close(&self) {
        let threads = std::mem::take(&mut *self.threads.lock().unwrap_or_else(PoisonError::into_inner));
        let (writer, readers) = (self.writer.clone(), self.readers.clone());
        let stop = move || {
            // A queue without a receiver means that thread has ended already.
            let _ = writer.send(Message::Stop);
            for _ in 1..threads.len() {
                let _ = readers.send(Message::Stop);
            }
            for thread in threads {
                let _ = thread.join();
            }
        };
        let _ = tokio::task::spawn_blocking(stop).await;
    }
}

async fn ask<Job, T>(queue: &SyncSender<Message<Job>>, job: impl FnOnce(Answer<T>) -> Job) -> Result<T, Fault> {
    let (answer, answered) = oneshot::channel();
    queue.try_send(Message::Job(job(answer))).map_err(|refused| match refused {
        TrySendError::Full(_) => Fault::Overloaded,
        TrySendError::Disconnected(_) => Fault::Closed,
    })?;
    answered.await.unwrap_or(Err(Fault::Closed))
}

fn spawn(name: &str, work: impl FnOnce() + Send + 'static) -> Result<JoinHandle<()>, StoreError> {
    let failed =
        |error: std::io::Error| Fault::Other(format!("no thread could be started: {error}")).during(file::OPEN);
    std::thread::Builder::new().name(name.to_owned()).spawn(work).map_err(failed)
}

fn read_only(connection: Connection) -> Result<Connection, StoreError> {
    let set = connection.pragma_update(None, "query_only", true);
    set.map(|()| connection).map_err(|error| run::fault(&error).during(file::OPEN))
}
