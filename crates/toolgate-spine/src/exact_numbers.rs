//! JSON for an approver: a number that a JSON value can't hold exactly is shown as the text of the call, so that what is
//! shown is what runs.

use indexmap::IndexMap;
use serde_json::{Value, value::RawValue};

/// Reads JSON. Numbers that would be rounded or written in another way become strings of their own digits.
pub(crate) fn exact_value(json: &str) -> Value {
    serde_json::from_str::<&RawValue>(json).map_or(Value::Null, |raw| read(raw.get()))
}

// INVARIANT: arguments are at most as deep as a message may be, so that this ends.
fn read(json: &str) -> Value {
    match json.as_bytes().first() {
        Some(b'{') => {
            let members: IndexMap<String, &RawValue> = serde_json::from_str(json).unwrap_or_default();
            members.into_iter().map(|(name, raw)| (name, read(raw.get()))).collect()
        }
        Some(b'[') => {
            let items: Vec<&RawValue> = serde_json::from_str(json).unwrap_or_default();
            items.into_iter().map(|raw| read(raw.get())).collect()
        }
        Some(b'-' | b'0'..=b'9') => {
            let number: Value = serde_json::from_str(json).unwrap_or_default();
            let written = number.to_string();
            if written == json { number } else { Value::from(json) }
        }
        _ => serde_json::from_str(json).unwrap_or_default(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn numbers_keep_their_digits_whatever_a_value_can_hold() {
        let text = r#"{"a":123456789012345678901234567890,"b":[0.1000000000000000055511151231257827,1e3,-7,1.5],"c":{"d":"x","e":null}}"#;
        let expected = json!({
            "a": "123456789012345678901234567890",
            "b": ["0.1000000000000000055511151231257827", "1e3", -7, 1.5],
            "c": {"d": "x", "e": null},
        });
        assert_eq!(exact_value(text), expected);
        assert_eq!(exact_value("1"), json!(1));
        assert_eq!(exact_value("nothing"), Value::Null);
    }
}
