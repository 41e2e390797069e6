//! Values of scanned JSON, read from their text only when someone asks.

use std::borrow::Cow;

/// The string that `raw` is, or `None` if it is something else.
pub(crate) fn string(raw: &str) -> Option<Cow<'_, str>> {
    let inner = raw.strip_prefix('"')?.strip_suffix('"')?;
    if memchr::memchr(b'\\', inner.as_bytes()).is_none() {
        return Some(Cow::Borrowed(inner));
    }
    serde_json::from_str(raw).ok().map(Cow::Owned)
}

/// An integer as it is written: no fraction, no exponent.
pub(crate) fn is_integer(raw: &str) -> bool {
    let digits = raw.strip_prefix('-').unwrap_or(raw);
    !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
}

pub(crate) fn is_object(raw: &str) -> bool {
    raw.starts_with('{')
}

/// Writes `text` as a JSON string.
pub(crate) fn push_string(out: &mut Vec<u8>, text: &str) {
    // A `Vec` takes every write and a `str` always serialises.
    let _ = serde_json::to_writer(out, text);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plain_string_is_borrowed_and_an_escaped_one_decoded() {
        assert!(matches!(string("\"ab\""), Some(Cow::Borrowed("ab"))));
        assert_eq!(string(r#""a\u0062""#).as_deref(), Some("ab"));
        assert_eq!(string("1"), None);
    }

    #[test]
    fn integers_have_no_fraction_and_no_exponent() {
        for (raw, integer) in
            [("1", true), ("-7", true), ("1.0", false), ("1e3", false), ("\"1\"", false), ("-", false)]
        {
            assert_eq!(is_integer(raw), integer, "{raw}");
        }
    }
}
