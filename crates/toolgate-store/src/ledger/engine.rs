//! The ledger's side of the two engines.

use std::sync::Arc;

use super::{Checker, Durability, LedgerSettings, LedgerUnavailable, Pending, Scan, canonical::Draft, job::Job};
use crate::{
    StoreError,
    engine::{Engine, records},
    postgres::{PostgresLedger, PostgresRecords},
    sqlite::{SqliteLedger, SqliteRecords},
    statement::{FromRow, Statement},
};

/// Where records are stored.
pub(super) enum Sink {
    /// A file of its own, beside the store's.
    Sqlite(SqliteLedger),
    /// Tables in the store's database, with a connection of their own for appending.
    Postgres(PostgresLedger),
}

/// Where records are read.
pub(super) enum Source {
    Sqlite(SqliteRecords),
    Postgres { records: PostgresRecords, engine: Arc<Engine> },
}

pub(super) async fn open(engine: Arc<Engine>, settings: LedgerSettings) -> Result<(Sink, Source), StoreError> {
    match &*engine {
        Engine::Sqlite(sqlite) => {
            let (ledger, records) = sqlite.ledger(settings).await?;
            Ok((Sink::Sqlite(ledger), Source::Sqlite(records)))
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
            Self::Sqlite(ledger) => ledger.writer(),
            Self::Postgres(ledger) => ledger.writer(),
        }
    }

    pub(super) fn submit(&self, draft: Draft, durability: Durability) -> Pending {
        let (job, pending) = Job::new(draft, durability == Durability::Durable);
        let sent: Result<(), LedgerUnavailable> = match self {
            Self::Sqlite(ledger) => ledger.submit(job),
            Self::Postgres(ledger) => ledger.submit(job),
        };
        sent.map_or_else(Pending::refused, |()| pending)
    }

    pub(super) async fn close(&self) {
        match self {
            Self::Sqlite(ledger) => ledger.close().await,
            Self::Postgres(ledger) => ledger.close().await,
        }
    }
}

impl Source {
    /// `None` if no ledger was ever opened here.
    pub(super) async fn open(engine: Arc<Engine>) -> Result<Option<Self>, StoreError> {
        match &*engine {
            Engine::Sqlite(sqlite) => Ok(sqlite.ledger_records().await?.map(Self::Sqlite)),
            Engine::Postgres(postgres) => {
                let records = postgres.ledger_records().await?;
                Ok(records.map(|records| Self::Postgres { records, engine }))
            }
        }
    }

    pub(super) async fn read<T: FromRow>(
        &self,
        operation: &'static str,
        statement: Statement,
    ) -> Result<Vec<T>, StoreError> {
        match self {
            Self::Postgres { engine, .. } => engine.read(operation, statement).await,
            Self::Sqlite(_) if statement.check().is_err() => Ok(Vec::new()),
            Self::Sqlite(ledger) => {
                let rows = ledger.read(statement).await;
                rows.and_then(records).map_err(|fault| fault.during(operation))
            }
        }
    }

    pub(super) async fn scan(&self, scans: Vec<Scan>, checker: Checker) -> Result<Checker, StoreError> {
        let checked = match self {
            Self::Sqlite(records) => records.scan(scans, checker).await,
            Self::Postgres { records, .. } => records.scan(scans, checker).await,
        };
        checked.map_err(|fault| fault.during("verify the ledger"))
    }

    pub(super) async fn close(&self) {
        match self {
            Self::Sqlite(records) => records.close().await,
            // The pool is the store's.
            Self::Postgres { .. } => {}
        }
    }
}
