//! Reading the ledger, without being one of its writers.

use std::{
    io,
    path::Path,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use super::{
    Archive, ArchiveSeal, Checker, Checkpoint, CheckpointKey, CopiedPart, Filter, Hash, Head, Pages, Record, Scan,
    Scope, SealedPart, Trusted, Verification, Wrong,
    archive::{self, SealTable},
    engine::Source,
    known_heads::KnownHeads,
    verify,
};
use crate::{StoreError, engine::Engine, error::Fault};

/// How long and how often one waits on PostgreSQL until what was just committed is settled.
const SETTLING: usize = 20;
const PAUSE: Duration = Duration::from_millis(25);

/// How long it is not read as a whole again after it was found not to be sound.
const UNSOUND: Duration = Duration::from_secs(3600);

/// How much is read to find the last records.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reading {
    /// Only what the store does not know yet.
    New,
    /// Everything, where something is wrong with what is new.
    Whole,
}

/// Everybody's records, to be read. Clones share it.
#[derive(Clone)]
pub struct LedgerReader {
    source: Arc<Source>,
    known: KnownHeads,
    seals: SealTable,
    /// The key that seals must be signed with; the store's own unless it is named.
    seal_key: Option<Arc<str>>,
    /// When all of it was read and found not to be sound: that is not repeated each minute.
    found_unsound: Arc<Mutex<Option<Instant>>>,
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
        let (known, seals) = (KnownHeads::new(engine.clone()), SealTable::new(engine));
        Self { source: Arc::new(source), known, seals, seal_key: None, found_unsound: Arc::default() }
    }

    /// Trusts only seals that are signed with this key.
    pub fn trusting(mut self, public_key: &str) -> Self {
        self.seal_key = Some(public_key.into());
        self
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
        let (heads, verification) = self.advance(Reading::Whole).await?;
        if !verification.is_sound() {
            return Err(NotSigned::Unsound(verification));
        }
        let seal = self.sealed_part().await?.0.map(|sealed| sealed.hash);
        Ok(Checkpoint::sign(key, time, heads, seal))
    }

    /// Lets the store know the last records there are, if what is new is sound.
    pub async fn keep_heads(&self) -> Result<(), StoreError> {
        self.advance(Reading::New).await.map(drop)
    }

    /// The same. Where something is wrong with what is new, or goes on from what the store has forgotten, all is read, but
    /// not again within the hour where it was found not to be sound.
    pub async fn watch_heads(&self) -> Result<(), StoreError> {
        let found = *self.found_unsound.lock().unwrap_or_else(PoisonError::into_inner);
        let is_recent = found.is_some_and(|found| found.elapsed() < UNSOUND);
        let reading = if is_recent { Reading::New } else { Reading::Whole };
        self.advance(reading).await.map(drop)
    }

    /// Reads on from the heads that the store knows, and lets it know the new ones.
    async fn advance(&self, reading: Reading) -> Result<(Vec<Head>, Verification), StoreError> {
        let known = self.known.load().await?;
        let sealed = self.sealed_part().await?.0;
        let mut checker = Checker::resume(&known);
        let mut after = if known.is_empty() { i64::MIN } else { checker.position() };
        if let Some(sealed) = sealed.as_ref().filter(|sealed| after < sealed.until) {
            (checker, after) = (Checker::resume(&sealed.ends), sealed.until);
        }
        let mut checker = self.source.scan(vec![Scan::After(after)], checker).await?;
        for _ in 0..SETTLING {
            if self.source.late_heads(checker.position()).await?.is_empty() {
                break;
            }
            tokio::time::sleep(PAUSE).await;
            checker = self.source.scan(vec![Scan::After(checker.position())], checker).await?;
        }
        let (mut heads, mut verification) = (checker.heads(), checker.finish());
        if reading == Reading::Whole && !verification.is_sound() && !known.is_empty() {
            let (checker, scans) = verify::plan(&Scope::Whole, &known, sealed.as_ref());
            let checker = self.source.scan(scans, checker).await?;
            (heads, verification) = (checker.heads(), checker.finish());
        }
        if reading == Reading::Whole {
            let found = (!verification.is_sound()).then(Instant::now);
            *self.found_unsound.lock().unwrap_or_else(PoisonError::into_inner) = found;
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
        let (mut heads, _) = self.advance(Reading::New).await?;
        let settled = heads.iter().map(|head| head.position).max().unwrap_or(i64::MIN);
        let late = self.source.late_heads(settled).await?;
        heads.retain(|head| late.iter().all(|late| late.writer != head.writer));
        heads.extend(late);
        Ok(heads)
    }

    /// Reads the chains and says everything that is wrong with them. What was archived is not read: its seal stands for it.
    pub async fn verify(&self, scope: Scope) -> Result<Verification, StoreError> {
        let checkpoint = match &scope {
            Scope::Since(trusted) => Some(trusted.clone()),
            _ => None,
        };
        let found = self.check(scope).await?.0.finish();
        match checkpoint {
            // A writer that was silent for long may go on from what the checkpoint does not list.
            Some(trusted) if !found.is_sound() => Ok(self.check(Scope::Against(vec![trusted])).await?.0.finish()),
            _ => Ok(found),
        }
    }

    /// The same, with the archives read before what is left of the ledger.
    pub async fn verify_with_archives(
        &self,
        checkpoints: &[Trusted],
        archives: Vec<Archive>,
    ) -> Result<Verification, StoreError> {
        let known = self.known.load().await?;
        let (sealed, wrong) = self.sealed_part().await?;
        let mut checker = verify::plan_with_archives(checkpoints, &known, sealed.as_ref());
        wrong.into_iter().for_each(|wrong| checker.report(wrong));
        let newest = sealed.as_ref().map_or(Hash::NOTHING, |sealed| sealed.hash);
        let read = move || archive::read_all(&archives, newest, &mut checker).map(|()| checker);
        let read = tokio::task::spawn_blocking(read).await.map_err(io::Error::other).flatten();
        let checker = read.map_err(|error| {
            Fault::Unavailable(format!("an archive can't be read: {error}")).during("verify the ledger")
        })?;
        let after = sealed.map_or(i64::MIN, |sealed| sealed.until);
        let checker = self.source.scan(vec![Scan::After(after)], checker).await?;
        Ok(self.check_rest(checker).await?.finish())
    }

    /// The archived part, or the reason why its seal is not to be trusted.
    async fn sealed_part(&self) -> Result<(Option<SealedPart>, Option<Wrong>), StoreError> {
        Ok(match self.seals.sealed_part(self.seal_key.as_deref()).await? {
            Some(Ok(sealed)) => (Some(sealed), None),
            Some(Err(wrong)) => (None, Some(wrong)),
            None => (None, None),
        })
    }

    /// Reads everything there is to a scope, and the seal of what was archived.
    pub(super) async fn check(&self, scope: Scope) -> Result<(Checker, Option<SealedPart>), StoreError> {
        let known = self.known.load().await?;
        let (sealed, wrong) = self.sealed_part().await?;
        let (mut checker, scans) = verify::plan(&scope, &known, sealed.as_ref());
        wrong.into_iter().for_each(|wrong| checker.report(wrong));
        let checker = self.source.scan(scans, checker).await?;
        Ok((self.check_rest(checker).await?, sealed))
    }

    async fn check_rest(&self, checker: Checker) -> Result<Checker, StoreError> {
        // What came since, or was there and not yet settled.
        let late = self.source.late_heads(checker.position()).await?;
        let rest = checker.rest(&late);
        self.source.scan(rest, checker).await
    }

    /// Copies the next part that can be archived, if there is one.
    pub(super) async fn copy_part(
        &self,
        after: i64,
        before: i64,
        folder: &Path,
    ) -> Result<Option<CopiedPart>, StoreError> {
        self.source.copy_part(after, before, folder).await
    }

    pub(super) async fn keep_seal(&self, seal: &ArchiveSeal) -> Result<(), StoreError> {
        self.seals.insert(seal).await
    }

    /// Removes what a seal stands for.
    pub(super) async fn remove_until(&self, until: i64) -> Result<(), StoreError> {
        self.source.remove_until(until).await
    }
}
