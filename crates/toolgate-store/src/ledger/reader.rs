//! Reading the ledger, without being one of its writers.

use std::{sync::Arc, time::Duration};

use super::{
    Checker, Checkpoint, CheckpointKey, Filter, Head, Pages, Record, Scan, Scope, Verification, engine::Source,
    known_heads::KnownHeads, verify,
};
use crate::{StoreError, engine::Engine};

/// How long and how often one waits on PostgreSQL until what was just committed is settled.
const SETTLING: usize = 20;
const PAUSE: Duration = Duration::from_millis(25);

/// Everybody's records, to be read. Clones share it.
#[derive(Clone)]
pub struct LedgerReader {
    source: Arc<Source>,
    known: KnownHeads,
}

/// Why a checkpoint was not made.
#[derive(Debug, thiserror::Error)]
pub enum NotSigned {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("the ledger is not sound ({} finding(s)), and a checkpoint would cover that up; verify it", .0.found)]
    Unsound(Verification),
}

impl LedgerReader {
    pub(super) fn new(source: Source, engine: Arc<Engine>) -> Self {
        Self { source: Arc::new(source), known: KnownHeads::new(engine) }
    }

    pub(crate) async fn open(engine: Arc<Engine>) -> Result<Option<Self>, StoreError> {
        Ok(Source::open(engine.clone()).await?.map(|source| Self::new(source, engine)))
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

    /// The last records, signed. What came since the store last knew them is verified first.
    pub async fn checkpoint(&self, key: &CheckpointKey, time: i64) -> Result<Checkpoint, NotSigned> {
        let (heads, verification) = self.advance().await?;
        if !verification.is_sound() {
            return Err(NotSigned::Unsound(verification));
        }
        Ok(Checkpoint::sign(key, time, heads))
    }

    /// Lets the store know the last records there are, if what is new is sound.
    pub async fn keep_heads(&self) -> Result<(), StoreError> {
        self.advance().await.map(drop)
    }

    /// Reads on from the heads that the store knows, and lets it know the new ones. Only where something is wrong with
    /// what is new, or goes on from what the store has forgotten, all is read.
    pub(super) async fn advance(&self) -> Result<(Vec<Head>, Verification), StoreError> {
        let known = self.known.load().await?;
        let checker = Checker::resume(&known);
        let after = if known.is_empty() { i64::MIN } else { checker.position() };
        let mut checker = self.source.scan(vec![Scan::After(after)], checker).await?;
        for _ in 0..SETTLING {
            if self.source.late_heads(checker.position()).await?.is_empty() {
                break;
            }
            tokio::time::sleep(PAUSE).await;
            checker = self.source.scan(vec![Scan::After(checker.position())], checker).await?;
        }
        let (mut heads, mut verification) = (checker.heads(), checker.finish());
        if !verification.is_sound() && !known.is_empty() {
            let (checker, scans) = verify::plan(&Scope::Whole, &known);
            let checker = self.source.scan(scans, checker).await?;
            (heads, verification) = (checker.heads(), checker.finish());
        }
        if verification.is_sound() {
            // what the store says is there must not be gone after a power cut
            self.source.sync().await?;
            self.known.keep(&known, &heads).await?;
        }
        Ok((heads, verification))
    }

    /// The heads that a new writer names: also of what is not settled yet.
    pub(super) async fn newest_heads(&self) -> Result<Vec<Head>, StoreError> {
        let (mut heads, _) = self.advance().await?;
        let settled = heads.iter().map(|head| head.position).max().unwrap_or(i64::MIN);
        let late = self.source.late_heads(settled).await?;
        heads.retain(|head| late.iter().all(|late| late.writer != head.writer));
        heads.extend(late);
        Ok(heads)
    }

    /// Reads the chains and says everything that is wrong with them.
    pub async fn verify(&self, scope: Scope) -> Result<Verification, StoreError> {
        let known = self.known.load().await?;
        let (checker, scans) = verify::plan(&scope, &known);
        let checker = self.source.scan(scans, checker).await?;
        // What came since, or was there and not yet settled.
        let late = self.source.late_heads(checker.position()).await?;
        let rest = checker.rest(&late);
        let checker = self.source.scan(rest, checker).await?;
        Ok(checker.finish())
    }
}
