//! Text as a reader should see it: nothing invisible, no letter that passes for another.

use super::{
    invisible::{name, unseen},
    look_alike::look_alike,
};

/// Opens every mark. In a text it is marked itself, so that no text can forge one.
const OPEN: char = '\u{27e8}';
const CLOSE: char = '\u{27e9}';

/// The text on one line of letters that are what they look like: `⟨U+200B ZERO WIDTH SPACE⟩` for what is not seen,
/// `⟨U+0430 like a⟩` for a look-alike in a word that passes for ASCII, `\n`, `\t`, `\r` and `\\` as in JSON.
pub fn visible(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for run in runs(text) {
        let imitates = run.imitates_ascii();
        run.text.chars().for_each(|c| show(c, imitates, &mut out));
    }
    out
}

fn show(c: char, imitates: bool, out: &mut String) {
    match c {
        '\n' => out.push_str("\\n"),
        '\t' => out.push_str("\\t"),
        '\r' => out.push_str("\\r"),
        '\\' => out.push_str("\\\\"),
        OPEN => out.push_str(&mark(c, "ANGLE BRACKET")),
        _ => match (unseen(c), look_alike(c)) {
            (Some(kind), _) => out.push_str(&mark(c, &name(c, kind))),
            (None, Some(ascii)) if imitates => out.push_str(&mark(c, &format!("like {ascii}"))),
            _ => out.push(c),
        },
    }
}

fn mark(c: char, what: &str) -> String {
    format!("{OPEN}{} {what}{CLOSE}", code_point(c))
}

pub(super) fn code_point(c: char) -> String {
    format!("U+{:04X}", u32::from(c))
}

/// A stretch of text that is one word, or the stretch between two.
pub(super) struct Run<'a> {
    /// Bytes into the text.
    pub(super) start: usize,
    pub(super) text: &'a str,
}

impl Run<'_> {
    /// The letters and digits a reader sees.
    pub(super) fn letters(&self) -> impl Iterator<Item = char> {
        self.text.chars().filter(|c| unseen(*c).is_none() && in_word(*c))
    }

    pub(super) fn has_ascii_letter(&self) -> bool {
        self.text.chars().any(|c| c.is_ascii_alphabetic())
    }

    /// Every letter is a look-alike, so that the whole word passes for one in ASCII.
    pub(super) fn is_look_alike(&self) -> bool {
        let mut letters = self.letters().filter(|c| !c.is_ascii_digit()).peekable();
        letters.peek().is_some() && letters.all(|c| look_alike(c).is_some())
    }

    fn imitates_ascii(&self) -> bool {
        self.has_ascii_letter() || self.is_look_alike()
    }
}

/// The text cut where words start and end. What takes no room does not end a word.
pub(super) fn runs(text: &str) -> Vec<Run<'_>> {
    let mut runs = Vec::new();
    let mut start = 0;
    let mut word = false;
    for (at, c) in text.char_indices() {
        if in_word(c) != word {
            runs.extend(text.get(start..at).map(|text| Run { start, text }));
            start = at;
            word = !word;
        }
    }
    runs.extend(text.get(start..).map(|text| Run { start, text }));
    runs
}

fn in_word(c: char) -> bool {
    use super::invisible::Unseen::{Control, Space};
    match unseen(c) {
        Some(kind) => !matches!(kind, Control | Space),
        None => c.is_alphanumeric() || look_alike(c).is_some(),
    }
}
