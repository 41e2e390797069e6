//! Words of a closed set, checked where they are read: the fault then has a file, a line and a suggestion.

use std::str::FromStr;

use serde::{Deserialize, Deserializer, de::Error};
use toolgate_core::{caller::BadFact, suggest::closest};

/// Reads a word of an attribute's set.
pub fn known_word<'de, D, T>(from: D) -> Result<Option<String>, D::Error>
where
    D: Deserializer<'de>,
    T: FromStr<Err = BadFact>,
{
    let word = Option::<String>::deserialize(from)?;
    word.iter().try_for_each(|word| check::<T>(word)).map_err(D::Error::custom)?;
    Ok(word)
}

/// Reads a list of words of an attribute's set.
pub fn known_words<'de, D, T>(from: D) -> Result<Option<Vec<String>>, D::Error>
where
    D: Deserializer<'de>,
    T: FromStr<Err = BadFact>,
{
    let words = Option::<Vec<String>>::deserialize(from)?;
    words.iter().flatten().try_for_each(|word| check::<T>(word)).map_err(D::Error::custom)?;
    Ok(words)
}

fn check<T: FromStr<Err = BadFact>>(word: &str) -> Result<(), String> {
    let Err(bad) = T::from_str(word) else { return Ok(()) };
    let known = bad.expected.trim_start_matches("one of:").split_whitespace();
    Err(match closest(word, known) {
        Some(near) => format!("{bad}; did you mean '{near}'?"),
        None => bad.to_string(),
    })
}
