//! Refused credentials in the operator's log: a line for each reason and address, a minute apart, with a count.

use std::{
    collections::HashMap,
    net::IpAddr,
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

const WINDOW: Duration = Duration::from_secs(60);
const MOST_LINES: usize = 1000;

type Key = (&'static str, Option<IpAddr>);

#[derive(Debug, Default)]
pub(super) struct RefusalLog(Mutex<HashMap<Key, Line>>);

#[derive(Debug)]
struct Line {
    since: Instant,
    /// Refusals that were not logged yet.
    count: u64,
}

impl RefusalLog {
    pub(super) fn note(&self, reason: &'static str, address: Option<IpAddr>) {
        for ((reason, address), count) in self.due((reason, address), Instant::now()) {
            let address = address.map(tracing::field::display);
            tracing::warn!(reason, address, count, "a credential was refused");
        }
    }

    /// Counts a refusal; returns the lines to log now.
    fn due(&self, key: Key, now: Instant) -> Vec<(Key, u64)> {
        let mut lines = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut due = Vec::new();
        lines.retain(|key, line| {
            let is_over = now.saturating_duration_since(line.since) >= WINDOW;
            if is_over && line.count > 0 {
                due.push((*key, line.count));
            }
            !is_over
        });
        // beyond the bound addresses are not told apart
        let key = if lines.len() < MOST_LINES || lines.contains_key(&key) { key } else { (key.0, None) };
        match lines.get_mut(&key) {
            Some(line) => line.count = line.count.saturating_add(1),
            None => {
                lines.insert(key, Line { since: now, count: 0 });
                match due.iter_mut().find(|(other, _)| *other == key) {
                    Some((_, count)) => *count = count.saturating_add(1),
                    None => due.push((key, 1)),
                }
            }
        }
        due
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_reason_and_address_has_a_line_a_minute_and_none_is_left_uncounted() {
        let (log, now) = (RefusalLog::default(), Instant::now());
        let one = ("the token has expired", Some(IpAddr::from([10, 0, 0, 1])));
        let two = ("the token has expired", Some(IpAddr::from([10, 0, 0, 2])));
        assert_eq!(log.due(one, now), [(one, 1)]);
        for _ in 0..500 {
            assert_eq!(log.due(one, now), []);
        }
        assert_eq!(log.due(two, now), [(two, 1)]);
        assert_eq!(log.due(one, now + WINDOW), [(one, 501)]);
        assert_eq!(log.due(one, now + WINDOW), []);
        let mut late = log.due(two, now + WINDOW * 2);
        late.sort();
        assert_eq!(late, [(one, 1), (two, 1)], "what was held back is said when the minute is over");
    }

    #[test]
    fn memory_is_bounded() {
        let (log, now) = (RefusalLog::default(), Instant::now());
        for n in 0..5000_u32 {
            log.due(("no such API key", Some(IpAddr::from(n.to_be_bytes()))), now);
        }
        assert!(log.0.lock().unwrap().len() <= MOST_LINES + 1);
    }
}
