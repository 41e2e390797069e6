//! The pass over the text: copies what is harmless, writes a placeholder where a secret was.

use std::borrow::Cow;

use super::{
    Redactor, is_placeholder,
    names::{NameKind, name_kind},
    pairs::{Pair, Role},
    pointer::Way,
    secret::Secret,
};
use crate::plain::plain_bytes;

/// As deep as the JSON reader of the rest of the gate goes. What lies deeper is redacted whole.
const DEEPEST: usize = 128;
/// JSON within strings is looked into this often: results repeat their JSON as text, and that text may do so again.
const NESTED: usize = 3;

pub(super) struct Scan<'a> {
    text: &'a str,
    at: usize,
    /// What comes before is in the output already. Harmless text is copied from here in one piece, when it must be.
    copied: usize,
    /// The end of the last name or value that was read whole.
    done: usize,
    redactor: &'a Redactor,
    nested: usize,
}

impl<'a> Scan<'a> {
    pub(super) fn new(text: &'a str, redactor: &'a Redactor) -> Self {
        Self { text, at: 0, copied: 0, done: 0, redactor, nested: 0 }
    }

    /// The whole text as one value; `None` if it is not JSON.
    pub(super) fn document(mut self, out: &mut String) -> Option<()> {
        let way = Way::root(&self.redactor.pointers);
        self.all(&way, out)
    }

    /// The beginning of a text that may end anywhere: what is whole in it, and no part of anything else.
    pub(super) fn beginning(mut self, out: &mut String) {
        let way = Way::root(&self.redactor.pointers);
        if self.all(&way, out).is_none() && self.copied < self.done {
            self.copy(self.done, out);
        }
    }

    fn all(&mut self, way: &Way<'_>, out: &mut String) -> Option<()> {
        self.value(way, Secret::NO, 0, out)?;
        self.space(out);
        self.copy(self.at, out);
        (self.at == self.text.len()).then_some(())
    }

    fn value(&mut self, way: &Way<'_>, secret: Secret, depth: usize, out: &mut String) -> Option<()> {
        self.space(out);
        let secret = if way.is_secret() { Secret::ByFact } else { secret };
        let start = self.at;
        match self.peek()? {
            b'{' | b'[' if secret.covers_nest() || depth >= DEEPEST => {
                self.skip_nest()?;
                self.placeholder(start, out);
            }
            b'{' => self.object(way, depth, out)?,
            b'[' => self.array(way, depth, out)?,
            b'"' => {
                let text = self.string()?;
                self.text_value(start, &text, secret, out);
            }
            first => {
                self.word()?;
                let number = first == b'-' || first.is_ascii_digit();
                if secret == Secret::ByFact || (number && secret.covers_number()) {
                    self.placeholder(start, out);
                }
            }
        }
        self.done = self.at;
        Some(())
    }

    fn object(&mut self, way: &Way<'_>, depth: usize, out: &mut String) -> Option<()> {
        let mut pair = Pair::default();
        let read = self.members(way, depth, &mut pair, out);
        if read.is_none() {
            // its name may be in the part that can't be read
            self.hide(&mut pair, out);
        }
        read
    }

    fn members(&mut self, way: &Way<'_>, depth: usize, pair: &mut Pair, out: &mut String) -> Option<()> {
        self.take(b'{')?;
        self.space(out);
        if self.peek()? == b'}' {
            self.at += 1;
            return Some(());
        }
        loop {
            self.space(out);
            let start = self.at;
            let name = self.string()?;
            // A name may be a secret itself: a table of sessions by their tokens.
            self.text_value(start, &name, Secret::NO, out);
            self.space(out);
            self.take(b':')?;
            let kind = name_kind(&name);
            let way = way.down(|step| step == name);
            match Role::of(&name) {
                Role::Value if pair.is_named => {
                    let secret = if kind.is_certain() { self.named(kind) } else { self.worded(NameKind::Typed) };
                    self.value(&way, secret, depth + 1, out)?;
                }
                Role::Value => {
                    self.space(out);
                    self.copy(self.at, out);
                    let (from, source) = (out.len(), self.at);
                    let read = self.value(&way, self.named(kind), depth + 1, out);
                    // of a value that ends with the text, the part that was read is one too
                    let end = if read.is_some() { self.at } else { self.done.max(self.copied) };
                    self.copy(end, out);
                    pair.values.push((from..out.len(), source..end));
                    read?;
                }
                Role::Name => {
                    self.space(out);
                    let start = self.at;
                    let named = self.string().is_some_and(|label| name_kind(&label).is_certain());
                    self.at = start;
                    self.value(&way, self.named(kind), depth + 1, out)?;
                    if named {
                        self.copy(self.at, out);
                        self.hide(pair, out);
                        pair.is_named = true;
                    }
                }
                Role::Other => self.value(&way, self.named(kind), depth + 1, out)?,
            }
            self.space(out);
            match self.next()? {
                b',' => {}
                b'}' => return Some(()),
                _ => return None,
            }
        }
    }

    /// The secret that a member's name makes of its value. Within text the caller chose the name.
    fn named(&self, kind: NameKind) -> Secret {
        if self.nested == 0 { Secret::ByName(kind) } else { self.worded(kind) }
    }

