//! Distances on the globe, by the haversine formula (R. W. Sinnott, "Virtues of the Haversine", Sky and Telescope 68, 1984).

/// The mean radius.
const METERS: f64 = 6_371_000.0;

/// Between two places, each latitude and longitude in degrees.
pub(super) fn meters((from_latitude, from_longitude): (f64, f64), (to_latitude, to_longitude): (f64, f64)) -> f64 {
    let (from, to) = (from_latitude.to_radians(), to_latitude.to_radians());
    let half = |angle: f64| (angle / 2.0).sin().powi(2);
    let along = half(to - from) + from.cos() * to.cos() * half((to_longitude - from_longitude).to_radians());
    2.0 * METERS * along.clamp(0.0, 1.0).sqrt().asin()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nashville_is_as_far_from_los_angeles_as_is_published() {
        // the worked example of the formula: BNA to LAX is 2886.4444 km on a globe of 6371 km
        let found = meters((36.12, -86.67), (33.94, -118.40));
        assert!((found - 2_886_444.442_8).abs() < 0.001, "{found}");
    }

    #[test]
    fn it_is_the_same_both_ways_and_nothing_to_where_one_is() {
        let (one, other) = ((52.5, 13.4), (-33.9, 151.2));
        assert!((meters(one, other) - meters(other, one)).abs() < 1e-6);
        assert_eq!(meters(one, one), 0.0);
        let around = meters((0.0, 0.0), (0.0, 180.0));
        assert!((around - std::f64::consts::PI * METERS).abs() < 1e-3);
    }
}
