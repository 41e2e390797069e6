//! Words whose letters are not all what they seem.

use super::{Hit, WarningKind};
use crate::pin::{
    look_alike::look_alike,
    visible::{Run, runs},
};

/// The first word that mixes scripts, and the first that is look-alikes throughout.
pub(super) fn hits(text: &str) -> Vec<Hit> {
    if text.is_ascii() {
        return Vec::new();
    }
    let words = runs(text);
    let mixed = words.iter().find(|word| mixes(word)).map(|word| (word.start, WarningKind::MixedScripts));
    // In a text of another script, a word of look-alikes is just a word.
    let own_script = words.iter().flat_map(Run::letters).any(|c| !c.is_ascii() && look_alike(c).is_none());
    let passes = |word: &&Run<'_>| word.is_look_alike() && word.letters().nth(1).is_some();
    let other = words.iter().find(passes).filter(|_| !own_script);
    mixed.into_iter().chain(other.map(|word| (word.start, WarningKind::LookAlike))).collect()
}

/// Letters of ASCII beside letters that pass for them. Greek alone has honest uses (`μs`), so only its look-alikes count.
fn mixes(word: &Run<'_>) -> bool {
    word.has_ascii_letter() && word.letters().any(|c| is_near_latin(c) || look_alike(c).is_some())
}

/// Cyrillic, Armenian and Cherokee.
fn is_near_latin(c: char) -> bool {
    matches!(u32::from(c), 0x400..=0x58f | 0x13a0..=0x13ff | 0x1c80..=0x1c8f | 0xa640..=0xa69f | 0xab70..=0xabbf)
}
