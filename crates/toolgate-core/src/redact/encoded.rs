//! JSON in base64, as headers and messages carry it: decoded, looked at and forgotten.

use base64::{
    Engine,
    alphabet::STANDARD,
    engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig},
};

use super::text::{TextWalk, holds_secret};

/// The beginnings of `{"`, `{ "`, `{\n` and `[{"` in base64.
const BEGINNINGS: [&str; 4] = ["eyJ", "eyAi", "ewo", "W3si"];
/// Shorter texts hold no name and secret.
const SHORTEST: usize = 20;
/// Of a longer text this much is decoded; a multiple of four.
const LONGEST: usize = 64 << 10;
/// What was decoded is decoded again this often.
const DEEPEST: usize = 2;

const FORGIVING: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new()
        .with_decode_padding_mode(DecodePaddingMode::Indifferent)
        .with_decode_allow_trailing_bits(true),
);

/// The whole run of characters, where it is JSON that holds a secret.
pub(super) fn json(walk: &mut TextWalk<'_>, at: usize) -> Option<(usize, usize)> {
    let rest = walk.text.get(at..)?;
    if walk.nesting >= DEEPEST || !BEGINNINGS.iter().any(|beginning| rest.starts_with(beginning)) {
        return None;
    }
    let end = walk.run_end(at);
    if end - at < SHORTEST {
        return None;
    }
    let looked_at = (end - at).min(LONGEST);
    let Some(budget) = walk.budget.checked_sub(looked_at) else {
        // nobody writes so many beginnings into one run by accident
        return Some((at, end));
    };
    walk.budget = budget;
    let ordinary = |byte: &u8| match byte {
        b'-' => Some(b'+'),
        b'_' => Some(b'/'),
        byte if byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/') => Some(*byte),
        _ => None,
    };
    let mut letters: Vec<u8> = rest.as_bytes().get(..looked_at)?.iter().map_while(ordinary).collect();
    if letters.len() % 4 == 1 {
        letters.pop();
    }
    let decoded = FORGIVING.decode(letters).ok()?;
    let text = match std::str::from_utf8(&decoded) {
        Ok(text) => text,
        Err(fault) => std::str::from_utf8(decoded.get(..fault.valid_up_to())?).ok()?,
    };
    holds_secret(text, walk.nesting + 1).then_some((at, end))
}
