//! Records that are ready at the same moment, handed to the operating system with one write.
//!
//! Nobody waits for time to pass: a record waits until whoever else was ready to run has run once, and then the first that runs again
//! writes for all. A record alone is written at once.

use std::{
    future::Future,
    pin::Pin,
    sync::{Arc, OnceLock},
    task::{Context, Poll},
};

use super::sync::Shared;
use crate::ledger::{LedgerUnavailable, Place};

/// What became of the records that are written together.
#[derive(Default)]
pub(super) struct Group(OnceLock<Stored>);

/// Places of those that are there, and why the others are not. A disk that is full may take the first and not the last.
pub(super) struct Stored {
    pub(super) places: Vec<Place>,
    pub(super) others: LedgerUnavailable,
}

impl Group {
    pub(super) fn settle(&self, stored: Stored) {
        // a group is taken away by whoever settles it, so that this is done once
        let _ = self.0.set(stored);
    }

    fn is_settled(&self) -> bool {
        self.0.get().is_some()
    }

    /// What became of one of them, once it is settled.
    pub(super) fn of(&self, index: usize) -> Result<Place, LedgerUnavailable> {
        match self.0.get() {
            Some(stored) => stored.places.get(index).cloned().ok_or_else(|| stored.others.clone()),
            None => Err(LedgerUnavailable::new("nothing was recorded")),
        }
    }
}

/// One record of a group.
pub(in crate::ledger) struct Gathered {
    shared: Arc<Shared>,
    group: Arc<Group>,
    index: usize,
    waited: bool,
}

impl Gathered {
    pub(super) fn new(shared: Arc<Shared>, group: Arc<Group>, index: usize) -> Self {
        Self { shared, group, index, waited: false }
    }
}

impl Future for Gathered {
    type Output = Result<Place, LedgerUnavailable>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        if !self.group.is_settled() {
            if !self.waited {
                self.waited = true;
                context.waker().wake_by_ref();
                return Poll::Pending;
            }
            self.shared.hand_over();
        }
        Poll::Ready(self.group.of(self.index))
    }
}

impl Drop for Gathered {
    /// What was submitted is stored, whether somebody waits for it or not.
    fn drop(&mut self) {
        if !self.group.is_settled() {
            self.shared.hand_over();
        }
    }
}
