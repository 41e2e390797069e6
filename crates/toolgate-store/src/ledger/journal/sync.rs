//! The thread that waits for the disk: all that wait share one wait.

use std::{
    mem,
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use super::append::State;
use crate::ledger::LedgerUnavailable;

/// The longest that a record which is with the operating system stays unsynced.
const UNSYNCED: Duration = Duration::from_millis(100);
/// The most that a wait for the disk is put off for callers that are about to come again.
const HOLD: Duration = Duration::from_millis(2);

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
        let begins = synced && !state.unsynced.is_empty();
        drop(state);
        if begins {
            // the time of what is not on the disk yet
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
        // how many waited last time, and how long they did
        let mut last = (0, Duration::ZERO);
        loop {
            let mut state = self.gathered(last);
            let (files, waiting, closed) =
                (mem::take(&mut state.unsynced), mem::take(&mut state.waiting), state.closed);
            drop(state);
            let started = Instant::now();
            let synced = files.iter().try_for_each(|file| file.sync_data());
            if !waiting.is_empty() {
                last = (waiting.len(), started.elapsed());
            }
            match synced {
                Ok(()) => {
                    for (answer, place) in waiting {
                        let _ = answer.send(Ok(place));
                    }
                    self.lock().look();
                }
                Err(error) => {
                    tracing::error!(%error, "the ledger could not be synced");
                    let unsure = LedgerUnavailable::new(format!("its file can't be synced: {error}"));
                    for (answer, _) in waiting {
                        let _ = answer.send(Err(unsure.clone()));
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
    fn gathered(&self, (size, took): (usize, Duration)) -> MutexGuard<'_, State> {
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
        // Callers that were answered together come again together, but not at the same instant. Without a short wait the
        // first of them would take the disk's next turn alone and the others would wait for it.
        let until = Instant::now() + HOLD.min(took / 4);
        while !state.waiting.is_empty() && state.waiting.len() < size && !state.closed {
            let left = until.saturating_duration_since(Instant::now());
            let (now, late) = self.wait(state, left);
            state = now;
            if late {
                break;
            }
        }
        state
    }
}
