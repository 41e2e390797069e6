//! The ledger's side of the two engines.

use std::sync::Arc;

use super::{
    Checker, Durability, Filter, Head, LedgerSettings, Pending, Record, Scan,
    canonical::Draft,
    job::Job,
    journal::{self, Journal, JournalReader},
    record::HeadRow,
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

pub(super) async fn open(engine: Arc<Engine>, settings: LedgerSettings) -> Result<(Sink, Source), StoreError> {
    match &*engine {
        Engine::Sqlite(sqlite) => {
            let folder = journal::beside(sqlite.path());
            let reader = JournalReader::new(folder.clone());
            let opened = tokio::task::spawn_blocking(move || Journal::open(&folder, &settings)).await;
            let journal = opened.unwrap_or_else(|_| Err(Fault::Closed.during("open the ledger")))?;
            Ok((Sink::Journal(journal), Source::Journal(reader)))
        }
        Engine::Postgres(postgres) => {
            let (ledger, records) = postgres.ledger().await?;
            Ok((Sink::Postgres(ledger), Source::Postgres { records, engine }))
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

    pub(super) async fn heads(&self) -> Result<Vec<Head>, StoreError> {
        const HEADS: &str = "read the heads of the ledger";
        match self {
            Self::Journal(files) => during(HEADS, files.heads().await),
            Self::Postgres { engine, .. } => {
                let heads: Vec<HeadRow> = rows(engine, HEADS, select::heads()).await?;
                Ok(heads.into_iter().map(|row| row.0).collect())
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

    /// Whether something can still appear before what was read.
    pub(super) fn settles_late(&self) -> bool {
        matches!(self, Self::Postgres { .. })
    }
}

async fn rows<T: FromRow>(engine: &Engine, what: &'static str, statement: Statement) -> Result<Vec<T>, StoreError> {
    engine.read(what, statement).await
}

fn during<T>(what: &'static str, answer: Result<T, Fault>) -> Result<T, StoreError> {
    answer.map_err(|fault| fault.during(what))
}
