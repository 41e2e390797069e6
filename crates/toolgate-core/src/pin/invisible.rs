//! Characters that a reader does not see, or sees as something else than a model does.

use crate::caller::words;
use serde::{Deserialize, Serialize};

words! {
    /// Why a character is not seen.
    Unseen("unseen") {
        Control = "control",
        /// Shows what follows in another order than it is read.
        Bidi = "bidi",
        /// Takes no room.
        ZeroWidth = "zero_width",
        /// Changes the look of the character before it, and can carry bytes.
        VariationSelector = "variation_selector",
        /// A shadow of ASCII that is never shown.
        Tag = "tag",
        /// Means what a font says it means.
        PrivateUse = "private_use",
        /// Never assigned to a character.
        NonCharacter = "non_character",
        /// A blank that is not U+0020.
        Space = "space",
        /// Joins the letter before it.
        Combining = "combining",
    }
}

/// Ranges that are kinds as a whole; the first that holds a character is its kind.
const KINDS: &[(u32, u32, Unseen)] = &[
    (0x00, 0x1f, Unseen::Control),
    (0x7f, 0x9f, Unseen::Control),
    (0xa0, 0xa0, Unseen::Space),
    (0xad, 0xad, Unseen::ZeroWidth),
    (0x34f, 0x34f, Unseen::ZeroWidth),
    (0x300, 0x36f, Unseen::Combining),
    (0x61c, 0x61c, Unseen::Bidi),
    (0x115f, 0x1160, Unseen::ZeroWidth),
    (0x1680, 0x1680, Unseen::Space),
    (0x17b4, 0x17b5, Unseen::ZeroWidth),
    (0x180b, 0x180d, Unseen::VariationSelector),
    (0x180e, 0x180e, Unseen::ZeroWidth),
    (0x180f, 0x180f, Unseen::VariationSelector),
    (0x1ab0, 0x1aff, Unseen::Combining),
    (0x1dc0, 0x1dff, Unseen::Combining),
    (0x2000, 0x200a, Unseen::Space),
    (0x200b, 0x200d, Unseen::ZeroWidth),
    (0x200e, 0x200f, Unseen::Bidi),
    (0x2028, 0x2029, Unseen::Control),
    (0x202a, 0x202e, Unseen::Bidi),
    (0x202f, 0x202f, Unseen::Space),
    (0x205f, 0x205f, Unseen::Space),
    (0x2060, 0x2065, Unseen::ZeroWidth),
    (0x2066, 0x2069, Unseen::Bidi),
    (0x206a, 0x206f, Unseen::ZeroWidth),
    (0x20d0, 0x20ff, Unseen::Combining),
    (0x2800, 0x2800, Unseen::Space),
    (0x3000, 0x3000, Unseen::Space),
    (0x3164, 0x3164, Unseen::ZeroWidth),
    (0xe000, 0xf8ff, Unseen::PrivateUse),
    (0xfdd0, 0xfdef, Unseen::NonCharacter),
    (0xfe00, 0xfe0f, Unseen::VariationSelector),
    (0xfe20, 0xfe2f, Unseen::Combining),
    (0xfeff, 0xfeff, Unseen::ZeroWidth),
    (0xffa0, 0xffa0, Unseen::ZeroWidth),
    (0xfff0, 0xfffb, Unseen::ZeroWidth),
    (0x13430, 0x1343f, Unseen::ZeroWidth),
    (0x1bca0, 0x1bca3, Unseen::ZeroWidth),
    (0x1d173, 0x1d17a, Unseen::ZeroWidth),
    (0xe0100, 0xe01ef, Unseen::VariationSelector),
    (0xe0000, 0xe0fff, Unseen::Tag),
    (0xf0000, 0xffffd, Unseen::PrivateUse),
    (0x10_0000, 0x10_fffd, Unseen::PrivateUse),
];

