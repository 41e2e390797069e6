//! One file for each day, and positions that say where in which file a record stands.

use std::time::{SystemTime, UNIX_EPOCH};

use toolgate_core::calendar;

/// A position is a day and a place in its file. Together they stay below what a number in JSON holds exactly.
const OFFSET_BITS: u32 = 38;
/// The most that one file can hold: 256 GiB.
pub(super) const LARGEST: u64 = 1 << OFFSET_BITS;
const MILLIS: i64 = 86_400_000;
const MOST: i64 = 1 << 23;
const EXTENSION: &str = ".jsonl";

/// A day of UTC, counted from 1970.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Day(i64);

impl Day {
    pub(super) fn today() -> Self {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Self::of(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
    }

    /// Of a time in Unix milliseconds.
    pub(super) fn of(time: i64) -> Self {
        // far enough for every clock, and near enough for every position
        Self(time.div_euclid(MILLIS).clamp(-MOST, MOST))
    }

    pub(super) fn before(self) -> Self {
        Self(self.0.saturating_sub(1))
    }

    pub(super) fn position(self, offset: u64) -> i64 {
        (self.0 << OFFSET_BITS) | i64::try_from(offset).unwrap_or_default()
    }

    /// The file and the place in it; the first file of all for what comes before every position.
    pub(super) fn of_position(position: i64) -> (Self, u64) {
        let offset = u64::try_from(position).unwrap_or_default() & (LARGEST - 1);
        (Self(position >> OFFSET_BITS), offset)
    }

    /// `2026-11-16.jsonl`: names that sort like days.
    pub(super) fn file_name(self) -> String {
        let (year, month, day) = calendar::date(self.0);
        format!("{year:04}-{month:02}-{day:02}{EXTENSION}")
    }

    pub(super) fn from_file_name(name: &str) -> Option<Self> {
        let mut parts = name.strip_suffix(EXTENSION)?.splitn(3, '-').map(|part| part.parse::<i64>().ok());
        let (year, month, day) = (parts.next()??, parts.next()??, parts.next()??);
        let found = Self(calendar::days(year, month, day));
        // also refuses the 30th of February, and names written in another way
        (found.file_name() == name).then_some(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_have_the_names_of_the_calendar_and_sort_like_them() {
        for (millis, name) in [
            (0, "1970-01-01.jsonl"),
            (951_782_400_000, "2000-02-29.jsonl"),
            (1_794_787_200_000, "2026-11-16.jsonl"),
            (4_107_456_000_000, "2100-02-28.jsonl"),
            (4_107_542_400_000, "2100-03-01.jsonl"),
        ] {
            assert_eq!(Day::of(millis).file_name(), name);
            assert_eq!(Day::from_file_name(name), Some(Day::of(millis)));
        }
        let names: Vec<_> = (0..40_000).map(|day| Day(day).file_name()).collect();
        assert!(
            names.is_sorted()
                && names
                    .iter()
                    .enumerate()
                    .all(|(n, name)| Day::from_file_name(name).unwrap().0 == i64::try_from(n).unwrap())
        );
        for name in ["2026-02-30.jsonl", "2026-11-16.jsonl.gz", "2026-1-1.jsonl", "notes.txt", ""] {
            assert_eq!(Day::from_file_name(name), None, "{name}");
        }
    }

    #[test]
    fn positions_lead_back_and_are_exact_in_json() {
        let day = Day::of(1_794_787_200_000);
        assert_eq!(Day::of_position(day.position(12_345)), (day, 12_345));
        assert!(day.position(LARGEST - 1) < day.position(0) + (1 << 53) && day.position(LARGEST - 1) < 1 << 53);
        assert!(day.before().position(LARGEST - 1) < day.position(0));
    }
}
