//! The pass over the text: copies what is harmless, writes a placeholder where a secret was.

use std::borrow::Cow;

use super::{Redactor, is_secret_name, is_typed_name, pointer::Way, shapes};

/// As deep as the JSON reader of the rest of the gate goes. What lies deeper is redacted whole.
const DEEPEST: usize = 128;
/// JSON within strings is looked into this often: results repeat their JSON as text, and that text may do so again.
const NESTED: usize = 3;

pub(super) struct Scan<'a> {
    text: &'a str,
    at: usize,
    redactor: &'a Redactor,
    nested: usize,
}

/// What is known of a value before it is read.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Secret {
    No,
    /// Its name says so: numbers and truth values are kept, since `max_tokens` is a count.
    ByName,
    /// Its name says so, of numbers too: a password may be digits alone.
    ByNameOfTyped,
    /// A fact says so.
    ByFact,
}

impl<'a> Scan<'a> {
    pub(super) fn new(text: &'a str, redactor: &'a Redactor) -> Self {
        Self { text, at: 0, redactor, nested: 0 }
    }

    /// The whole text as one value; `None` if it is not JSON.
    pub(super) fn document(mut self, out: &mut String) -> Option<()> {
        let way = Way::root(&self.redactor.pointers);
        self.all(&way, out)
    }

    fn all(&mut self, way: &Way<'_>, out: &mut String) -> Option<()> {
        self.value(way, Secret::No, 0, out)?;
        self.space();
        (self.at == self.text.len()).then_some(())
    }

    fn value(&mut self, way: &Way<'_>, secret: Secret, depth: usize, out: &mut String) -> Option<()> {
        self.space();
        let secret = if way.is_secret() { Secret::ByFact } else { secret };
        let start = self.at;
        match self.peek()? {
            b'{' | b'[' if secret != Secret::No || depth >= DEEPEST => {
                self.skip_nest()?;
                self.placeholder(start, out);
            }
            b'{' => self.object(way, depth, out)?,
            b'[' => self.array(way, depth, out)?,
            b'"' => {
                let raw = self.string()?;
                self.text_value(raw, secret, out)?;
            }
            _ => {
                let word = self.word()?;
                let number = word.starts_with(|first: char| first == '-' || first.is_ascii_digit());
                match secret {
                    Secret::ByFact => self.placeholder(start, out),
                    Secret::ByNameOfTyped if number => self.placeholder(start, out),
                    _ => out.push_str(word),
                }
            }
        }
        Some(())
    }

    fn object(&mut self, way: &Way<'_>, depth: usize, out: &mut String) -> Option<()> {
        self.take(b'{')?;
        out.push('{');
        self.space();
        if self.peek()? == b'}' {
            self.at += 1;
            out.push('}');
            return Some(());
        }
        loop {
            self.space();
            let raw = self.string()?;
            let name = decode(raw)?;
            // A name may be a secret itself: a table of sessions by their tokens.
            self.text_value(raw, Secret::No, out)?;
            self.space();
            self.take(b':')?;
            out.push(':');
            let secret = match is_secret_name(&name) {
                true if is_typed_name(&name) => Secret::ByNameOfTyped,
                true => Secret::ByName,
                false => Secret::No,
            };
            self.value(&way.down(|step| step == name), secret, depth + 1, out)?;
            self.space();
            match self.next()? {
                b',' => out.push(','),
                b'}' => break,
                _ => return None,
            }
        }
        out.push('}');
        Some(())
    }

    fn array(&mut self, way: &Way<'_>, depth: usize, out: &mut String) -> Option<()> {
        self.take(b'[')?;
        out.push('[');
        self.space();
        if self.peek()? == b']' {
            self.at += 1;
            out.push(']');
            return Some(());
        }
        let mut index = 0_usize;
        loop {
            let way = way.down(|step| step.parse() == Ok(index));
            self.value(&way, Secret::No, depth + 1, out)?;
            index += 1;
            self.space();
            match self.next()? {
                b',' => out.push(','),
                b']' => break,
                _ => return None,
            }
        }
        out.push(']');
        Some(())
    }

    /// A string, quotes included, as it stands or without what is secret in it.
    fn text_value(&self, raw: &str, secret: Secret, out: &mut String) -> Option<()> {
        let text = decode(raw)?;
        if secret != Secret::No {
            out.push('"');
            self.redactor.placeholder(&text, out);
            out.push('"');
            return Some(());
        }
        match self.without_nested(&text).or_else(|| self.without_shapes(&text)) {
            Some(clean) => out.push_str(&serde_json::Value::from(clean).to_string()),
            None => out.push_str(raw),
        }
        Some(())
    }

    fn without_shapes(&self, text: &str) -> Option<String> {
        shapes::replace(text, |secret, out| self.redactor.placeholder(secret, out))
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
        let mut inner = Scan { text, at: 0, redactor: self.redactor, nested: self.nested + 1 };
        let mut out = String::with_capacity(text.len());
        inner.all(&Way::default(), &mut out)?;
        (out != compact(text)).then_some(out)
    }

    fn placeholder(&self, start: usize, out: &mut String) {
        out.push('"');
        self.redactor.placeholder(self.text.get(start..self.at).unwrap_or_default(), out);
        out.push('"');
    }

    /// A string with its quotes, not decoded.
    fn string(&mut self) -> Option<&'a str> {
        let start = self.at;
        self.take(b'"')?;
        loop {
            let rest = self.text.as_bytes().get(self.at..)?;
            self.at += rest.iter().position(|byte| matches!(byte, b'"' | b'\\' | 0..0x20))?;
            match self.next()? {
                b'"' => break,
                b'\\' => self.at += 1,
                _ => return None,
            }
        }
        self.text.get(start..self.at)
    }

    /// A number, `true`, `false` or `null`.
    fn word(&mut self) -> Option<&'a str> {
        let start = self.at;
        while self.peek().is_some_and(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'+' | b'.')) {
            self.at += 1;
        }
        let word = self.text.get(start..self.at)?;
        serde_json::from_str::<serde::de::IgnoredAny>(word).is_ok().then_some(word)
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

    fn space(&mut self) {
        while self.peek().is_some_and(|byte| matches!(byte, b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
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

/// What a string with its quotes says. Escapes are read, or a secret could hide in them.
fn decode(raw: &str) -> Option<Cow<'_, str>> {
    let inner = raw.get(1..raw.len().checked_sub(1)?)?;
    if inner.contains('\\') { serde_json::from_str(raw).ok().map(Cow::Owned) } else { Some(Cow::Borrowed(inner)) }
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
