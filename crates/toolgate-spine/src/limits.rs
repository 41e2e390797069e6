//! How often and how many at once. Calls a minute are a bucket that fills steadily and holds a minute's worth.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use quick_cache::sync::Cache;

/// A number of calls a minute for each caller.
pub struct Limit(WorkLimit);

/// An amount of work a minute for each caller.
pub(crate) struct WorkLimit {
    per_minute: u64,
    /// When each caller's bucket would be full again.
    full_at: Cache<String, Instant>,
}

/// Callers remembered per tool; a forgotten one starts with a full bucket.
const REMEMBERED: usize = 10_000;

const MINUTE: Duration = Duration::from_secs(60);

impl Limit {
    pub fn per_minute(per_minute: u32) -> Self {
        Self(WorkLimit::per_minute(per_minute.into()))
    }

    /// Takes one call, or says how long to wait.
    pub fn take(&self, caller: &str, now: Instant) -> Result<(), Duration> {
        self.0.take(caller, 1, now)
    }

    /// Takes nothing, and says whether a call could be taken.
    pub fn allows(&self, caller: &str, now: Instant) -> Result<(), Duration> {
        self.0.after(caller, 1, now).map(drop)
    }
}

impl WorkLimit {
    pub(crate) fn per_minute(per_minute: u64) -> Self {
        Self { per_minute: per_minute.max(1), full_at: Cache::new(REMEMBERED) }
    }

    /// Takes some work, of which at most a minute's worth is counted, or says how long to wait.
    pub(crate) fn take(&self, caller: &str, work: u64, now: Instant) -> Result<(), Duration> {
        self.full_at.insert(caller.to_owned(), self.after(caller, work, now)?);
        Ok(())
    }

    /// When the bucket would be full again after some more work.
    fn after(&self, caller: &str, work: u64, now: Instant) -> Result<Instant, Duration> {
        let nanos = MINUTE.as_nanos() * u128::from(work.min(self.per_minute)) / u128::from(self.per_minute);
        let step = u64::try_from(nanos).map_or(MINUTE, Duration::from_nanos);
        let full_at = self.full_at.get(caller).unwrap_or(now).max(now);
        let after = full_at + step;
        match after.checked_duration_since(now + MINUTE) {
            Some(over) if !over.is_zero() => Err(over),
            _ => Ok(after),
        }
    }
}

/// Calls of each caller that are under way.
#[derive(Debug, Default)]
pub(crate) struct UnderWay(Mutex<HashMap<String, u32>>);

/// A caller's place among them, given back when dropped.
pub(crate) struct Place {
    under_way: Arc<UnderWay>,
    caller: String,
}

impl UnderWay {
    /// `None` where the caller has as many as it may.
    pub(crate) fn enter(self: &Arc<Self>, caller: String, most: u32) -> Option<Place> {
        let mut callers = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let count = callers.entry(caller.clone()).or_default();
        if *count >= most {
            return None;
        }
        *count += 1;
        Some(Place { under_way: Arc::clone(self), caller })
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut callers = self.under_way.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = callers.get_mut(&self.caller) {
            *count = count.saturating_sub(1);
            if *count == 0 {
                callers.remove(&self.caller);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_minutes_worth_at_once_then_one_per_step_for_each_caller() {
        let limit = Limit::per_minute(3);
        let start = Instant::now();
        for _ in 0..3 {
            assert_eq!(limit.take("alice", start), Ok(()));
        }
        let wait = limit.take("alice", start).unwrap_err();
        assert!(wait <= Duration::from_secs(20) && wait > Duration::from_secs(19));
        assert_eq!(limit.take("bob", start), Ok(()));
        assert_eq!(limit.take("alice", start + wait), Ok(()));
        assert!(limit.take("alice", start + wait).is_err());
    }

    #[test]
    fn work_is_charged_to_its_caller_by_its_size_and_comes_back() {
        let limit = WorkLimit::per_minute(600);
        let start = Instant::now();
        assert_eq!(limit.take("alice", 400, start), Ok(()));
        assert_eq!(limit.take("alice", 300, start), Err(Duration::from_secs(10)));
        assert_eq!(limit.take("alice", 200, start), Ok(()), "what was refused is not charged");
        assert_eq!(limit.take("bob", 5_000, start), Ok(()), "more than a minute's worth is a minute's");
        assert_eq!(limit.take("alice", 300, start + Duration::from_secs(30)), Ok(()));
    }

    #[test]
    fn places_are_each_callers_own_and_come_back() {
        let under_way = Arc::<UnderWay>::default();
        let enter = |caller: &str| under_way.enter(caller.to_owned(), 2);
        let (first, second) = (enter("alice"), enter("alice"));
        assert!(first.is_some() && second.is_some() && enter("alice").is_none());
        let bob = enter("bob");
        assert!(bob.is_some());
        drop(first);
        let again = enter("alice");
        assert!(again.is_some());
        drop((second, bob, again));
        assert!(under_way.0.lock().unwrap().is_empty(), "who has none under way is forgotten");
        assert!(under_way.enter("alice".to_owned(), 0).is_none());
    }
}
