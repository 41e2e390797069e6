//! Percentiles and medians.

use std::time::Duration;

/// The value that `per_mille` of the sorted values do not exceed (nearest rank); zero of nothing.
pub(crate) fn percentile(sorted: &[Duration], per_mille: usize) -> Duration {
    let rank = (sorted.len() * per_mille).div_ceil(1000).max(1);
    sorted.get(rank - 1).copied().unwrap_or_default()
}

/// The middle value, or the mean of the two middle ones; NaN of nothing.
pub(crate) fn median(values: &[f64]) -> f64 {
    Spread::of(values).map_or(f64::NAN, |spread| spread.median)
}

/// The middle of some values and how far they lie apart.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Spread {
    pub(super) least: f64,
    pub(super) median: f64,
    pub(super) most: f64,
}

impl Spread {
    /// `None` of nothing.
    pub(super) fn of(values: &[f64]) -> Option<Self> {
        let mut sorted = values.to_vec();
        sorted.sort_unstable_by(f64::total_cmp);
        let middle = sorted.len() / 2;
        let upper = *sorted.get(middle)?;
        let lower = *sorted.get(sorted.len().div_ceil(2) - 1)?;
        Some(Self { least: *sorted.first()?, median: f64::midpoint(lower, upper), most: *sorted.last()? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn milliseconds(values: impl Iterator<Item = u64>) -> Vec<Duration> {
        values.map(Duration::from_millis).collect()
    }

    #[test]
    fn a_percentile_is_a_value_that_was_measured() {
        let hundred = milliseconds(1..=100);
        assert_eq!(percentile(&hundred, 500), Duration::from_millis(50));
        assert_eq!(percentile(&hundred, 990), Duration::from_millis(99));
        assert_eq!(percentile(&hundred, 1000), Duration::from_millis(100));
        let three = milliseconds([5, 6, 70].into_iter());
        assert_eq!(percentile(&three, 500), Duration::from_millis(6));
        assert_eq!(percentile(&three, 990), Duration::from_millis(70));
    }

    #[test]
    fn a_percentile_of_nothing_is_zero() {
        assert_eq!(percentile(&[], 500), Duration::ZERO);
        assert_eq!(percentile(&milliseconds(7..=7), 0), Duration::from_millis(7));
    }

    #[test]
    fn the_median_does_not_care_about_order_or_an_outlier() {
        assert_eq!(median(&[9.0, 1.0, 2.0]), 2.0);
        assert_eq!(median(&[4.0, 1.0, 2.0, 1000.0]), 3.0);
        assert!(median(&[]).is_nan());
    }

    #[test]
    fn a_spread_names_both_ends() {
        let spread = Spread::of(&[1.5, 1.1, 1.3]);
        let expected = Spread { least: 1.1, median: 1.3, most: 1.5 };
        assert_eq!(spread, Some(expected));
    }
}
