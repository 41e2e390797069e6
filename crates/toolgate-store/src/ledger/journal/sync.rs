//! The thread that waits for the disk: all that wait share one wait.

use std::{
    mem,
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use super::append::{State, Waiting};
use crate::ledger::LedgerUnavailable;

/// The longest that a record which is with the operating system stays unsynced.
const UNSYNCED: Duration = Duration::from_millis(100);

pub(super) struct Shared {
    state: Mutex<State>,
    wake: Condvar,
}

impl Shared {
    pub(super) fn new(state: State) -> Arc<Self> {
        Arc::new(Self { state: Mutex::new(state), wake: Condvar::new() })
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn wake(&self) {
        self.wake.notify_one();
    }

    /// Writes what is gathered.
    pub(super) fn hand_over(&self) {
        let mut state = self.lock();
        let synced = state.unsynced.is_empty();
        state.hand_over();
        // the time begins of what is not on the disk yet, or somebody must know when it is
        let wakes = synced && !state.unsynced.is_empty() || !state.waiting.is_empty();
        drop(state);
        if wakes {
            self.wake();
        }
    }

    pub(super) fn close(&self) {
        let mut state = self.lock();
        state.hand_over();
        state.closed = true;
        drop(state);
        self.wake();
    }

    fn wait<'s>(&'s self, state: MutexGuard<'s, State>, time: Duration) -> (MutexGuard<'s, State>, bool) {
        let (state, timeout) = self.wake.wait_timeout(state, time).unwrap_or_else(PoisonError::into_inner);
        (state, timeout.timed_out())
    }

    pub(super) fn run(&self) {
        loop {
            let mut state = self.gathered();
            // with what was gathered before: records stay in the order in which they came
            state.hand_over();
            let (files, waiting, closed) =
                (mem::take(&mut state.unsynced), mem::take(&mut state.waiting), state.closed);
            drop(state);
            let synced = files.iter().try_for_each(|file| file.sync_data());
            match synced {
                Ok(()) => {
                    for Waiting { answer, group, index } in waiting {
                        let _ = answer.send(group.of(index));
                    }
                    self.lock().look();
                }
                Err(error) => {
                    tracing::error!(%error, "the ledger could not be synced");
                    let unsure = LedgerUnavailable::new(format!("its file can't be synced: {error}"));
                    for waiting in waiting {
                        let _ = waiting.answer.send(Err(unsure.clone()));
                    }
                    self.lock().reopen();
                }
            }
            if closed {
                break;
            }
        }
    }

    /// Waits until somebody must know, until what is unsynced has been so for long enough, or until the end.
    fn gathered(&self) -> MutexGuard<'_, State> {
        let mut state = self.lock();
        while state.waiting.is_empty() && !state.closed {
            if state.unsynced.is_empty() {
                state = self.wake.wait(state).unwrap_or_else(PoisonError::into_inner);
                continue;
            }
            let (now, late) = self.wait(state, UNSYNCED);
            state = now;
            if late {
                break;
            }
        }
        state
    }
}
