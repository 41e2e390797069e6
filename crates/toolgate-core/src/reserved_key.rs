//! Object keys that the JSON library reads as its own: a value behind such a key is another value for readers that decode
//! the text than for readers that pass the text on.

use crate::plain::json_string_end;

/// The start of every key that `serde_json` keeps for itself.
const RESERVED: &str = "$serde_json::private::";

/// True for a key, in its decoded form, that no message may have.
pub fn is_reserved_key(key: &str) -> bool {
    key.starts_with(RESERVED)
}

/// True if some object in the JSON text has a reserved key, at any depth and however the key is written.
///
/// One pass over the strings of a text; a text that is no JSON is for its reader to refuse.
pub fn has_reserved_key(json: &str) -> bool {
    let (bytes, mut at) = (json.as_bytes(), 0);
    while let Some(open) = bytes.get(at..).and_then(|rest| rest.iter().position(|byte| *byte == b'"')) {
        let start = at + open;
        let end = json_string_end(bytes, start);
        at = end;
        let colon = bytes.get(end..).and_then(|rest| rest.iter().find(|byte| !byte.is_ascii_whitespace()));
        if colon == Some(&b':') && json.get(start..end).is_some_and(is_reserved_text) {
            return true;
        }
    }
    false
}

/// The same for a key as it is written, with its quotes.
fn is_reserved_text(quoted: &str) -> bool {
    let plain = quoted.get(1..quoted.len().saturating_sub(1)).unwrap_or_default();
    if !plain.contains('\\') {
        return is_reserved_key(plain);
    }
    serde_json::from_str::<String>(quoted).is_ok_and(|key| is_reserved_key(&key))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reserved_key_is_found_however_it_is_written_and_a_value_is_not_one() {
        for held in [
            r#"{"$serde_json::private::RawValue":"false"}"#,
            r#"{"a":[{"b":1,"$serde_json::private::Number" : "1"}]}"#,
            r#"{"a\"":1,"\u0024serde_json::private\u003a:RawValue":"1"}"#,
        ] {
            assert!(has_reserved_key(held), "{held}");
        }
        for free in [
            "{}",
            "",
            "\"",
            r#"{"text":"$serde_json::private::RawValue"}"#,
            r#"["$serde_json::private::RawValue"]"#,
            r#"{"$serde_json":1,"text":"\"$serde_json::private::RawValue\":1"}"#,
        ] {
            assert!(!has_reserved_key(free), "{free}");
        }
    }
}
