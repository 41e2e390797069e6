//! Large inputs are kept in part, with the digest of the whole.

use std::fmt::Write;

use crate::catalog::sha256;

/// The text itself if it has at most so many bytes, else a JSON object with its beginning, its length and its digest.
///
/// Redact first: what is cut here must not hold half a secret.
pub fn cut(redacted: String, most: usize) -> String {
    if redacted.len() <= most {
        return redacted;
    }
    let start = beginning(&redacted, most);
    let mut kept = String::with_capacity(start.len() + 128);
    // Writing to a string can't fail.
    let _ = write!(kept, "{{\"cut\":true,\"bytes\":{},\"sha256\":\"", redacted.len());
    for byte in sha256(redacted.as_bytes()) {
        let _ = write!(kept, "{byte:02x}");
    }
    let _ = write!(kept, "\",\"start\":{start}}}");
    kept
}

/// The same for a text of which no more than its beginning was redacted: without a digest, since the whole is not known.
pub(super) fn cut_start(redacted: &str, bytes: usize, most: usize) -> String {
    format!("{{\"cut\":true,\"bytes\":{bytes},\"start\":{}}}", beginning(redacted, most))
}

fn beginning(redacted: &str, most: usize) -> String {
    serde_json::Value::from(redacted.get(..redacted.floor_char_boundary(most)).unwrap_or_default()).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_fits_is_kept_and_what_does_not_says_so() {
        assert_eq!(cut("{\"a\":1}".into(), 7), "{\"a\":1}");
        let long = format!("{{\"a\":\"{}\"}}", "é".repeat(100));
        let value: serde_json::Value = serde_json::from_str(&cut(long.clone(), 11)).unwrap();
        assert_eq!((value["cut"].as_bool(), value["bytes"].as_u64()), (Some(true), Some(208)));
        assert_eq!(value["start"], "{\"a\":\"éé");
        assert_eq!(value["sha256"].as_str().unwrap().len(), 64);
        assert_ne!(cut(long, 10), cut(format!("{{\"a\":\"{}\"}}", "é".repeat(99)), 10));
    }
}
