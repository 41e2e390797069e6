//! Text that a reader can't read and a model can decode.

use super::{Hit, WarningKind};

/// Longer than a digest in hexadecimal.
const SHORTEST: usize = 100;

pub(super) fn hit(text: &str) -> Option<Hit> {
    let mut start = 0;
    for piece in text.split_inclusive(|c| !is_code(c)) {
        let run = piece.trim_end_matches(|c| !is_code(c));
        if run.len() >= SHORTEST && is_dense(run) {
            return Some((start, WarningKind::Encoded));
        }
        start += piece.len();
    }
    None
}

fn is_code(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '+' | '/' | '-' | '_' | '=')
}

/// Capitals, small letters and digits, or hexadecimal: not a rule of dashes, not a word.
fn is_dense(run: &str) -> bool {
    let has = |is: fn(&u8) -> bool| run.as_bytes().iter().any(is);
    let hex = run.bytes().all(|byte| byte.is_ascii_hexdigit());
    has(u8::is_ascii_digit) && (hex || has(u8::is_ascii_uppercase) && has(u8::is_ascii_lowercase))
}
