//! What heart rates say: the highest one expected, zones, and the training impulse.

use serde::Serialize;

use crate::fitness::{
    measure::{float, rounded},
    samples::Sample,
    settings::{Settings, Sex},
};

/// Where neither the caller nor the configuration says: an adult of about 26 by Tanaka's line.
const ASSUMED_MAX: f64 = 190.0;
/// A value stands for at most this long.
const HELD_SECONDS: f64 = 30.0;
/// Where each of the five zones begins, as a share of the reserve or, without a resting heart rate, of the highest.
const ZONES: [f64; 5] = [0.5, 0.6, 0.7, 0.8, 0.9];

/// The highest heart rate that is reckoned with, and where it is from.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Highest {
    pub(super) rate: f64,
    pub(super) source: String,
}

/// What the caller says comes before what is configured.
pub(super) fn highest(given: Option<f64>, age: Option<f64>, settings: &Settings) -> Highest {
    let known = |rate: f64, source: &str| Highest { rate, source: source.to_owned() };
    let of_age = |age: f64| Highest { rate: by_age(age), source: format!("calculated_from_age_{age}") };
    given
        .map(|rate| known(rate, "provided"))
        .or_else(|| age.map(of_age))
        .or_else(|| settings.max_hr.map(|rate| known(rate, "configured")))
        .or_else(|| settings.age.map(of_age))
        .unwrap_or_else(|| known(ASSUMED_MAX, "default_assumed"))
}

/// H. Tanaka, K. D. Monahan, D. R. Seals, "Age-predicted maximal heart rate revisited", JACC 37, 2001.
fn by_age(age: f64) -> f64 {
    208.0 - 0.7 * age
}

