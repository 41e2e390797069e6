//! Segments: the numbered files of the ledger, and positions that say where in which file a record stands.

use std::time::{SystemTime, UNIX_EPOCH};

use toolgate_core::calendar;

/// A position is a segment's number and a place in it. Together they stay below what a number in JSON holds exactly.
const OFFSET_BITS: u32 = 30;
const MOST_OFFSET: i64 = (1 << OFFSET_BITS) - 1;
/// The largest number of a segment.
const MOST_NUMBER: i64 = (1 << (53 - OFFSET_BITS)) - 1;
/// The size from which on a new segment begins, unless the settings say another.
pub(super) const SEGMENT_BYTES: u64 = 256 << 20;
/// The largest size that the settings may name: positions hold no more, and a group may go beyond it.
pub(super) const LARGEST_SEGMENT: u64 = 512 << 20;
const MILLIS: i64 = 86_400_000;
const EXTENSION: &str = ".jsonl";

/// A day of UTC, counted from 1970.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Day(i64);

impl Day {
    pub(super) fn today() -> Self {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Self::of(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
    }

    /// The day of a time in Unix milliseconds.
    pub(super) fn of(time: i64) -> Self {
        // four digits of a year, so that names sort like days
        Self(time.div_euclid(MILLIS).clamp(-719_162, 2_932_896))
    }

    pub(super) fn before(self) -> Self {
        Self(self.0.saturating_sub(1))
    }
}

/// One file: its number, and the day on which it was begun.
///
/// INVARIANT: numbers rise by one, and the day never falls. A clock that is set back does not lead back to an older file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Segment {
    pub(super) number: i64,
    pub(super) day: Day,
}

impl Segment {
    pub(super) fn is_possible(self) -> bool {
        self.number <= MOST_NUMBER
    }

    pub(super) fn position(self, offset: u64) -> i64 {
        (self.number << OFFSET_BITS) | i64::try_from(offset).unwrap_or(MOST_OFFSET).min(MOST_OFFSET)
    }

    /// The number of the segment and the place in it; zero and zero for what comes before every position.
    pub(super) fn of_position(position: i64) -> (i64, u64) {
        let position = position.max(0);
        (position >> OFFSET_BITS, u64::try_from(position & MOST_OFFSET).unwrap_or_default())
    }

    /// `2026-11-16-00000012.jsonl`: names that sort like numbers.
    pub(super) fn file_name(self) -> String {
        let (year, month, day) = calendar::date(self.day.0);
        format!("{year:04}-{month:02}-{day:02}-{:08}{EXTENSION}", self.number)
    }

    pub(super) fn from_file_name(name: &str) -> Option<Self> {
        let mut parts = name.strip_suffix(EXTENSION)?.splitn(4, '-').map(|part| part.parse::<i64>().ok());
        let (year, month, day) = (parts.next()??, parts.next()??, parts.next()??);
        let found = Self { number: parts.next()??, day: Day(calendar::days(year, month, day)) };
        // also refuses the 30th of February, and names written in another way
        (found.file_name() == name && found.is_possible()).then_some(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_say_day_and_number_and_sort_like_numbers() {
        let segment = Segment { number: 12, day: Day::of(1_794_787_200_000) };
        assert_eq!(segment.file_name(), "2026-11-16-00000012.jsonl");
        assert_eq!(Segment::from_file_name("2026-11-16-00000012.jsonl"), Some(segment));
        let names: Vec<_> = (0..4_000).map(|n| Segment { number: n, day: Day(n / 3) }.file_name()).collect();
        assert!(names.is_sorted());
        assert!(names.iter().zip(0..).all(|(name, n)| Segment::from_file_name(name).unwrap().number == n));
        for name in
            ["2026-02-30-00000001.jsonl", "2026-11-16-1.jsonl", "2026-11-16.jsonl", "2026-11-16-00000001.jsonl.gz", ""]
        {
            assert_eq!(Segment::from_file_name(name), None, "{name}");
        }
    }

    #[test]
    fn positions_lead_back_and_are_exact_in_json() {
        let segment = Segment { number: MOST_NUMBER, day: Day(0) };
        assert_eq!(Segment::of_position(segment.position(12_345)), (MOST_NUMBER, 12_345));
        assert!(segment.position(u64::MAX) < 1 << 53);
        let before = Segment { number: MOST_NUMBER - 1, day: Day(0) };
        assert!(before.position(LARGEST_SEGMENT * 2) < segment.position(0));
        assert_eq!(Segment::of_position(i64::MIN), (0, 0));
    }
}
