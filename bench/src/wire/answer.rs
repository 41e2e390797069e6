//! Reading one HTTP/1.1 answer out of bytes that may not have all arrived.

use std::borrow::Cow;

use memchr::memmem;

use crate::failure::Failure;

/// The head of an answer.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Head {
    pub(crate) status: u16,
    pub(crate) session: Option<String>,
    length: usize,
    framing: Framing,
}

#[derive(Debug, PartialEq, Eq)]
enum Framing {
    Length(usize),
    Chunked,
}

/// A body and the number of bytes that the whole answer took.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Body<'a> {
    pub(crate) bytes: Cow<'a, [u8]>,
    pub(crate) consumed: usize,
}

impl Head {
    /// `None` when more bytes are needed.
    pub(crate) fn read(arrived: &[u8]) -> Result<Option<Self>, Failure> {
        let Some(end) = memmem::find(arrived, b"\r\n\r\n") else {
            return Ok(None);
        };
        let text = arrived
            .get(..end)
            .and_then(|head| std::str::from_utf8(head).ok())
            .ok_or_else(|| wrong("a head that is not text"))?;
        let (first, fields) = text.split_once("\r\n").unwrap_or((text, ""));
        let status = first
            .strip_prefix("HTTP/1.1 ")
            .and_then(|rest| rest.get(..3)?.parse().ok())
            .ok_or_else(|| wrong("no HTTP/1.1 status line"))?;
        let (mut framing, mut session) = (None, None);
        for (name, value) in fields.split("\r\n").filter_map(|line| line.split_once(':')) {
            let value = value.trim();
            if name.eq_ignore_ascii_case("content-length") {
                let length = value.parse().map_err(|_| wrong("a length that is no number"))?;
                framing = Some(Framing::Length(length));
            } else if name.eq_ignore_ascii_case("transfer-encoding") {
                framing = Some(Framing::Chunked);
            } else if name.eq_ignore_ascii_case("mcp-session-id") {
                session = Some(value.to_owned());
            }
        }
        let framing = match framing {
            Some(framing) => framing,
            None if status == 202 || status == 204 => Framing::Length(0),
            None => return Err(wrong("an answer without a length")),
        };
        Ok(Some(Self { status, session, length: end + 4, framing }))
    }

    /// The body behind this head; `None` when more bytes are needed.
    pub(crate) fn body<'a>(&self, arrived: &'a [u8]) -> Result<Option<Body<'a>>, Failure> {
        match self.framing {
            Framing::Length(length) => Ok(arrived
                .get(self.length..self.length + length)
                .map(|bytes| Body { bytes: Cow::Borrowed(bytes), consumed: self.length + length })),
            Framing::Chunked => dechunk(arrived, self.length),
        }
    }
}

fn dechunk(arrived: &[u8], mut at: usize) -> Result<Option<Body<'_>>, Failure> {
    let mut whole = Vec::new();
    loop {
        let Some(line) = arrived.get(at..).and_then(|rest| rest.get(..memmem::find(rest, b"\r\n")?)) else {
            return Ok(None);
        };
        let size = std::str::from_utf8(line)
            .ok()
            .and_then(|text| usize::from_str_radix(text.split(';').next()?.trim(), 16).ok())
            .ok_or_else(|| wrong("a chunk without a size"))?;
        let start = at + line.len() + 2;
        let Some(chunk) = arrived.get(start..start + size + 2) else {
            return Ok(None);
        };
        let Some(chunk) = chunk.strip_suffix(b"\r\n") else {
            return Err(wrong("a chunk longer than its size"));
        };
        whole.extend_from_slice(chunk);
        at = start + size + 2;
        if size == 0 {
            return Ok(Some(Body { bytes: Cow::Owned(whole), consumed: at }));
        }
    }
}

fn wrong(what: &str) -> Failure {
    Failure::Answer(what.to_owned())
}

#[cfg(test)]
#[path = "answer_tests.rs"]
mod tests;
