//! What a definition is pinned by: SHA-256 of its JSON without white space and with the members of objects in order.
//!
//! Numbers count as they are written and a member that comes twice counts twice, so that nothing a client could read
//! differently has the same digest.

use std::fmt::Write;

use aws_lc_rs::digest::{SHA256, digest};

use crate::scan;

/// Deeper than this, text counts as it is.
const DEEPEST: usize = 64;

/// `sha256:` and hexadecimal digits.
pub(crate) fn of(definition: &str) -> String {
    let mut plain = String::with_capacity(definition.len());
    push(&mut plain, definition, DEEPEST);
    let mut text = String::from("sha256:");
    for byte in digest(&SHA256, plain.as_bytes()).as_ref() {
        let _ = write!(text, "{byte:02x}");
    }
    text
}

fn push(out: &mut String, json: &str, depth: usize) {
    let json = json.trim_ascii();
    match json.as_bytes().first() {
        Some(b'{') if depth > 0 => {
            let string = |text: &str| serde_json::from_str::<String>(text).unwrap_or_else(|_| text.to_owned());
            let mut members: Vec<(String, &str)> = scan::members(json)
                .into_iter()
                .filter_map(|(key, value)| Some((string(json.get(key)?), json.get(value)?)))
                .collect();
            members.sort_by(|one, other| one.0.cmp(&other.0));
            out.push('{');
            for (key, value) in members {
                push_string(out, &key);
                out.push(':');
                push(out, value, depth - 1);
                out.push(',');
            }
            out.push('}');
        }
        Some(b'[') if depth > 0 => {
            out.push('[');
            for part in scan::elements(json) {
                push(out, json.get(part).unwrap_or_default(), depth - 1);
                out.push(',');
            }
            out.push(']');
        }
        Some(b'"') => match serde_json::from_str::<String>(json) {
            Ok(text) => push_string(out, &text),
            Err(_) => out.push_str(json),
        },
        _ => out.push_str(json),
    }
}

fn push_string(out: &mut String, text: &str) {
    out.push_str(&serde_json::to_string(text).unwrap_or_default());
}

#[cfg(test)]
mod tests {
    use super::of;

    #[test]
    fn order_and_white_space_do_not_count_and_everything_else_does() {
        let one = of(r#"{"a":1,"b":[{"x":"\u00e9","y":2}]}"#);
        assert_eq!(one, of("{ \"b\" : [ {\"y\":2, \"x\":\"é\"} ],\n\"a\":1 }"));
        for other in [
            r#"{"a":1.0,"b":[{"x":"é","y":2}]}"#,
            r#"{"a":1,"a":1,"b":[{"x":"é","y":2}]}"#,
            r#"{"a":1,"b":[{"x":"e","y":2}]}"#,
            r#"{"a":"1","b":[{"x":"é","y":2}]}"#,
        ] {
            assert_ne!(one, of(other));
        }
        assert_ne!(of("[12345678901234567890]"), of("[12345678901234567891]"));
        assert!(one.starts_with("sha256:") && one.len() == 71);
    }
}
