//! What time it is: the machine's, or a test's.

use std::{
    sync::Arc,
    time::{SystemTime, UNIX_EPOCH},
};

use crate::vault::dates;

/// Unix milliseconds as ISO 8601 in UTC.
pub(super) fn iso(millis: i64) -> String {
    dates::timestamp(millis.saturating_mul(1_000_000))
}

#[derive(Clone)]
pub struct Clock(Arc<dyn Fn() -> i64 + Send + Sync>);

impl Clock {
    /// A clock that says what it is told to: Unix milliseconds.
    pub fn of(now: impl Fn() -> i64 + Send + Sync + 'static) -> Self {
        Self(Arc::new(now))
    }

    pub fn now(&self) -> i64 {
        (self.0)()
    }
}

impl Default for Clock {
    fn default() -> Self {
        Self::of(|| {
            let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
            i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
        })
    }
}
