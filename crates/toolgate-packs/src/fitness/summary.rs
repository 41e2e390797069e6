//! A track in a few figures, and the samples that analyses read. The rules are in docs/fitness.md.

use toolgate_store::fitness::{Figures, Place};

use super::{
    globe,
    samples::Sample,
    track::{Point, Track},
};

/// Slower than this is standing.
const MOVING_METERS_A_SECOND: f64 = 0.5;
/// A climb counts once it is higher than the noise of a barometer.
const CLIMB_METERS: f64 = 2.0;
/// A value stands for at most this long: after that nobody measured.
const HELD_SECONDS: f64 = 30.0;
/// Samples that are kept of one activity.
const MOST_SAMPLES: usize = 3_600;

pub(super) struct Summary {
    pub(super) figures: Figures,
    pub(super) samples: Vec<Sample>,
}

pub(super) fn summarize(track: &Track) -> Summary {
    let start = track.start().unwrap_or_default();
    let distances = distances(&track.points);
    let total = distances.last().copied().unwrap_or_default();
    let elapsed = (track.end().unwrap_or(start) - start) / 1000;
    let place = |point: &Point| {
        let (latitude, longitude) = (point.latitude?, point.longitude?);
        Some(Place { latitude: whole(latitude * 1e6), longitude: whole(longitude * 1e6) })
    };
    let figures = Figures {
        elapsed_s: elapsed,
        moving_s: moving(&track.points, &distances).unwrap_or(elapsed).min(elapsed),
        distance_cm: whole(total * 100.0),
        elevation_gain_cm: whole(climbed(&track.points) * 100.0),
        average_heart_rate: average(&track.points, |point| point.heart_rate).map(|rate| whole(rate * 10.0)),
        max_heart_rate: highest(&track.points, |point| point.heart_rate),
        average_power: average(&track.points, |point| point.power).map(whole),
        max_power: highest(&track.points, |point| point.power),
        average_cadence: average(&track.points, |point| point.cadence).map(whole),
        calories: track.calories,
        start: track.points.iter().find_map(place),
        end: track.points.iter().rev().find_map(place),
    };
    Summary { figures, samples: thinned(track, &distances, start) }
}

/// Meters since the start at each point: the device's where it measured, else over the ground from place to place.
fn distances(points: &[Point]) -> Vec<f64> {
    let mut total = 0.0_f64;
    let (mut last, mut stopped): (Option<(f64, f64)>, bool) = (None, false);
    let measured = points.iter().any(|point| point.distance.is_some_and(|distance| distance > 0.0));
    let at = |point: &Point| {
        stopped |= point.resumes;
        if measured {
            total = point.distance.unwrap_or(total).max(total);
        } else if let (Some(latitude), Some(longitude)) = (point.latitude, point.longitude) {
            if let Some(last) = last.filter(|_| !stopped) {
                total += globe::meters(last, (latitude, longitude));
            }
            (last, stopped) = (Some((latitude, longitude)), false);
        }
        total
    };
    points.iter().map(at).collect()
}

/// Seconds between points that are apart; `None` where nothing says whether anybody moved.
fn moving(points: &[Point], distances: &[f64]) -> Option<i64> {
    distances.last().filter(|total| **total > 0.0)?;
    let steps =
        points.windows(2).zip(distances.windows(2)).filter_map(|(points, distances)| match (points, distances) {
            ([one, next], [from, to]) => {
                let seconds = seconds_between(one, next);
                (!next.resumes && (to - from) >= MOVING_METERS_A_SECOND * seconds).then_some(seconds)
            }
            _ => None,
        });
    Some(whole(steps.sum()))
}

/// Meters upwards, without what goes up and down again by less than a barometer's noise.
fn climbed(points: &[Point]) -> f64 {
    let (mut low, mut gained) = (f64::INFINITY, 0.0);
    for point in points {
        if point.resumes {
            low = f64::INFINITY;
        }
        let Some(altitude) = point.altitude else { continue };
        if altitude < low {
            low = altitude;
        } else if altitude - low >= CLIMB_METERS {
            gained += altitude - low;
            low = altitude;
        }
    }
    gained
}

/// Over time: each value stands until the next, and no longer than it can be relied on.
fn average(points: &[Point], value: impl Fn(&Point) -> Option<u16>) -> Option<f64> {
    let (mut sum, mut weight) = (0.0, 0.0);
    for (point, next) in points.iter().zip(points.iter().skip(1).map(Some).chain([None])) {
        let Some(value) = value(point) else { continue };
        let seconds = next.map_or(1.0, |next| seconds_between(point, next).min(HELD_SECONDS));
        sum += f64::from(value) * seconds;
        weight += seconds;
    }
    (weight > 0.0).then(|| sum / weight)
}

fn highest(points: &[Point], value: impl Fn(&Point) -> Option<u16>) -> Option<i64> {
    points.iter().filter_map(value).max().map(i64::from)
}

