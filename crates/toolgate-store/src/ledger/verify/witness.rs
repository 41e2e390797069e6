//! Witnesses: what names a record beside the chain that it belongs to.

use std::sync::Arc;

use super::{super::Hash, Wrong};

/// Where it is known from that a record exists.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Witness {
    /// A checkpoint, by its time.
    Checkpoint(i64),
    /// The first record of a later writer.
    Writer(Arc<str>),
    /// The store, which keeps the heads that it last saw.
    Store,
}

/// A record that must be there.
pub(super) struct Expected {
    pub(super) seq: i64,
    pub(super) hash: Hash,
    pub(super) witness: Witness,
}

impl Witness {
    fn known_from(&self) -> String {
        match self {
            Self::Checkpoint(time) => format!("checkpoint {time}"),
            Self::Writer(writer) => format!("writer {writer}"),
            Self::Store => "store".to_owned(),
        }
    }

    /// The chain ends before the record.
    pub(super) fn lost(&self) -> Wrong {
        match self {
            Self::Checkpoint(checkpoint) => Wrong::Truncated { checkpoint: *checkpoint },
            _ => Wrong::Lost { known_from: self.known_from() },
        }
    }

    /// Another record stands in its place.
    pub(super) fn replaced(&self) -> Wrong {
        match self {
            Self::Checkpoint(checkpoint) => Wrong::NotAsInCheckpoint { checkpoint: *checkpoint },
            _ => Wrong::NotAsKnown { known_from: self.known_from() },
        }
    }
}
