//! The archived part of a ledger: what verifying the rest relies on.

use super::{
    super::{Hash, Head, verify::RecordedLosses},
    ArchiveSeal,
};

/// Everything up to a position, as the newest seal describes it.
#[derive(Debug, Clone)]
pub(crate) struct SealedPart {
    pub(crate) until: i64,
    /// The chains after the last archived record.
    pub(crate) ends: Vec<Head>,
    pub(crate) losses: RecordedLosses,
    /// The hash of the newest seal.
    pub(crate) hash: Hash,
    /// The hashes of all seals.
    pub(crate) seals: Vec<Hash>,
    /// The latest time of an archived record.
    pub(crate) last_time: i64,
}

/// What the seal says of a record that a witness names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ArchivedHead {
    /// The record is not archived: the ledger must have it.
    InLedger,
    /// The record is the last of its chain in the archive, and as it was named.
    Confirmed,
    /// The record is in an archive, which has to be read to compare it.
    Unread,
    /// Another record stands in its place.
    Replaced,
    /// Its chain ends before it.
    Lost,
}

impl SealedPart {
    pub(super) fn new(seal: &ArchiveSeal, seals: Vec<Hash>) -> Self {
        let content = seal.content();
        Self {
            until: content.until,
            ends: content.ends.clone(),
            losses: content.losses.clone(),
            hash: seal.hash(),
            seals,
            last_time: content.last_time,
        }
    }

    pub(crate) fn judge(&self, head: &Head) -> ArchivedHead {
        if head.position > self.until {
            return ArchivedHead::InLedger;
        }
        match self.ends.iter().find(|end| end.writer == head.writer) {
            Some(end) if end.seq < head.seq => ArchivedHead::Lost,
            Some(end) if end.seq == head.seq && end.hash == head.hash => ArchivedHead::Confirmed,
            Some(end) if end.seq == head.seq => ArchivedHead::Replaced,
            _ => ArchivedHead::Unread,
        }
    }
}
