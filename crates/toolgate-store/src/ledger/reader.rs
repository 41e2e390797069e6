//! Reading the ledger, without being one of its writers.

use std::sync::Arc;

use super::{
    Checkpoint, CheckpointKey, Cursor, Filter, Head, Pages, Record, Scope, Verification,
    engine::Source,
    filter,
    record::{self, HeadRow},
    verify,
};
use crate::{StoreError, engine::Engine, statement::Statement};

/// Everybody's records, to be read. Clones share it.
#[derive(Clone)]
pub struct LedgerReader {
    source: Arc<Source>,
}

impl LedgerReader {
    pub(super) fn new(source: Source) -> Self {
        Self { source: Arc::new(source) }
    }

    pub(crate) async fn open(engine: Arc<Engine>) -> Result<Option<Self>, StoreError> {
        Ok(Source::open(engine).await?.map(Self::new))
    }

    /// Records in the order of their time, oldest first, after a cursor.
    pub async fn page(&self, filter: &Filter, after: Option<Cursor>, limit: u32) -> Result<Vec<Record>, StoreError> {
        self.source.read("read the ledger", filter.page(after, limit)).await
    }

    /// The newest records, oldest of them first.
    pub async fn latest(&self, filter: &Filter, limit: u32) -> Result<Vec<Record>, StoreError> {
        let mut records: Vec<Record> = self.source.read("read the ledger", filter.latest(limit)).await?;
        records.reverse();
        Ok(records)
    }

    /// Records in the order of arrival, after a position: what to ask again and again to follow the ledger. None is passed
    /// by, so on PostgreSQL a record shows here a moment later than in [`LedgerReader::page`].
    pub async fn tail(&self, filter: &Filter, after: i64, limit: u32) -> Result<Vec<Record>, StoreError> {
        self.source.read("follow the ledger", filter.tail(after, limit)).await
    }

    /// All records of a filter, page by page, in bounded memory: for an export.
    pub fn pages(&self, filter: Filter) -> Pages {
        Pages::new(self.clone(), filter)
    }

    /// Intents from this time on that have no outcome. Those of a writer that no longer runs are `unknown` for good;
    /// those of one that runs may be under way.
    pub async fn unfinished(&self, since: Option<i64>) -> Result<Vec<Record>, StoreError> {
        self.source.read("find unfinished calls", filter::unfinished(since)).await
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
        let checker = self.source.scan(scans, checker).await?;
        // What came since, or was there and not yet settled.
        let rest = checker.rest(&self.heads().await?);
        let checker = self.source.scan(rest, checker).await?;
        Ok(checker.finish())
    }

    async fn heads(&self) -> Result<Vec<Head>, StoreError> {
        let rows: Vec<HeadRow> =
            self.source.read("read the heads of the ledger", Statement::new(record::HEADS, [])).await?;
        Ok(rows.into_iter().map(|row| row.0).collect())
    }

    /// Lets go of the database.
    pub async fn close(&self) {
        self.source.close().await;
    }
}
