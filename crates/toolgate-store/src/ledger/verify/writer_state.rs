//! One writer's chain, as far as it was read.

use std::{collections::VecDeque, sync::Arc};

use super::{
    super::{Hash, Head},
    StoredRow, Wrong,
    witness::{Expected, Witness},
};

/// Hashes that are remembered of a chain: a writer that begins names heads that may have grown since, by a group or two.
const RECENT: usize = 2_048;

/// What is known of one writer's chain so far.
pub(super) struct WriterState {
    pub(super) name: Arc<str>,
    /// The number the next record must have.
    pub(super) next: i64,
    /// The hash it must continue.
    last: Option<Hash>,
    position: i64,
    /// Gaps, as first and last number.
    pub(super) missing: Vec<(i64, i64)>,
    /// Records that witnesses name, the lowest number last.
    pub(super) expected: Vec<Expected>,
    pub(super) seen: bool,
    /// Hashes of the last records, the newest last.
    recent: VecDeque<Hash>,
    /// Another writer's first record names the last one.
    pub(super) covered: bool,
    /// The highest number that a checkpoint, the store or another writer names.
    pub(super) witnessed: i64,
    /// The heads that the first record names, where that was read.
    pub(super) genesis: Option<Vec<(Arc<str>, i64)>>,
    /// The position of a recovery that says that this writer had ended.
    pub(super) ended_at: Option<i64>,
}

impl WriterState {
    pub(super) fn whole(name: Arc<str>) -> Self {
        Self {
            name,
            next: 0,
            last: Some(Hash::NOTHING),
            position: i64::MIN,
            missing: Vec::new(),
            expected: Vec::new(),
            seen: false,
            recent: VecDeque::new(),
            covered: false,
            witnessed: -1,
            genesis: None,
            ended_at: None,
        }
    }

    /// Goes on after a record that was verified before.
    pub(super) fn resume(&mut self, head: &Head) {
        (self.next, self.last) = (head.seq.saturating_add(1), Some(head.hash));
        (self.position, self.covered) = (head.position, head.covered);
        self.recent = VecDeque::from([head.hash]);
        self.witnessed = self.witnessed.max(head.seq);
    }

    /// The last record.
    pub(super) fn head(&self) -> Option<Head> {
        let seq = self.next.checked_sub(1).filter(|seq| *seq >= 0)?;
        let (writer, position) = (self.name.to_string(), self.position);
        Some(Head { writer, seq, hash: self.last?, position, covered: self.covered })
    }

    /// A record must be there, or must have been. Says what is wrong with one that was read already.
    pub(super) fn expect(&mut self, head: &Head, witness: Witness) -> Option<Wrong> {
        self.witnessed = self.witnessed.max(head.seq);
        if head.seq < self.next {
            let back = usize::try_from(self.next - 1 - head.seq).ok()?;
            let recent = self.recent.len().checked_sub(back + 1).and_then(|at| self.recent.get(at))?;
            if *recent != head.hash {
                return Some(witness.replaced());
            }
            self.covered |= back == 0 && matches!(witness, Witness::Writer(_));
            return None;
        }
        // Witnesses mostly come in the order of time, so this is at one end; equal ones say nothing new.
        let at = self.expected.partition_point(|other| other.seq > head.seq);
        if self.expected.get(at).is_none_or(|other| (other.seq, other.hash) != (head.seq, head.hash)) {
            self.expected.insert(at, Expected { seq: head.seq, hash: head.hash, witness });
        }
        None
    }

    pub(super) fn take(&mut self, row: &StoredRow<'_>, hash: Option<Hash>) -> Vec<(i64, Wrong)> {
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
            self.recent.clear();
        } else if self.last.is_some_and(|last| Hash::from_slice(row.previous) != Some(last)) {
            wrong.push((row.seq, Wrong::Unlinked));
        }
        if row.position <= self.position {
            wrong.push((row.seq, Wrong::Moved));
        }
        if self.ended_at.is_some_and(|ended| row.position > ended) {
            wrong.push((row.seq, Wrong::FalseRecovery));
        }
        while let Some(expected) = self.expected.pop_if(|expected| expected.seq <= row.seq) {
            // One that was passed by is in a gap, which is found as such.
            if expected.seq == row.seq && Some(expected.hash) != hash {
                wrong.push((row.seq, expected.witness.replaced()));
            }
        }
        self.position = row.position;
        self.next = row.seq.saturating_add(1);
        self.last = hash;
        self.covered = false;
        if self.recent.len() >= RECENT {
            self.recent.pop_front();
        }
        self.recent.push_back(hash.unwrap_or(Hash::NOTHING));
        wrong
    }
}
