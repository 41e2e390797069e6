//! One record as a line of JSON: the hash before it, its own, and the text that is hashed.

use std::borrow::Cow;

use memchr::memchr2;
use serde::de::IgnoredAny;

use crate::ledger::{Filter, Hash, Link, Record, StoredRow, chain::hash_digits};

const PREVIOUS: &[u8] = b"{\"previous\":\"";
const HASH: &[u8] = b"\",\"hash\":\"";
const RECORD: &[u8] = b"\",\"record\":";

pub(super) fn write(line: &mut Vec<u8>, link: &Link) {
    write_record(line, &link.previous, &link.hash, &link.text);
}

pub(crate) fn write_record(line: &mut Vec<u8>, previous: &Hash, hash: &Hash, text: &str) {
    line.extend_from_slice(PREVIOUS);
    line.extend_from_slice(&hash_digits(previous.as_bytes()));
    line.extend_from_slice(HASH);
    line.extend_from_slice(&hash_digits(hash.as_bytes()));
    line.extend_from_slice(RECORD);
    line.extend_from_slice(text.as_bytes());
    line.extend_from_slice(b"}\n");
}

/// What a line that is no record turned out to be.
pub(super) enum NoRecord {
    /// Begun and not ended: whoever wrote it was stopped, and nobody was told that it is there. It may also be on its way.
    Torn,
    /// Not ours.
    Odd,
}

/// A record as it stands in a file. What the other engine has in columns is read from its text.
pub(super) struct Line<'a> {
    pub(super) previous: Hash,
    pub(super) hash: Hash,
    pub(super) text: &'a [u8],
    pub(super) writer: Cow<'a, str>,
    pub(super) seq: i64,
    pub(super) time: i64,
    pub(super) kind: Cow<'a, str>,
    pub(super) call: Cow<'a, str>,
    tool: Cow<'a, str>,
    principal: Cow<'a, str>,
    tenant: Option<Cow<'a, str>>,
    flow: Option<Cow<'a, str>>,
    outcome: Cow<'a, str>,
}

pub(super) fn read(line: &[u8]) -> Result<Line<'_>, NoRecord> {
    record(line).ok_or_else(|| match serde_json::from_slice::<IgnoredAny>(line) {
        Err(fault) if fault.is_eof() => NoRecord::Torn,
        _ => NoRecord::Odd,
    })
}

fn record(line: &[u8]) -> Option<Line<'_>> {
    let mut rest = Rest(line);
    rest.literal(PREVIOUS)?;
    let previous = rest.hash()?;
    rest.literal(HASH)?;
    let hash = rest.hash()?;
    rest.literal(RECORD)?;
    let text = rest.0.strip_suffix(b"}").filter(|text| text.ends_with(b"}"))?;
    let mut rest = Rest(text);
    rest.literal(b"{\"v\":1,\"writer\":")?;
    let writer = rest.string()?;
    rest.literal(b",\"seq\":")?;
    let seq = rest.number()?;
    rest.literal(b",\"time\":")?;
    let time = rest.number()?;
    let mut word = |name: &[u8]| {
        rest.literal(name)?;
        rest.string()
    };
    let (kind, call) = (word(b",\"kind\":")?, word(b",\"call\":")?);
    let (tool, principal) = (word(b",\"tool\":")?, word(b",\"principal\":")?);
    let mut optional = |name: &[u8]| {
        rest.literal(name)?;
        rest.optional()
    };
    let (tenant, flow) = (optional(b",\"tenant\":")?, optional(b",\"flow\":")?);
    rest.literal(b",\"outcome\":")?;
    let outcome = rest.string()?;
    Some(Line { previous, hash, text, writer, seq, time, kind, call, tool, principal, tenant, flow, outcome })
}

impl Line<'_> {
    /// All but whether the call is unknown, which no record says of itself.
    pub(super) fn matches(&self, filter: &Filter) -> bool {
        fn is(wanted: Option<&str>, found: Option<&str>) -> bool {
            wanted.is_none() || wanted == found
        }
        filter.since.is_none_or(|since| self.time >= since)
            && filter.until.is_none_or(|until| self.time < until)
            && is(filter.tool.as_deref(), Some(&self.tool))
            && is(filter.principal.as_deref(), Some(&self.principal))
            && is(filter.flow.as_deref(), self.flow.as_deref())
            && is(filter.tenant.as_deref(), self.tenant.as_deref())
            && is(filter.call.as_deref(), Some(&self.call))
    }

    pub(super) fn ended_as(&self, filter: &Filter) -> bool {
        filter.outcome.is_none_or(|outcome| outcome.as_str() == self.outcome)
    }

    pub(super) fn stored(&self, position: i64) -> StoredRow<'_> {
        StoredRow {
            position,
            writer: &self.writer,
            seq: self.seq,
            kind: &self.kind,
            // read from the text a moment ago
            repeated: None,
            previous: self.previous.as_bytes(),
            hash: self.hash.as_bytes(),
            text: self.text,
        }
    }

    pub(super) fn to_record(&self, position: i64) -> Record {
        Record {
            position,
            writer: self.writer.to_string(),
            seq: self.seq,
            time: self.time,
            kind: self.kind.to_string(),
            call: self.call.to_string(),
            tool: self.tool.to_string(),
            principal: self.principal.to_string(),
            tenant: self.tenant.as_deref().map(str::to_owned),
            flow: self.flow.as_deref().map(str::to_owned),
            outcome: self.outcome.to_string(),
            previous: self.previous,
            hash: self.hash,
            text: String::from_utf8_lossy(self.text).into_owned(),
        }
    }
}

/// What is left of a line. The form is our own, so that reading it is comparing.
struct Rest<'a>(&'a [u8]);

impl<'a> Rest<'a> {
    fn literal(&mut self, expected: &[u8]) -> Option<()> {
        self.0 = self.0.strip_prefix(expected)?;
        Some(())
    }

    fn take(&mut self, length: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(taken)
    }

    fn hash(&mut self) -> Option<Hash> {
        Hash::from_hex(self.take(64)?)
    }

    fn number(&mut self) -> Option<i64> {
        let end = self.0.iter().position(|byte| !matches!(byte, b'0'..=b'9' | b'-'))?;
        std::str::from_utf8(self.take(end)?).ok()?.parse().ok()
    }

    fn string(&mut self) -> Option<Cow<'a, str>> {
        let quoted = self.0;
        self.literal(b"\"")?;
        loop {
            let at = memchr2(b'"', b'\\', self.0)?;
            let escape = self.take(at + 1)?.ends_with(b"\\");
            if !escape {
                break;
            }
            self.take(1)?;
        }
        let quoted = quoted.get(..quoted.len() - self.0.len())?;
        let inner = quoted.get(1..quoted.len() - 1)?;
        if inner.contains(&b'\\') {
            return serde_json::from_slice::<String>(quoted).ok().map(Cow::Owned);
        }
        std::str::from_utf8(inner).ok().map(Cow::Borrowed)
    }

    #[allow(clippy::option_option, reason = "whether it can be read, and what it says")]
    fn optional(&mut self) -> Option<Option<Cow<'a, str>>> {
        if self.literal(b"null").is_some() {
            return Some(None);
        }
        self.string().map(Some)
    }
}
