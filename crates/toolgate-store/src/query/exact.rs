//! Rows of JSON text, read without a loss: numbers that no double can carry become text, and no column hides another.

use std::fmt;

use serde::{
    Deserializer as _,
    de::{MapAccess, Visitor},
};
use serde_json::{Map, Value};

/// An object as written by the database.
pub(super) fn object(text: &str) -> Result<Map<String, Value>, serde_json::Error> {
    serde_json::Deserializer::from_str(&with_exact_numbers(text)).deserialize_map(Columns)
}

/// A name that no column has yet: a name that is there twice gets a number.
pub(super) fn unique_name(name: &str, is_taken: impl Fn(&str) -> bool) -> String {
    let numbered = (2_u32..).map(|number| format!("{name}_{number}"));
    std::iter::once(name.to_owned()).chain(numbered).find(|name| !is_taken(name)).unwrap_or_default()
}

struct Columns;

impl<'de> Visitor<'de> for Columns {
    type Value = Map<String, Value>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a row")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut columns: A) -> Result<Self::Value, A::Error> {
        let mut row = Map::new();
        while let Some((name, value)) = columns.next_entry::<String, Value>()? {
            let name = unique_name(&name, |name| row.contains_key(name));
            row.insert(name, value);
        }
        Ok(row)
    }
}

/// Puts quotes around numbers that would be rounded.
fn with_exact_numbers(json: &str) -> String {
    let mut exact = String::with_capacity(json.len());
    let mut rest = json;
    while let Some(start) = rest.find(|c: char| c == '"' || c == '-' || c.is_ascii_digit()) {
        let (before, token) = rest.split_at(start);
        exact.push_str(before);
        let is_text = token.starts_with('"');
        let end = if is_text { text_end(token) } else { number_end(token) };
        let (token, after) = token.split_at(end);
        if is_text || is_exact(token) {
            exact.push_str(token);
        } else {
            exact.push('"');
            exact.push_str(token);
            exact.push('"');
        }
        rest = after;
    }
    exact.push_str(rest);
    exact
}

/// The length of a string with its quotes.
fn text_end(json: &str) -> usize {
    let mut escaped = false;
    for (at, byte) in json.bytes().enumerate().skip(1) {
        match byte {
            b'"' if !escaped => return at + 1,
            b'\\' => escaped = !escaped,
            _ => escaped = false,
        }
    }
    json.len()
}

fn number_end(json: &str) -> usize {
    json.find(|c: char| !c.is_ascii_digit() && !matches!(c, '-' | '+' | '.' | 'e' | 'E')).unwrap_or(json.len())
}

/// Reports that a reader of JSON gets this very number: a whole number of 64 bits, or one that a double writes alike.
fn is_exact(number: &str) -> bool {
    if number.parse::<i64>().is_ok() || number.parse::<u64>().is_ok() {
        return true;
    }
    let Ok(double) = number.parse::<f64>() else { return false };
    // only a double is written with an exponent
    let is_double = number.contains(['e', 'E']);
    double.is_finite() && (is_double || significant(number) == significant(&double.to_string()))
}

/// Digits without zeros that say nothing.
fn significant(number: &str) -> &str {
    if number.contains('.') { number.trim_end_matches('0').trim_end_matches('.') } else { number }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_numbers_that_would_be_rounded_become_text() {
        for kept in ["1", "-7", "0.1", "1.10", "1.5e-07", "9223372036854775807", "18446744073709551615", "12.0", "-0.5"]
        {
            assert_eq!(with_exact_numbers(kept), kept);
        }
        for text in ["12345678901234567890.5", "0.1234567890123456789", "18446744073709551617", "-9.99999999999999999"]
        {
            assert_eq!(with_exact_numbers(text), format!("\"{text}\""));
        }
        let huge = "1".repeat(400);
        assert_eq!(with_exact_numbers(&huge), format!("\"{huge}\""));
    }

    #[test]
    fn text_is_left_alone_and_what_lies_deeper_is_not() {
        let row = r#"{"a 0.1234567890123456789":"say \"18446744073709551617\" \\","b":[0.1234567890123456789,{"c":1}],"d":null}"#;
        let read = object(row).unwrap();
        assert_eq!(read["a 0.1234567890123456789"], "say \"18446744073709551617\" \\");
        assert_eq!(read["b"], serde_json::json!(["0.1234567890123456789", {"c": 1}]));
    }

    #[test]
    fn no_column_hides_another() {
        let read = object(r#"{"a":1,"a":2,"a_2":3,"a":4}"#).unwrap();
        assert_eq!(Value::Object(read), serde_json::json!({"a": 1, "a_2": 2, "a_2_2": 3, "a_3": 4}));
    }
}
