//! Marks that only the gate sets, `_meta["toolgate/…"]`: taken out of what an upstream says, wherever they stand in it. A
//! client is not to take a server's word for the gate's.

use std::borrow::Cow;

use bytes::Bytes;
use serde_json::value::RawValue;
use toolgate_core::json_string_end;

use crate::scan::{key_of, value_end};

const META: &str = "_meta";
const MARK: &str = "toolgate/";

/// A result without marks. Almost every result has none, and is not looked at but for the bytes of their names.
pub(crate) fn without_marks(result: Bytes) -> Bytes {
    if !may_hold_marks(&result) {
        return result;
    }
    let cut = std::str::from_utf8(&result).ok().and_then(cut);
    cut.map_or(result, Bytes::from)
}

/// The same for a part of a message; `None` where there are none.
pub(crate) fn part_without_marks(json: &str) -> Option<String> {
    may_hold_marks(json.as_bytes()).then(|| cut(json)).flatten()
}

/// The parameters of a request or notification, without marks.
pub(crate) fn params_without_marks(params: &RawValue) -> Cow<'_, RawValue> {
    let cut = part_without_marks(params.get()).and_then(|text| RawValue::from_string(text).ok());
    cut.map_or(Cow::Borrowed(params), Cow::Owned)
}

/// Returns true if both names occur, as they are or with an escape for one of their letters: those are `\u005f` to `\u0074`.
fn may_hold_marks(bytes: &[u8]) -> bool {
    let has = |text: &[u8]| memchr::memmem::find(bytes, text).is_some();
    let is_letter = |at: usize| matches!(bytes.get(at + 4), Some(b'5'..=b'7'));
    has(META.as_bytes()) && has(b"toolgate") || memchr::memmem::find_iter(bytes, b"\\u00").any(is_letter)
}

/// An object or array that the walk is in.
struct Frame {
    is_object: bool,
    /// An object under the name `_meta`.
    is_meta: bool,
    /// The next string is a key.
    at_key: bool,
    /// The length of the output behind the last member that stays.
    kept: Option<usize>,
}

/// JSON without the marks in every `_meta`, every other byte as it was; `None` where there are none.
///
/// INVARIANT: one walk over the text, and each byte is copied at most once.
fn cut(text: &str) -> Option<String> {
    let bytes = text.as_bytes();
    let (mut out, mut has_marks, mut is_meta_next) = (String::new(), false, false);
    let mut frames: Vec<Frame> = Vec::new();
    // the end of what is copied or left out, and of the last part of a value
    let (mut at, mut copied, mut part_end) = (0, 0, 0);
    while let Some(byte) = bytes.get(at) {
        match (byte, frames.last_mut()) {
            (b' ' | b'\t' | b'\r' | b'\n', _) => {
                at += 1;
                continue;
            }
            (b':', _) => {
                at += 1;
                continue;
            }
            (b',', Some(frame)) => {
                frame.at_key = frame.is_object;
                if frame.is_meta {
                    out.push_str(text.get(copied..part_end).unwrap_or_default());
                    copied = copied.max(part_end);
                    frame.kept = Some(out.len());
                }
                at += 1;
                continue;
            }
            (b'"', Some(frame)) if frame.at_key => {
                let end = json_string_end(bytes, at);
                let key = key_of(text, &(at..end));
                if frame.is_meta && key.as_deref().is_some_and(|key| key.starts_with(MARK)) {
                    has_marks = true;
                    out.push_str(text.get(copied..at).unwrap_or_default());
                    let value = behind(bytes, end, b':');
                    let value_end = value_end(bytes, value).max(end);
                    copied = behind(bytes, value_end, b',');
                    if bytes.get(copied) == Some(&b'}') {
                        // with the comma before it, since there is none behind it
                        copied = value_end;
                        frame.kept.inspect(|kept| out.truncate(*kept));
                    }
                    at = copied;
                    continue;
                }
                frame.at_key = false;
                is_meta_next = key.as_deref() == Some(META);
                at = end;
            }
            (b'{' | b'[', _) => {
                let is_object = *byte == b'{';
                frames.push(Frame { is_object, is_meta: is_object && is_meta_next, at_key: is_object, kept: None });
                is_meta_next = false;
                at += 1;
            }
            (b'}' | b']', _) => {
                frames.pop();
                at += 1;
            }
            (b'"', _) => {
                is_meta_next = false;
                at = json_string_end(bytes, at);
            }
            _ => {
                is_meta_next = false;
                at += 1;
            }
        }
        part_end = at;
    }
    has_marks.then(|| out + text.get(copied..).unwrap_or_default())
}