/// The names worth knowing by heart. Others are called by their kind.
const NAMES: &[(char, &str)] = &[
    ('\0', "NULL"),
    ('\u{8}', "BACKSPACE"),
    ('\u{1b}', "ESCAPE"),
    ('\u{7f}', "DELETE"),
    ('\u{9b}', "CONTROL SEQUENCE INTRODUCER"),
    ('\u{a0}', "NO-BREAK SPACE"),
    ('\u{ad}', "SOFT HYPHEN"),
    ('\u{34f}', "COMBINING GRAPHEME JOINER"),
    ('\u{61c}', "ARABIC LETTER MARK"),
    ('\u{115f}', "HANGUL CHOSEONG FILLER"),
    ('\u{1160}', "HANGUL JUNGSEONG FILLER"),
    ('\u{180e}', "MONGOLIAN VOWEL SEPARATOR"),
    ('\u{200b}', "ZERO WIDTH SPACE"),
    ('\u{200c}', "ZERO WIDTH NON-JOINER"),
    ('\u{200d}', "ZERO WIDTH JOINER"),
    ('\u{200e}', "LEFT-TO-RIGHT MARK"),
    ('\u{200f}', "RIGHT-TO-LEFT MARK"),
    ('\u{2028}', "LINE SEPARATOR"),
    ('\u{2029}', "PARAGRAPH SEPARATOR"),
    ('\u{202a}', "LEFT-TO-RIGHT EMBEDDING"),
    ('\u{202b}', "RIGHT-TO-LEFT EMBEDDING"),
    ('\u{202c}', "POP DIRECTIONAL FORMATTING"),
    ('\u{202d}', "LEFT-TO-RIGHT OVERRIDE"),
    ('\u{202e}', "RIGHT-TO-LEFT OVERRIDE"),
    ('\u{202f}', "NARROW NO-BREAK SPACE"),
    ('\u{2060}', "WORD JOINER"),
    ('\u{2061}', "FUNCTION APPLICATION"),
    ('\u{2062}', "INVISIBLE TIMES"),
    ('\u{2063}', "INVISIBLE SEPARATOR"),
    ('\u{2064}', "INVISIBLE PLUS"),
    ('\u{2066}', "LEFT-TO-RIGHT ISOLATE"),
    ('\u{2067}', "RIGHT-TO-LEFT ISOLATE"),
    ('\u{2068}', "FIRST STRONG ISOLATE"),
    ('\u{2069}', "POP DIRECTIONAL ISOLATE"),
    ('\u{2800}', "BRAILLE PATTERN BLANK"),
    ('\u{3000}', "IDEOGRAPHIC SPACE"),
    ('\u{3164}', "HANGUL FILLER"),
    ('\u{feff}', "ZERO WIDTH NO-BREAK SPACE"),
    ('\u{ffa0}', "HALFWIDTH HANGUL FILLER"),
];

/// The kind of a character that is not seen; none of one that is.
pub fn unseen(c: char) -> Option<Unseen> {
    if matches!(c, ' '..='~') {
        return None;
    }
    let code = u32::from(c);
    if code & 0xfffe == 0xfffe {
        return Some(Unseen::NonCharacter);
    }
    KINDS.iter().find(|(first, last, _)| (*first..=*last).contains(&code)).map(|(_, _, kind)| *kind)
}

/// The ASCII that a tag character shadows.
pub(crate) fn shadowed(c: char) -> Option<char> {
    let code = u32::from(c).checked_sub(0xe0000)?;
    (0x20..=0x7e).contains(&code).then(|| char::from_u32(code)).flatten()
}

/// What a mark calls the character.
pub(super) fn name(c: char, kind: Unseen) -> String {
    if let Some((_, name)) = NAMES.iter().find(|(known, _)| *known == c) {
        return (*name).to_owned();
    }
    let code = u32::from(c);
    match (kind, code) {
        (Unseen::Tag, _) => shadowed(c).map_or_else(|| "TAG".to_owned(), |ascii| format!("TAG {ascii}")),
        (Unseen::VariationSelector, 0xfe00..=0xfe0f) => format!("VARIATION SELECTOR-{}", code - 0xfe00 + 1),
        (Unseen::VariationSelector, 0xe0100..) => format!("VARIATION SELECTOR-{}", code - 0xe0100 + 17),
        _ => kind.as_str().replace('_', " ").to_uppercase(),
    }
}
