//! Recorded losses: what a recovery says is gone is not found missing.

use serde::{Deserialize, Serialize};

use super::{
    super::system_record::{DamagedRange, UnsyncedRange},
    Finding, Wrong,
};

/// Everything that recoveries on record name.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct RecordedLosses {
    /// Positions where something may stand that is no record, first and last.
    positions: Vec<(i64, i64)>,
    /// Writers whose records after a number may be gone.
    writers: Vec<(String, i64)>,
}

/// The highest number of a writer that something beside its chain names: no recovery explains that such a record is gone.
pub(super) type WitnessedNumber<'a> = &'a dyn Fn(&str) -> i64;

impl RecordedLosses {
    pub(super) fn extend(&mut self, other: &Self) {
        let new = |range: &&(i64, i64)| !self.positions.contains(*range);
        let positions: Vec<_> = other.positions.iter().filter(new).copied().collect();
        self.positions.extend(positions);
        let new = |writer: &&(String, i64)| !self.writers.contains(*writer);
        let writers: Vec<_> = other.writers.iter().filter(new).cloned().collect();
        self.writers.extend(writers);
    }

    pub(super) fn damaged(&mut self, DamagedRange { position, bytes }: &DamagedRange) {
        self.positions.push((*position, position.saturating_add(*bytes)));
    }

    /// Up to the recovery itself, which stands in another file.
    pub(super) fn unsynced(&mut self, range: UnsyncedRange, recovery: i64) {
        self.positions.push((range.from, recovery.saturating_sub(1)));
        self.writers.push((range.writer, range.after));
    }

    pub(super) fn count(&self) -> usize {
        self.positions.len()
    }

    /// Returns true for a writer that ended with a failed sync.
    pub(super) fn has_ended(&self, name: &str) -> bool {
        self.writers.iter().any(|(writer, _)| writer == name)
    }

    pub(super) fn explain(&self, finding: &Finding, witnessed: WitnessedNumber<'_>) -> bool {
        let (name, seq) = (&finding.writer, finding.seq);
        let is_lost = || self.writers.iter().any(|(writer, after)| writer == name && seq > *after);
        match finding.wrong {
            Wrong::Unreadable { position } => self.positions.iter().any(|(a, b)| (*a..=*b).contains(&position)),
            Wrong::Missing { .. } | Wrong::Lost { .. } => is_lost() && seq > witnessed(name),
            _ => false,
        }
    }
}
