//! The ledger's side of the two engines.

use std::{path::Path, sync::Arc};

use super::{
    Checker, CopiedPart, Durability, Filter, Head, LedgerReader, LedgerSettings, LedgerUnavailable, Pending, Record,
    Scan,
    canonical::Draft,
    job::Job,
    journal::{self, Journal, JournalReader},
    known_heads::KnownHeads,
};
use crate::{
    StoreError,
    engine::Engine,
    error::Fault,
    postgres::{PostgresLedger, PostgresRecords, select},
    statement::{FromRow, Statement},
};

const READ: &str = "read the ledger";

/// Where records are stored.
pub(super) enum Sink {
    /// Files beside the embedded store's.
    Journal(Journal),
    /// Tables in the store's database, with a connection of their own for appending.
    Postgres(PostgresLedger),
}

/// Where records are read.
pub(super) enum Source {
    Journal(JournalReader),
    Postgres { records: PostgresRecords, engine: Arc<Engine> },
}

pub(super) async fn open(engine: Arc<Engine>, settings: LedgerSettings) -> Result<(Sink, LedgerReader), StoreError> {
    match &*engine {
        Engine::Sqlite(sqlite) => {
            let folder = journal::beside(sqlite.path());
            let files = JournalReader::new(folder.clone());
            let known = KnownHeads::new(engine.clone()).load().await?;
            let opened = tokio::task::spawn_blocking(move || Journal::open(&folder, &settings, &known)).await;
            let journal = opened.unwrap_or_else(|_| Err(Fault::Closed.during("open the ledger")))?;
            sqlite.begin_ledger().await?;
            Ok((Sink::Journal(journal), LedgerReader::new(Source::Journal(files), engine)))
        }
        Engine::Postgres(postgres) => {
            let records = postgres.make_ledger().await?;
            let source = Source::Postgres { records, engine: engine.clone() };
            let reader = LedgerReader::new(source, engine.clone());
            let heads = reader.newest_heads().await?;
            Ok((Sink::Postgres(postgres.ledger(heads)?), reader))
        }
    }
}

impl Sink {
    pub(super) fn writer(&self) -> &str {
        match self {
            Self::Journal(journal) => journal.writer(),
            Self::Postgres(ledger) => ledger.writer(),
        }
    }

    pub(super) fn submit(&self, draft: Draft, durability: Durability) -> Pending {
        let durable = durability == Durability::Durable;
        match self {
            Self::Journal(journal) => journal.append(draft, durable),
            Self::Postgres(ledger) => {
                let (job, pending) = Job::new(draft, durable);
                ledger.submit(job).map_or_else(|unavailable| Pending::known(Err(unavailable)), |()| pending)
            }
        }
    }

    /// PostgreSQL has limits of its own.
    pub(super) fn is_nearly_full(&self) -> bool {
        matches!(self, Self::Journal(journal) if journal.is_nearly_full())
    }

    pub(super) async fn health(&self) -> Result<(), LedgerUnavailable> {
        match self {
            Self::Journal(journal) => journal.health().await,
            Self::Postgres(ledger) => ledger.health().await,
        }
    }

    pub(super) async fn close(&self) {
        match self {
            Self::Journal(journal) => journal.close().await,
            Self::Postgres(ledger) => ledger.close().await,
        }
    }
}

impl Source {
    /// `None` if no ledger was ever opened here.
    pub(super) async fn open(engine: Arc<Engine>) -> Result<Option<Self>, StoreError> {
        match &*engine {
            Engine::Sqlite(sqlite) => {
                let folder = journal::beside(sqlite.path());
                let there = tokio::fs::try_exists(&folder).await.unwrap_or(false);
                Ok(there.then(|| Self::Journal(JournalReader::new(folder))))
            }
            Engine::Postgres(postgres) => {
                let records = postgres.ledger_records().await?;
                Ok(records.map(|records| Self::Postgres { records, engine }))
            }
        }
    }

