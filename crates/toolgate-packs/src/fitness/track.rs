//! A track as a file has it: points in time, with whatever was measured at each.

use toolgate_core::calendar;

/// Longer than anything that is one activity.
const LONGEST_MS: i64 = 30 * 86_400_000;
/// 1990 and 2100: before and after, a clock was wrong.
const EARLIEST_MS: i64 = 631_152_000_000;
const LATEST_MS: i64 = 4_102_444_800_000;

#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Track {
    pub(super) name: Option<String>,
    pub(super) sport: String,
    pub(super) calories: Option<i64>,
    pub(super) points: Vec<Point>,
}

#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Point {
    /// Unix milliseconds.
    pub(super) at: Option<i64>,
    /// Degrees.
    pub(super) latitude: Option<f64>,
    pub(super) longitude: Option<f64>,
    /// Meters.
    pub(super) altitude: Option<f64>,
    /// Meters since the start, as the device measured.
    pub(super) distance: Option<f64>,
    pub(super) heart_rate: Option<u16>,
    pub(super) cadence: Option<u16>,
    pub(super) power: Option<u16>,
    /// The recording was stopped before this point: nobody knows what happened in between.
    pub(super) resumes: bool,
}

impl Track {
    /// Adds calories that a part of the file speaks of.
    pub(super) fn burn(&mut self, calories: Option<f64>) {
        let found = calories.and_then(|calories| within(calories, 0.0, 60_000.0)).map(i64::from);
        if let Some(found) = found {
            self.calories = Some(self.calories.unwrap_or_default().saturating_add(found));
        }
    }

    /// Leaves out what can't be: points without a time or going back in time, places off the globe.
    pub(super) fn settle(&mut self) {
        let (mut last, mut stopped) = (i64::MIN, false);
        self.points.retain_mut(|point| {
            stopped |= point.resumes;
            match point.at {
                Some(at) if at > last => {
                    last = at;
                    point.resumes = std::mem::take(&mut stopped);
                    true
                }
                _ => false,
            }
        });
        let is_within = |value: Option<f64>, most: f64| value.filter(|value| value.abs() <= most);
        for point in &mut self.points {
            point.latitude = is_within(point.latitude, 90.0);
            point.longitude = is_within(point.longitude, 180.0);
            if point.latitude.is_none() || point.longitude.is_none() {
                (point.latitude, point.longitude) = (None, None);
            }
            point.altitude = point.altitude.filter(|altitude| (-500.0..=9_000.0).contains(altitude));
            point.distance = point.distance.filter(|distance| (0.0..=50_000_000.0).contains(distance));
        }
    }

    pub(super) fn start(&self) -> Option<i64> {
        self.points.first().and_then(|point| point.at)
    }

    pub(super) fn end(&self) -> Option<i64> {
        self.points.last().and_then(|point| point.at)
    }

    /// Whether it happened in a time that watches know.
    pub(super) fn is_possible(&self) -> bool {
        match (self.start(), self.end()) {
            (Some(start), Some(end)) => start >= EARLIEST_MS && end <= LATEST_MS && end - start <= LONGEST_MS,
            _ => false,
        }
    }
}

impl Point {
    pub(super) fn set_time(&mut self, text: &str) {
        self.at = time(text);
    }

    pub(super) fn set_heart_rate(&mut self, value: Option<f64>) {
        self.heart_rate = value.and_then(|value| within(value, 20.0, 260.0));
    }

    pub(super) fn set_cadence(&mut self, value: Option<f64>) {
        self.cadence = value.and_then(|value| within(value, 0.0, 300.0));
    }

    pub(super) fn set_power(&mut self, value: Option<f64>) {
        self.power = value.and_then(|value| within(value, 0.0, 3_000.0));
    }
}

/// A number that is one.
pub(super) fn number(text: &str) -> Option<f64> {
    text.parse::<f64>().ok().filter(|number| number.is_finite())
}

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between bounds that fit")]
fn within(value: f64, least: f64, most: f64) -> Option<u16> {
    (least..=most.min(f64::from(u16::MAX))).contains(&value).then(|| value.round() as u16)
}

