//! Looks at rows, one after another, and knows for each writer what must come next. Pure: it reads nothing itself.

use std::{collections::HashMap, sync::Arc};

use super::{
    super::{
        Hash, Head, Repeated,
        canonical::{begin, repeat},
        system_record::{SystemMembers, UnsyncedRange},
    },
    Finding, Scan, Verification, Wrong,
    archived::ArchivedState,
    hashing::{Edited, Hashing},
    recovered::RecordedLosses,
    witness::Witness,
    writer_state::WriterState,
};

/// Findings that are kept; beyond that only their number is.
const KEPT: usize = 1_000;
/// Heads of writers that others name already, which are kept for when such a writer goes on.
const COVERED: usize = 64;
/// The same in a seal.
const COVERED_IN_SEAL: usize = 4_096;

/// A row as it is stored, whatever it says.
#[derive(Debug, Clone, Copy)]
pub(crate) struct StoredRow<'a> {
    pub(crate) position: i64,
    pub(crate) writer: &'a str,
    pub(crate) seq: i64,
    pub(crate) kind: &'a str,
    /// What the columns say, where there are columns beside the text.
    pub(crate) repeated: Option<Repeated<'a>>,
    pub(crate) previous: &'a [u8],
    pub(crate) hash: &'a [u8],
    pub(crate) text: &'a [u8],
}

#[derive(Default)]
pub(crate) struct Checker {
    writers: Vec<WriterState>,
    index: HashMap<Arc<str>, usize>,
    records: u64,
    /// With the number of the record at which each was found: hashing says what it finds later.
    findings: Vec<(u64, Finding)>,
    found: u64,
    /// Used again for each row.
    head: String,
    hashing: Hashing,
    pub(super) losses: RecordedLosses,
    /// The position of the last row.
    position: i64,
    /// What stands before the first row, where a part of the ledger was archived.
    pub(super) archived: Option<ArchivedState>,
}

impl Checker {
    /// Goes on after records that were verified before.
    pub(crate) fn resume(heads: &[Head]) -> Self {
        let mut checker = Self::default();
        for head in heads {
            checker.position = checker.position.max(head.position);
            if let Some(writer) = checker.writer(&head.writer) {
                writer.resume(head);
            }
        }
        checker
    }

    /// The position of the last row that was read.
    pub(crate) fn position(&self) -> i64 {
        self.position
    }

    /// These records must be there.
    pub(crate) fn expect(&mut self, heads: &[Head], witness: &Witness) {
        for head in heads {
            let wrong = self.writer(&head.writer).and_then(|writer| writer.expect(head, witness.clone()));
            if let Some(wrong) = wrong {
                self.find(&head.writer, head.seq, wrong);
            }
        }
    }

    /// The last records of all writers that none other names, and of some that others name.
    pub(crate) fn heads(&self) -> Vec<Head> {
        // The chain that goes on from a failed sync names what is sure to be there. The rest may be gone after a power cut.
        let has_ended = |writer: &&WriterState| self.losses.has_ended(&writer.name);
        newest_heads(self.writers.iter().filter(|writer| !has_ended(writer)), COVERED)
    }

    /// The same with many more of those that others name: what was before an archive is not read again.
    pub(crate) fn all_heads(&self) -> Vec<Head> {
        newest_heads(self.writers.iter(), COVERED_IN_SEAL)
    }

    /// A record that a head names, read again at its place.
    pub(crate) fn compare(&mut self, head: &Head, found: Option<(&[u8], &[u8], &[u8])>, witness: &Witness) {
        self.records += 1;
        let Some((previous, hash, text)) = found else {
            return self.find(&head.writer, head.seq, witness.lost());
        };
        let stored = Hash::from_slice(hash);
        if stored != Some(head.hash) {
            return self.find(&head.writer, head.seq, witness.replaced());
        }
        let edited = Edited { writer: head.writer.as_str().into(), seq: head.seq, order: self.records };
        self.hashing.check(previous, text, stored, edited);
        if let Some(writer) = self.writer(&head.writer) {
            writer.seen = true;
        }
    }

    pub(crate) fn take(&mut self, row: &StoredRow<'_>) {
        self.records += 1;
        self.position = self.position.max(row.position);
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
        if row.seq == 0 || matches!(row.kind, "recovery" | "archive") {
            self.take_system(row);
        }
    }

    /// What a record of the ledger itself says of others.
    fn take_system(&mut self, row: &StoredRow<'_>) {
        let Ok(SystemMembers { heads, damaged, unsynced, seal }) = serde_json::from_slice(row.text) else { return };
        if let (Some(archived), Some(seal)) = (&mut self.archived, seal.filter(|_| row.kind == "archive")) {
            archived.name(seal);
        }
        self.expect(&heads, &Witness::Writer(row.writer.into()));
        if row.seq == 0
            && let Some(writer) = self.writer(row.writer)
        {
            writer.genesis = Some(heads.iter().map(|head| (head.writer.as_str().into(), head.seq)).collect());
        }
        // A database has no files that could be damaged.
        if row.kind != "recovery" || row.repeated.is_some() {
            return;
        }
        if let Some(damaged) = damaged {
            self.losses.damaged(&damaged);
        }
        if let Some(unsynced) = unsynced
            && self.is_credible(&unsynced, row)
        {
            if let Some(writer) = self.writer(&unsynced.writer) {
                writer.ended_at = Some(row.position);
            }
            self.losses.unsynced(unsynced, row.position);
        }
    }

