//! The thread that waits for the disk: all that wait share one wait.
//!
//! INVARIANT: a file whose sync failed is never synced again. The system may have dropped what it could not write, and a
//! second sync would say nothing of it. Everything that was written to the file and not synced is refused.

use std::{
    fs::File,
    mem,
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use super::{
    batch::{Answer, Batch},
    disk::Disk,
};
use crate::ledger::{Hash, LedgerUnavailable};

/// The longest that a record which is with the operating system stays unsynced.
const UNSYNCED: Duration = Duration::from_millis(100);

/// The end of what was written: the last record, and where the next begins.
#[derive(Debug, Clone)]
pub(super) struct Mark {
    pub(super) seq: i64,
    pub(super) hash: Hash,
    /// The position after it.
    pub(super) end: i64,
}

/// A file with what was written to it.
#[derive(Clone)]
pub(super) struct WrittenFile {
    pub(super) file: Arc<File>,
    /// Counts the files that failed before it: all files of a chain have one.
    pub(super) generation: u64,
    pub(super) mark: Mark,
}

struct WaitingBatch {
    batch: Arc<Batch>,
    /// Told to those who would not wait for the disk, while the disk fails.
    answers: Option<Vec<Answer>>,
}

#[derive(Default)]
struct SyncState {
    unsynced: Option<WrittenFile>,
    waiting: Vec<WaitingBatch>,
    syncing: bool,
    /// The last record of the generation that is on the disk.
    synced: Option<Mark>,
    failed: Option<u64>,
    /// Why nothing counts that is not on the disk.
    failing: Option<LedgerUnavailable>,
    closed: bool,
}

pub(super) struct SyncQueue {
    state: Mutex<SyncState>,
    wake: Condvar,
    disk: Disk,
}

impl SyncQueue {
    pub(super) fn new(disk: Disk) -> Arc<Self> {
        Arc::new(Self { state: Mutex::default(), wake: Condvar::new(), disk })
    }

    fn state(&self) -> MutexGuard<'_, SyncState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A batch was written. Where the disk fails nobody is told anything before it is synced.
    pub(super) fn written(&self, file: WrittenFile, batch: Arc<Batch>, answers: Vec<Answer>, durable: bool) {
        let mut state = self.state();
        if let Some(failing) = state.failing.clone() {
            if state.failed >= Some(file.generation) {
                drop(state);
                return batch.settle_written(answers.into_iter().map(|_| Err(failing.clone())).collect());
            }
            state.waiting.push(WaitingBatch { batch, answers: Some(answers) });
        } else {
            batch.settle_written(answers);
            if durable {
                state.waiting.push(WaitingBatch { batch, answers: None });
            }
        }
        // a file that is unsynced already has its time
        let wakes = state.unsynced.replace(file).is_none() || !state.waiting.is_empty();
        drop(state);
        if wakes {
            self.wake.notify_all();
        }
    }

    /// Waits until everything that was written is on the disk.
    pub(super) fn flush(&self) -> Result<(), LedgerUnavailable> {
        let mut state = self.state();
        let generation = state.unsynced.as_ref().map(|file| file.generation);
        while (state.unsynced.is_some() || state.syncing) && !state.closed {
            // somebody waits, so that it is not left for later
            let batch = Arc::<Batch>::default();
            state.waiting.push(WaitingBatch { batch, answers: None });
            self.wake.notify_all();
            state = self.wake.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        match &state.failing {
            Some(failing) if generation.is_some() && state.failed >= generation => Err(failing.clone()),
            _ => Ok(()),
        }
    }

    /// The last record that is on the disk, if a file of this generation failed.
    pub(super) fn failed(&self, generation: u64) -> Option<Option<Mark>> {
        let mut state = self.state();
        (state.failed == Some(generation)).then(|| state.synced.take())
    }

    pub(super) fn failing(&self) -> Option<LedgerUnavailable> {
        self.state().failing.clone()
    }

    pub(super) fn close(&self) {
        self.state().closed = true;
        self.wake.notify_all();
    }

    pub(super) fn run(&self) {
        loop {
            let mut state = self.until_due();
            let (file, waiting, closed) = (state.unsynced.take(), mem::take(&mut state.waiting), state.closed);
            state.syncing = true;
            drop(state);
            let synced = file.as_ref().map_or(Ok(()), |file| self.disk.sync(&file.file));
            let mut state = self.state();
            state.syncing = false;
            match synced {
                Ok(()) => {
                    if let Some(file) = file {
                        (state.synced, state.failing) = (Some(file.mark), None);
                    }
                    drop(state);
                    waiting.into_iter().for_each(|waiting| waiting.settle(Ok(())));
                }
                Err(error) => {
                    tracing::error!(%error, "the ledger could not be synced");
                    let lost = LedgerUnavailable::disk("its file can't be synced", &error);
                    state.failed = file.map(|file| file.generation);
                    state.failing = Some(lost.clone());
                    state.unsynced = None;
                    // what was written to the file meanwhile is as unsure
                    let since = mem::take(&mut state.waiting);
                    drop(state);
                    waiting.into_iter().chain(since).for_each(|waiting| waiting.settle(Err(lost.clone())));
                }
            }
            self.wake.notify_all();
            if closed && self.state().unsynced.is_none() {
                break;
            }
        }
    }

    /// Waits until somebody must know, until what is unsynced has been so for long enough, or until the end.
    fn until_due(&self) -> MutexGuard<'_, SyncState> {
        let mut state = self.state();
        while state.waiting.is_empty() && !state.closed {
            if state.unsynced.is_none() {
                state = self.wake.wait(state).unwrap_or_else(PoisonError::into_inner);
                continue;
            }
            let (now, timeout) = self.wake.wait_timeout(state, UNSYNCED).unwrap_or_else(PoisonError::into_inner);
            state = now;
            if timeout.timed_out() {
                break;
            }
        }
        state
    }
}

impl WaitingBatch {
    fn settle(self, synced: Result<(), LedgerUnavailable>) {
        if let Some(answers) = self.answers {
            let told = |answer: Answer| answer.and_then(|place| synced.clone().map(|()| place));
            self.batch.settle_written(answers.into_iter().map(told).collect());
        }
        self.batch.settle_synced(synced);
    }
}
