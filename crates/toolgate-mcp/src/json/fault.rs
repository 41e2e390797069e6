//! What is wrong with a message's text, and where.

use std::fmt::Write;

/// Why a text is not taken. `at` is the byte the reader stood at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Fault {
    pub(crate) at: usize,
    pub(crate) kind: FaultKind,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum FaultKind {
    /// Not JSON; the words say what was expected.
    Syntax(&'static str),
    TooDeep(usize),
    LongNumber(usize),
    LongString(usize),
    ManyKeys(usize),
    Duplicate(String),
    /// A key that the JSON library would read as its own.
    ReservedKey(String),
    NumberRange,
}

impl Fault {
    pub(crate) fn syntax(at: usize, expected: &'static str) -> Self {
        Self { at, kind: FaultKind::Syntax(expected) }
    }

    /// Well-formed JSON that we refuse all the same.
    pub(crate) fn is_limit(&self) -> bool {
        !matches!(self.kind, FaultKind::Syntax(_))
    }

    /// What people read: what was wrong, where, and what to do.
    pub(crate) fn text(&self, body: &[u8]) -> String {
        let (line, column) = place(body, self.at);
        let mut text = String::with_capacity(96);
        // Writing to a `String` can't fail.
        let _ = match &self.kind {
            FaultKind::Syntax(expected) => {
                write!(text, "message is not valid JSON at line {line} column {column}: {expected}")
            }
            FaultKind::TooDeep(limit) => write!(
                text,
                "message is nested deeper than {limit} levels at line {line} column {column}; send flatter JSON"
            ),
            FaultKind::LongNumber(limit) => write!(
                text,
                "number at line {line} column {column} is longer than {limit} characters; send it as a string"
            ),
            FaultKind::LongString(limit) => {
                let named =
                    key_before(body, self.at).map_or_else(String::new, |key| format!(", the value of '{key}',"));
                write!(
                    text,
                    "string at line {line} column {column}{named} is longer than {limit} bytes; send less text in one value"
                )
            }
            FaultKind::ManyKeys(limit) => write!(
                text,
                "message has more than {limit} object keys at line {line} column {column}; split the request"
            ),
            FaultKind::Duplicate(key) => write!(
                text,
                "object ending at line {line} column {column} has the key '{}' twice; send each key once",
                shortened(key)
            ),
            FaultKind::ReservedKey(key) => write!(
                text,
                "key '{}' at line {line} column {column} is reserved and can't be passed on; use another key",
                shortened(key)
            ),
            FaultKind::NumberRange => write!(
                text,
                "number at line {line} column {column} is out of the range of a double; send it as a string"
            ),
        };
        text
    }
}

/// The name of the member whose value starts here, where it is a short one.
fn key_before(body: &[u8], at: usize) -> Option<&str> {
    const LONGEST: usize = 64;
    let before = body.get(..at)?.trim_ascii_end().strip_suffix(b":")?.trim_ascii_end().strip_suffix(b"\"")?;
    let length = before.iter().rev().take(LONGEST + 1).position(|byte| *byte == b'"')?;
    let key = str::from_utf8(before.get(before.len() - length..)?).ok()?;
    key.chars().all(|c| c.is_ascii_graphic() && c != '\\').then_some(key)
}

/// A client's own word, short enough to repeat in an error.
pub(crate) fn shortened(word: &str) -> std::borrow::Cow<'_, str> {
    const LONGEST: usize = 128;
    match word.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", word.get(..end).unwrap_or_default()).into(),
        None => word.into(),
    }
}

/// Line and column (in bytes), both from one.
fn place(body: &[u8], at: usize) -> (usize, usize) {
    let before = body.get(..at).unwrap_or(body);
    let line = memchr::memchr_iter(b'\n', before).count() + 1;
    let column = before.len() - memchr::memrchr(b'\n', before).map_or(0, |newline| newline + 1) + 1;
    (line, column)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_names_line_and_column() {
        let fault = Fault::syntax(7, "expected a value");
        assert_eq!(fault.text(b"{\n \"a\":"), "message is not valid JSON at line 2 column 6: expected a value");
    }

    #[test]
    fn a_long_word_is_shortened_at_a_character() {
        assert_eq!(shortened("ab"), "ab");
        let long = "é".repeat(200);
        assert_eq!(shortened(&long).chars().count(), 129);
    }
}
