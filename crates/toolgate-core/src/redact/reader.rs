//! The smallest parts of JSON that the pass reads: strings, words, brackets and what stands between them.

use std::borrow::Cow;

use super::scan::Scan;
use crate::plain::plain_bytes;

impl<'a> Scan<'a> {
    /// What a string says. Escapes are read, or a secret could hide in them.
    pub(super) fn string(&mut self) -> Option<Cow<'a, str>> {
        let start = self.at;
        let mut escaped = false;
        self.take(b'"')?;
        loop {
            self.at += plain_bytes(self.text.as_bytes().get(self.at..)?);
            match self.next()? {
                b'"' => break,
                b'\\' => {
                    escaped = true;
                    self.at += 1;
                }
                _ => return None,
            }
        }
        if escaped {
            return serde_json::from_str(self.text.get(start..self.at)?).ok().map(Cow::Owned);
        }
        self.text.get(start + 1..self.at - 1).map(Cow::Borrowed)
    }

    /// The second string of a list that ends with it, seen from the end of the first. The place stays.
    pub(super) fn second_of_two(&mut self) -> Option<Cow<'a, str>> {
        let start = self.at;
        let second = self.last_string();
        self.at = start;
        second
    }

    fn last_string(&mut self) -> Option<Cow<'a, str>> {
        self.skip_blanks();
        self.take(b',')?;
        self.skip_blanks();
        let last = self.string()?;
        self.skip_blanks();
        self.take(b']')?;
        Some(last)
    }

    /// A number, `true`, `false` or `null`.
    pub(super) fn word(&mut self) -> Option<()> {
        let start = self.at;
        while self.peek().is_some_and(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'+' | b'.')) {
            self.at += 1;
        }
        match self.text.get(start..self.at)? {
            "true" | "false" | "null" => Some(()),
            word => serde_json::from_str::<serde::de::IgnoredAny>(word).is_ok().then_some(()),
        }
    }

    /// Past an object or array without looking into it.
    pub(super) fn skip_nest(&mut self) -> Option<()> {
        let mut depth = 0_usize;
        loop {
            match self.peek()? {
                b'"' => {
                    self.string()?;
                    continue;
                }
                b'{' | b'[' => depth += 1,
                b'}' | b']' => depth = depth.checked_sub(1)?,
                _ => {}
            }
            self.at += 1;
            if depth == 0 {
                return Some(());
            }
        }
    }

    /// Past white space, which does not stay.
    pub(super) fn space(&mut self, out: &mut String) {
        let start = self.at;
        self.skip_blanks();
        if self.at > start {
            self.copy(start, out);
            self.copied = self.at;
        }
    }

    fn skip_blanks(&mut self) {
        while self.peek().is_some_and(|byte| matches!(byte, b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    pub(super) fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    pub(super) fn next(&mut self) -> Option<u8> {
        let byte = self.peek()?;
        self.at += 1;
        Some(byte)
    }

    pub(super) fn take(&mut self, wanted: u8) -> Option<()> {
        (self.next()? == wanted).then_some(())
    }
}

/// JSON without white space between values: what the pass makes of a text without secrets.
pub(super) fn compact(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let (mut within, mut escaped) = (false, false);
    for c in text.chars() {
        if within || !matches!(c, ' ' | '\t' | '\n' | '\r') {
            out.push(c);
        }
        if c == '"' && !escaped {
            within = !within;
        }
        escaped = within && c == '\\' && !escaped;
    }
    out
}
