//! Places: how many calls run at the same time, and how many wait for a person, a client or news.

use std::{
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use toolgate_core::{Quota, QuotaPermit};

/// The places of all calls. A call that waits has none among those that run.
#[derive(Debug)]
pub struct CallPlaces {
    running: Arc<Semaphore>,
    waiting: Arc<Quota<String>>,
}

/// The place of one call, given back when the call ends.
pub struct CallPlace {
    places: Arc<CallPlaces>,
    held: Mutex<Held>,
}

/// What a call holds while it runs.
struct Held {
    running: Option<OwnedSemaphorePermit>,
    /// The memory of its message.
    _body: Option<Box<dyn Send + Sync>>,
}

impl fmt::Debug for CallPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CallPlace").finish_non_exhaustive()
    }
}

/// The place of a call that waits.
pub(crate) struct WaitingPlace<'p> {
    place: &'p CallPlace,
    _waiting: Option<QuotaPermit<String>>,
}

impl CallPlaces {
    /// `running` calls at once; of those that wait `waiting_each` for one caller and `waiting` for all.
    pub fn new(running: usize, waiting_each: usize, waiting: usize) -> Arc<Self> {
        let running = Arc::new(Semaphore::new(running.min(Semaphore::MAX_PERMITS)));
        Arc::new(Self { running, waiting: Quota::new(waiting_each, waiting) })
    }

    /// Whether a call that came now would find no place.
    pub fn is_full(&self) -> bool {
        self.running.available_permits() == 0
    }

    /// A place among the calls that run, with what is to be kept as long as the call: the memory of its body.
    pub fn enter(self: &Arc<Self>, body: Option<Box<dyn Send + Sync>>) -> Option<Arc<CallPlace>> {
        let running = Arc::clone(&self.running).try_acquire_owned().ok()?;
        let held = Mutex::new(Held { running: Some(running), _body: body });
        Some(Arc::new(CallPlace { places: Arc::clone(self), held }))
    }
}

impl CallPlace {
    /// Leaves the calls that run; `None`, and nothing left, where too many calls wait.
    pub(crate) fn leave(&self, caller: String) -> Option<WaitingPlace<'_>> {
        let waiting = self.places.waiting.take(caller, 1)?;
        drop(self.held().running.take());
        Some(WaitingPlace { place: self, _waiting: Some(waiting) })
    }

    /// Leaves the calls that run while a client is asked: how many questions are open is bounded where they are kept.
    pub(crate) fn leave_to_ask(&self) -> WaitingPlace<'_> {
        drop(self.held().running.take());
        WaitingPlace { place: self, _waiting: None }
    }

    /// Gives everything back: the call has ended, though a source may remember its client.
    pub fn end(&self) {
        *self.held() = Held { running: None, _body: None };
    }

    fn held(&self) -> MutexGuard<'_, Held> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl WaitingPlace<'_> {
    /// Goes back among the calls that run, after those that came before.
    pub(crate) async fn go_on(self) {
        if self.place.held().running.is_some() {
            return;
        }
        if let Ok(running) = Arc::clone(&self.place.places.running).acquire_owned().await {
            self.place.held().running.get_or_insert(running);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_call_that_waits_makes_place_and_takes_one_again_when_it_goes_on() {
        let places = CallPlaces::new(1, 1, 2);
        let waits = places.enter(None).unwrap();
        assert!(places.is_full() && places.enter(None).is_none());
        let waiting = waits.leave("user:ann".to_owned()).unwrap();
        let other = places.enter(None).expect("the place is free");
        assert!(other.leave("user:ann".to_owned()).is_none(), "ann waits as often as she may");
        let of_bob = other.leave("user:bob".to_owned()).unwrap();
        let third = places.enter(None).unwrap();
        assert!(third.leave("user:eve".to_owned()).is_none(), "all wait as often as they may");
        drop(of_bob);
        drop((third, other));
        waiting.go_on().await;
        assert!(places.is_full());
        waits.end();
        assert!(!places.is_full(), "also while somebody remembers the call");
    }
}