/// The heart rate at a share of the reserve (M. J. Karvonen and others, 1957), or of the highest where no resting one is known.
fn at_share(share: f64, highest: f64, resting: Option<f64>) -> f64 {
    let resting = resting.unwrap_or_default();
    (highest - resting) * share + resting
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub(super) struct Zone {
    zone: usize,
    /// Beats a minute.
    from: f64,
    pub(super) seconds: f64,
    pub(super) percent: f64,
}

/// Time in each zone; empty where no heart rate was measured. What is below the first zone counts for the whole alone.
pub(super) fn zones(samples: &[Sample], highest: f64, resting: Option<f64>) -> Vec<Zone> {
    let starts = ZONES.map(|share| at_share(share, highest, resting));
    let mut seconds = [0.0; ZONES.len()];
    let mut total = 0.0;
    for pair in samples.windows(2) {
        let [sample, next] = pair else { continue };
        let Some(rate) = sample.heart_rate else { continue };
        let held = float(next.second - sample.second).min(HELD_SECONDS);
        total += held;
        let within = starts.iter().zip(&mut seconds).rev().find(|(start, _)| float(rate) >= **start);
        if let Some((_, seconds)) = within {
            *seconds += held;
        }
    }
    if total <= 0.0 {
        return Vec::new();
    }
    let zone = |((zone, from), seconds): ((usize, f64), f64)| Zone {
        zone,
        from: rounded(from, 0),
        seconds: rounded(seconds, 0),
        percent: rounded(seconds / total * 100.0, 1),
    };
    (1..).zip(starts).zip(seconds).map(zone).collect()
}

/// E. W. Banister's training impulse: minutes × share of the reserve × a weight that grows with it, for women and men
/// ("Modeling elite athletic performance", 1991).
pub(super) fn impulse(minutes: f64, average: f64, highest: f64, resting: f64, sex: Option<Sex>) -> Option<f64> {
    let share = (average - resting) / (highest - resting);
    if highest <= resting || share <= 0.0 || minutes <= 0.0 {
        return None;
    }
    let (factor, exponent) = match sex {
        Some(Sex::Female) => (0.86, 1.67),
        Some(Sex::Male) | None => (0.64, 1.92),
    };
    let share = share.min(1.0);
    Some(minutes * share * factor * (exponent * share).exp())
}

/// How much more heart a meter took in the second half than in the first, in percent (J. Friel's decoupling). Absent below
/// twenty minutes, or where heart rate or distance are missing.
pub(super) fn decoupling(samples: &[Sample]) -> Option<f64> {
    const LEAST_SECONDS: i64 = 1_200;
    let (first, last) = (samples.first()?, samples.last()?);
    let length = last.second - first.second;
    if length < LEAST_SECONDS || last.decimeters <= first.decimeters {
        return None;
    }
    let split = samples.iter().position(|sample| sample.second - first.second >= length / 2)?;
    let efficiency = |half: &[Sample]| {
        let (from, to) = (half.first()?, half.last()?);
        let rates: Vec<f64> = half.iter().filter_map(|sample| sample.heart_rate).map(float).collect();
        let seconds = float(to.second - from.second);
        let average = rates.iter().sum::<f64>() / crate::fitness::measure::count(rates.len());
        let meters_a_minute = float(to.decimeters - from.decimeters) / 10.0 / seconds * 60.0;
        (seconds > 0.0 && rates.len() * 2 >= half.len() && average > 0.0).then(|| meters_a_minute / average)
    };
    let (one, other) = (efficiency(samples.get(..=split)?)?, efficiency(samples.get(split..)?)?);
    (one > 0.0).then(|| (one - other) / one * 100.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_highest_by_age_is_tanakas() {
        assert_eq!(by_age(40.0), 180.0);
        let settings = Settings { max_hr: Some(185.0), age: Some(30.0), ..Settings::default() };
        let said = |given, age, settings: &Settings| {
            let highest = highest(given, age, settings);
            (highest.rate, highest.source)
        };
        assert_eq!(said(Some(195.0), Some(40.0), &settings), (195.0, "provided".to_owned()));
        assert_eq!(said(None, Some(40.0), &settings), (180.0, "calculated_from_age_40".to_owned()));
        assert_eq!(said(None, None, &settings), (185.0, "configured".to_owned()));
        let age = Settings { max_hr: None, ..settings };
        assert_eq!(said(None, None, &age), (187.0, "calculated_from_age_30".to_owned()));
        assert_eq!(said(None, None, &Settings::default()), (190.0, "default_assumed".to_owned()));
    }

    #[test]
    fn zones_are_karvonens() {
        // the usual worked example: highest 180, resting 70
        assert_eq!(at_share(0.5, 180.0, Some(70.0)), 125.0);
        assert_eq!(at_share(0.85, 180.0, Some(70.0)), 163.5);
        assert_eq!(at_share(0.5, 180.0, None), 90.0);
        let sample = |second, rate| Sample { second, heart_rate: rate, ..Sample::default() };
        let samples =
            [sample(0, Some(124)), sample(10, Some(125)), sample(20, Some(175)), sample(30, None), sample(99, Some(1))];
        let zones = zones(&samples, 180.0, Some(70.0));
        let seconds: Vec<f64> = zones.iter().map(|zone| zone.seconds).collect();
        assert_eq!(seconds, [10.0, 0.0, 0.0, 0.0, 10.0]);
        assert_eq!((zones[0].zone, zones[0].from, zones[0].percent), (1, 125.0, 33.3));
        assert!(super::zones(&samples[3..], 180.0, None).is_empty());
    }

    #[test]
    fn the_training_impulse_is_banisters() {
        // the usual worked example: 30 minutes at 130, highest 200, resting 40, a man: 32
        let found = impulse(30.0, 130.0, 200.0, 40.0, Some(Sex::Male)).unwrap();
        assert_eq!(found.round(), 32.0);
        // at the highest heart rate a minute weighs 0.64·e^1.92 for men and 0.86·e^1.67 for women
        assert_eq!(rounded(impulse(1.0, 200.0, 200.0, 40.0, None).unwrap(), 2), 4.37);
        assert_eq!(rounded(impulse(1.0, 250.0, 200.0, 40.0, Some(Sex::Female)).unwrap(), 2), 4.57);
        assert_eq!(impulse(30.0, 40.0, 200.0, 40.0, None), None);
        assert_eq!(impulse(30.0, 130.0, 40.0, 40.0, None), None);
    }

    #[test]
    fn decoupling_is_how_efficiency_fell() {
        let run = |rates: [i64; 2]| -> Vec<Sample> {
            let rate = |second| Some(if second <= 1200 { rates[0] } else { rates[1] });
            (0..=240)
                .map(|step| step * 10)
                .map(|second| Sample { second, decimeters: second * 30, heart_rate: rate(second), ..Sample::default() })
                .collect()
        };
        assert_eq!(rounded(decoupling(&run([150, 150])).unwrap(), 3), 0.0);
        let drifted = decoupling(&run([140, 160])).unwrap();
        // 1 - 140/160
        assert!((drifted - 12.5).abs() < 0.3, "{drifted}");
        assert_eq!(decoupling(&run([150, 150])[..100]), None, "too short");
        assert_eq!(decoupling(&[]), None);
    }
}
