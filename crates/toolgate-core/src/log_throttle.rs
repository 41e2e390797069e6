//! A log line that many requests cause, written once in a while.

use std::{
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

/// The least time between two lines.
const EVERY: Duration = Duration::from_secs(60);

/// Lets one line a minute through.
#[derive(Debug, Default)]
pub struct LogThrottle(Mutex<Throttled>);

#[derive(Debug, Default)]
struct Throttled {
    last: Option<Instant>,
    left_out: u64,
}

impl LogThrottle {
    /// Calls `line` with the number of lines left out since the last one, if it is time for one.
    pub fn say(&self, line: impl FnOnce(u64)) {
        let mut throttled = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if throttled.last.is_some_and(|last| last.elapsed() < EVERY) {
            throttled.left_out += 1;
            return;
        }
        throttled.last = Some(Instant::now());
        let left_out = std::mem::take(&mut throttled.left_out);
        drop(throttled);
        line(left_out);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_line_is_written_and_the_next_ones_are_counted() {
        let throttle = LogThrottle::default();
        let mut written = Vec::new();
        for _ in 0..5 {
            throttle.say(|left_out| written.push(left_out));
        }
        assert_eq!(written, [0]);
        throttle.0.lock().unwrap().last = Instant::now().checked_sub(EVERY);
        throttle.say(|left_out| written.push(left_out));
        assert_eq!(written, [0, 4]);
    }
}
