//! The chain: each record's hash covers its text and the hash before it.

use std::{
    fmt,
    sync::Arc,
    time::{SystemTime, UNIX_EPOCH},
};

use aws_lc_rs::{digest, rand};

use super::{
    Head, SystemRecord,
    canonical::{Columns, Draft, begin},
};

/// SHA-256.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Hash([u8; 32]);

impl Hash {
    /// What stands before the first record.
    pub const NOTHING: Self = Self([0; 32]);

    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    pub(crate) fn from_slice(bytes: &[u8]) -> Option<Self> {
        bytes.try_into().ok().map(Self)
    }

    /// Of 64 lower-case digits, and nothing else.
    pub(crate) fn from_hex(digits: &[u8]) -> Option<Self> {
        let mut hash = [0; 32];
        let (pairs, odd) = digits.as_chunks::<2>();
        if pairs.len() != hash.len() || !odd.is_empty() {
            return None;
        }
        // looked at once, at the end: verifying reads two of these for each record
        let mut seen = 0;
        for (byte, [high, low]) in hash.iter_mut().zip(pairs) {
            let (high, low) = (value(*high), value(*low));
            seen |= high | low;
            *byte = high << 4 | low;
        }
        (seen <= 15).then_some(Self(hash))
    }

    /// SHA-256 of the hash before a record and of its text, which stand together in `buffer`: one call is cheaper than
    /// two, and a buffer is used again.
    pub(crate) fn of(buffer: &mut Vec<u8>, previous: &[u8], text: &[u8]) -> Self {
        buffer.clear();
        buffer.extend_from_slice(previous);
        buffer.extend_from_slice(text);
        let mut hash = [0; 32];
        hash.copy_from_slice(digest::digest(&digest::SHA256, buffer).as_ref());
        Self(hash)
    }
}

impl fmt::Display for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = String::with_capacity(64);
        hex(&mut text, &self.0);
        f.write_str(&text)
    }
}

impl fmt::Debug for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// What a lower-case hexadecimal digit stands for; more than 15 for every other byte. Without a branch to guess wrong.
fn value(digit: u8) -> u8 {
    let (number, letter) = (digit.wrapping_sub(b'0'), digit.wrapping_sub(b'a'));
    let letter = if letter < 6 { letter + 10 } else { 0xff };
    if number < 10 { number } else { letter }
}

fn digit(nibble: u8) -> u8 {
    if nibble < 10 { b'0' + nibble } else { b'a' + nibble - 10 }
}

pub(crate) fn hex(text: &mut String, bytes: &[u8]) {
    text.extend(bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).map(char::from));
}

/// The same of a whole hash, all digits at once: every record has some.
pub(crate) fn hash_digits(bytes: &[u8; 32]) -> [u8; 64] {
    let mut digits = [0; 64];
    for (pair, byte) in digits.as_chunks_mut::<2>().0.iter_mut().zip(bytes) {
        *pair = [digit(byte >> 4), digit(byte & 15)];
    }
    digits
}

/// Where a record stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    pub writer: Arc<str>,
    pub seq: i64,
    pub hash: Hash,
}

/// A record with its place, ready to be stored.
pub(crate) struct Link {
    pub(crate) columns: Columns,
    pub(crate) seq: i64,
    pub(crate) previous: Hash,
    pub(crate) hash: Hash,
    pub(crate) text: String,
}

/// One writer's chain, as far as it is known to be stored.
///
/// INVARIANT: only the thread or task that stores records has it, so links are made one after another.
pub(crate) struct Chain {
    writer: Arc<str>,
    next: i64,
    last: Hash,
    /// A group failed: what is stored must be asked before the next one.
    doubt: bool,
    buffer: Vec<u8>,
    /// The heads of other chains that the first record names.
    heads: Vec<Head>,
    /// Records of the ledger itself that go before the next others.
    notes: Vec<SystemRecord>,
}

impl Chain {
    /// A new writer with a random name.
    pub(crate) fn new() -> Result<Self, aws_lc_rs::error::Unspecified> {
        let mut bytes = [0; 10];
        rand::fill(&mut bytes)?;
        let mut name = String::with_capacity(20);
        hex(&mut name, &bytes);
        Ok(Self {
            writer: name.into(),
            next: 0,
            last: Hash::NOTHING,
            doubt: false,
            buffer: Vec::new(),
            heads: Vec::new(),
            notes: Vec::new(),
        })
    }

    /// The heads that the first record names: those that no other record names already.
    pub(crate) fn begin(&mut self, heads: Vec<Head>) {
        self.heads = heads;
        self.heads.retain(|head| !head.covered);
    }