    /// A chain that goes on from a failed sync names the last record that was synced. What something else names later than
    /// that was synced too.
    fn is_credible(&self, unsynced: &UnsyncedRange, row: &StoredRow<'_>) -> bool {
        let state = |name: &str| self.index.get(name).and_then(|index| self.writers.get(*index));
        let witnessed = state(&unsynced.writer).map_or(-1, |writer| writer.witnessed);
        let genesis = state(row.writer).and_then(|writer| writer.genesis.as_ref());
        let names = |heads: &Vec<(Arc<str>, i64)>| {
            let named = heads.iter().find(|(writer, _)| **writer == *unsynced.writer).map_or(-1, |(_, seq)| *seq);
            named == unsynced.after
        };
        unsynced.after >= witnessed && genesis.is_none_or(names)
    }

    /// What is left to read of writers that have records after the last row. Within one writer numbers are committed in
    /// order, so this needs no more care.
    pub(crate) fn rest(&self, late: &[Head]) -> Vec<Scan> {
        let next = |name: &str| {
            let writer = self.index.get(name).and_then(|index| self.writers.get(*index));
            writer.map_or(0, |writer| writer.next)
        };
        let scan =
            |head: &Head| Scan::Writer { writer: head.writer.clone(), after: self.position, from: next(&head.writer) };
        late.iter().map(scan).collect()
    }

    pub(crate) fn unreadable(&mut self, position: i64) {
        self.records += 1;
        self.find("?", -1, Wrong::Unreadable { position });
    }

    pub(crate) fn finish(mut self) -> Verification {
        let records = self.records;
        if self.archived.as_ref().is_some_and(|archived| !archived.is_recorded()) {
            self.report(Wrong::SealUnrecorded);
        }
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
                self.find(name, expected.seq, expected.witness.lost());
            }
        }
        // Hashing that failed has proven nothing, so nothing counts as sound.
        let edited = std::mem::take(&mut self.hashing).finish();
        let edited = edited.unwrap_or_else(|| vec![Edited { order: 0, writer: Arc::from("?"), seq: -1 }]);
        for Edited { order, writer, seq } in edited {
            self.found += 1;
            self.findings.push((order, Finding { writer: writer.to_string(), seq, wrong: Wrong::Edited }));
        }
        let losses = std::mem::take(&mut self.losses);
        let all = self.findings.len();
        let numbers: HashMap<&str, i64> = writers.iter().map(|writer| (&*writer.name, writer.witnessed)).collect();
        let witnessed = |name: &str| numbers.get(name).copied().unwrap_or(-1);
        self.findings.retain(|(_, finding)| !losses.explain(finding, &witnessed));
        self.found = self.found.saturating_sub(u64::try_from(all - self.findings.len()).unwrap_or_default());
        self.findings.sort_by_key(|(order, finding)| (*order, finding.wrong != Wrong::Edited));
        self.findings.truncate(KEPT);
        let seen = writers.iter().filter(|writer| writer.seen).count();
        Verification {
            records,
            writers: u64::try_from(seen).unwrap_or(u64::MAX),
            findings: self.findings.into_iter().map(|(_, finding)| finding).collect(),
            found: self.found,
            recoveries: u64::try_from(losses.count()).unwrap_or(u64::MAX),
            archived: self.archived.map(|archived| archived.records),
        }
    }

    pub(super) fn find(&mut self, writer: &str, seq: i64, wrong: Wrong) {
        self.found += 1;
        if self.findings.len() < KEPT {
            self.findings.push((self.records, Finding { writer: writer.to_owned(), seq, wrong }));
        }
    }

    fn writer(&mut self, name: &str) -> Option<&mut WriterState> {
        let index = match self.index.get(name) {
            Some(index) => *index,
            None => {
                let name: Arc<str> = name.into();
                self.index.insert(name.clone(), self.writers.len());
                self.writers.push(WriterState::whole(name));
                self.writers.len() - 1
            }
        };
        self.writers.get_mut(index)
    }
}

/// The last records of writers, those that none other names and the newest of the others.
fn newest_heads<'a>(writers: impl Iterator<Item = &'a WriterState>, covered: usize) -> Vec<Head> {
    let mut heads: Vec<Head> = writers.filter_map(WriterState::head).collect();
    heads.sort_unstable_by_key(|head| (head.covered, -head.position));
    let uncovered = heads.iter().filter(|head| !head.covered).count();
    heads.truncate(uncovered + covered);
    heads.sort_unstable_by(|one, other| one.writer.cmp(&other.writer));
    heads
}
