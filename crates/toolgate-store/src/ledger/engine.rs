//! The ledger's side of the two engines.

use std::sync::Arc;

use super::{Checker, Durability, LedgerSettings, Pending, Scan, canonical::Draft, job::Job};
use crate::{
    StoreError,
    engine::{Engine, records},
    postgres::PostgresLedger,
    sqlite::SqliteLedger,
    statement::{FromRow, Statement},
};

pub(crate) enum LedgerEngine {
    /// A file of its own, beside the store's.
    Sqlite(SqliteLedger),
    /// Tables in the store's database, with a connection of their own for appending.
    Postgres { ledger: PostgresLedger, engine: Arc<Engine> },
}

impl LedgerEngine {
    pub(super) async fn open(engine: Arc<Engine>, settings: LedgerSettings) -> Result<Self, StoreError> {
        match &*engine {
            Engine::Sqlite(sqlite) => sqlite.ledger(settings).await.map(Self::Sqlite),
            Engine::Postgres(postgres) => {
                let ledger = postgres.ledger().await?;
                Ok(Self::Postgres { ledger, engine })
            }
        }
    }

    pub(super) fn writer(&self) -> &str {
        match self {
            Self::Sqlite(ledger) => ledger.writer(),
            Self::Postgres { ledger, .. } => ledger.writer(),
        }
    }

    pub(super) fn submit(&self, draft: Draft, durability: Durability) -> Pending {
        let (job, pending) = Job::new(draft, durability == Durability::Durable);
        let sent = match self {
            Self::Sqlite(ledger) => ledger.submit(job),
            Self::Postgres { ledger, .. } => ledger.submit(job),
        };
        sent.map_or_else(Pending::refused, |()| pending)
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
            Self::Sqlite(ledger) => ledger.scan(scans, checker).await,
            Self::Postgres { ledger, .. } => ledger.scan(scans, checker).await,
        };
        checked.map_err(|fault| fault.during("verify the ledger"))
    }

    pub(super) async fn close(&self) {
        match self {
            Self::Sqlite(ledger) => ledger.close().await,
            Self::Postgres { ledger, .. } => ledger.close().await,
        }
    }
}
