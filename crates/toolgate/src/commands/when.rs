//! Times as people write and read them. Everything is in UTC, as in the log and the ledger: JSON has RFC 3339, people read
//! `2026-01-31 12:00:00Z (3 min ago)`, and both forms are taken where a time is typed.

use serde_json::Value;
use toolgate_core::calendar;

use crate::{Misuse, ground};

const DAY: i64 = 86_400;

/// `2026-01-31T12:00:00Z`, or `90s`, `15m`, `1h`, `7d` before now; Unix milliseconds.
pub fn at(option: &str, text: &str, now: i64) -> Result<i64, Misuse> {
    if let Ok(ago) = ground::duration(text) {
        return Ok(now.saturating_sub(i64::try_from(ago.as_millis())?));
    }
    let bad =
        || format!("{option} '{text}' is no time; write 2026-01-31T12:00:00Z, or 90s, 15m, 1h or 7d for so long ago");
    Ok(read(text).ok_or_else(bad)?)
}

/// RFC 3339, in Unix milliseconds; finer parts of a second are cut off.
fn read(text: &str) -> Option<i64> {
    let (date, rest) = (text.get(..10)?, text.get(10..)?);
    let rest = rest.strip_prefix(['T', 't', ' '])?;
    let (time, rest) = (rest.get(..8)?, rest.get(8..)?);
    let (millis, zone) = match rest.strip_prefix('.') {
        None => (0, rest),
        Some(rest) => {
            let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
            let (fraction, zone) = rest.split_at_checked(digits).filter(|(fraction, _)| !fraction.is_empty())?;
            (format!("{fraction}00").get(..3)?.parse::<i64>().ok()?, zone)
        }
    };
    let [year, month, day] = numbers(date, '-', [4, 2, 2])?;
    let [hour, minute, second] = numbers(time, ':', [2, 2, 2])?;
    let offset = match zone {
        "Z" | "z" => 0,
        _ => {
            let sign = if zone.starts_with('+') { 1 } else { -1 };
            let [hours, minutes] = numbers(zone.strip_prefix(['+', '-'])?, ':', [2, 2])?;
            ((0..24).contains(&hours) && minutes < 60).then_some(sign * (hours * 60 + minutes) * 60)?
        }
    };
    let days = calendar::days(year, month, day);
    // A day that the month does not have comes back as another; a leap second counts as the next.
    let valid = (1..=12).contains(&month) && calendar::date(days) == (year, month, day);
    let valid = valid && hour < 24 && minute < 60 && second <= 60;
    valid.then_some((days * DAY + hour * 3600 + minute * 60 + second - offset) * 1000 + millis)
}

fn numbers<const N: usize>(text: &str, separator: char, lengths: [usize; N]) -> Option<[i64; N]> {
    let mut numbers = [0; N];
    let mut parts = text.split(separator);
    for (number, length) in numbers.iter_mut().zip(lengths) {
        let part = parts.next()?;
        let plain = part.len() == length && part.bytes().all(|byte| byte.is_ascii_digit());
        *number = plain.then(|| part.parse().ok())??;
    }
    parts.next().is_none().then_some(numbers)
}

/// RFC 3339 in UTC, to the millisecond.
pub fn show(millis: i64) -> String {
    let seconds = millis.div_euclid(1000);
    let (year, month, day) = calendar::date(seconds.div_euclid(DAY));
    let time = seconds.rem_euclid(DAY);
    let (hour, minute, second, milli) = (time / 3600, time / 60 % 60, time % 60, millis.rem_euclid(1000));
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{milli:03}Z")
}

/// A time for people, with how long ago it was or how far away it is.
pub fn told(millis: i64) -> String {
    told_at(millis, ground::now())
}

fn told_at(millis: i64, now: i64) -> String {
    let distance = match millis.saturating_sub(now) {
        -999..=999 => "now".to_owned(),
        ahead @ 1.. => format!("in {}", distance(ahead)),
        behind => format!("{} ago", distance(behind.saturating_neg())),
    };
    format!("{} ({distance})", second(millis))
}

/// A time for people to the second, where how long ago it was has no room.
pub fn second(millis: i64) -> String {
    let shown = show(millis).replacen('T', " ", 1);
    shown.rsplit_once('.').map_or_else(|| shown.clone(), |(second, _)| format!("{second}Z"))
}

/// A time for people to the millisecond, where the order within a second counts.
pub fn exact(millis: i64) -> String {
    show(millis).replacen('T', " ", 1)
}

/// A length of time in its largest unit.
fn distance(millis: i64) -> String {
    let seconds = millis / 1000;
    let (count, unit) = match seconds {
        ..60 => (seconds, "s"),
        60..3600 => (seconds / 60, "min"),
        3600..DAY => (seconds / 3600, "h"),
        _ if seconds < 2 * DAY => return "1 day".to_owned(),
        _ => (seconds / DAY, "days"),
    };
    format!("{count} {unit}")
}

/// The time of a member that has one, as a number or as RFC 3339.
pub fn millis(value: &Value) -> Option<i64> {
    value.as_i64().or_else(|| value.as_str().and_then(read))
}