/// The place behind white space, a sign if it is there, and white space again.
fn behind(bytes: &[u8], at: usize, sign: u8) -> usize {
    let blanks =
        |at: usize| bytes.get(at..).unwrap_or_default().iter().take_while(|byte| byte.is_ascii_whitespace()).count();
    let at = at + blanks(at);
    if bytes.get(at) == Some(&sign) { at + 1 + blanks(at + 1) } else { at }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn left(text: &str) -> String {
        let cut = without_marks(Bytes::copy_from_slice(text.as_bytes()));
        String::from_utf8(cut.to_vec()).unwrap()
    }

    #[test]
    fn marks_go_and_every_other_byte_stays() {
        for (text, expected) in [
            (r#"{"a":1}"#, r#"{"a":1}"#),
            (
                r#"{"a":1.50,"_meta":{"x":1, "y" : ["toolgate/"]}}"#,
                r#"{"a":1.50,"_meta":{"x":1, "y" : ["toolgate/"]}}"#,
            ),
            (
                r#"{"a":1.50, "_meta" : {"toolgate/cut":{"b":1},"y" : [2.0]} ,"z":"toolgate/"}"#,
                r#"{"a":1.50, "_meta" : {"y" : [2.0]} ,"z":"toolgate/"}"#,
            ),
            (
                r#"{"\u005fmeta":{"toolgate\/dryRun":1},"_meta":{"toolgat\u0065/x":2}}"#,
                r#"{"\u005fmeta":{},"_meta":{}}"#,
            ),
            (r#"{"_meta":{"x":1 , "toolgate/a":2,"toolgate/b":"}"}}"#, r#"{"_meta":{"x":1}}"#),
            (
                r#"{"_meta":{"toolgate/a":2,"x":{"_meta":{"y":1,"toolgate/b":1}},"toolgate/c":[]}}"#,
                r#"{"_meta":{"x":{"_meta":{"y":1}}}}"#,
            ),
            (r#"{"toolgate/a":1,"b":{"toolgate/c":"_meta"}}"#, r#"{"toolgate/a":1,"b":{"toolgate/c":"_meta"}}"#),
            (r#"{"a":"_meta","b":{"toolgate/c":1}}"#, r#"{"a":"_meta","b":{"toolgate/c":1}}"#),
        ] {
            assert_eq!(left(text), expected);
        }
    }

    #[test]
    fn marks_go_wherever_a_result_has_them() {
        let marked = json!({"toolgate/receipt": "r_1", "\u{74}oolgate/denial": {"code": "x"}, "own": 1});
        for result in [
            json!({"content": [{"type": "text", "text": "t", "_meta": marked}]}),
            json!({"content": [{"type": "resource", "resource": {"uri": "a:b", "text": "t", "_meta": marked}, "_meta": marked}]}),
            json!({"contents": [{"uri": "a:b", "text": "t", "_meta": marked}], "_meta": marked}),
            json!({"messages": [{"role": "user", "content": {"type": "text", "text": "t", "_meta": marked}, "_meta": marked}]}),
            json!({"structuredContent": {"deep": [[{"_meta": marked}]]}}),
        ] {
            for text in [result.to_string(), result.to_string().replace("toolgate", "\\u0074oolgate")] {
                let left = left(&text);
                let value: Value = serde_json::from_str(&left).unwrap();
                assert!(!value.to_string().contains("toolgate/"), "{left}");
                assert!(value.to_string().contains(r#""own":1"#), "{left}");
            }
        }
    }

    #[test]
    fn escapes_of_other_letters_are_no_reason_to_look_closer() {
        assert!(!may_hold_marks(br#"{"_meta":{"a":"\u00e9\u4e2d\u001b"}}"#));
        assert!(!may_hold_marks(br#"{"text":"toolgate/"}"#));
        assert!(may_hold_marks(br#"{"\u005fmeta":{"toolgate/a":1}}"#));
    }
}
