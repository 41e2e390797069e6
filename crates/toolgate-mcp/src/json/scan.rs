//! One pass over a message: is it JSON, within limits, without a key twice; and where its members lie.
//!
//! Accepts exactly what `serde_json` accepts as a `Value`, minus limits, duplicate keys and the keys that `serde_json` keeps
//! for itself, so that nothing read from a scanned slice later can fail on syntax, or be another value than its text. Members of the outer objects are handed to a [`Sink`]
//! as slices of the message; nothing is copied but keys written with escapes.

use std::borrow::Cow;

use toolgate_core::{is_reserved_key, plain_bytes};

use super::{
    fault::{Fault, FaultKind},
    limits::Limits,
};

/// Takes the members of the message's outer objects, as they complete.
pub(crate) trait Sink<'a> {
    /// How many levels of objects the sink wants to hear of.
    const DEPTH: usize;

    /// A container opens at `depth` (the message itself is 1), under `key` if its parent is an object.
    fn enter(&mut self, depth: usize, key: Option<&str>, object: bool);

    /// A member of the object at `depth` is complete; `value` is its text.
    fn member(&mut self, depth: usize, key: &str, value: &'a str);
}

/// Reads the whole of `body`, or says what is wrong with it.
pub(crate) fn scan<'a, S: Sink<'a>>(body: &'a [u8], limits: &Limits, sink: &mut S) -> Result<(), Fault> {
    let text = std::str::from_utf8(body).map_err(|error| Fault::syntax(error.valid_up_to(), "expected UTF-8 text"))?;
    let scanner = Scanner {
        text,
        pos: 0,
        limits,
        depth_limit: limits.depth(),
        frames: Vec::with_capacity(8),
        keys: Vec::with_capacity(16),
        keys_seen: 0,
    };
    scanner.run(sink)
}

/// One open array or object.
struct Frame {
    object: bool,
    start: usize,
    /// Where its keys begin in the scanner's stack of keys.
    keys_from: usize,
}

struct Scanner<'a, 'l> {
    text: &'a str,
    pos: usize,
    limits: &'l Limits,
    depth_limit: usize,
    frames: Vec<Frame>,
    /// Keys of all open objects; the last one of a frame belongs to the value being read.
    keys: Vec<Cow<'a, str>>,
    keys_seen: usize,
}

