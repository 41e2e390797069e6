//! Server-sent events, as far as the protocol uses them: the data of each event, within a limit, and where to go on.

use bytes::Bytes;

use super::place::Place;
use crate::fault::Fault;

pub(super) struct Events {
    most: usize,
    line: Vec<u8>,
    data: Vec<u8>,
    /// The last byte was a carriage return, so a line feed after it ends nothing.
    after_return: bool,
    pub(super) place: Place,
}

impl Events {
    pub(super) fn new(most: usize) -> Self {
        Self { most, line: Vec::new(), data: Vec::new(), after_return: false, place: Place::default() }
    }

    /// Another stream goes on from the place where the last one ended. What that left unfinished comes again.
    pub(super) fn go_on(&mut self) {
        self.line.clear();
        self.data.clear();
        self.after_return = false;
    }

    /// The data of every event that this piece completes.
    pub(super) fn push(&mut self, piece: &[u8]) -> Result<Vec<Bytes>, Fault> {
        let mut whole = Vec::new();
        let mut rest = piece;
        if std::mem::take(&mut self.after_return) {
            rest = rest.strip_prefix(b"\n").unwrap_or(rest);
        }
        while let Some(end) = memchr::memchr2(b'\n', b'\r', rest) {
            let (line, after) = rest.split_at(end);
            self.keep(line)?;
            rest = match after {
                [b'\r', b'\n', after @ ..] => after,
                [b'\r'] => {
                    self.after_return = true;
                    &[]
                }
                [_, after @ ..] => after,
                [] => &[],
            };
            self.end_line(&mut whole);
        }
        self.keep(rest)?;
        Ok(whole)
    }

    fn keep(&mut self, part: &[u8]) -> Result<(), Fault> {
        if self.line.len() + self.data.len() + part.len() > self.most {
            return Err(Fault::TooLarge { most: self.most });
        }
        self.line.extend_from_slice(part);
        Ok(())
    }

    fn end_line(&mut self, whole: &mut Vec<Bytes>) {
        if self.line.is_empty() {
            self.place.passed(!self.data.is_empty());
            if !self.data.is_empty() {
                whole.push(std::mem::take(&mut self.data).into());
            }
            return;
        }
        let colon = memchr::memchr(b':', &self.line).unwrap_or(self.line.len());
        let (field, value) = self.line.split_at(colon);
        let value = value.strip_prefix(b":").unwrap_or(value);
        let value = value.strip_prefix(b" ").unwrap_or(value);
        match field {
            b"data" => {
                if !self.data.is_empty() {
                    self.data.push(b'\n');
                }
                self.data.extend_from_slice(value);
            }
            b"id" => self.place.name(value),
            b"retry" => self.place.retry(value),
            _ => {}
        }
        self.line.clear();
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use http::HeaderValue;

    use super::*;

    #[test]
    fn events_are_whole_however_they_are_cut() {
        let text = b": hello\r\nevent: message\r\ndata: {\"a\":\r\ndata: 1}\r\n\r\nid: 3\ndata:x\n\n\rdata: y\r\rdata: never ended\n";
        for size in 1..text.len() {
            let mut events = Events::new(100);
            let seen: Vec<Bytes> = text.chunks(size).flat_map(|piece| events.push(piece).unwrap()).collect();
            assert_eq!(seen, ["{\"a\":\n1}", "x", "y"], "in pieces of {size}");
        }
        assert!(Events::new(10).push(b"data: 0123456789").is_err());
    }

    #[test]
    fn what_a_stream_left_unfinished_is_forgotten_and_the_last_whole_event_is_where_to_go_on() {
        let mut events = Events::new(100);
        assert!(events.push(b"retry: 70\nid: 1\ndata:\n\nid: 2\ndata: unfinish").unwrap().is_empty());
        assert_eq!(events.place.again().unwrap(), (Duration::from_millis(70), HeaderValue::from_static("1")));
        events.go_on();
        assert_eq!(events.push(b"data: x\n\nid:3\n\n").unwrap(), ["x"]);
        assert_eq!(events.place.again().unwrap().1, "3");
        events.push(b"id\n\n").unwrap();
        assert!(events.place.again().is_none());
    }
}
