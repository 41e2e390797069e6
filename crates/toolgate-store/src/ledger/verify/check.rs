//! Looks at rows, one after another, and knows for each writer what must come next. Pure: it reads nothing itself.

use std::collections::HashMap;

use super::{
    super::{
        Checkpoint, Hash, Head, Repeated,
        canonical::{begin, repeat},
    },
    Finding, Verification, Wrong,
};

/// Findings that are kept; beyond that only their number is.
const KEPT: usize = 1_000;

/// A row as it is stored, whatever it says.
#[derive(Debug, Clone, Copy)]
pub(crate) struct StoredRow<'a> {
    pub(crate) position: i64,
    pub(crate) writer: &'a str,
    pub(crate) seq: i64,
    pub(crate) repeated: Repeated<'a>,
    pub(crate) previous: &'a [u8],
    pub(crate) hash: &'a [u8],
    pub(crate) text: &'a str,
}

#[derive(Default)]
pub(crate) struct Checker {
    writers: HashMap<String, Writer>,
    records: u64,
    findings: Vec<Finding>,
    found: u64,
    /// Used again for each row.
    head: String,
    hashed: Vec<u8>,
}

/// What is known of one writer's chain so far.
#[derive(Default)]
struct Writer {
    /// The number the next record must have.
    next: i64,
    /// The hash it must continue; unknown at the start of an incremental check.
    last: Option<Hash>,
    position: i64,
    /// Gaps, as first and last number.
    missing: Vec<(i64, i64)>,
    /// What checkpoints list, the lowest number last.
    expected: Vec<Expected>,
    seen: bool,
}

struct Expected {
    seq: i64,
    hash: Hash,
    checkpoint: i64,
}

impl Checker {
    /// Every record this checkpoint lists must come.
    pub(super) fn expect(&mut self, checkpoint: &Checkpoint) {
        for head in checkpoint.heads() {
            let writer = self.writers.entry(head.writer.clone()).or_insert_with(Writer::whole);
            let expected = Expected { seq: head.seq, hash: head.hash, checkpoint: checkpoint.time() };
            // Checkpoints come in the order of time, so this is mostly at one end; equal ones say nothing new.
            let at = writer.expected.partition_point(|other| other.seq > head.seq);
            if writer.expected.get(at).is_none_or(|other| (other.seq, other.hash) != (expected.seq, expected.hash)) {
                writer.expected.insert(at, expected);
            }
        }
    }

    /// Rows before these heads will not come.
    pub(super) fn start_at(&mut self, heads: &[Head]) {
        for head in heads {
            if let Some(writer) = self.writers.get_mut(&head.writer) {
                (writer.next, writer.last) = (head.seq, None);
            }
        }
    }

    pub(crate) fn take(&mut self, row: &StoredRow<'_>) {
        self.records += 1;
        let hash = Hash::of(&mut self.hashed, row.previous, row.text.as_bytes());
        let stored = Hash::from_slice(row.hash);
        if stored != Some(hash) {
            self.find(row.writer, row.seq, Wrong::Edited);
        }
        self.head.clear();
        begin(&mut self.head, row.writer, row.seq);
        repeat(&mut self.head, &row.repeated);
        if !row.text.starts_with(&self.head) {
            self.find(row.writer, row.seq, Wrong::Columns);
        }
        if !self.writers.contains_key(row.writer) {
            self.writers.insert(row.writer.to_owned(), Writer::whole());
        }
        let wrongs = self.writers.get_mut(row.writer).map(|writer| writer.take(row, stored)).unwrap_or_default();
        for (seq, wrong) in wrongs {
            self.find(row.writer, seq, wrong);
        }
    }

    pub(crate) fn unreadable(&mut self, position: i64) {
        self.records += 1;
        self.find("?", -1, Wrong::Unreadable { position });
    }

    pub(crate) fn finish(mut self) -> Verification {
        let mut writers: Vec<_> = std::mem::take(&mut self.writers).into_iter().collect();
        writers.sort_by(|(one, _), (other, _)| one.cmp(other));
        for (name, writer) in &writers {
            for (first, last) in &writer.missing {
                self.find(name, *first, Wrong::Missing { until: *last });
            }
            for expected in writer.expected.iter().rev() {
                self.find(name, expected.seq, Wrong::Truncated { checkpoint: expected.checkpoint });
            }
        }
        let seen = writers.iter().filter(|(_, writer)| writer.seen).count();
        Verification {
            records: self.records,
            writers: u64::try_from(seen).unwrap_or(u64::MAX),
            findings: self.findings,
            found: self.found,
        }
    }

    fn find(&mut self, writer: &str, seq: i64, wrong: Wrong) {
        self.found += 1;
        if self.findings.len() < KEPT {
            self.findings.push(Finding { writer: writer.to_owned(), seq, wrong });
        }
    }
}

impl Writer {
    fn whole() -> Self {
        Self { last: Some(Hash::NOTHING), position: i64::MIN, ..Self::default() }
    }

    fn take(&mut self, row: &StoredRow<'_>, hash: Option<Hash>) -> Vec<(i64, Wrong)> {
        // Empty unless something is wrong, and an empty one costs nothing.
        let mut wrong = Vec::new();
        self.seen = true;
        if row.seq < self.next {
            let gap = self.missing.iter().position(|(first, last)| (*first..=*last).contains(&row.seq));
            match gap {
                Some(gap) => {
                    let (first, last) = self.missing.swap_remove(gap);
                    self.missing.extend([(first, row.seq - 1), (row.seq + 1, last)].iter().filter(|(a, b)| a <= b));
                    wrong.push((row.seq, Wrong::Moved));
                }
                None => wrong.push((row.seq, Wrong::Inserted)),
            }
            return wrong;
        }
        if row.seq > self.next {
            self.missing.push((self.next, row.seq - 1));
        } else if self.last.is_some_and(|last| Hash::from_slice(row.previous) != Some(last)) {
            wrong.push((row.seq, Wrong::Unlinked));
        }
        if row.position <= self.position {
            wrong.push((row.seq, Wrong::Moved));
        }
        while let Some(expected) = self.expected.pop_if(|expected| expected.seq <= row.seq) {
            // One that was passed by is in a gap, which is found as such.
            if expected.seq == row.seq && Some(expected.hash) != hash {
                wrong.push((row.seq, Wrong::NotAsInCheckpoint { checkpoint: expected.checkpoint }));
            }
        }
        self.position = row.position;
        self.next = row.seq.saturating_add(1);
        self.last = hash;
        wrong
    }
}
