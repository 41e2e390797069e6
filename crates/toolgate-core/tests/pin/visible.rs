//! Nothing hides in what is shown.

use toolgate_core::pin::{Unseen, look_alike, unseen, visible};

use super::random::text;
use crate::fixtures::random::Random;

#[test]
fn what_is_not_seen_is_named() {
    assert_eq!(visible("a\u{200b}b"), "a⟨U+200B ZERO WIDTH SPACE⟩b");
    assert_eq!(visible("\u{202e}"), "⟨U+202E RIGHT-TO-LEFT OVERRIDE⟩");
    assert_eq!(visible("\u{e0068}\u{e0069}\u{e0001}"), "⟨U+E0068 TAG h⟩⟨U+E0069 TAG i⟩⟨U+E0001 TAG⟩");
    assert_eq!(visible("\u{fe0f}\u{e0100}"), "⟨U+FE0F VARIATION SELECTOR-16⟩⟨U+E0100 VARIATION SELECTOR-17⟩");
    assert_eq!(visible("\u{ad}\u{1b}[0m"), "⟨U+00AD SOFT HYPHEN⟩⟨U+001B ESCAPE⟩[0m");
    assert_eq!(visible("\u{1}\u{e000}\u{fdd0}"), "⟨U+0001 CONTROL⟩⟨U+E000 PRIVATE USE⟩⟨U+FDD0 NON CHARACTER⟩");
    assert_eq!(visible("e\u{301}\u{a0}"), "e⟨U+0301 COMBINING⟩⟨U+00A0 NO-BREAK SPACE⟩");
}

#[test]
fn a_look_alike_is_marked_where_its_word_passes_for_ascii() {
    assert_eq!(visible("p\u{430}y"), "p⟨U+0430 like a⟩y");
    assert_eq!(visible("\u{441}\u{43e}\u{440}\u{443}"), "⟨U+0441 like c⟩⟨U+043E like o⟩⟨U+0440 like p⟩⟨U+0443 like y⟩");
    assert_eq!(
        visible("\u{ff21}\u{1d41a}\u{1d7d8}\u{24d0}"),
        "⟨U+FF21 like A⟩⟨U+1D41A like a⟩⟨U+1D7D8 like 0⟩⟨U+24D0 like a⟩"
    );
    assert_eq!(visible("\u{430}\u{200b}b"), "⟨U+0430 like a⟩⟨U+200B ZERO WIDTH SPACE⟩b");
}

#[test]
fn honest_text_of_any_script_stays_readable() {
    for text in
        ["Reads a file: naïve, Größe, 5 μs", "Читает файл", "Διαβάζει αρχείο", "ファイルを読む（API名）", "😀 ok"]
    {
        assert_eq!(visible(text), text);
    }
}

#[test]
fn shown_text_is_one_line_and_no_text_forges_a_mark() {
    assert_eq!(visible("a\nb\tc\r\\n"), "a\\nb\\tc\\r\\\\n");
    assert_eq!(visible("⟨U+0430 like a⟩"), "⟨U+27E8 ANGLE BRACKET⟩U+0430 like a⟩");
}

/// Written down again, from the brief and not from the table.
fn categories() -> Vec<(Unseen, Vec<std::ops::RangeInclusive<u32>>)> {
    vec![
        (Unseen::Control, vec![0..=0x1f, 0x7f..=0x9f, 0x2028..=0x2029]),
        (Unseen::Bidi, vec![0x61c..=0x61c, 0x200e..=0x200f, 0x202a..=0x202e, 0x2066..=0x2069]),
        (Unseen::ZeroWidth, vec![0xad..=0xad, 0x200b..=0x200d, 0x2060..=0x2064, 0x206a..=0x206f, 0xfeff..=0xfeff]),
        (Unseen::ZeroWidth, vec![0x34f..=0x34f, 0x115f..=0x1160, 0x3164..=0x3164, 0xffa0..=0xffa0, 0xfff9..=0xfffb]),
        (Unseen::VariationSelector, vec![0xfe00..=0xfe0f, 0xe0100..=0xe01ef, 0x180b..=0x180d]),
        (Unseen::Tag, vec![0xe0000..=0xe00ff]),
        (Unseen::PrivateUse, vec![0xe000..=0xf8ff, 0xf0000..=0xffffd, 0x100000..=0x10fffd]),
        (Unseen::NonCharacter, vec![0xfdd0..=0xfdef, 0xfffe..=0xffff, 0x1fffe..=0x1ffff, 0x10fffe..=0x10ffff]),
        (Unseen::Space, vec![0xa0..=0xa0, 0x2000..=0x200a, 0x202f..=0x202f, 0x3000..=0x3000]),
    ]
}

#[test]
fn every_code_point_of_every_category_is_made_visible() {
    let mut seen = 0;
    for (kind, ranges) in categories() {
        for c in ranges.into_iter().flatten().filter_map(char::from_u32) {
            assert_eq!(unseen(c), Some(kind), "{c:?}");
            let shown = visible(&format!("a{c}b"));
            assert!(!shown.contains(c), "{c:?}");
            let code = format!("⟨U+{:04X} ", u32::from(c));
            assert!(matches!(c, '\n' | '\t' | '\r') || shown.contains(&code), "{shown}");
            seen += 1;
        }
    }
    assert!(seen > 137_000, "{seen}");
}

#[test]
fn what_rust_calls_a_control_or_a_blank_is_always_marked() {
    for c in (0..=0x10_ffff).filter_map(char::from_u32).filter(|c| c.is_control() || c.is_whitespace() && *c != ' ') {
        assert!(!visible(&c.to_string()).contains(c), "{c:?}");
    }
}

#[test]
fn look_alikes_imitate_ascii_letters_and_digits_alone() {
    let all = (0..=0x1_ffff).filter_map(char::from_u32);
    let known: Vec<(char, char)> = all.filter_map(|c| Some((c, look_alike(c)?))).collect();
    assert!(known.len() > 900, "{}", known.len());
    assert!(known.iter().all(|(c, ascii)| !c.is_ascii() && ascii.is_ascii_alphanumeric() && unseen(*c).is_none()));
    for letter in ('a'..='z').chain('A'..='Z').chain('0'..='9') {
        assert!(known.iter().any(|(_, ascii)| *ascii == letter), "{letter}");
    }
}

#[test]
fn different_texts_are_shown_differently() {
    let mut random = Random::new(61);
    for _ in 0..20_000 {
        let (one, other) = (text(&mut random, 3), text(&mut random, 3));
        assert_eq!(one == other, visible(&one) == visible(&other), "{one:?} {other:?}");
    }
}
