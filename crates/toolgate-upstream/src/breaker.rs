//! A circuit breaker: an upstream that keeps failing is left alone for a while, then tried with one call.

use std::{
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

use crate::fault::Fault;

pub(crate) struct Breaker {
    most: u32,
    pause: Duration,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    failures: u32,
    /// Since when nothing goes through.
    opened: Option<Instant>,
    /// A trial is under way.
    trying: bool,
}

/// Leave to make one call. Dropped without a verdict, it counts for nothing.
pub(crate) struct Leave<'a> {
    breaker: &'a Breaker,
    trial: bool,
}

impl Breaker {
    pub(crate) fn new(most: u32, pause: Duration) -> Self {
        Self { most: most.max(1), pause, state: Mutex::default() }
    }

    pub(crate) fn enter(&self) -> Result<Leave<'_>, Fault> {
        let mut state = self.state();
        let Some(opened) = state.opened else { return Ok(Leave { breaker: self, trial: false }) };
        let again = self.pause.saturating_sub(opened.elapsed());
        if !again.is_zero() || state.trying {
            return Err(Fault::Resting { failures: state.failures, again });
        }
        state.trying = true;
        Ok(Leave { breaker: self, trial: true })
    }

    pub(crate) fn is_open(&self) -> bool {
        self.state().opened.is_some()
    }

    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Leave<'_> {
    /// Whether this ended a pause.
    pub(crate) fn worked(self) -> bool {
        let mut state = self.breaker.state();
        state.failures = 0;
        state.opened.take().is_some()
    }

    /// Whether nothing more goes through.
    pub(crate) fn failed(self) -> bool {
        let mut state = self.breaker.state();
        state.failures = state.failures.saturating_add(1);
        if self.trial || state.failures >= self.breaker.most && state.opened.is_none() {
            state.opened = Some(Instant::now());
        }
        state.opened.is_some()
    }
}

impl Drop for Leave<'_> {
    fn drop(&mut self) {
        if self.trial {
            self.breaker.state().trying = false;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_opens_after_failures_in_a_row_and_lets_one_trial_through() {
        let breaker = Breaker::new(2, Duration::from_millis(20));
        breaker.enter().unwrap().failed();
        assert!(!breaker.enter().unwrap().worked());
        breaker.enter().unwrap().failed();
        breaker.enter().unwrap().failed();
        assert!(matches!(breaker.enter(), Err(Fault::Resting { failures: 2, .. })));
        std::thread::sleep(Duration::from_millis(25));
        let trial = breaker.enter().unwrap();
        assert!(breaker.enter().is_err(), "one at a time");
        drop(trial);
        breaker.enter().unwrap().failed();
        assert!(breaker.enter().is_err(), "a failed trial starts the pause again");
        std::thread::sleep(Duration::from_millis(25));
        assert!(breaker.enter().unwrap().worked());
        assert!(!breaker.is_open());
    }
}
