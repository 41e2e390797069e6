//! Characters that nobody sees, apart from those that writing needs.

use super::{Hit, WarningKind};
use crate::pin::invisible::{Unseen, unseen};

/// The first hit of each kind.
pub(super) fn hits(text: &str) -> Vec<Hit> {
    let mut hits: Vec<Hit> = Vec::new();
    let mut before = None;
    let mut rest = text.char_indices().peekable();
    while let Some((at, c)) = rest.next() {
        let after = rest.peek().map(|(_, c)| *c);
        let kind = unseen(c).and_then(|kind| suspicious(c, kind, before, after));
        if let Some(kind) = kind.filter(|kind| hits.iter().all(|(_, met)| met != kind)) {
            hits.push((at, kind));
        }
        before = Some(c);
    }
    hits
}

fn suspicious(c: char, kind: Unseen, before: Option<char>, after: Option<char>) -> Option<WarningKind> {
    let next_to = |is: fn(char) -> bool| before.is_some_and(is) && after.is_some_and(is);
    match (kind, c) {
        (Unseen::Space | Unseen::Combining, _) | (Unseen::Control, '\n' | '\t') => None,
        (Unseen::Control, '\r') if after == Some('\n') => None,
        (Unseen::Control, '\u{1b}' | '\u{9b}') => Some(WarningKind::TerminalEscape),
        (Unseen::Bidi, _) => Some(WarningKind::Bidi),
        // An emoji's own: one selector behind a symbol, a joiner between two.
        (Unseen::VariationSelector, '\u{fe0e}' | '\u{fe0f}') if before.is_some_and(is_symbol) => None,
        (Unseen::VariationSelector, '\u{fe0f}') if after == Some(KEYCAP) => None,
        (Unseen::ZeroWidth, '\u{200d}') if next_to(|c| is_symbol(c) || c == '\u{fe0f}') => None,
        // Persian and the scripts of India spell with joiners.
        (Unseen::ZeroWidth, '\u{200c}' | '\u{200d}') if next_to(joins) => None,
        _ => Some(WarningKind::Invisible),
    }
}

/// Encloses the digit before it.
const KEYCAP: char = '\u{20e3}';

fn is_symbol(c: char) -> bool {
    let symbol =
        matches!(u32::from(c), 0xa9 | 0xae | 0x203c..=0x2bff | 0x3030 | 0x303d | 0x3297 | 0x3299 | 0x1f000..=0x1faff);
    symbol && unseen(c).is_none()
}

fn joins(c: char) -> bool {
    matches!(u32::from(c), 0x620..=0x8ff | 0x900..=0xdff | 0x1000..=0x109f | 0x1780..=0x17b3)
}
