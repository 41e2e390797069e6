//! The clocks that a lease is measured by.

use std::time::Duration;
use std::time::SystemTime;
#[cfg(not(target_os = "linux"))]
use std::{sync::OnceLock, time::Instant};

/// A moment by two clocks: one that no setting moves and that runs while the machine sleeps, and that of the wall, which
/// shows a pause that the first one slept through.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ClockReading {
    /// Since the machine was started.
    steady: Duration,
    wall: SystemTime,
}

impl ClockReading {
    pub(crate) fn now() -> Self {
        Self { steady: steady(), wall: SystemTime::now() }
    }

    /// Returns the time since an earlier moment, by the clock that no setting moves.
    pub(crate) fn since(&self, earlier: &Self) -> Duration {
        self.steady.saturating_sub(earlier.steady)
    }

    /// Returns true if less than `time` has passed since an earlier moment, by both clocks. A wall clock that was set back
    /// tells nothing: then the answer is no.
    pub(super) fn is_within(&self, time: Duration, earlier: &Self) -> bool {
        self.since(earlier) < time && self.wall.duration_since(earlier.wall).is_ok_and(|passed| passed < time)
    }
}

/// `CLOCK_BOOTTIME`, unlike `CLOCK_MONOTONIC`, counts the time that a machine was suspended.
#[cfg(target_os = "linux")]
fn steady() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::Boottime);
    let seconds = u64::try_from(time.tv_sec).unwrap_or_default();
    Duration::new(seconds, u32::try_from(time.tv_nsec).unwrap_or_default())
}

#[cfg(not(target_os = "linux"))]
fn steady() -> Duration {
    static START: OnceLock<Instant> = OnceLock::new();
    START.get_or_init(Instant::now).elapsed()
}

#[cfg(test)]
mod tests {
    use super::*;

    const LEASE: Duration = Duration::from_secs(3);

    fn at(steady: u64, wall: u64) -> ClockReading {
        let wall = SystemTime::UNIX_EPOCH + Duration::from_secs(wall);
        ClockReading { steady: Duration::from_secs(steady), wall }
    }

    #[test]
    fn a_lease_ends_by_whichever_clock_is_first() {
        let granted = at(100, 1000);
        assert!(at(102, 1002).is_within(LEASE, &granted));
        assert!(!at(103, 1002).is_within(LEASE, &granted), "its time is over");
        assert!(!at(101, 1060).is_within(LEASE, &granted), "the machine stood still, or its clock was set forward");
        assert!(!at(101, 990).is_within(LEASE, &granted), "the clock was set back");
    }
}