    /// In the order of arrival, after a position.
    pub(super) async fn page(&self, filter: &Filter, after: i64, limit: u32) -> Result<Vec<Record>, StoreError> {
        match self {
            Self::Journal(files) => during(READ, files.page(filter.clone(), after, limit).await),
            Self::Postgres { engine, .. } => rows(engine, READ, select::page(filter, after, limit)).await,
        }
    }

    /// The same, but for what something earlier may still appear before.
    pub(super) async fn tail(&self, filter: &Filter, after: i64, limit: u32) -> Result<Vec<Record>, StoreError> {
        match self {
            Self::Journal(_) => self.page(filter, after, limit).await,
            Self::Postgres { engine, .. } => rows(engine, READ, select::tail(filter, after, limit)).await,
        }
    }

    pub(super) async fn latest(&self, filter: &Filter, limit: u32) -> Result<Vec<Record>, StoreError> {
        match self {
            Self::Journal(files) => during(READ, files.latest(filter.clone(), limit).await),
            Self::Postgres { engine, .. } => {
                let mut records: Vec<Record> = rows(engine, READ, select::latest(filter, limit)).await?;
                records.reverse();
                Ok(records)
            }
        }
    }

    pub(super) async fn unfinished(&self, since: Option<i64>) -> Result<Vec<Record>, StoreError> {
        const FIND: &str = "find unfinished calls";
        match self {
            Self::Journal(files) => during(FIND, files.unfinished(since).await),
            Self::Postgres { engine, .. } => rows(engine, FIND, select::unfinished(since)).await,
        }
    }

    /// The last records of writers that have some after a position and are not settled yet.
    pub(super) async fn late_heads(&self, after: i64) -> Result<Vec<Head>, StoreError> {
        match self {
            Self::Journal(_) => Ok(Vec::new()),
            Self::Postgres { engine, .. } => {
                let heads: Vec<select::LateHead> =
                    rows(engine, "read the heads of the ledger", select::late_heads(after)).await?;
                Ok(heads.into_iter().map(|select::LateHead(head)| head).collect())
            }
        }
    }

    /// What was read is on the disk.
    pub(super) async fn sync(&self) -> Result<(), StoreError> {
        match self {
            Self::Journal(files) => during("sync the ledger", files.sync().await),
            // what is settled is committed, and its log written within a moment
            Self::Postgres { .. } => Ok(()),
        }
    }

    /// Copies the next part that can be archived into a folder, if there is one.
    pub(super) async fn copy_part(
        &self,
        after: i64,
        before: i64,
        folder: &Path,
    ) -> Result<Option<CopiedPart>, StoreError> {
        let copied = match self {
            Self::Journal(files) => files.copy_part(after, before, folder.to_owned()).await,
            Self::Postgres { records, .. } => records.copy_part(after, before, folder).await,
        };
        during("copy a part of the ledger", copied)
    }

    /// Removes records that are archived.
    pub(super) async fn remove_until(&self, until: i64) -> Result<(), StoreError> {
        const REMOVE: &str = "remove archived records";
        match self {
            Self::Journal(files) => during(REMOVE, files.remove_until(until).await),
            Self::Postgres { engine, .. } => {
                while !engine.write::<select::Removed>(REMOVE, select::remove(until)).await?.is_empty() {}
                Ok(())
            }
        }
    }

    pub(super) async fn scan(&self, scans: Vec<Scan>, checker: Checker) -> Result<Checker, StoreError> {
        let checked = match self {
            Self::Journal(files) => files.scan(scans, checker).await,
            Self::Postgres { records, .. } => records.scan(scans, checker).await,
        };
        during("verify the ledger", checked)
    }
}

async fn rows<T: FromRow>(engine: &Engine, what: &'static str, statement: Statement) -> Result<Vec<T>, StoreError> {
    engine.read(what, statement).await
}

fn during<T>(what: &'static str, answer: Result<T, Fault>) -> Result<T, StoreError> {
    answer.map_err(|fault| fault.during(what))
}
