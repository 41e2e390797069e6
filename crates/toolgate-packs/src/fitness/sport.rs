//! Sports by one word each, whatever a file or a caller calls them.

/// Where nothing better is known.
pub(super) const OTHER: &str = "other";
const LONGEST: usize = 32;

/// What a file or a caller says, as our word for it; a word we do not know stays as it is, without signs.
pub(super) fn of(text: &str) -> String {
    let plain: String = text
        .trim()
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '_' })
        .take(LONGEST)
        .collect();
    let word = match plain.as_str() {
        "run" | "running" | "jog" | "jogging" | "trail_run" | "trail_running" | "street_running" | "9" => "run",
        "ride" | "cycling" | "biking" | "bike" | "bicycling" | "road_biking" | "mountain_biking" | "1" => "ride",
        "walk" | "walking" | "10" => "walk",
        "hike" | "hiking" | "4" => "hike",
        "swim" | "swimming" | "lap_swimming" | "open_water_swimming" | "16" => "swim",
        "row" | "rowing" => "row",
        "ski" | "skiing" | "alpine_skiing" | "cross_country_skiing" => "ski",
        "workout" | "training" | "fitness_equipment" | "strength_training" => "workout",
        "" => OTHER,
        plain => plain,
    };
    word.to_owned()
}

/// The number that the FIT profile has for it.
pub(super) fn of_fit(number: f64) -> &'static str {
    const SPORTS: [(f64, &str); 9] = [
        (1.0, "run"),
        (2.0, "ride"),
        (5.0, "swim"),
        (11.0, "walk"),
        (17.0, "hike"),
        (15.0, "row"),
        (12.0, "ski"),
        (13.0, "ski"),
        (10.0, "workout"),
    ];
    SPORTS.iter().find(|(known, _)| *known == number).map_or(OTHER, |(_, word)| word)
}

/// For people: `Run`.
pub(super) fn titled(sport: &str) -> String {
    let mut letters = sport.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect()).replace('_', " ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_sport_has_one_word() {
        for (text, word) in
            [("Running", "run"), ("TRAIL run", "run"), ("Biking", "ride"), (" hiking ", "hike"), ("", "other")]
        {
            assert_eq!(of(text), word, "{text}");
        }
        assert_eq!(of("Nordic Walking!"), "nordic_walking_");
        assert_eq!((of_fit(2.0), of_fit(99.0)), ("ride", "other"));
        assert_eq!(titled("nordic_walking"), "Nordic walking");
    }
}