/// `2026-03-14T06:00:00.5Z`, or with an offset, as Unix milliseconds. Without either it is UTC.
fn time(text: &str) -> Option<i64> {
    let (date, clock) = text.split_once(['T', ' '])?;
    let mut date = date.splitn(3, '-');
    let mut next = |digits: usize| part(date.next()?, digits);
    let (year, month, day) = (next(4)?, next(2)?, next(2)?);
    let (clock, offset) = match clock.find(['Z', '+', '-']) {
        Some(at) => clock.split_at(at),
        None => (clock, "Z"),
    };
    let (whole, fraction) = clock.split_once('.').unwrap_or((clock, ""));
    let mut whole = whole.splitn(3, ':');
    let mut next = || part(whole.next()?, 2);
    let (hour, minute, second) = (next()?, next()?, next()?);
    let days = calendar::days(year, month, day);
    if calendar::date(days) != (year, month, day) || hour > 24 || minute > 59 || second > 60 {
        return None;
    }
    let seconds = days * 86_400 + hour * 3_600 + minute * 60 + second - offset_seconds(offset)?;
    Some(seconds * 1_000 + milliseconds(fraction)?)
}

fn part(digits: &str, length: usize) -> Option<i64> {
    let plain = digits.len() == length && digits.bytes().all(|byte| byte.is_ascii_digit());
    plain.then(|| digits.parse().ok()).flatten()
}

fn milliseconds(fraction: &str) -> Option<i64> {
    if !fraction.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    format!("{fraction:0<3}").get(..3)?.parse().ok()
}

fn offset_seconds(offset: &str) -> Option<i64> {
    if offset == "Z" {
        return Some(0);
    }
    let sign = if offset.starts_with('-') { -1 } else { 1 };
    let digits: String = offset.chars().filter(char::is_ascii_digit).collect();
    let (hours, minutes) =
        (part(digits.get(..2)?, 2)?, part(digits.get(2..).filter(|rest| !rest.is_empty()).unwrap_or("00"), 2)?);
    (hours <= 18 && minutes <= 59).then_some(sign * (hours * 3_600 + minutes * 60))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_with_fractions_and_offsets() {
        for (text, expected) in [
            ("1970-01-01T00:00:00Z", 0),
            ("2026-03-14T06:00:00Z", 1_773_468_000_000),
            ("2026-03-14T06:00:00.5Z", 1_773_468_000_500),
            ("2026-03-14T06:00:00.123456Z", 1_773_468_000_123),
            ("2026-03-14T07:00:00+01:00", 1_773_468_000_000),
            ("2026-03-14T00:30:00-0530", 1_773_468_000_000),
            ("2026-03-14 06:00:00", 1_773_468_000_000),
        ] {
            assert_eq!(time(text), Some(expected), "{text}");
        }
        for wrong in [
            "",
            "x",
            "2026-02-30T00:00:00Z",
            "2026-03-14",
            "2026-03-14T25:00:00Z",
            "2026-03-14T06:00Z",
            "٢٠٢٦-03-14T06:00:00Z",
        ] {
            assert_eq!(time(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn what_can_not_be_is_left_out() {
        let point =
            |at, latitude| Point { at, latitude, longitude: Some(0.0), altitude: Some(1e9), ..Point::default() };
        let mut track = Track {
            points: vec![
                point(Some(2), Some(1.0)),
                point(Some(1), None),
                point(None, None),
                point(Some(3), Some(91.0)),
            ],
            ..Track::default()
        };
        track.settle();
        assert_eq!(
            track.points.iter().map(|point| (point.at, point.latitude)).collect::<Vec<_>>(),
            [(Some(2), Some(1.0)), (Some(3), None)]
        );
        assert!(track.points.iter().all(|point| point.altitude.is_none()));
        assert_eq!((within(f64::NAN, 0.0, 1.0), within(260.4, 20.0, 260.4), number("inf")), (None, Some(260), None));
    }
}
