//! Secrets in text that another value beside them names: `{"name": "password", "value": "X"}` and `["password", "X"]` in the
//! middle of a sentence, and lists of settings in YAML.

use std::ops::Range;

use super::{
    assignment::{blanks, is_quote, quoted_end},
    pairs::{Label, Role, can_name_second, is_second},
    starts_placeholder,
    text::TextWalk,
    token_run::token_run_end,
};

/// The distance to both sides within which the name of a value is looked for.
const WINDOW: usize = 160;
/// Longest name and longest value of a list of two.
const LONGEST_NAME: usize = 64;
const LONGEST_VALUE: usize = 600;

/// Returns true if the member of this name, with its value at `start`, has its meaning from another member that names a secret.
pub(super) fn is_labelled(walk: &TextWalk<'_>, name: Range<usize>, start: usize) -> bool {
    let text = walk.text;
    if text.get(name.clone()).map(Role::of) != Some(Role::Value) {
        return false;
    }
    let from = text.ceil_char_boundary(name.start.saturating_sub(WINDOW).max(walk.kept));
    let before = text.get(from..name.start).unwrap_or_default();
    // behind the bracket or the item of a list that the member is in
    let before = before.rsplit(['{', '}', '[', ']', '<']).next().unwrap_or_default();
    if let Some(found) = before.rsplit([',', '\n', ';']).find_map(label) {
        return found.is_some();
    }
    let bytes = text.as_bytes();
    let Some(quote) = name.start.checked_sub(1).and_then(|before| bytes.get(before)).filter(|byte| is_quote(**byte))
    else {
        return false;
    };
    let slashes = bytes.get(start..).unwrap_or_default().iter().take(8).take_while(|byte| **byte == b'\\').count();
    if bytes.get(start + slashes) != Some(quote) {
        return false;
    }
    let within = bytes.get(..bytes.len().min(start + LONGEST_VALUE)).unwrap_or_default();
    let end = text.ceil_char_boundary(quoted_end(within, start + slashes + 1, *quote, slashes));
    let to = text.floor_char_boundary(end + WINDOW);
    let after = text.get(end..to).unwrap_or_default();
    let after = after.split(['{', '}', '[', ']']).next().unwrap_or_default();
    after.split(',').find_map(label).flatten().is_some()
}

/// Of a member `NAME: LABEL` in the role of a name, its label: `Some(None)` where that names no secret.
fn label(member: &str) -> Option<Option<Label>> {
    let (name, label) = member.split_once([':', '='])?;
    let bare = |text: &str| -> Range<usize> {
        let rest = text.trim_start_matches([' ', '\t', '\r', '\n', '"', '\'', '`', '\\', '-']);
        let start = text.len() - rest.len();
        start..start + rest.trim_end_matches([' ', '\t', '\r', '\n', '"', '\'', '`', '\\']).len()
    };
    let name = name.get(bare(name))?;
    (Role::of(name) == Role::Name).then(|| label.get(bare(label)).and_then(Label::of))
}

/// `["NAME", "VALUE"]` or `("NAME", "VALUE")`, at the bracket.
pub(super) fn list_of_two(walk: &TextWalk<'_>, at: usize) -> Option<(usize, usize)> {
    let (text, bytes) = (walk.text, walk.text.as_bytes());
    let (name_start, quote, opened) = opening(bytes, at + 1)?;
    let name = bytes.get(name_start..)?.iter().take(LONGEST_NAME + 1);
    let name_end = name_start + name.take_while(|byte| **byte != quote && **byte != b'\\').count();
    let name = text.get(name_start..name_end)?;
    if !can_name_second(name) {
        return None;
    }
    let behind = closed(bytes, name_end, quote, opened)?;
    let comma = behind + blanks(bytes, behind);
    let (start, quote, opened) = (bytes.get(comma) == Some(&b',')).then(|| opening(bytes, comma + 1)).flatten()?;
    if starts_placeholder(text.get(start..)?) {
        return None;
    }
    let within = bytes.get(..bytes.len().min(start + LONGEST_VALUE))?;
    let end = quoted_end(within, start, quote, opened);
    let behind = closed(bytes, end, quote, opened)?;
    let close = bytes.get(behind + blanks(bytes, behind));
    let before = bytes.get(..at)?.iter().rev().take(4).find(|byte| !byte.is_ascii_whitespace());
    let is_listed = matches!(before, Some(b'[' | b'(' | b','));
    if !matches!(close, Some(b']' | b')')) || !is_second(text.get(start..end)?, is_listed) {
        return None;
    }
    let end = if walk.for_approver { token_run_end(bytes, start).min(end) } else { end };
    (end > start).then_some((start, end))
}

/// The place behind an opening quote, the quote, and the backslashes before it.
fn opening(bytes: &[u8], at: usize) -> Option<(usize, u8, usize)> {
    let at = at + blanks(bytes, at);
    let slashes = bytes.get(at..)?.iter().take(8).take_while(|byte| **byte == b'\\').count();
    let quote = *bytes.get(at + slashes)?;
    is_quote(quote).then_some((at + slashes + 1, quote, slashes))
}

/// The place behind a closing quote with its backslashes.
fn closed(bytes: &[u8], at: usize, quote: u8, slashes: usize) -> Option<usize> {
    let found = bytes.get(at..)?.iter().take(8).take_while(|byte| **byte == b'\\').count();
    (found == slashes && bytes.get(at + found) == Some(&quote)).then_some(at + found + 1)
}