/// A row as people read it: times that were shown as RFC 3339 become those of [`told`].
pub fn dated_for_people(row: Value) -> Value {
    let mut row = dated(row);
    for member in row.as_object_mut().into_iter().flat_map(|members| members.values_mut()) {
        if let Some(millis) = member.as_str().filter(|text| text.ends_with('Z')).and_then(read) {
            *member = told(millis).into();
        }
    }
    row
}

/// Rows as the command shows them: times that the store keeps in milliseconds become RFC 3339, in JSON too.
pub fn dated(mut row: Value) -> Value {
    const TIMES: [&str; 8] = [
        "created_at",
        "finished_at",
        "opened_at",
        "expires_at",
        "revoked_at",
        "last_activity",
        "status_changed_at",
        "updated_at",
    ];
    match &mut row {
        Value::Array(rows) => rows.iter_mut().for_each(|row| *row = dated(row.take())),
        Value::Object(members) => {
            for (name, member) in members.iter_mut() {
                match member.as_i64().filter(|_| TIMES.contains(&name.as_str())) {
                    Some(millis) => *member = show(millis).into(),
                    None => *member = dated(member.take()),
                }
            }
        }
        _ => {}
    }
    row
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_as_they_are_shown() {
        for (text, millis) in [
            ("1970-01-01T00:00:00.000Z", 0),
            ("2000-02-29T23:59:59.999Z", 951_868_799_999),
            ("2026-01-01T00:00:00.000Z", 1_767_225_600_000),
            ("1969-12-31T23:59:59.001Z", -999),
            ("9999-12-31T23:59:59.000Z", 253_402_300_799_000),
        ] {
            assert_eq!(show(millis), text);
            assert_eq!(read(text), Some(millis), "{text}");
        }
    }

    #[test]
    fn rows_show_times_as_dates_at_every_depth() {
        let row = serde_json::json!({"created_at": 0, "size": 5, "finished_at": null, "tasks": [{"created_at": 951_868_799_999_i64}]});
        let shown = serde_json::json!({"created_at": "1970-01-01T00:00:00.000Z", "size": 5, "finished_at": null,
            "tasks": [{"created_at": "2000-02-29T23:59:59.999Z"}]});
        assert_eq!(dated(row), shown);
    }

    #[test]
    fn people_read_a_time_and_how_far_away_it_is() {
        let noon = read("2026-01-31T12:00:00Z").unwrap();
        for (from_noon, expected) in [
            (0, "now"),
            (-999, "now"),
            (-1_000, "1 s ago"),
            (-59_999, "59 s ago"),
            (-180_000, "3 min ago"),
            (-7_199_000, "1 h ago"),
            (-86_400_000, "1 day ago"),
            (-200 * 86_400_000, "200 days ago"),
            (60_000, "in 1 min"),
            (2 * 86_400_000, "in 2 days"),
        ] {
            let at = noon + from_noon;
            assert_eq!(told_at(at, noon), format!("{} ({expected})", second(at)));
        }
        assert_eq!(second(noon + 5), "2026-01-31 12:00:00Z");
        assert_eq!(exact(noon + 5), "2026-01-31 12:00:00.005Z");
        assert_eq!(read(&second(noon)), Some(noon), "a time that is shown can be typed");
        assert!(told(i64::MIN).contains("ago") && told(i64::MAX).contains("in "));
    }

    #[test]
    fn a_row_for_people_has_times_for_people() {
        let row = dated_for_people(serde_json::json!({"created_at": 0, "name": "Z", "size": 5}));
        assert!(row["created_at"].as_str().unwrap().starts_with("1970-01-01 00:00:00Z ("), "{row}");
        assert_eq!((&row["name"], &row["size"]), (&serde_json::json!("Z"), &serde_json::json!(5)));
    }

    #[test]
    fn offsets_fractions_and_small_letters_count() {
        let noon = read("2026-01-31T12:00:00Z").unwrap();
        for same in ["2026-01-31T13:30:00+01:30", "2026-01-31t07:00:00-05:00", "2026-01-31 12:00:00.0z"] {
            assert_eq!(read(same), Some(noon), "{same}");
        }
        assert_eq!(read("2026-01-31T12:00:00.1234567Z"), Some(noon + 123));
        assert_eq!(read("2026-01-31T12:00:00.5Z"), Some(noon + 500));
    }

    #[test]
    fn what_is_no_time_is_refused_and_so_long_ago_counts_from_now() {
        for wrong in [
            "",
            "now",
            "2026-01-31",
            "2026-02-29T00:00:00Z",
            "2026-13-01T00:00:00Z",
            "2026-00-01T00:00:00Z",
            "2026-01-32T00:00:00Z",
            "2026-01-31T24:00:00Z",
            "2026-01-31T12:60:00Z",
            "2026-01-31T12:00:00",
            "2026-01-31T12:00:00.Z",
            "2026-01-31T12:00:00+0100",
            "2026-01-31T12:00:00+24:00",
            "+026-01-31T12:00:00Z",
            "2026-01-31T12:00:00Zx",
            "２026-01-31T12:00:00Z",
        ] {
            assert!(at("--since", wrong, 0).unwrap_err().to_string().contains("--since"), "{wrong}");
        }
        assert_eq!(at("--since", "90s", 100_000).unwrap(), 10_000);
    }
}
