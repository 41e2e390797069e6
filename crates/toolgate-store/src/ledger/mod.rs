//! The ledger: what was asked, decided and done, for ever.
//!
//! INVARIANT: records are only ever added. A writer is one process of Toolgate with a random name and a chain of its own, so
//! that replicas need no coordination; the chain is linked in one place, in the order in which records are stored. What
//! is acknowledged is there; what failed is not.

mod archive;
mod canonical;
mod chain;
mod checkpoint;
mod engine;
mod entry;
mod filter;
mod job;
mod journal;
mod known_heads;
mod pages;
mod reader;
mod record;
mod signature;
mod system_record;
mod unavailable;
mod verify;

use std::{ops::Deref, sync::Arc};

use crate::{RestoredDatabase, StoreError, engine::Engine};

pub use self::{
    archive::{Archive, ArchiveError, ArchiveRequest, ArchiveSeal, OpenArchiveError, SealError},
    chain::{Hash, Place},
    checkpoint::{BadCheckpoint, Checkpoint, Head, Trusted},
    entry::{Durability, Entry, Kind, LONGEST_ASKED, Outcome, ResultNote},
    filter::Filter,
    job::Pending,
    pages::Pages,
    reader::{LedgerReader, NotSigned},
    record::Record,
    signature::CheckpointKey,
    unavailable::{LedgerFailure, LedgerUnavailable},
    verify::{ArchivedRecords, Finding, Scope, Verification, Wrong},
};
pub(crate) use self::{
    archive::{CopiedPart, SealedPart, temporary},
    canonical::Repeated,
    chain::{Chain, Link},
    job::{Answered, Job, answer_all, refuse_all},
    journal::{beside as folder_beside, has_records_beside, write_record},
    record::columns,
    system_record::SystemRecord,
    verify::{Checker, Scan, StoredRow, Witness},
};
use self::{canonical::Draft, engine::Sink};

/// How a ledger is opened.
#[derive(Debug, Clone, Default)]
pub struct LedgerSettings {
    /// The embedded store: the largest the ledger's files may grow together. At the limit nothing is recorded, and so
    /// nothing runs; the disk is left with room for everything else. PostgreSQL has limits of its own.
    pub max_bytes: Option<u64>,
    /// The embedded store: the size from which on a new file begins. 256 MiB unless it says another.
    pub segment_bytes: Option<u64>,
}

/// An open ledger: one writer, and everybody's records. Clones share it.
#[derive(Clone)]
pub struct Ledger {
    sink: Arc<Sink>,
    reader: LedgerReader,
}

impl Ledger {
    pub(crate) async fn open(engine: Arc<Engine>, settings: LedgerSettings) -> Result<Self, StoreError> {
        let (sink, reader) = engine::open(engine, settings).await?;
        Ok(Self { sink: Arc::new(sink), reader })
    }

    /// This process's name in the ledger. It appears there with the first record.
    pub fn writer(&self) -> &str {
        self.sink.writer()
    }

    /// Records, and waits until that counts.
    pub async fn append(&self, entry: Entry, durability: Durability) -> Result<Place, LedgerUnavailable> {
        self.submit(entry, durability).await
    }

    /// Hands a record over without waiting. Records of one caller are stored in the order in which they were submitted;
    /// one whose `Pending` is dropped is stored all the same.
    pub fn submit(&self, entry: Entry, durability: Durability) -> Pending {
        match Draft::new(entry) {
            Ok(draft) => self.sink.submit(draft, durability),
            Err(unavailable) => Pending::known(Err(unavailable)),
        }
    }

    /// Records that somebody accepted a restored database, and waits until that is on disk.
    pub async fn record_restore(
        &self,
        restored: RestoredDatabase,
        by: &str,
        time: i64,
    ) -> Result<Place, LedgerUnavailable> {
        let record = SystemRecord::restored(restored, by);
        self.sink.submit(Draft::system(&record, time), Durability::Durable).await
    }

    /// Whether four fifths of the bytes that the ledger may have are taken.
    pub fn is_nearly_full(&self) -> bool {
        self.sink.is_nearly_full()
    }

    /// Whether a call could be recorded now, and if not, why.
    pub async fn health(&self) -> Result<(), LedgerUnavailable> {
        self.sink.health().await
    }

    /// Stores what was handed over, lets the store know how far the ledger goes, and lets go of the database.
    pub async fn close(&self) {
        self.sink.close().await;
        if let Err(fault) = self.reader.keep_heads().await {
            tracing::warn!(%fault, "the store does not know the last records of the ledger");
        }
    }
}

/// Who writes can read.
impl Deref for Ledger {
    type Target = LedgerReader;

    fn deref(&self) -> &LedgerReader {
        &self.reader
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use serde_json::value::RawValue;

    use super::*;

    pub(crate) fn entry(call: &str) -> Entry {
        Entry {
            kind: Kind::Intent,
            time: 1_700_000_000_000,
            call: call.into(),
            tool: "vault.move".into(),
            source: "vault".into(),
            principal: "user:ann".into(),
            tenant: None,
            flow: None,
            outcome: Outcome::Allowed,
            asked: None,
            actor: RawValue::from_string(r#"{"user":"ann"}"#.into()).unwrap().into(),
            input: None,
            approval: None,
            plan: None,
            rule: None,
            code: None,
            result: None,
            revision: "sha256:00".into(),
            duration_us: None,
        }
    }
}
