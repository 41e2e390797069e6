//! The side that reads: a thread with a connection that can't write.

use std::{
    path::PathBuf,
    sync::{
        Mutex,
        mpsc::{self, SyncSender},
    },
    thread::JoinHandle,
};

use super::{
    super::{Message, ask, file, read_only, reader, spawn},
    QUEUE, scan, stop,
};
use crate::{
    StoreError,
    error::Fault,
    ledger::{Checker, Scan},
    statement::{Row, Statement},
};

pub(crate) struct SqliteRecords {
    path: PathBuf,
    queue: SyncSender<Message<reader::Job>>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

impl SqliteRecords {
    /// Of a file that exists and is up to date.
    pub(super) fn open(path: PathBuf) -> Result<Self, StoreError> {
        let connection = read_only(file::connect(&path)?)?;
        let (queue, jobs) = mpsc::sync_channel(QUEUE);
        let thread = spawn("ledger-reader", move || reader::run(&connection, &Mutex::new(jobs)))?;
        Ok(Self { path, queue, thread: Mutex::new(Some(thread)) })
    }

    pub(crate) async fn read(&self, statement: Statement) -> Result<Vec<Row>, Fault> {
        ask(&self.queue, |answer| reader::Job { statement, answer }).await
    }

    pub(crate) async fn scan(&self, scans: Vec<Scan>, checker: Checker) -> Result<Checker, Fault> {
        let path = self.path.clone();
        let scanned = tokio::task::spawn_blocking(move || scan::scan(&path, &scans, checker)).await;
        scanned.unwrap_or(Err(Fault::Closed))
    }

    pub(crate) async fn close(&self) {
        stop(&self.queue, &self.thread).await;
    }
}
