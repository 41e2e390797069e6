//! Text as a model takes it: no matter how it is dressed, the same words are the same.

use crate::pin::{
    invisible::{Unseen, shadowed, unseen},
    look_alike::look_alike,
};

/// Small letters, look-alikes as what they imitate, one space for any blank, nothing invisible, tags as their ASCII.
pub(super) struct Folded {
    pub(super) text: String,
    /// For each byte of `text`, where it came from, in bytes.
    origin: Vec<usize>,
}

impl Folded {
    pub(super) fn new(text: &str) -> Self {
        let mut folded = Self { text: String::with_capacity(text.len()), origin: Vec::with_capacity(text.len()) };
        for (at, c) in text.char_indices() {
            folded.take(at, c);
        }
        folded
    }

    pub(super) fn origin(&self, byte: usize) -> usize {
        self.origin.get(byte).copied().unwrap_or_default()
    }

    fn take(&mut self, at: usize, c: char) {
        let plain = shadowed(c).or_else(|| look_alike(c)).unwrap_or(c);
        match unseen(plain) {
            Some(Unseen::Space | Unseen::Control) => self.blank(at),
            Some(_) => {}
            None => match plain {
                ' ' => self.blank(at),
                // Emphasis in Markdown.
                '*' | '`' => {}
                '\u{2019}' => self.push(at, '\''),
                _ => plain.to_lowercase().for_each(|c| self.push(at, c)),
            },
        }
    }

    fn blank(&mut self, at: usize) {
        if !self.text.ends_with(' ') {
            self.push(at, ' ');
        }
    }

    fn push(&mut self, at: usize, c: char) {
        self.text.push(c);
        self.origin.resize(self.text.len(), at);
    }
}