    /// The secret that another value makes of this one: a name beside it, an option before it.
    fn worded(&self, kind: NameKind) -> Secret {
        if self.redactor.is_for_approver() { Secret::InCallersWords(kind) } else { Secret::ByName(kind) }
    }

    /// Takes the values of a pair out again, now that its name is known. What follows the first of them is written once more,
    /// however many there are.
    fn hide(&self, pair: &mut Pair, out: &mut String) {
        let Some(first) = pair.values.first().map(|(written, _)| written.start) else { return };
        let written_before = out.split_off(first.min(out.len()));
        let part = |from: usize, to: usize| written_before.get(from - first..to - first).unwrap_or_default();
        let mut end = first;
        for (written, source) in pair.values.drain(..) {
            out.push_str(part(end, written.start));
            end = written.end;
            let (kept, value) = (part(written.start, end), self.text.get(source).unwrap_or_default());
            let text = serde_json::from_str::<String>(value);
            let stays = match &text {
                _ if matches!(value, "true" | "false" | "null") || is_placeholder(kept.trim_matches('"')) => true,
                Ok(text) => !self.worded(NameKind::Typed).covers_text(text),
                Err(_) => value.starts_with(['{', '[']) && !self.worded(NameKind::Typed).covers_nest(),
            };
            if stays {
                out.push_str(kept);
                continue;
            }
            out.push('"');
            self.redactor.placeholder(text.as_deref().unwrap_or(value), out);
            out.push('"');
        }
        out.push_str(part(end, first + written_before.len()));
    }

    fn array(&mut self, way: &Way<'_>, depth: usize, out: &mut String) -> Option<()> {
        self.take(b'[')?;
        self.space(out);
        if self.peek()? == b']' {
            self.at += 1;
            return Some(());
        }
        let mut index = 0_usize;
        let mut kind = NameKind::Plain;
        loop {
            let way = way.down(|step| step.parse() == Ok(index));
            self.space(out);
            let next = self.option_kind();
            self.value(&way, self.worded(kind), depth + 1, out)?;
            kind = next;
            index += 1;
            self.space(out);
            match self.next()? {
                b',' => {}
                b']' => return Some(()),
                _ => return None,
            }
        }
    }

    /// What an item of a list says of the next one: `"--password"` stands before a password.
    fn option_kind(&mut self) -> NameKind {
        let start = self.at;
        if !self.text.as_bytes().get(start..).is_some_and(|rest| rest.starts_with(b"\"-")) {
            return NameKind::Plain;
        }
        let item = self.string();
        self.at = start;
        item.map_or(NameKind::Plain, |item| name_kind(item.trim_start_matches('-')))
    }

    /// A string that has just been read, quotes included, stays as it stands or loses what is secret in it.
    fn text_value(&mut self, start: usize, text: &str, secret: Secret, out: &mut String) {
        if secret.covers_text(text) {
            self.copy(start, out);
            out.push('"');
            self.redactor.placeholder(text, out);
            out.push('"');
        } else if let Some(clean) = self.without_nested(text).or_else(|| self.redactor.replaced(text)) {
            self.copy(start, out);
            out.push_str(&serde_json::Value::from(clean).to_string());
        } else {
            self.done = self.at;
            return;
        }
        (self.copied, self.done) = (self.at, self.at);
    }

    /// Puts what is harmless up to here into the output.
    fn copy(&mut self, end: usize, out: &mut String) {
        out.push_str(self.text.get(self.copied..end).unwrap_or_default());
        self.copied = end;
    }

    /// JSON in a string is redacted as JSON, facts aside; `None` where it is none or holds no secret.
    fn without_nested(&self, text: &str) -> Option<String> {
        if !matches!(text.trim_start().as_bytes().first(), Some(b'{' | b'[')) {
            return None;
        }
        if self.nested >= NESTED {
            if self.redactor.is_for_approver() {
                return None;
            }
            let mut out = String::new();
            self.redactor.placeholder(text, &mut out);
            return Some(out);
        }
        let mut inner = Scan { nested: self.nested + 1, ..Scan::new(text, self.redactor) };
        let mut out = String::with_capacity(text.len());
        inner.all(&Way::default(), &mut out)?;
        (out != compact(text)).then_some(out)
    }

    /// Instead of everything since `start`.
    fn placeholder(&mut self, start: usize, out: &mut String) {
        self.copy(start, out);
        out.push('"');
        self.redactor.placeholder(self.text.get(start..self.at).unwrap_or_default(), out);
        out.push('"');
        self.copied = self.at;
    }

    /// What a string says. Escapes are read, or a secret could hide in them.
    fn string(&mut self) -> Option<Cow<'a, str>> {
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

    /// A number, `true`, `false` or `null`.
    fn word(&mut self) -> Option<()> {
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
    fn skip_nest(&mut self) -> Option<()> {
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
    fn space(&mut self, out: &mut String) {
        let start = self.at;
        while self.peek().is_some_and(|byte| matches!(byte, b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
        if self.at > start {
            self.copy(start, out);
            self.copied = self.at;
        }
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn next(&mut self) -> Option<u8> {
        let byte = self.peek()?;
        self.at += 1;
        Some(byte)
    }

    fn take(&mut self, wanted: u8) -> Option<()> {
        (self.next()? == wanted).then_some(())
    }
}

/// JSON without white space between values: what the pass makes of a text without secrets.
fn compact(text: &str) -> String {
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
