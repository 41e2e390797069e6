//! The thread that appends: all records that wait share one commit, and the durable ones one wait for the disk.

use std::{
    fs::File,
    path::PathBuf,
    sync::mpsc::{Receiver, RecvTimeoutError},
    thread,
    time::{Duration, Instant},
};

use rusqlite::Connection;

use super::{
    super::{Message, run::fault},
    insert,
};
use crate::{
    error::Fault,
    ledger::{Answered, Chain, Job, Link, answer_all, refuse_all},
};

/// Records in one commit. More would make the first wait for the last.
const GROUP: usize = 512;
/// The longest that a record which is with the operating system stays unsynced.
const UNSYNCED: Duration = Duration::from_millis(100);
/// The most that a group is held back for callers that are about to come again.
const HOLD: Duration = Duration::from_millis(2);

pub(super) struct Appender {
    connection: Connection,
    wal: PathBuf,
    queue: Receiver<Message<Job>>,
    chain: Chain,
    /// Whether a commit waits for the disk, as SQLite is set now.
    syncing: bool,
    /// Since when there are records that are not synced.
    unsynced: Option<Instant>,
    /// How many the last durable group had, and how long it took.
    last: (usize, Duration),
}

impl Appender {
    pub(super) fn new(connection: Connection, wal: PathBuf, queue: Receiver<Message<Job>>, chain: Chain) -> Self {
        Self { connection, wal, queue, chain, syncing: true, unsynced: None, last: (0, Duration::ZERO) }
    }

    pub(super) fn run(mut self) {
        loop {
            let first = match self.unsynced {
                None => self.queue.recv().map_err(|_| RecvTimeoutError::Disconnected),
                Some(_) => self.queue.recv_timeout(UNSYNCED),
            };
            match first {
                Ok(Message::Job(first)) => {
                    let (group, stop) = self.gather(first);
                    self.commit(group);
                    if stop {
                        break;
                    }
                }
                Err(RecvTimeoutError::Timeout) => self.sync(),
                Ok(Message::Stop) | Err(RecvTimeoutError::Disconnected) => break,
            }
        }
        self.sync();
    }

    /// Everything that waits now, and whether the end was asked for.
    fn gather(&self, first: Job) -> (Vec<Job>, bool) {
        let mut group = vec![first];
        // Whoever is about to append gets to do so: on a busy machine this thread was woken by the first of many.
        thread::yield_now();
        if self.drain(&mut group) {
            return (group, true);
        }
        // Callers that were answered together come again together, but not at the same instant. Without a short wait
        // the first of them would take the disk's next turn alone and the others would wait for it.
        let (size, took) = self.last;
        if group.iter().any(|job| job.durable) && group.len() < size {
            let until = Instant::now() + HOLD.min(took / 4);
            while group.len() < size {
                let left = until.saturating_duration_since(Instant::now());
                match self.queue.recv_timeout(left) {
                    Ok(Message::Job(job)) => group.push(job),
                    Ok(Message::Stop) => return (group, true),
                    Err(_) => break,
                }
            }
        }
        let stop = self.drain(&mut group);
        (group, stop)
    }

    fn drain(&self, group: &mut Vec<Job>) -> bool {
        while group.len() < GROUP {
            match self.queue.try_recv() {
                Ok(Message::Job(job)) => group.push(job),
                Ok(Message::Stop) => return true,
                Err(_) => break,
            }
        }
        false
    }

    fn commit(&mut self, group: Vec<Job>) {
        let wanted = group.iter().any(|job| job.durable);
        let durable = wanted || self.unsynced.is_some_and(|since| since.elapsed() > UNSYNCED);
        let size = group.len();
        let (drafts, answers): (Vec<_>, Vec<Answered>) = group.into_iter().map(|job| (job.draft, job.answer)).unzip();
        let started = Instant::now();
        let stored = self.ready(durable).and_then(|()| {
            let links = self.chain.links(drafts.into_iter());
            store(&self.connection, self.chain.writer(), &links).map(|()| links)
        });
        match stored {
            Ok(links) => {
                if let Some(last) = links.last() {
                    self.chain.stored(last);
                }
                self.unsynced = if durable { None } else { self.unsynced.or(Some(started)) };
                if wanted {
                    self.last = (size, started.elapsed());
                }
                answer_all(&self.chain, &links, answers);
            }
            Err(fault) => {
                self.chain.doubt();
                refuse_all(answers, &fault.into());
            }
        }
    }

    /// Knows where the chain stands and how to commit.
    fn ready(&mut self, durable: bool) -> Result<(), Fault> {
        if self.chain.in_doubt() {
            let head = insert::head(&self.connection, self.chain.writer()).map_err(|error| fault(&error))?;
            self.chain.resume(head);
        }
        if self.syncing != durable {
            let level = if durable { "FULL" } else { "NORMAL" };
            self.connection.pragma_update(None, "synchronous", level).map_err(|error| fault(&error))?;
            self.syncing = durable;
        }
        Ok(())
    }

    /// Syncs what ordered groups left. In WAL mode everything committed is in the log, so the log is all there is to sync.
    fn sync(&mut self) {
        if self.unsynced.is_none() {
            return;
        }
        match File::open(&self.wal).and_then(|log| log.sync_data()) {
            Ok(()) => self.unsynced = None,
            // Tried again after the same wait, and by the next durable group.
            Err(error) => tracing::warn!(%error, "the ledger could not be synced"),
        }
    }
}

/// All of the group or nothing.
fn store(connection: &Connection, writer: &str, links: &[Link]) -> Result<(), Fault> {
    let failed = |error: rusqlite::Error| fault(&error);
    insert::begin(connection).map_err(failed)?;
    let stored = insert::insert(connection, writer, links).and_then(|()| insert::commit(connection));
    if stored.is_err() && !connection.is_autocommit() {
        // A full disk and the like end the transaction by themselves; anything else ends it here.
        let _ = connection.execute_batch("ROLLBACK");
    }
    stored.map_err(failed)
}
