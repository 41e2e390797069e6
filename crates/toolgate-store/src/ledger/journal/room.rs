//! Room for what was begun: who lets a call run keeps room for what comes of it.

use std::{collections::HashMap, sync::Arc};

use crate::ledger::canonical::Draft;

/// The members of a line beside the text of an entry.
const FRAME: u64 = 320;
/// The most that an outcome has beside what its intent had: a summary of the result, a rule and a code.
const OUTCOME: u64 = 4096;
/// The room that a call needs at least.
const CALL: u64 = 2 * (FRAME + 1024) + OUTCOME;

/// The limit of all files together, and what of it is kept for calls in flight.
#[derive(Default)]
pub(super) struct Room {
    limit: Option<u64>,
    /// The bytes that are kept for each call, and the number of its intent in the chain.
    reserved: HashMap<Arc<str>, (u64, i64)>,
    total: u64,
}

impl Room {
    pub(super) fn new(limit: Option<u64>) -> Self {
        Self { limit, ..Self::default() }
    }

    pub(super) fn limit(&self) -> Option<u64> {
        self.limit
    }

    /// Whether a record may be written where `used` bytes are taken; the new number of taken bytes. An outcome always may.
    pub(super) fn admit(&mut self, draft: &Draft, used: u64) -> Option<u64> {
        let Some(limit) = self.limit else { return Some(used) };
        let bytes = draft.rest.len() as u64 + FRAME;
        let after = used.saturating_add(bytes);
        match draft.columns.kind {
            "outcome" if self.release(&draft.columns.call) => Some(after),
            // makes room itself
            "archive" => Some(after),
            "intent" => {
                let kept = bytes + OUTCOME;
                let fits = after.saturating_add(self.total).saturating_add(kept) <= limit;
                if fits && self.reserved.insert(Arc::clone(&draft.columns.call), (kept, i64::MAX)).is_none() {
                    self.total += kept;
                }
                fits.then_some(after)
            }
            _ => (after.saturating_add(self.total) <= limit).then_some(after),
        }
    }

    /// Gives room back that was kept for this call.
    pub(super) fn release(&mut self, call: &str) -> bool {
        let kept = self.reserved.remove(call);
        self.total = self.total.saturating_sub(kept.map_or(0, |(bytes, _)| bytes));
        kept.is_some()
    }

    /// The number that the intent of a call got in the chain.
    pub(super) fn number(&mut self, call: &str, seq: i64) {
        if let Some((_, number)) = self.reserved.get_mut(call) {
            *number = seq;
        }
    }

    /// Gives back the room of all intents after a number, and begins to count anew with another chain: the rest keep theirs.
    pub(super) fn release_after(&mut self, seq: i64) {
        self.reserved.retain(|_, (_, number)| *number <= seq);
        self.reserved.values_mut().for_each(|(_, number)| *number = -1);
        self.total = self.reserved.values().map(|(bytes, _)| bytes).sum();
    }

    /// Whether four fifths of the limit are taken.
    pub(super) fn is_nearly_full(&self, used: u64) -> bool {
        self.limit.is_some_and(|limit| used >= limit / 5 * 4)
    }

    /// Whether one more call of a usual size would be admitted.
    pub(super) fn has_room(&self, used: u64) -> bool {
        self.limit.is_none_or(|limit| used.saturating_add(self.total).saturating_add(CALL) <= limit)
    }
}
