//! Runs one statement on one SQLite connection.

use std::{
    ffi::CStr,
    sync::atomic::{AtomicU64, Ordering},
};

use rusqlite::{
    Connection, Error, ErrorCode, StatementStatus, ToSql,
    ffi::{SQLITE_CONSTRAINT_PRIMARYKEY, SQLITE_CONSTRAINT_UNIQUE},
    types::{ToSqlOutput, ValueRef},
};

use crate::{
    error::Fault,
    statement::{Cell, Row, Statement, Value},
};

/// Bound by name: SQLite numbers `$1`, `$2`… in the order in which they first appear, not by their
/// digits.
const PARAMETERS: [&CStr; 32] = [
    c"$1", c"$2", c"$3", c"$4", c"$5", c"$6", c"$7", c"$8", c"$9", c"$10", c"$11", c"$12", c"$13", c"$14", c"$15",
    c"$16", c"$17", c"$18", c"$19", c"$20", c"$21", c"$22", c"$23", c"$24", c"$25", c"$26", c"$27", c"$28", c"$29",
    c"$30", c"$31", c"$32",
];

/// How many steps SQLite's machine has taken.
#[derive(Default)]
pub(super) struct Steps(AtomicU64);

impl Steps {
    pub(super) fn so_far(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

pub(super) fn run(connection: &Connection, statement: &Statement, steps: &Steps) -> Result<Vec<Row>, Fault> {
    collect(connection, statement, steps).map_err(|error| fault(&error))
}

fn collect(connection: &Connection, statement: &Statement, steps: &Steps) -> Result<Vec<Row>, Error> {
    let mut prepared = connection.prepare_cached(statement.sql)?;
    let expected = prepared.parameter_count();
    if expected != statement.values.len() || expected > PARAMETERS.len() {
        return Err(Error::InvalidParameterCount(statement.values.len(), expected));
    }
    for (name, value) in PARAMETERS.into_iter().zip(&statement.values) {
        prepared.raw_bind_parameter(name, value)?;
    }
    let columns = prepared.column_count();
    let mut rows = prepared.raw_query();
    let mut collected = Vec::new();
    while let Some(row) = rows.next()? {
        let cells = (0..columns).map(|column| cell(row.get_ref(column)?)).collect::<Result<_, Error>>()?;
        collected.push(Row::new(cells));
    }
    drop(rows);
    let taken = prepared.reset_status(StatementStatus::VmStep);
    steps.0.fetch_add(u64::try_from(taken).unwrap_or_default(), Ordering::Relaxed);
    Ok(collected)
}

fn cell(value: ValueRef<'_>) -> Result<Cell, Error> {
    Ok(match value {
        ValueRef::Null => Cell::Null,
        ValueRef::Integer(number) => Cell::Int(number),
        ValueRef::Text(_) => Cell::Text(value.as_str()?.to_owned()),
        ValueRef::Blob(bytes) => Cell::Bytes(bytes.to_vec()),
        ValueRef::Real(_) => return Err(Error::InvalidQuery),
    })
}

impl ToSql for Value {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match self {
            Value::Id(text) | Value::Text(Some(text)) => ValueRef::Text(text.as_bytes()),
            Value::Int(Some(number)) => ValueRef::Integer(*number),
            Value::Bool(truth) | Value::MaybeBool(Some(truth)) => ValueRef::Integer(i64::from(*truth)),
            Value::Bytes(bytes) | Value::MaybeBytes(Some(bytes)) => ValueRef::Blob(bytes),
            Value::Text(None) | Value::Int(None) | Value::MaybeBool(None) | Value::MaybeBytes(None) => ValueRef::Null,
        }))
    }
}

/// What a SQLite error means to a caller of the store.
pub(super) fn fault(error: &Error) -> Fault {
    let Error::SqliteFailure(failure, _) = error else {
        return Fault::Other(error.to_string());
    };
    match failure.code {
        ErrorCode::ConstraintViolation
            if [SQLITE_CONSTRAINT_PRIMARYKEY, SQLITE_CONSTRAINT_UNIQUE].contains(&failure.extended_code) =>
        {
            Fault::Duplicate
        }
        ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked => {
            Fault::Unavailable("another process has it locked".to_owned())
        }
        ErrorCode::DiskFull | ErrorCode::SystemIoFailure | ErrorCode::CannotOpen | ErrorCode::ReadOnly => {
            Fault::Unavailable(error.to_string())
        }
        _ => Fault::Other(error.to_string()),
    }
}
