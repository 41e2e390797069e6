//! How far a stream of events was read, to go on from there: the last event's id, and how long the server wants to be
//! left alone.

use std::time::Duration;

use http::HeaderValue;

/// A longer id is not sent back.
const LONGEST_ID: usize = 1024;
/// In a row, with nothing new on any of the streams.
const TRIES: u32 = 10;
const PAUSE: Duration = Duration::from_secs(1);
/// However little or much the server says. What waits has its own time as well.
const PAUSES: (Duration, Duration) = (Duration::from_millis(50), Duration::from_secs(600));

#[derive(Default)]
pub(super) struct Place {
    /// Of the event that is being read: it counts when that is whole.
    named: Option<HeaderValue>,
    last: Option<HeaderValue>,
    retry: Option<Duration>,
    in_vain: u32,
}

impl Place {
    /// An empty id takes back the one before, and so does one that can't be sent: what came after that would come again.
    pub(super) fn name(&mut self, id: &[u8]) {
        if !id.contains(&0) {
            let sendable = !id.is_empty() && id.len() <= LONGEST_ID;
            self.named = HeaderValue::from_bytes(id).ok().filter(|_| sendable);
        }
    }

    pub(super) fn retry(&mut self, said: &[u8]) {
        if !said.is_empty() && said.iter().all(u8::is_ascii_digit) {
            let said = std::str::from_utf8(said).ok().and_then(|digits| digits.parse().ok());
            self.retry = Some(said.map_or(PAUSES.1, Duration::from_millis).clamp(PAUSES.0, PAUSES.1));
        }
    }

    /// An event is whole.
    pub(super) fn passed(&mut self, says_something: bool) {
        let moved = self.last != self.named;
        if moved {
            self.last.clone_from(&self.named);
        }
        if moved || says_something {
            self.in_vain = 0;
        }
    }

    /// After which pause, and from which event on, to try again. None where that is not possible, or was in vain too often.
    pub(super) fn again(&mut self) -> Option<(Duration, HeaderValue)> {
        let last = self.last.clone().filter(|_| self.in_vain < TRIES)?;
        self.in_vain += 1;
        self.named = Some(last.clone());
        Some((self.retry.unwrap_or(PAUSE), last))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(ids: &[&[u8]]) -> Option<HeaderValue> {
        let mut place = Place::default();
        for id in ids {
            place.name(id);
            place.passed(false);
        }
        place.again().map(|(_, last)| last)
    }

    #[test]
    fn the_last_id_that_can_be_sent_is_where_to_go_on() {
        assert_eq!(after(&[]), None);
        assert_eq!(after(&[b"a", b"b/2 \xc3\xa9"]), HeaderValue::from_bytes(b"b/2 \xc3\xa9").ok());
        assert_eq!(after(&[b"a", b"b\0"]), Some(HeaderValue::from_static("a")));
        assert_eq!(after(&[b"a", b""]), None);
        assert_eq!(after(&[b"a", b"\x1b[2J"]), None);
        assert_eq!(after(&[&[b'x'; LONGEST_ID]]).map(|id| id.len()), Some(LONGEST_ID));
        assert_eq!(after(&[b"a", &[b'x'; LONGEST_ID + 1]]), None);
        let mut place = Place::default();
        place.name(b"of an event that breaks off");
        assert!(place.again().is_none());
    }

    #[test]
    fn the_pause_is_the_servers_within_bounds() {
        let mut place = Place::default();
        place.name(b"a");
        place.passed(false);
        let mut pause = |said: &[u8]| {
            place.retry(said);
            place.again().unwrap().0
        };
        assert_eq!(pause(b"soon"), PAUSE);
        assert_eq!(pause(b"250"), Duration::from_millis(250));
        assert_eq!(pause(b"-1"), Duration::from_millis(250));
        assert_eq!(pause(b""), Duration::from_millis(250));
        assert_eq!(pause(b"0"), PAUSES.0);
        assert_eq!(pause(b"99999999999999999999999"), PAUSES.1);
    }

    #[test]
    fn only_news_make_it_worth_trying_for_longer() {
        let mut place = Place::default();
        place.name(b"a");
        place.passed(false);
        let tries = |place: &mut Place| std::iter::from_fn(|| place.again()).count();
        assert_eq!(tries(&mut place), TRIES as usize);
        place.passed(false);
        place.name(b"a");
        place.passed(false);
        assert_eq!(tries(&mut place), 0, "the same id again is not new");
        place.passed(true);
        assert_eq!(tries(&mut place), TRIES as usize);
        place.name(b"b");
        place.passed(false);
        assert_eq!(tries(&mut place), TRIES as usize);
    }
}
