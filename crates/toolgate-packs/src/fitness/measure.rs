//! An activity's figures in the units people use, and numbers for people.

use toolgate_store::fitness::Activity;

/// Of one activity. What was not measured is absent.
pub(super) trait Measures {
    fn meters(&self) -> f64;
    /// From the first to the last moment.
    fn seconds(&self) -> f64;
    /// Without standing.
    fn moving_seconds(&self) -> f64;
    fn climbed_meters(&self) -> f64;
    fn heart_rate(&self) -> Option<f64>;
    fn power(&self) -> Option<f64>;
    /// Seconds for a kilometer.
    fn pace(&self) -> Option<f64>;
    /// Kilometers an hour.
    fn speed(&self) -> Option<f64>;
    /// Days since 1970, in UTC.
    fn day(&self) -> i64;
}

impl Measures for Activity {
    fn meters(&self) -> f64 {
        float(self.figures.distance_cm) / 100.0
    }

    fn seconds(&self) -> f64 {
        float(self.figures.elapsed_s)
    }

    fn moving_seconds(&self) -> f64 {
        float(self.figures.moving_s)
    }

    fn climbed_meters(&self) -> f64 {
        float(self.figures.elevation_gain_cm) / 100.0
    }

    fn heart_rate(&self) -> Option<f64> {
        self.figures.average_heart_rate.map(|tenths| float(tenths) / 10.0)
    }

    fn power(&self) -> Option<f64> {
        self.figures.average_power.map(float)
    }

    fn pace(&self) -> Option<f64> {
        pace(self.meters(), self.moving_seconds())
    }

    fn speed(&self) -> Option<f64> {
        speed(self.meters(), self.moving_seconds())
    }

    fn day(&self) -> i64 {
        self.started_at.div_euclid(86_400_000)
    }
}

pub(super) fn pace(meters: f64, seconds: f64) -> Option<f64> {
    (meters > 0.0 && seconds > 0.0).then(|| seconds / (meters / 1000.0))
}

pub(super) fn speed(meters: f64, seconds: f64) -> Option<f64> {
    (meters > 0.0 && seconds > 0.0).then(|| meters / seconds * 3.6)
}

/// Figures of people are far within what a float holds exactly.
#[allow(clippy::cast_precision_loss, reason = "far below 2^53")]
pub(super) fn float(number: i64) -> f64 {
    number as f64
}

#[allow(clippy::cast_precision_loss, reason = "far below 2^53")]
pub(super) fn count(number: usize) -> f64 {
    number as f64
}

/// To so many digits after the point.
pub(super) fn rounded(number: f64, digits: i32) -> f64 {
    let scale = 10_f64.powi(digits);
    (number * scale).round() / scale
}

/// `4:30` of 270 seconds.
pub(super) fn clock(seconds: f64) -> String {
    let whole = super::summary::whole(seconds);
    match (whole / 3600, whole / 60 % 60, whole % 60) {
        (0, minutes, seconds) => format!("{minutes}:{seconds:02}"),
        (hours, minutes, seconds) => format!("{hours}:{minutes:02}:{seconds:02}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pace_and_speed_are_of_the_same_run() {
        // 10 km in 50 minutes: 5:00 a kilometer, 12 km/h
        assert_eq!(pace(10_000.0, 3000.0), Some(300.0));
        assert_eq!(speed(10_000.0, 3000.0), Some(12.0));
        // a marathon in two hours
        assert_eq!(pace(42_195.0, 7200.0).map(clock).as_deref(), Some("2:51"));
        assert_eq!((pace(0.0, 10.0), speed(10.0, 0.0)), (None, None));
        assert_eq!((clock(59.6).as_str(), clock(3661.0).as_str(), rounded(1.005_1, 2)), ("1:00", "1:01:01", 1.01));
    }
}
