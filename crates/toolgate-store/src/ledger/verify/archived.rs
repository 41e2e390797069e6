//! Verifying what is left of a ledger beside the seals of what was archived.

use super::{
    super::{Checkpoint, Head, SealedPart, archive::ArchivedHead},
    ArchivedRecords, Checker, RecordedLosses, Witness, Wrong,
};
use crate::ledger::Hash;

/// What is known of the archived part.
pub(super) struct ArchivedState {
    /// The newest seal, as long as nothing in the ledger was found that names it.
    unrecorded: Option<Hash>,
    pub(super) records: ArchivedRecords,
}

impl ArchivedState {
    /// A record of the ledger, or a checkpoint, names a seal.
    pub(super) fn name(&mut self, seal: Hash) {
        if self.unrecorded == Some(seal) {
            self.unrecorded = None;
        }
    }

    pub(super) fn is_recorded(&self) -> bool {
        self.unrecorded.is_none()
    }
}

impl Checker {
    /// Relies on a seal for everything before the ledger's first record.
    pub(super) fn begin_after(&mut self, sealed: &SealedPart) {
        self.accept_losses(&sealed.losses);
        self.archived = Some(ArchivedState {
            unrecorded: Some(sealed.hash),
            records: ArchivedRecords {
                archives: u64::try_from(sealed.seals.len()).unwrap_or(u64::MAX),
                last_time: sealed.last_time,
                unread: 0,
            },
        });
    }

    /// Losses that are on record outside of what is read.
    pub(crate) fn accept_losses(&mut self, losses: &RecordedLosses) {
        self.losses.extend(losses);
    }

    pub(crate) fn losses(&self) -> &RecordedLosses {
        &self.losses
    }

    /// These records must be in the ledger, or in its archives as far as the seal shows.
    pub(super) fn expect_beside_archive(&mut self, heads: &[Head], witness: &Witness, sealed: Option<&SealedPart>) {
        let Some(sealed) = sealed else { return self.expect(heads, witness) };
        for head in heads {
            match sealed.judge(head) {
                ArchivedHead::InLedger => self.expect(std::slice::from_ref(head), witness),
                ArchivedHead::Confirmed => {}
                ArchivedHead::Unread => {
                    if let Some(archived) = &mut self.archived {
                        archived.records.unread += 1;
                    }
                }
                ArchivedHead::Replaced => self.find(&head.writer, head.seq, witness.replaced()),
                ArchivedHead::Lost => self.find(&head.writer, head.seq, witness.lost()),
            }
        }
    }

    /// The seal that a checkpoint names must be among those that the store has.
    pub(super) fn expect_seal(&mut self, checkpoint: &Checkpoint, sealed: Option<&SealedPart>) {
        let Some(seal) = checkpoint.seal() else { return };
        if !sealed.is_some_and(|sealed| sealed.seals.contains(&seal)) {
            self.report(Wrong::SealLost { checkpoint: checkpoint.time() });
        }
        if let Some(archived) = &mut self.archived {
            archived.name(seal);
        }
    }

    /// Something that is wrong with the ledger as a whole.
    pub(crate) fn report(&mut self, wrong: Wrong) {
        self.find("archive", -1, wrong);
    }
}