impl<'a> Scanner<'a, '_> {
    fn run<S: Sink<'a>>(mut self, sink: &mut S) -> Result<(), Fault> {
        loop {
            self.skip_space();
            let start = self.pos;
            match self.peek() {
                open @ (b'{' | b'[') => {
                    if self.open(open == b'{', sink)? {
                        continue;
                    }
                }
                b'"' => {
                    self.string()?;
                }
                b'-' | b'0'..=b'9' => self.number()?,
                b't' => self.word("true")?,
                b'f' => self.word("false")?,
                b'n' => self.word("null")?,
                _ => return Err(self.syntax("expected a value")),
            }
            if self.value_ended(start, sink)? {
                return Ok(());
            }
        }
    }

    /// After a value: closes what ends here and moves to the next value. True at the end of the message.
    fn value_ended<S: Sink<'a>>(&mut self, mut start: usize, sink: &mut S) -> Result<bool, Fault> {
        loop {
            let depth = self.frames.len();
            let Some(frame) = self.frames.last() else {
                self.skip_space();
                if self.pos == self.text.len() {
                    return Ok(true);
                }
                return Err(self.syntax("expected the end of the message"));
            };
            let object = frame.object;
            if object
                && depth <= S::DEPTH
                && let (Some(key), Some(value)) = (self.keys.last(), self.text.get(start..self.pos))
            {
                sink.member(depth, key, value);
            }
            self.skip_space();
            match (object, self.peek()) {
                (true, b',') => {
                    self.pos += 1;
                    self.skip_space();
                    self.key()?;
                    return Ok(false);
                }
                (false, b',') => {
                    self.pos += 1;
                    return Ok(false);
                }
                (true, b'}') | (false, b']') => {
                    self.pos += 1;
                    start = self.close()?;
                }
                (true, _) => return Err(self.syntax("expected ',' or '}'")),
                (false, _) => return Err(self.syntax("expected ',' or ']'")),
            }
        }
    }

    /// True if the container has something in it; an empty one is a finished value.
    fn open<S: Sink<'a>>(&mut self, object: bool, sink: &mut S) -> Result<bool, Fault> {
        let depth = self.frames.len() + 1;
        if depth > self.depth_limit {
            return Err(Fault { at: self.pos, kind: FaultKind::TooDeep(self.depth_limit) });
        }
        if depth <= S::DEPTH {
            let key = self.frames.last().filter(|parent| parent.object).and_then(|_| self.keys.last());
            sink.enter(depth, key.map(|key| &**key), object);
        }
        let start = self.pos;
        self.pos += 1;
        self.skip_space();
        if self.peek() == if object { b'}' } else { b']' } {
            self.pos += 1;
            return Ok(false);
        }
        self.frames.push(Frame { object, start, keys_from: self.keys.len() });
        if object {
            self.key()?;
        }
        Ok(true)
    }

    /// Ends the innermost container and gives its start.
    fn close(&mut self) -> Result<usize, Fault> {
        let Some(frame) = self.frames.pop() else { return Ok(0) };
        if frame.object {
            let at = self.pos;
            if let Some(keys) = self.keys.get_mut(frame.keys_from..)
                && let Some(key) = repeated(keys)
            {
                return Err(Fault { at, kind: FaultKind::Duplicate(key.to_owned()) });
            }
            self.keys.truncate(frame.keys_from);
        }
        Ok(frame.start)
    }

    fn key(&mut self) -> Result<(), Fault> {
        let start = self.pos;
        if self.peek() != b'"' {
            return Err(self.syntax("expected a key in double quotes"));
        }
        let escaped = self.string()?;
        self.keys_seen += 1;
        if self.keys_seen > self.limits.keys {
            return Err(Fault { at: start, kind: FaultKind::ManyKeys(self.limits.keys) });
        }
        let raw = self.text.get(start..self.pos).unwrap_or_default();
        let key = if escaped {
            let key: String = serde_json::from_str(raw).map_err(|_| Fault::syntax(start, "expected a key"))?;
            Cow::Owned(key)
        } else {
            Cow::Borrowed(raw.get(1..raw.len() - 1).unwrap_or_default())
        };
        if is_reserved_key(&key) {
            return Err(Fault { at: start, kind: FaultKind::ReservedKey(key.into_owned()) });
        }
        self.keys.push(key);
        self.skip_space();
        if self.peek() != b':' {
            return Err(self.syntax("expected ':' after the key"));
        }
        self.pos += 1;
        Ok(())
    }

    /// Moves past the string that starts here. True if it is written with escapes.
    fn string(&mut self) -> Result<bool, Fault> {
        let start = self.pos;
        let mut escaped = false;
        // bytes by which the text is longer than the string it stands for
        let mut longer = 0;
        self.pos += 1;
        loop {
            self.pos += plain_bytes(self.text.as_bytes().get(self.pos..).unwrap_or_default());
            if self.pos - start - 1 - longer > self.limits.string_bytes {
                return Err(Fault { at: start, kind: FaultKind::LongString(self.limits.string_bytes) });
            }
            match self.peek() {
                b'"' => {
                    self.pos += 1;
                    return Ok(escaped);
                }
                b'\\' => {
                    escaped = true;
                    let from = self.pos;
                    let decoded = self.escape()?;
                    longer += self.pos - from - decoded;
                }
                _ if self.pos == self.text.len() => return Err(self.syntax("expected '\"' to end the string")),
                _ => return Err(self.syntax("expected control characters in strings to be escaped")),
            }
        }
    }

    /// Moves past an escape and returns the bytes of the character it stands for.
    fn escape(&mut self) -> Result<usize, Fault> {
        self.pos += 1;
        match self.peek() {
            b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => {
                self.pos += 1;
                Ok(1)
            }
            b'u' => {
                self.pos += 1;
                match self.hex4()? {
                    0xDC00..=0xDFFF => Err(self.syntax("expected a whole surrogate pair")),
                    0xD800..=0xDBFF => {
                        let pair = self.text.as_bytes().get(self.pos..self.pos + 2) == Some(br"\u");
                        if pair {
                            self.pos += 2;
                        }
                        if pair && (0xDC00..=0xDFFF).contains(&self.hex4()?) {
                            Ok(4)
                        } else {
                            Err(self.syntax("expected a whole surrogate pair"))
                        }
                    }
                    0..=0x7F => Ok(1),
                    0x80..=0x7FF => Ok(2),
                    _ => Ok(3),
                }
            }
            _ => Err(self.syntax("expected one of the escapes \\\" \\\\ \\/ \\b \\f \\n \\r \\t \\u")),
        }
    }

    fn hex4(&mut self) -> Result<u32, Fault> {
        let mut value = 0;
        for _ in 0..4 {
            let Some(digit) = char::from(self.peek()).to_digit(16) else {
                return Err(self.syntax("expected four hexadecimal digits after \\u"));
            };
            value = value * 16 + digit;
            self.pos += 1;
        }
        Ok(value)
    }

    fn number(&mut self) -> Result<(), Fault> {
        let start = self.pos;
        if self.peek() == b'-' {
            self.pos += 1;
        }
        if self.peek() == b'0' {
            self.pos += 1;
            if self.peek().is_ascii_digit() {
                return Err(self.syntax("expected a number without a leading zero"));
            }
        } else {
            self.digits()?;
        }
        if self.peek() == b'.' {
            self.pos += 1;
            self.digits()?;
        }
        let exponent = matches!(self.peek(), b'e' | b'E');
        if exponent {
            self.pos += 1;
            if matches!(self.peek(), b'+' | b'-') {
                self.pos += 1;
            }
            self.digits()?;
        }
        let length = self.pos - start;
        if length > self.limits.number_chars {
            return Err(Fault { at: start, kind: FaultKind::LongNumber(self.limits.number_chars) });
        }
        // Only such numbers can leave the range of a double; whoever reads them later decides what that is.
        if exponent || length > 300 {
            let digits = self.text.get(start..self.pos).unwrap_or_default();
            if serde_json::from_str::<f64>(digits).is_err() {
                return Err(Fault { at: start, kind: FaultKind::NumberRange });
            }
        }
        Ok(())
    }

    fn digits(&mut self) -> Result<(), Fault> {
        if !self.peek().is_ascii_digit() {
            return Err(self.syntax("expected a digit"));
        }
        while self.peek().is_ascii_digit() {
            self.pos += 1;
        }
        Ok(())
    }

    fn word(&mut self, word: &'static str) -> Result<(), Fault> {
        if self.text.as_bytes().get(self.pos..self.pos + word.len()) == Some(word.as_bytes()) {
            self.pos += word.len();
            return Ok(());
        }
        Err(self.syntax("expected a value"))
    }

    /// The byte here. Zero at the end: no token starts with it, so every match refuses it.
    fn peek(&self) -> u8 {
        self.text.as_bytes().get(self.pos).copied().unwrap_or(0)
    }

    fn skip_space(&mut self) {
        while matches!(self.peek(), b' ' | b'\n' | b'\r' | b'\t') {
            self.pos += 1;
        }
    }

    fn syntax(&self, expected: &'static str) -> Fault {
        Fault::syntax(self.pos, expected)
    }
}

/// A key that is there twice. Small objects are compared pair by pair; sorting bounds the cost of large ones.
fn repeated<'k>(keys: &'k mut [Cow<'_, str>]) -> Option<&'k str> {
    const SMALL: usize = 16;
    if keys.len() <= SMALL {
        let mut rest = &*keys;
        while let Some((key, others)) = rest.split_first() {
            if others.contains(key) {
                return Some(key);
            }
            rest = others;
        }
        return None;
    }
    keys.sort_unstable();
    keys.array_windows().find(|[left, right]| left == right).map(|[key, _]| &**key)
}

#[cfg(test)]
#[path = "scan_tests.rs"]
mod tests;
