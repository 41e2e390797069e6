//! Lines of at most so many bytes. What is longer is read past, and only its beginning kept.

use bytes::{Bytes, BytesMut};
use memchr::memchr;
use tokio::io::{AsyncRead, AsyncReadExt};

pub(super) struct Lines<R> {
    from: R,
    read: BytesMut,
    most: usize,
    /// How much of `read` is known to hold no line's end.
    searched: usize,
}

pub(super) enum Line {
    Whole(Bytes),
    /// The beginning of a line that was longer than allowed.
    TooLong(Bytes),
}

/// Enough of a long line to see which request it answers.
const BEGINNING: usize = 256;

impl<R: AsyncRead + Unpin> Lines<R> {
    pub(super) fn new(from: R, most: usize) -> Self {
        Self { from, read: BytesMut::with_capacity(8 << 10), most, searched: 0 }
    }

    /// The next line without its end; `None` at the end of all. A last line that was never ended is not one.
    pub(super) async fn next(&mut self) -> std::io::Result<Option<Line>> {
        loop {
            if let Some(end) = memchr(b'\n', self.read.get(self.searched..).unwrap_or_default()) {
                let mut line = self.read.split_to(self.searched + end + 1);
                line.truncate(line.len() - 1);
                self.searched = 0;
                return Ok(Some(if line.len() > self.most {
                    line.truncate(BEGINNING);
                    Line::TooLong(line.freeze())
                } else {
                    Line::Whole(line.freeze())
                }));
            }
            self.searched = self.read.len();
            if self.read.len() > self.most {
                let beginning = Bytes::copy_from_slice(self.read.get(..BEGINNING).unwrap_or(&self.read));
                return Ok(self.read_past().await?.then_some(Line::TooLong(beginning)));
            }
            self.read.reserve(8 << 10);
            if self.from.read_buf(&mut self.read).await? == 0 {
                return Ok(None);
            }
        }
    }

    /// Drops everything up to the end of the line; false if all ended before.
    async fn read_past(&mut self) -> std::io::Result<bool> {
        self.searched = 0;
        loop {
            if let Some(end) = memchr(b'\n', &self.read) {
                let rest = self.read.get(end + 1..).map(BytesMut::from).unwrap_or_default();
                self.read = rest;
                return Ok(true);
            }
            self.read = BytesMut::with_capacity(64 << 10);
            if self.from.read_buf(&mut self.read).await? == 0 {
                return Ok(false);
            }
        }
    }
}

/// The id in the first members of a message that broke off, where it is the message's own for certain.
pub(super) fn id_at_beginning(message: &[u8]) -> Option<u64> {
    let text = std::str::from_utf8(message).unwrap_or_else(|fault| {
        message.get(..fault.valid_up_to()).and_then(|valid| std::str::from_utf8(valid).ok()).unwrap_or_default()
    });
    let mut rest = text.trim_start().strip_prefix('{')?.trim_start();
    if let Some(after) = rest.strip_prefix("\"jsonrpc\"") {
        rest = after.trim_start().strip_prefix(':')?.trim_start().strip_prefix("\"2.0\"")?;
        rest = rest.trim_start().strip_prefix(',')?.trim_start();
    }
    let id = rest.strip_prefix("\"id\"")?.trim_start().strip_prefix(':')?.trim_start();
    let (digits, _) = id.split_once(|c: char| !c.is_ascii_digit())?;
    digits.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn long_lines_are_read_past_and_the_next_is_whole() {
        let text = ["a".repeat(10), "b".repeat(100_000), "c".repeat(11), String::new(), "d".to_owned()].join("\n");
        let mut lines = Lines::new(text.as_bytes(), 10);
        let mut seen = Vec::new();
        while let Some(line) = lines.next().await.unwrap() {
            seen.push(match line {
                Line::Whole(line) => format!("{}", line.len()),
                Line::TooLong(line) => format!("long {}", line.len()),
            });
        }
        assert_eq!(seen, ["10", "long 256", "long 11", "0"]);
    }

    #[test]
    fn an_id_is_read_only_where_it_is_the_messages_own() {
        let id = |text: &str| id_at_beginning(text.as_bytes());
        assert_eq!(id(r#"{"jsonrpc": "2.0", "id": 7, "result": {"#), Some(7));
        assert_eq!(id(r#"{"id":12,"result":"é"#), Some(12));
        assert_eq!(id(r#"{"jsonrpc":"2.0","result":{"id":7,"#), None);
        assert_eq!(id(r#"{"id":"#), None);
    }
}
