//! The engine contract: run statements, all or nothing, and announce what changed.

use tokio::sync::broadcast;

use crate::{
    Change, Location, StoreError,
    error::Fault,
    migration::SchemaPolicy,
    postgres::Postgres,
    sqlite::Sqlite,
    statement::{FromRow, Row, Statement},
};

/// What waits for PostgreSQL is boxed: it is large, and every call would carry room for it, also where there is only SQLite.
pub(crate) enum Engine {
    Sqlite(Sqlite),
    Postgres(Postgres),
}

/// Statements that take effect together or not at all.
pub(crate) struct Write {
    pub(crate) statements: Vec<Statement>,
    /// Announced after the commit if the first statement returned a row, that is, if it changed
    /// something.
    pub(crate) announce: Option<Change>,
}

/// The rows each statement of a write returned.
pub(crate) type Outcome = Vec<Vec<Row>>;

impl Write {
    pub(crate) fn new(statement: Statement) -> Self {
        Self { statements: vec![statement], announce: None }
    }

    pub(crate) fn then(mut self, statement: Statement) -> Self {
        self.statements.push(statement);
        self
    }

    pub(crate) fn announcing(mut self, change: Change) -> Self {
        self.announce = Some(change);
        self
    }
}

impl Engine {
    pub(crate) async fn open(
        location: &Location,
        policy: SchemaPolicy,
    ) -> Result<(Self, broadcast::WeakSender<Change>), StoreError> {
        // The engine keeps the sender, so that subscriptions end with it.
        let (announcer, _) = broadcast::channel(1024);
        let subscriptions = announcer.downgrade();
        let engine = match location {
            Location::Sqlite(path) => Engine::Sqlite(Sqlite::open(path.clone(), announcer, policy).await?),
            Location::Postgres(url) => Engine::Postgres(Postgres::open(url, announcer, policy).await?),
        };
        Ok((engine, subscriptions))
    }

    pub(crate) async fn read<T: FromRow>(
        &self,
        operation: &'static str,
        statement: Statement,
    ) -> Result<Vec<T>, StoreError> {
        // What can't be stored is not there: a stranger's odd id is an unknown id, not a failure.
        if statement.check().is_err() {
            return Ok(Vec::new());
        }
        let rows = match self {
            Engine::Sqlite(engine) => engine.read(statement).await,
            Engine::Postgres(engine) => Box::pin(engine.read(statement)).await,
        };
        rows.and_then(records).map_err(|fault| fault.during(operation))
    }

    pub(crate) async fn find<T: FromRow>(
        &self,
        operation: &'static str,
        statement: Statement,
    ) -> Result<Option<T>, StoreError> {
        Ok(self.read(operation, statement).await?.into_iter().next())
    }

    /// The records that the last statement returned.
    pub(crate) async fn write<T: FromRow>(&self, operation: &'static str, write: Write) -> Result<Vec<T>, StoreError> {
        let outcome = self.transact(write).await.and_then(|mut outcome| records(outcome.pop().unwrap_or_default()));
        outcome.map_err(|fault| fault.during(operation))
    }

    /// The record that the first statement returned, for a write whose other statements only follow
    /// from it.
    pub(crate) async fn write_first<T: FromRow>(
        &self,
        operation: &'static str,
        write: Write,
    ) -> Result<Option<T>, StoreError> {
        let outcome = self.transact(write).await.and_then(|outcome| match outcome.into_iter().next() {
            Some(rows) => Ok(records(rows)?.into_iter().next()),
            None => Ok(None),
        });
        outcome.map_err(|fault| fault.during(operation))
    }

    async fn transact(&self, write: Write) -> Result<Outcome, Fault> {
        write.statements.iter().try_for_each(Statement::check)?;
        match self {
            Engine::Sqlite(engine) => engine.write(write).await,
            Engine::Postgres(engine) => Box::pin(engine.write(write)).await,
        }
    }

    /// How far changes of rights have come, where that can be seen without asking.
    pub(crate) fn rights_mark(&self) -> Option<u64> {
        match self {
            Engine::Sqlite(engine) => engine.rights_mark(),
            Engine::Postgres(_) => None,
        }
    }

    /// Waits until no process uses what was before the changes committed by now.
    pub(crate) async fn confirm_rights(&self, operation: &'static str) -> Result<(), StoreError> {
        let confirmed = match self {
            Engine::Sqlite(engine) => engine.mark_rights(),
            Engine::Postgres(engine) => Box::pin(engine.confirmed_by_all()).await,
        };
        confirmed.map_err(|fault| fault.during(operation))
    }

    /// Whether processes on other machines may use this database.
    pub(crate) fn is_shared(&self) -> bool {
        matches!(self, Engine::Postgres(_))
    }

    /// Confirms changes of rights and renews the lease on what is remembered of them; the newest change there is.
    pub(crate) async fn renew(&self, replica: &str, confirmed: i64) -> Result<i64, StoreError> {
        match self {
            Engine::Sqlite(_) => Ok(confirmed),
            Engine::Postgres(engine) => {
                Box::pin(engine.renew(replica, confirmed)).await.map_err(|fault| fault.during("renew a lease"))
            }
        }
    }

    pub(crate) async fn leave(&self, replica: &str) -> Result<(), StoreError> {
        match self {
            Engine::Sqlite(_) => Ok(()),
            Engine::Postgres(engine) => {
                Box::pin(engine.leave(replica)).await.map_err(|fault| fault.during("give up a lease"))
            }
        }
    }

    pub(crate) async fn ping(&self) -> Result<(), StoreError> {
        let answer = match self {
            Engine::Sqlite(engine) => engine.ping().await,
            Engine::Postgres(engine) => Box::pin(engine.ping()).await,
        };
        answer.map_err(|fault| fault.during("reach the database"))
    }

    pub(crate) async fn close(&self) {
        match self {
            Engine::Sqlite(engine) => engine.close().await,
            Engine::Postgres(engine) => engine.close().await,
        }
    }
}

pub(crate) fn records<T: FromRow>(rows: Vec<Row>) -> Result<Vec<T>, Fault> {
    rows.into_iter().map(|mut row| T::from_row(&mut row)).collect()
}

/// For statements of which only the number of rows matters.
pub(crate) struct Touched;

impl FromRow for Touched {
    fn from_row(_: &mut Row) -> Result<Self, Fault> {
        Ok(Touched)
    }
}