    /// Puts a record before the next others.
    pub(crate) fn note(&mut self, record: SystemRecord) {
        self.notes.push(record);
    }

    /// Lets another chain go on. It names the last record that is sure to be stored, and says that those after it are not,
    /// nor what stands at positions from there on.
    pub(crate) fn succeed(&mut self, mut next: Self, synced: Option<(i64, Hash)>, from: i64) {
        let after = synced.map_or(-1, |(seq, _)| seq);
        match synced {
            Some((seq, hash)) => {
                let writer = self.writer.to_string();
                next.heads = vec![Head { writer, seq, hash, position: from, covered: false }];
            }
            None => next.heads.append(&mut self.heads),
        }
        next.notes.append(&mut self.notes);
        next.notes.push(SystemRecord::unsynced(&self.writer, after, from));
        *self = next;
    }

    pub(crate) fn writer(&self) -> &Arc<str> {
        &self.writer
    }

    pub(crate) fn in_doubt(&self) -> bool {
        self.doubt
    }

    pub(crate) fn doubt(&mut self) {
        self.doubt = true;
    }

    /// What the database says is this writer's last record.
    pub(crate) fn resume(&mut self, head: Option<(i64, Hash)>) {
        if head.is_some_and(|(seq, _)| seq >= self.next) {
            self.notes.clear();
        }
        (self.next, self.last) = head.map_or((0, Hash::NOTHING), |(seq, hash)| (seq + 1, hash));
        self.doubt = false;
    }

    /// Links for a group, a genesis record first where the chain is new. The chain itself moves only by `stored`.
    pub(crate) fn links(&mut self, drafts: impl Iterator<Item = Draft>) -> Vec<Link> {
        let mut drafts = drafts.peekable();
        let mut links = Vec::with_capacity(drafts.size_hint().0 + 1);
        let (mut seq, mut previous) = (self.next, self.last);
        let time = drafts.peek().map_or_else(now, |first| first.columns.time);
        let genesis = (seq == 0).then(|| SystemRecord::genesis(&self.heads));
        let own: Vec<Draft> = genesis.iter().chain(&self.notes).map(|record| Draft::system(record, time)).collect();
        for draft in own.into_iter().chain(drafts) {
            let mut text = String::with_capacity(draft.rest.len() + 64);
            begin(&mut text, &self.writer, seq);
            text.push_str(&draft.rest);
            let hash = Hash::of(&mut self.buffer, &previous.0, text.as_bytes());
            links.push(Link { columns: draft.columns, seq, previous, hash, text });
            previous = hash;
            seq += 1;
        }
        links
    }

    /// The chain now ends with this link. Notes before it are stored with it; a write that was cut off leaves the rest.
    pub(crate) fn stored(&mut self, last: &Link) {
        let first_note = if self.next == 0 { 1 } else { self.next };
        let notes = usize::try_from(last.seq + 1 - first_note).unwrap_or_default();
        self.notes.drain(..notes.min(self.notes.len()));
        self.next = last.seq + 1;
        self.last = last.hash;
    }

    pub(crate) fn place(&self, link: &Link) -> Place {
        Place { writer: self.writer.clone(), seq: link.seq, hash: link.hash }
    }
}

/// Unix milliseconds: the time of a record that no call brought about.
fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ledger::tests::entry;

    #[test]
    fn links_hang_together_and_a_group_that_was_not_stored_leaves_no_trace() {
        let mut chain = Chain::new().unwrap();
        let drafts = || ["a", "b"].into_iter().map(|call| Draft::new(entry(call)).unwrap());
        let first = chain.links(drafts());
        assert_eq!(
            first.iter().map(|link| (link.seq, link.columns.kind)).collect::<Vec<_>>(),
            [(0, "genesis"), (1, "intent"), (2, "intent")]
        );
        assert_eq!(first[0].previous, Hash::NOTHING);
        assert_eq!((first[1].previous, first[2].previous), (first[0].hash, first[1].hash));
        let again = chain.links(drafts());
        assert_eq!(again[2].hash, first[2].hash);
        chain.stored(&first[2]);
        let next = chain.links(drafts());
        assert_eq!((next[0].seq, next[0].previous), (3, first[2].hash));
    }

    #[test]
    fn a_hash_is_read_back_from_its_text() {
        let hash = Hash::of(&mut Vec::new(), &[0; 32], b"text");
        assert_eq!(Hash::from_hex(hash.to_string().as_bytes()), Some(hash));
        for odd in ["", "ab", &"G".repeat(64), &hash.to_string().to_uppercase(), &"é".repeat(32)] {
            assert_eq!(Hash::from_hex(odd.as_bytes()), None, "{odd}");
        }
    }
}
