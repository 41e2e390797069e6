//! The ledger: what was asked, decided and done, for ever.
//!
//! INVARIANT: records are only ever added. A writer is one process of Toolgate with a random name and a chain of its own, so
//! that replicas need no coordination; the chain is linked in one place, in the order in which records are stored. What
//! is acknowledged is there; what failed is not.

mod canonical;
mod chain;
mod checkpoint;
mod engine;
mod entry;
mod filter;
mod job;
mod pages;
mod record;
mod unavailable;
mod verify;

use std::sync::Arc;

use crate::{StoreError, engine::Engine, statement::Statement};

use self::{canonical::Draft, engine::LedgerEngine, record::HeadRow};
pub(crate) use self::{
    canonical::Repeated,
    chain::{Chain, Link},
    job::{Answered, Job, answer_all, refuse_all},
    record::columns,
    verify::{Checker, Scan, StoredRow},
};
pub use self::{
    chain::{Hash, Place},
    checkpoint::{BadCheckpoint, Checkpoint, CheckpointKey, Head, Trusted},
    entry::{Durability, Entry, Kind, Outcome, ResultNote},
    filter::Filter,
    job::Pending,
    pages::Pages,
    record::{Cursor, Record},
    unavailable::LedgerUnavailable,
    verify::{Finding, Scope, Verification, Wrong},
};

/// How a ledger is opened.
#[derive(Debug, Clone, Default)]
pub struct LedgerSettings {
    /// SQLite: the largest the ledger's file may grow. At the limit nothing is recorded, and so nothing runs; the disk is
    /// left with room for everything else. PostgreSQL has limits of its own.
    pub max_bytes: Option<u64>,
}

/// An open ledger: one writer, and everybody's records. Clones share it.
#[derive(Clone)]
pub struct Ledger {
    engine: Arc<LedgerEngine>,
}

impl Ledger {
    pub(crate) async fn open(engine: Arc<Engine>, settings: LedgerSettings) -> Result<Self, StoreError> {
        LedgerEngine::open(engine, settings).await.map(|engine| Self { engine: Arc::new(engine) })
    }

    /// This process's name in the ledger. It appears there with the first record.
    pub fn writer(&self) -> &str {
        self.engine.writer()
    }

    /// Records, and waits until that counts.
    pub async fn append(&self, entry: Entry, durability: Durability) -> Result<Place, LedgerUnavailable> {
        self.submit(entry, durability).await
    }

    /// Hands a record over without waiting. Records of one caller are stored in the order in which they were submitted;
    /// one whose `Pending` is dropped is stored all the same.
    pub fn submit(&self, entry: Entry, durability: Durability) -> Pending {
        match Draft::new(entry) {
            Ok(draft) => self.engine.submit(draft, durability),
            Err(unavailable) => Pending::refused(unavailable),
        }
    }

    /// Records in the order of their time, oldest first, after a cursor.
    pub async fn page(&self, filter: &Filter, after: Option<Cursor>, limit: u32) -> Result<Vec<Record>, StoreError> {
        self.engine.read("read the ledger", filter.page(after, limit)).await
    }

    /// The newest records, oldest of them first.
    pub async fn latest(&self, filter: &Filter, limit: u32) -> Result<Vec<Record>, StoreError> {
        let mut records: Vec<Record> = self.engine.read("read the ledger", filter.latest(limit)).await?;
        records.reverse();
        Ok(records)
    }

    /// Records in the order of arrival, after a position: what to ask again and again to follow the ledger. None is passed
    /// by, so on PostgreSQL a record shows here a moment later than in [`Ledger::page`].
    pub async fn tail(&self, filter: &Filter, after: i64, limit: u32) -> Result<Vec<Record>, StoreError> {
        self.engine.read("follow the ledger", filter.tail(after, limit)).await
    }

    /// All records of a filter, page by page, in bounded memory: for an export.
    pub fn pages(&self, filter: Filter) -> Pages {
        Pages::new(self.clone(), filter)
    }

    /// Intents from this time on that have no outcome. Those of a writer that no longer runs are `unknown` for good;
    /// those of one that runs may be under way.
    pub async fn unfinished(&self, since: Option<i64>) -> Result<Vec<Record>, StoreError> {
        self.engine.read("find unfinished calls", filter::unfinished(since)).await
    }

    /// Every writer's last record, signed.
    pub async fn checkpoint(&self, key: &CheckpointKey, time: i64) -> Result<Checkpoint, StoreError> {
        let heads = self.heads().await?;
        Ok(Checkpoint::sign(key, time, heads))
    }

    /// Reads the chains and says everything that is wrong with them.
    pub async fn verify(&self, scope: Scope) -> Result<Verification, StoreError> {
        let heads = match &scope {
            Scope::Since(_) => self.heads().await?,
            Scope::Whole | Scope::Against(_) => Vec::new(),
        };
        let (checker, scans) = verify::plan(&scope, &heads);
        let checker = self.engine.scan(scans, checker).await?;
        // What came since, or was there and not yet settled.
        let rest = checker.rest(&self.heads().await?);
        let checker = self.engine.scan(rest, checker).await?;
        Ok(checker.finish())
    }

    async fn heads(&self) -> Result<Vec<Head>, StoreError> {
        let rows: Vec<HeadRow> =
            self.engine.read("read the heads of the ledger", Statement::new(record::HEADS, [])).await?;
        Ok(rows.into_iter().map(|row| row.0).collect())
    }

    /// Stores what was handed over and lets go of the database.
    pub async fn close(&self) {
        self.engine.close().await;
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
            actor: RawValue::from_string(r#"{"user":"ann"}"#.into()).unwrap().into(),
            input: None,
            approval: None,
            rule: None,
            code: None,
            result: None,
            revision: "sha256:00".into(),
            duration_us: None,
        }
    }
}
