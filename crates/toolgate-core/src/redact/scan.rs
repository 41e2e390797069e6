//! The pass over the text: copies what is harmless, writes a placeholder where a secret was.

use std::borrow::Cow;

use super::{
    Redactor, is_placeholder,
    names::{NameKind, name_kind},
    pairs::{Pair, Role},
    pointer::Way,
    text,
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

/// What is known of a value before it is read.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Secret {
    /// What its name says.
    ByName(NameKind),
    /// A fact says so.
    ByFact,
}

impl Secret {
    const NO: Self = Self::ByName(NameKind::Plain);

    /// Whether an object or array is one whole.
    fn covers_nest(self) -> bool {
        match self {
            Self::ByName(kind) => kind.is_certain(),
            Self::ByFact => true,
        }
    }

    fn covers_number(self) -> bool {
        matches!(self, Self::ByFact | Self::ByName(NameKind::Typed))
    }

    fn covers_text(self, text: &str) -> bool {
        match self {
            Self::ByName(kind) => kind.covers(text),
            Self::ByFact => true,
        }
    }
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
                    let kind = if kind.is_certain() { kind } else { NameKind::Typed };
                    self.value(&way, Secret::ByName(kind), depth + 1, out)?;
                }
                Role::Value => {
                    self.space(out);
                    self.copy(self.at, out);
                    let (from, source) = (out.len(), self.at);
                    self.value(&way, Secret::ByName(kind), depth + 1, out)?;
                    self.copy(self.at, out);
                    pair.values.push((from..out.len(), source..self.at));
                }
                Role::Name => {
                    self.space(out);
                    let start = self.at;
                    let named = self.string().is_some_and(|label| name_kind(&label).is_certain());
                    self.at = start;
                    self.value(&way, Secret::ByName(kind), depth + 1, out)?;
                    if named {
                        self.copy(self.at, out);
                        self.hide(pair, out);
                        pair.is_named = true;
                    }
                }
                Role::Other => self.value(&way, Secret::ByName(kind), depth + 1, out)?,
            }
            self.space(out);
            match self.next()? {
                b',' => {}
                b'}' => return Some(()),
                _ => return None,
            }
        }
    }

    /// Takes the values of a pair out again, now that its name is known.
    fn hide(&self, pair: &mut Pair, out: &mut String) {
        for (written, source) in pair.values.drain(..).rev() {
            let value = self.text.get(source).unwrap_or_default();
            if matches!(value, "true" | "false" | "null") {
                continue;
            }
            let mut hidden = String::from("\"");
            match serde_json::from_str::<String>(value) {
                Ok(text) => self.redactor.placeholder(&text, &mut hidden),
                Err(_) => self.redactor.placeholder(value, &mut hidden),
            }
            hidden.push('"');
            if out.get(written.clone()).is_some_and(|kept| !is_placeholder(kept.trim_matches('"'))) {
                out.replace_range(written, &hidden);
            }
        }
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
            self.value(&way, Secret::ByName(kind), depth + 1, out)?;
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
        } else if let Some(clean) = self.without_nested(text).or_else(|| self.without_shapes(text)) {
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

    fn without_shapes(&self, text: &str) -> Option<String> {
        text::replace(text, |secret, out| self.redactor.placeholder(secret, out))
    }

    /// JSON in a string is redacted as JSON, facts aside; `None` where it is none or holds no secret.
    fn without_nested(&self, text: &str) -> Option<String> {
        if !matches!(text.trim_start().as_bytes().first(), Some(b'{' | b'[')) {
            return None;
        }
        if self.nested >= NESTED {
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
