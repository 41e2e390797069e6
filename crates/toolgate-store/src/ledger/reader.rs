//! Reading the ledger, without being one of its writers.

use std::sync::Arc;

use super::{Checkpoint, CheckpointKey, Filter, Pages, Record, Scope, Verification, engine::Source, verify};
use crate::{StoreError, engine::Engine};

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

    /// Records in the order of arrival, oldest first, after a position.
    pub async fn page(&self, filter: &Filter, after: i64, limit: u32) -> Result<Vec<Record>, StoreError> {
        self.source.page(filter, after, limit).await
    }

    /// The newest records, oldest of them first.
    pub async fn latest(&self, filter: &Filter, limit: u32) -> Result<Vec<Record>, StoreError> {
        self.source.latest(filter, limit).await
    }

    /// The same as [`LedgerReader::page`], to be asked again and again to follow the ledger. None is passed by, so on
    /// PostgreSQL a record shows here a moment later.
    pub async fn tail(&self, filter: &Filter, after: i64, limit: u32) -> Result<Vec<Record>, StoreError> {
        self.source.tail(filter, after, limit).await
    }

    /// All records of a filter, page by page, in bounded memory: for an export.
    pub fn pages(&self, filter: Filter) -> Pages {
        Pages::new(self.clone(), filter)
    }

    /// Intents from this time on that have no outcome. Those of a writer that no longer runs are `unknown` for good;
    /// those of one that runs may be under way.
    pub async fn unfinished(&self, since: Option<i64>) -> Result<Vec<Record>, StoreError> {
        self.source.unfinished(since).await
    }

    /// Every writer's last record, signed.
    pub async fn checkpoint(&self, key: &CheckpointKey, time: i64) -> Result<Checkpoint, StoreError> {
        let heads = self.source.heads().await?;
        Ok(Checkpoint::sign(key, time, heads))
    }

    /// Reads the chains and says everything that is wrong with them.
    pub async fn verify(&self, scope: Scope) -> Result<Verification, StoreError> {
        let heads = match &scope {
            Scope::Since(_) => self.source.heads().await?,
            Scope::Whole | Scope::Against(_) => Vec::new(),
        };
        let (checker, scans) = verify::plan(&scope, &heads);
        let checker = self.source.scan(scans, checker).await?;
        if !self.source.settles_late() {
            return Ok(checker.finish());
        }
        // What came since, or was there and not yet settled.
        let rest = checker.rest(&self.source.heads().await?);
        let checker = self.source.scan(rest, checker).await?;
        Ok(checker.finish())
    }
}
