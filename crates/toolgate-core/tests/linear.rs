//! A measure of growth that needs no clock of a certain speed: one long input against as much in short ones.

use std::time::{Duration, Instant};

/// The shortest of several runs, which is the one that was disturbed least.
pub(crate) fn shortest(mut run: impl FnMut()) -> Duration {
    let mut once = || {
        let start = Instant::now();
        run();
        start.elapsed()
    };
    (0..3).map(|_| once()).min().unwrap_or_default()
}

/// The least time of 32 short runs: below it, what is measured is not the work.
const MEASURABLE: Duration = Duration::from_millis(4);

/// Panics unless the time is about linear: one long input takes about as long as 32 short ones of the same length together.
/// Growth with the square is a factor of 32; both take equally long, so that other processes disturb both alike. `small` is
/// the least length of a short one; it is doubled until the time can be measured.
pub(crate) fn assert_linear(what: &str, small: usize, run: impl Fn(usize)) {
    let measured = growth(small, run);
    assert!(measured.is_none(), "{what}: 32 times {small}, and 32 times as much at once, take {measured:?}");
}

/// The same as an answer.
#[allow(dead_code, reason = "not every crate looks at what grows faster")]
pub(crate) fn is_linear(small: usize, run: impl Fn(usize)) -> bool {
    growth(small, run).is_none()
}

/// The times of several measurements, where all of them show more than linear growth.
fn growth(small: usize, run: impl Fn(usize)) -> Option<Vec<(Duration, Duration)>> {
    let short = |length: usize| shortest(|| (0..32).for_each(|_| run(length)));
    let longest = small << 8;
    let mut doubled = (0..8).map(|times| small << times);
    let length = doubled.find(|length| short(*length) >= MEASURABLE).unwrap_or(longest);
    let grows = |_| {
        let (short, long) = (short(length), shortest(|| run(length * 32)));
        (long > short.max(Duration::from_micros(500)) * 8).then_some((short, long))
    };
    (0..3).map(grows).collect()
}
