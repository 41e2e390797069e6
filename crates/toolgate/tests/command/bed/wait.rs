//! Waiting for a condition, never for a time.

use std::{
    thread,
    time::{Duration, Instant},
};

/// Long enough for a busy machine; a test that meets it has failed.
pub const DEADLINE: Duration = Duration::from_secs(60);

/// Looks until there is something to see.
pub fn until<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let deadline = Instant::now() + DEADLINE;
    loop {
        if let Some(seen) = look() {
            return seen;
        }
        assert!(Instant::now() < deadline, "waited in vain until {what}");
        thread::sleep(Duration::from_millis(20));
    }
}
