//! Calls a minute for each caller of one tool: a bucket that fills steadily and holds a minute's worth.

use std::time::{Duration, Instant};

use quick_cache::sync::Cache;

pub(crate) struct Limit {
    per_minute: u32,
    /// When each caller's bucket would be full again.
    full_at: Cache<String, Instant>,
}

/// Callers remembered per tool; a forgotten one starts with a full bucket.
const REMEMBERED: usize = 10_000;

impl Limit {
    pub(crate) fn per_minute(per_minute: u32) -> Self {
        Self { per_minute: per_minute.max(1), full_at: Cache::new(REMEMBERED) }
    }

    /// Takes one call, or says how long to wait.
    pub(crate) fn take(&self, caller: &str, now: Instant) -> Result<(), Duration> {
        let step = Duration::from_secs(60) / self.per_minute;
        let full_at = self.full_at.get(caller).unwrap_or(now).max(now);
        let after = full_at + step;
        match after.checked_duration_since(now + Duration::from_secs(60)) {
            Some(over) if !over.is_zero() => Err(over),
            _ => {
                self.full_at.insert(caller.to_owned(), after);
                Ok(())
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
}
