//! Times: now, and as ISO 8601.

use std::time::{SystemTime, UNIX_EPOCH};

use toolgate_core::calendar;

const DAY: i64 = 86_400;

/// Milliseconds since 1970.
pub(crate) fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

/// Milliseconds since 1970 as an ISO 8601 time, in UTC.
pub(crate) fn iso(milliseconds: i64) -> String {
    let second = timestamp(milliseconds.saturating_mul(1_000_000));
    format!("{}.{:03}Z", second.trim_end_matches('Z'), milliseconds.rem_euclid(1000))
}

/// Nanoseconds since 1970 as an ISO 8601 time of the second, in UTC.
pub(crate) fn timestamp(nanoseconds: i64) -> String {
    let seconds = nanoseconds.div_euclid(1_000_000_000);
    let (year, month, day) = calendar::date(seconds.div_euclid(DAY));
    let second = seconds.rem_euclid(DAY);
    let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_written_as_iso_8601() {
        assert_eq!(timestamp(0), "1970-01-01T00:00:00Z");
        assert_eq!(timestamp(951_782_400_000_000_000), "2000-02-29T00:00:00Z");
        assert_eq!(timestamp(1_773_499_415_999_999_999), "2026-03-14T14:43:35Z");
        assert_eq!(timestamp(-1), "1969-12-31T23:59:59Z");
    }

    #[test]
    fn milliseconds_are_not_lost() {
        assert_eq!(iso(0), "1970-01-01T00:00:00.000Z");
        assert_eq!(iso(1_773_499_415_042), "2026-03-14T14:43:35.042Z");
    }
}
