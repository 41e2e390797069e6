//! The writing thread. All writes that wait when it becomes free share one commit, and so one wait
//! for the disk; each has its own savepoint, so that one that fails takes nothing of its
//! neighbours' with it.

use std::{
    sync::{
        Arc, Mutex, PoisonError,
        mpsc::{Receiver, RecvTimeoutError},
    },
    time::{Duration, Instant},
};

use rusqlite::{Connection, Transaction, TransactionBehavior};
use tokio::sync::broadcast;

use super::{
    Answer, Message, PATIENCE, restore_check,
    run::{Steps, fault, run},
    written_mark::WrittenMark,
};
use crate::{
    Change, RestoredDatabase,
    engine::{Outcome, Write},
    error::Fault,
};

/// Writes in one commit. More would make the first wait for the last.
const GROUP: usize = 256;
/// How often to look whether another process wrote.
const WATCH: Duration = Duration::from_millis(250);

pub(super) struct Job {
    write: Write,
    deadline: Instant,
    answer: Answer<Outcome>,
}

impl Job {
    pub(super) fn new(write: Write, answer: Answer<Outcome>) -> Self {
        Self { write, deadline: Instant::now() + PATIENCE, answer }
    }
}

pub(super) struct Writer {
    connection: Connection,
    queue: Receiver<Message<Job>>,
    announcer: broadcast::Sender<Change>,
    steps: Arc<Steps>,
    written: WrittenMark,
    restored: Arc<Mutex<Option<RestoredDatabase>>>,
    /// SQLite's count of commits by others, as last seen.
    others: Option<i64>,
    looked: Instant,
}

impl Writer {
    pub(super) fn new(
        connection: Connection,
        queue: Receiver<Message<Job>>,
        announcer: broadcast::Sender<Change>,
        steps: Arc<Steps>,
        written: WrittenMark,
        restored: Arc<Mutex<Option<RestoredDatabase>>>,
    ) -> Self {
        let others = commits_by_others(&connection);
        Self { connection, queue, announcer, steps, written, restored, others, looked: Instant::now() }
    }

    pub(super) fn run(mut self) {
        loop {
            match self.queue.recv_timeout(WATCH) {
                Ok(Message::Job(first)) => {
                    let (group, stop) = self.gather(first);
                    self.commit(group);
                    if stop {
                        break;
                    }
                }
                Ok(Message::Stop) | Err(RecvTimeoutError::Disconnected) => break,
                Err(RecvTimeoutError::Timeout) => {}
            }
            self.look_for_others();
        }
        if self.restored.lock().unwrap_or_else(PoisonError::into_inner).is_none() {
            self.empty_log();
        }
    }

    /// Connections that close at the same moment leave the log behind, and a copy of the file alone would lack its end.
    /// Where another process uses the database, the log stays that process's.
    fn empty_log(&self) {
        let _ = self.connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()));
    }

    /// Everything that waits now, and whether the end was asked for.
    fn gather(&self, first: Job) -> (Vec<Job>, bool) {
        let mut group = vec![first];
        while group.len() < GROUP {
            match self.queue.try_recv() {
                Ok(Message::Job(job)) => group.push(job),
                Ok(Message::Stop) => return (group, true),
                Err(_) => break,
            }
        }
        (group, false)
    }

    fn commit(&mut self, group: Vec<Job>) {
        // A caller that went away wants nothing written.
        let mut waiting: Vec<_> = group.into_iter().filter(|job| !job.answer.is_closed()).collect();
        let restored = *self.restored.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(restored) = restored {
            for job in waiting.extract_if(.., |job| !job.write.statements.is_empty()) {
                let _ = job.answer.send(Err(Fault::Other(restored.to_string())));
            }
        }
        let now = Instant::now();
        let (group, late): (Vec<_>, Vec<_>) = waiting.into_iter().partition(|job| now < job.deadline);
        for job in late {
            let _ = job.answer.send(Err(Fault::Unavailable("its turn did not come in time".to_owned())));
        }
        let Some(deadline) = group.iter().map(|job| job.deadline).min() else {
            return;
        };

        match transact(&mut self.connection, &group, &self.steps, deadline.duration_since(now)) {
            Ok(Committed { outcomes, count }) => {
                if let Some(count) = count {
                    self.written.keep(count);
                }
                for (job, outcome) in group.into_iter().zip(outcomes) {
                    // Announced before it is answered: who has the answer finds the change waiting.
                    if let (Some(change), Ok(rows)) = (job.write.announce, &outcome)
                        && rows.first().is_some_and(|first| !first.is_empty())
                    {
                        let _ = self.announcer.send(change);
                    }
                    let _ = job.answer.send(outcome);
                }
            }
            Err(fault) => {
                for job in group {
                    let _ = job.answer.send(Err(fault.clone()));
                }
            }
        }
    }

    /// The count is this connection's view: its own commits do not change it.
    fn look_for_others(&mut self) {
        if self.looked.elapsed() < WATCH {
            return;
        }
        self.looked = Instant::now();
        let count = commits_by_others(&self.connection);
        if count.is_some() && count != self.others {
            self.others = count;
            let _ = self.announcer.send(Change::Resync);
        }
    }
}

/// A group of writes that was committed.
struct Committed {
    /// What became of each.
    outcomes: Vec<Result<Outcome, Fault>>,
    /// The number of this commit, where something was written.
    count: Option<i64>,
}

/// The outer error is that of the whole group, of which nothing was written unless it says that this is unknown; an inner
/// one means that only that write was not.
fn transact(connection: &mut Connection, group: &[Job], steps: &Steps, patience: Duration) -> Result<Committed, Fault> {
    let failed = |error: rusqlite::Error| fault(&error);
    connection.busy_timeout(patience).map_err(failed)?;
    let mut transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(failed)?;
    let mut outcomes = Vec::with_capacity(group.len());
    for job in group {
        let outcome = apply(&mut transaction, &job.write, steps);
        // A full disk and the like make SQLite give up the whole transaction, not only the
        // savepoint.
        if transaction.is_autocommit() {
            return Err(outcome.err().unwrap_or_else(|| Fault::Other("the transaction was given up".to_owned())));
        }
        outcomes.push(outcome);
    }
    let is_written = group.iter().any(|job| !job.write.statements.is_empty());
    let count = is_written.then(|| count(&transaction)).transpose().map_err(failed)?;
    transaction.commit().map_err(|error| commit_fault(&error))?;
    Ok(Committed { outcomes, count })
}

fn count(transaction: &Transaction<'_>) -> rusqlite::Result<i64> {
    transaction.prepare_cached(restore_check::COUNT)?.query_row([], |row| row.get(0))
}

fn apply(transaction: &mut Transaction<'_>, write: &Write, steps: &Steps) -> Result<Outcome, Fault> {
    // Dropped without a commit, it rolls back.
    let savepoint = transaction.savepoint().map_err(|error| fault(&error))?;
    let outcome =
        write.statements.iter().map(|statement| run(&savepoint, statement, steps)).collect::<Result<_, _>>()?;
    savepoint.commit().map_err(|error| fault(&error))?;
    Ok(outcome)
}

/// A disk that fails in the middle of a commit leaves open whether the commit is found there later.
fn commit_fault(error: &rusqlite::Error) -> Fault {
    match error.sqlite_error_code() {
        Some(rusqlite::ErrorCode::SystemIoFailure) => Fault::OutcomeUnknown(error.to_string()),
        _ => fault(error),
    }
}

fn commits_by_others(connection: &Connection) -> Option<i64> {
    connection.pragma_query_value(None, "data_version", |row| row.get(0)).ok()
}