/// At most so many, evenly, with the first and the last.
fn thinned(track: &Track, distances: &[f64], start: i64) -> Vec<Sample> {
    let step = track.points.len().div_ceil(MOST_SAMPLES - 1).max(1);
    let last = track.points.len().saturating_sub(1);
    let kept = track.points.iter().zip(distances).enumerate().filter(|(index, _)| index % step == 0 || *index == last);
    let sample = |(_, (point, distance)): (usize, (&Point, &f64))| Sample {
        second: (point.at.unwrap_or(start) - start) / 1000,
        decimeters: whole(distance * 10.0),
        altitude_dm: point.altitude.map(|altitude| whole(altitude * 10.0)),
        heart_rate: point.heart_rate.map(i64::from),
        power: point.power.map(i64::from),
        cadence: point.cadence.map(i64::from),
    };
    kept.map(sample).collect()
}

fn seconds_between(one: &Point, next: &Point) -> f64 {
    let milliseconds = next.at.unwrap_or_default() - one.at.unwrap_or_default();
    i32::try_from(milliseconds).map_or(f64::from(i32::MAX), f64::from) / 1000.0
}

/// Rounded. Figures of an activity are far within what both can hold.
#[allow(clippy::cast_possible_truncation, reason = "a cast of a float keeps within the bounds of the integer")]
pub(super) fn whole(value: f64) -> i64 {
    value.round() as i64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn point(second: i64, latitude: f64, altitude: f64, heart_rate: Option<u16>) -> Point {
        Point {
            at: Some(second * 1000),
            latitude: Some(latitude),
            longitude: Some(0.0),
            altitude: Some(altitude),
            heart_rate,
            ..Point::default()
        }
    }

    fn track(points: Vec<Point>) -> Track {
        Track { points, ..Track::default() }
    }

    #[test]
    fn a_degree_of_latitude_is_its_share_of_the_meridian() {
        let summary = summarize(&track(vec![point(0, 0.0, 0.0, None), point(36_000, 1.0, 0.0, None)]));
        // a 360th of the circumference of a globe of 6371 km
        assert_eq!(summary.figures.distance_cm, 11_119_493);
        assert_eq!((summary.figures.elapsed_s, summary.figures.moving_s), (36_000, 36_000));
        assert_eq!(summary.figures.end, Some(Place { latitude: 1_000_000, longitude: 0 }));
    }

    #[test]
    fn a_devices_own_distance_counts_and_never_goes_back() {
        let measured = |second, distance| Point { distance, ..point(second, 0.0, 0.0, None) };
        let summary = summarize(&track(vec![
            measured(0, Some(0.0)),
            measured(10, Some(50.0)),
            measured(20, Some(40.0)),
            measured(30, None),
        ]));
        assert_eq!(summary.figures.distance_cm, 5_000);
        assert_eq!(summary.figures.moving_s, 10, "the rest was standing");
    }

    #[test]
    fn what_lies_between_two_segments_is_no_part_of_the_activity() {
        let resumed = Point { resumes: true, ..point(6_720, 1.0, 500.0, None) };
        let points =
            vec![point(0, 0.0, 100.0, None), point(600, 0.01, 100.0, None), resumed, point(7_320, 1.01, 500.0, None)];
        let figures = summarize(&track(points)).figures;
        assert_eq!((figures.elapsed_s, figures.moving_s), (7_320, 1_200));
        assert_eq!((figures.distance_cm + 50) / 100, 2_224);
        assert_eq!(figures.elevation_gain_cm, 0);
    }

    #[test]
    fn climbs_count_beyond_noise() {
        let altitudes = [100.0, 101.0, 100.0, 101.5, 103.0, 102.5, 90.0, 95.0];
        let points = altitudes.iter().zip(0..).map(|(altitude, second)| point(second, 0.0, *altitude, None)).collect();
        assert_eq!(summarize(&track(points)).figures.elevation_gain_cm, 800);
    }

    #[test]
    fn an_average_is_over_time_and_a_gap_is_not_measured() {
        let points = vec![point(0, 0.0, 0.0, Some(100)), point(10, 0.0, 0.0, Some(160)), point(1000, 0.0, 0.0, None)];
        let figures = summarize(&track(points)).figures;
        assert_eq!((figures.average_heart_rate, figures.max_heart_rate), (Some(1450), Some(160)));
        assert_eq!(figures.average_power, None);
    }

    #[test]
    fn samples_are_thinned_evenly_and_keep_both_ends() {
        let points = (0..50_000).map(|second| point(second, 0.0, 0.0, None)).collect();
        let samples = summarize(&track(points)).samples;
        assert!(samples.len() <= MOST_SAMPLES);
        assert_eq!((samples[0].second, samples.last().unwrap().second), (0, 49_999));
    }
}
