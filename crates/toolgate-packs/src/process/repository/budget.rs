//! The work that one call may cause: bytes read, bytes held, objects and time. A worktree is written by its task, so the size of the work
//! is the task's choice and not the caller's.

use std::{
    cell::Cell,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use super::error::RepositoryError;

/// Bytes of objects and files read, and a fixed share for each object.
const MOST_WORK: u64 = 4 << 30;
/// The share of one object, whatever its size.
const OBJECT_SHARE: u64 = 1 << 10;
/// Bytes kept at the same time, beside the objects that are being read.
const MOST_HELD: usize = 64 << 20;

pub(in crate::process) struct WorkBudget {
    end: Instant,
    cancelled: Arc<AtomicBool>,
    spent: Cell<u64>,
    held: Cell<usize>,
}

impl WorkBudget {
    pub(in crate::process) fn new(time: Duration, cancelled: Arc<AtomicBool>) -> Self {
        Self { end: Instant::now() + time, cancelled, spent: Cell::new(0), held: Cell::new(0) }
    }

    /// Charges one object or file of a size, before it is read.
    pub(super) fn charge(&self, bytes: u64) -> Result<(), RepositoryError> {
        self.spent.set(self.spent.get().saturating_add(bytes).saturating_add(OBJECT_SHARE));
        if self.spent.get() > MOST_WORK {
            return Err(RepositoryError::TooLarge("more than 4 GiB would have to be read"));
        }
        if self.cancelled.load(Ordering::Relaxed) || Instant::now() > self.end {
            return Err(RepositoryError::TimedOut);
        }
        Ok(())
    }

    /// Counts bytes that are kept while further objects are read, before they are kept.
    pub(super) fn hold(&self, bytes: usize) -> Result<(), RepositoryError> {
        self.held.set(self.held.get().saturating_add(bytes));
        if self.held.get() > MOST_HELD {
            return Err(RepositoryError::TooLarge("more than 64 MiB would have to be kept; ask since a later commit"));
        }
        Ok(())
    }

    /// Counts held bytes as free again.
    pub(super) fn release(&self, bytes: usize) {
        self.held.set(self.held.get().saturating_sub(bytes));
    }

    /// Returns the end of a piece of work that can't be charged step by step.
    pub(super) fn end_within(&self, time: Duration) -> Instant {
        self.end.min(Instant::now() + time)
    }

    #[cfg(test)]
    pub(super) fn spent(&self) -> u64 {
        self.spent.get()
    }
}
