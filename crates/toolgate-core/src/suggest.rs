//! "Did you mean": the known name nearest to a mistyped one.

/// The nearest of `known`, if it is near enough to be worth saying.
pub fn closest<'a>(word: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    known
        .map(|name| (strsim::damerau_levenshtein(word, name), name))
        .filter(|(distance, name)| *distance <= 1 + name.chars().count() / 4)
        .min()
        .map(|(_, name)| name)
}

/// `; did you mean 'NAME'?`, or nothing where no known name is near.
pub fn hint<'a>(word: &str, known: impl Iterator<Item = &'a str>) -> String {
    did_you_mean(closest(word, known))
}

/// The same for a neighbour found before.
pub fn did_you_mean(near: Option<&str>) -> String {
    near.map_or_else(String::new, |near| format!("; did you mean '{near}'?"))
}
