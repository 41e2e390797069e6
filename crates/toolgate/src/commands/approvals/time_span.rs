//! Spans of time as people read them.

/// A span in its largest unit, and the next one where that says more: `40s`, `12m`, `3h 5m`, `2d 4h`. Nothing is `0s`.
pub fn span(millis: i64) -> String {
    let seconds = millis.max(0) / 1000;
    let (minutes, hours, days) = (seconds / 60, seconds / 3600, seconds / 86_400);
    let two = |large: i64, unit: &str, small: i64, smaller: &str| match small {
        0 => format!("{large}{unit}"),
        small => format!("{large}{unit} {small}{smaller}"),
    };
    match (days, hours, minutes) {
        (0, 0, 0) => format!("{seconds}s"),
        (0, 0, minutes) => format!("{minutes}m"),
        (0, hours, minutes) => two(hours, "h", minutes % 60, "m"),
        (days, hours, _) => two(days, "d", hours % 24, "h"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_have_two_units_at_most() {
        let second = 1000;
        for (millis, text) in [
            (-5, "0s"),
            (999, "0s"),
            (59 * second, "59s"),
            (60 * second, "1m"),
            (59 * 60 * second + 59 * second, "59m"),
            (3600 * second, "1h"),
            (3 * 3600 * second + 5 * 60 * second, "3h 5m"),
            (2 * 86_400 * second + 4 * 3600 * second, "2d 4h"),
            (86_400 * second, "1d"),
        ] {
            assert_eq!(span(millis), text);
        }
    }
}
