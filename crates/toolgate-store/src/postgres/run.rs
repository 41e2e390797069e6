//! Runs statements on one PostgreSQL connection.

use sqlx::{
    Column, Connection, Error, PgConnection, Row as _, TypeInfo, ValueRef,
    postgres::{PgArguments, PgRow},
    query::Query,
};

use super::{attempt::Failed, listen::CHANNEL};
use crate::{
    engine::{Outcome, Write},
    error::Fault,
    statement::{Cell, Row, Statement, Value},
};

pub(super) async fn run(connection: &mut PgConnection, statement: &Statement) -> Result<Vec<Row>, Error> {
    let query = statement.values.iter().fold(sqlx::query(statement.sql), bind);
    query.fetch_all(connection).await?.iter().map(row).collect()
}

/// How far a write has come when something goes wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sent {
    Nothing,
    /// Statements of a transaction that ends without a commit if nothing more is sent.
    Uncommitted,
    /// A commit, or a statement that is a transaction of its own.
    Commit,
}

/// Runs a write. `sent` is set just before anything that could take effect goes out.
pub(super) async fn apply(connection: &mut PgConnection, write: &Write, sent: &mut Sent) -> Result<Outcome, Error> {
    // A single statement is a transaction of its own.
    if let ([statement], None) = (write.statements.as_slice(), &write.announce) {
        *sent = Sent::Commit;
        return Ok(vec![run(connection, statement).await?]);
    }
    let mut transaction = connection.begin().await?;
    *sent = Sent::Uncommitted;
    let mut outcome = Vec::with_capacity(write.statements.len());
    for statement in &write.statements {
        outcome.push(run(&mut transaction, statement).await?);
    }
    if let Some(change) = &write.announce
        && outcome.first().is_some_and(|first| !first.is_empty())
    {
        // Part of the transaction: PostgreSQL delivers it after the commit, or never.
        let notify = sqlx::query("SELECT pg_notify($1, $2)").bind(CHANNEL).bind(change.to_notification());
        notify.execute(&mut *transaction).await?;
    }
    *sent = Sent::Commit;
    transaction.commit().await?;
    Ok(outcome)
}

fn bind<'a>(query: Query<'a, sqlx::Postgres, PgArguments>, value: &'a Value) -> Query<'a, sqlx::Postgres, PgArguments> {
    match value {
        Value::Id(text) => query.bind(text),
        Value::Text(text) => query.bind(text),
        Value::Int(number) => query.bind(number),
        Value::Bool(truth) => query.bind(truth),
        Value::MaybeBool(truth) => query.bind(truth),
        Value::Bytes(bytes) => query.bind(bytes),
        Value::MaybeBytes(bytes) => query.bind(bytes),
    }
}

fn row(row: &PgRow) -> Result<Row, Error> {
    row.columns()
        .iter()
        .map(|column| cell(row, column.ordinal(), column.type_info().name()))
        .collect::<Result<_, _>>()
        .map(Row::new)
}

fn cell(row: &PgRow, column: usize, kind: &str) -> Result<Cell, Error> {
    if row.try_get_raw(column)?.is_null() {
        return Ok(Cell::Null);
    }
    match kind {
        "BOOL" => row.try_get::<bool, _>(column).map(|truth| Cell::Int(i64::from(truth))),
        "INT8" => row.try_get(column).map(Cell::Int),
        "BYTEA" => row.try_get(column).map(Cell::Bytes),
        _ => row.try_get(column).map(Cell::Text),
    }
}

/// What a PostgreSQL error means for an attempt that had come this far.
pub(super) fn failed(error: &Error, sent: Sent) -> Failed {
    let code = match error {
        Error::Database(answer) => answer.code().unwrap_or_default(),
        Error::Io(_) | Error::Tls(_) | Error::Protocol(_) | Error::BeginFailed | Error::WorkerCrashed => {
            return Failed::Broken { reason: error.to_string(), sent };
        }
        _ => return Failed::Refused(fault(error)),
    };
    match &*code {
        // A serialization failure, a deadlock: rolled back whole.
        "40001" | "40P01" => Failed::Conflict(fault(error)),
        // The server ends the connection (57P), or says that it does not know itself.
        "40003" => Failed::Broken { reason: error.to_string(), sent },
        code if code.starts_with("08") || code.starts_with("57P") => Failed::Broken { reason: error.to_string(), sent },
        _ => Failed::Refused(fault(error)),
    }
}

/// What a PostgreSQL error means to a caller of the store.
pub(super) fn fault(error: &Error) -> Fault {
    match error {
        Error::PoolClosed => Fault::Closed,
        Error::Io(_) | Error::Tls(_) | Error::Protocol(_) | Error::PoolTimedOut | Error::BeginFailed => {
            Fault::Unavailable(error.to_string())
        }
        Error::Database(answer) if answer.is_unique_violation() => Fault::Duplicate,
        Error::Database(answer) => {
            let code = answer.code().unwrap_or_default();
            // Connection lost (08), out of resources (53), shut down or cancelled (57), system
            // trouble (58), conflict with another transaction (40), a lock that was not given in
            // time (55P03), read-only server during a failover (25006): all pass.
            let passes = ["08", "53", "57", "58", "40"].iter().any(|class| code.starts_with(class));
            if passes || code == "25006" || code == "55P03" {
                Fault::Unavailable(answer.to_string())
            } else {
                Fault::Other(answer.to_string())
            }
        }
        _ => Fault::Other(error.to_string()),
    }
}
