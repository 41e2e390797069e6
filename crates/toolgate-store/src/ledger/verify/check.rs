//! Looks at rows, one after another, and knows for each writer what must come next. Pure: it reads nothing itself.

use std::{collections::HashMap, sync::Arc};

use super::{
    super::{
        Checkpoint, Hash, Head, Repeated,
        canonical::{begin, repeat},
    },
    Finding, Scan, Verification, Wrong,
    hashing::{Edited, Hashing},
};

/// Findings that are kept; beyond that only their number is.
const KEPT: usize = 1_000;

/// A row as it is stored, whatever it says.
#[derive(Debug, Clone, Copy)]
pub(crate) struct StoredRow<'a> {
    pub(crate) position: i64,
    pub(crate) writer: &'a str,
    pub(crate) seq: i64,
    /// What the columns say, where there are columns beside the text.
    pub(crate) repeated: Option<Repeated<'a>>,
    pub(crate) previous: &'a [u8],
    pub(crate) hash: &'a [u8],
    pub(crate) text: &'a [u8],
}

#[derive(Default)]
pub(crate) struct Checker {
    writers: Vec<Writer>,
    index: HashMap<Arc<str>, usize>,
    records: u64,
    /// With the number of the record at which each was found: hashing says what it finds later.
    findings: Vec<(u64, Finding)>,
    found: u64,
    /// Used again for each row.
    head: String,
    hashing: Hashing,
}

/// What is known of one writer's chain so far.
struct Writer {
    name: Arc<str>,
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
            let Some(writer) = self.writer(&head.writer) else { continue };
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
            if let Some(writer) = self.writer(&head.writer) {
                (writer.next, writer.last) = (head.seq, None);
            }
        }
    }

    pub(crate) fn take(&mut self, row: &StoredRow<'_>) {
        self.records += 1;
        if let Some(repeated) = &row.repeated {
            self.head.clear();
            begin(&mut self.head, row.writer, row.seq);
            repeat(&mut self.head, repeated);
            if !row.text.starts_with(self.head.as_bytes()) {
                self.find(row.writer, row.seq, Wrong::Columns);
            }
        }
        let stored = Hash::from_slice(row.hash);
        let order = self.records;
        let Some(writer) = self.writer(row.writer) else { return };
        let wrongs = writer.take(row, stored);
        let record = Edited { writer: writer.name.clone(), seq: row.seq, order };
        self.hashing.check(row.previous, row.text, stored, record);
        for (seq, wrong) in wrongs {
            self.find(row.writer, seq, wrong);
        }
    }

    /// What is left to read for these heads. Within one writer numbers are committed in order, so this needs no more care.
    pub(crate) fn rest(&self, heads: &[Head]) -> Vec<Scan> {
        let next = |name: &str| {
            let writer = self.index.get(name).and_then(|index| self.writers.get(*index));
            writer.map_or(0, |writer| writer.next)
        };
        let left = heads.iter().map(|head| (head, next(&head.writer))).filter(|(head, next)| head.seq >= *next);
        left.map(|(head, from)| Scan::Writer { writer: head.writer.clone(), from }).collect()
    }

    pub(crate) fn unreadable(&mut self, position: i64) {
        self.records += 1;
        self.find("?", -1, Wrong::Unreadable { position });
    }

    pub(crate) fn finish(mut self) -> Verification {
        let records = self.records;
        let mut writers = std::mem::take(&mut self.writers);
        writers.sort_by(|one, other| one.name.cmp(&other.name));
        for writer in &writers {
            // After everything that has a place of its own.
            self.records += 1;
            let name = &*writer.name;
            for (first, last) in &writer.missing {
                self.find(name, *first, Wrong::Missing { until: *last });
            }
            for expected in writer.expected.iter().rev() {
                self.find(name, expected.seq, Wrong::Truncated { checkpoint: expected.checkpoint });
            }
        }
        // Hashing that failed has proven nothing, so nothing counts as sound.
        let edited = std::mem::take(&mut self.hashing).finish();
        let edited = edited.unwrap_or_else(|| vec![Edited { order: 0, writer: Arc::from("?"), seq: -1 }]);
        for Edited { order, writer, seq } in edited {
            self.found += 1;
            self.findings.push((order, Finding { writer: writer.to_string(), seq, wrong: Wrong::Edited }));
        }
        self.findings.sort_by_key(|(order, finding)| (*order, finding.wrong != Wrong::Edited));
        self.findings.truncate(KEPT);
        let seen = writers.iter().filter(|writer| writer.seen).count();
        Verification {
            records,
            writers: u64::try_from(seen).unwrap_or(u64::MAX),
            findings: self.findings.into_iter().map(|(_, finding)| finding).collect(),
            found: self.found,
        }
    }

    fn find(&mut self, writer: &str, seq: i64, wrong: Wrong) {
        self.found += 1;
        if self.findings.len() < KEPT {
            self.findings.push((self.records, Finding { writer: writer.to_owned(), seq, wrong }));
        }
    }

    fn writer(&mut self, name: &str) -> Option<&mut Writer> {
        let index = match self.index.get(name) {
            Some(index) => *index,
            None => {
                let name: Arc<str> = name.into();
                self.index.insert(name.clone(), self.writers.len());
                self.writers.push(Writer::whole(name));
                self.writers.len() - 1
            }
        };
        self.writers.get_mut(index)
    }
}

impl Writer {
    fn whole(name: Arc<str>) -> Self {
        Self {
            name,
            next: 0,
            last: Some(Hash::NOTHING),
            position: i64::MIN,
            missing: Vec::new(),
            expected: Vec::new(),
            seen: false,
        }
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
