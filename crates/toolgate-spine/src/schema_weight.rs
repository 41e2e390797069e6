//! The price of one subschema for one value, besides the subschemas that it leads to.

use serde_json::{Map, Value};

/// Bytes of text that are looked at in the time of one step.
const BYTES_OF_STEP: usize = 16;

/// The steps of one subschema.
#[derive(Debug, Clone, Copy)]
pub(crate) struct NodeWeight {
    /// For any value: names that are looked up, values that are compared.
    pub(crate) own: usize,
    /// For each [`BYTES_OF_STEP`] bytes of a text.
    pub(crate) text: usize,
    /// For each part of an array whose items must differ.
    pub(crate) unique: usize,
}

impl Default for NodeWeight {
    fn default() -> Self {
        Self { own: 1, text: 0, unique: 0 }
    }
}

impl NodeWeight {
    pub(crate) fn of(members: &Map<String, Value>) -> Self {
        let mut weight = Self::default();
        for (keyword, value) in members {
            match keyword.as_str() {
                "properties" | "patternProperties" | "dependentSchemas" | "dependencies" => {
                    weight.own = weight.own.saturating_add(value.as_object().map_or(0, Map::len));
                }
                "enum" | "const" | "required" | "dependentRequired" => {
                    let size = ValueSize::of(value);
                    weight.own = weight.own.saturating_add(size.parts).saturating_add(size.texts());
                }
                "pattern" => weight.text = weight.text.saturating_add(value.as_str().map_or(1, repetitions)),
                "minLength" | "maxLength" | "format" => weight.text = weight.text.saturating_add(1),
                "uniqueItems" => weight.unique = usize::from(value == &Value::Bool(true)),
                _ => {}
            }
        }
        weight
    }

    /// The steps for one value; `None` if there are more than `most`.
    pub(crate) fn steps(&self, value: &Value, most: usize) -> Option<usize> {
        let more = match value {
            Value::String(text) => (text.len() / BYTES_OF_STEP).saturating_mul(self.text),
            Value::Array(_) if self.unique > 0 => {
                let size = ValueSize::of(value);
                size.parts.saturating_add(size.texts())
            }
            // patterns of names look at every name
            Value::Object(members) => members.len(),
            _ => 0,
        };
        Some(self.own.saturating_add(more)).filter(|steps| *steps <= most)
    }
}

/// The factor by which a pattern's counted repetitions make each byte of a text dearer.
fn repetitions(pattern: &str) -> usize {
    let counts = pattern.split('{').skip(1).filter_map(|rest| rest.split_once('}')).flat_map(|(count, _)| {
        let largest = count.split(',').filter_map(|number| number.trim().parse::<usize>().ok()).max();
        largest.filter(|count| *count > 0)
    });
    counts.fold(1, usize::saturating_mul)
}

/// The size of a value.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct ValueSize {
    /// Values within one another, the whole included.
    pub(crate) parts: usize,
    /// Bytes of all texts and names.
    pub(crate) bytes: usize,
    /// Levels of arrays and objects.
    pub(crate) depth: usize,
}

impl ValueSize {
    pub(crate) fn of(value: &Value) -> Self {
        let (mut size, mut left) = (Self::default(), vec![(value, 1)]);
        while let Some((value, depth)) = left.pop() {
            size.parts = size.parts.saturating_add(1);
            size.depth = size.depth.max(depth);
            match value {
                Value::Object(members) => {
                    size.bytes = members.keys().fold(size.bytes, |bytes, name| bytes.saturating_add(name.len()));
                    left.extend(members.values().map(|value| (value, depth + 1)));
                }
                Value::Array(items) => left.extend(items.iter().map(|item| (item, depth + 1))),
                Value::String(text) => size.bytes = size.bytes.saturating_add(text.len()),
                _ => {}
            }
        }
        size
    }

    /// The steps of looking at every text once.
    pub(crate) fn texts(&self) -> usize {
        self.bytes / BYTES_OF_STEP
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn steps(schema: Value, value: Value) -> usize {
        let Value::Object(members) = schema else { panic!("a schema") };
        NodeWeight::of(&members).steps(&value, usize::MAX).unwrap()
    }

    #[test]
    fn a_keyword_that_compares_with_many_values_weighs_as_many_steps() {
        let numbers: Vec<usize> = (0..1_000).collect();
        assert!(steps(json!({"enum": numbers}), json!(1)) >= 1_000);
        assert!(steps(json!({"const": numbers}), json!(1)) >= 1_000);
        assert!(steps(json!({"required": vec!["a"; 1_000]}), json!({})) >= 1_000);
        assert!(steps(json!({"uniqueItems": true}), json!([numbers, numbers])) >= 2_000);
        assert_eq!(steps(json!({"uniqueItems": false}), json!([numbers])), 1);
    }

    #[test]
    fn text_under_a_pattern_weighs_as_much_as_the_pattern_repeats() {
        let text = "a".repeat(16_000);
        assert_eq!(steps(json!({"type": "string"}), json!(text)), 1);
        assert_eq!(steps(json!({"pattern": "^a*$"}), json!(text)), 1_001);
        assert_eq!(steps(json!({"pattern": "(a{1,10}b{3}){2,}\\{"}), json!(text)), 60_001);
    }

    #[test]
    fn the_size_of_a_value_is_counted_at_every_depth() {
        let size = ValueSize::of(&json!({"ab": ["cde", {"f": 1}]}));
        assert_eq!(size, ValueSize { parts: 5, bytes: 6, depth: 4 });
    }
}
