//! Reads rows for verifying, on a connection of its own: one long statement, no row copied.

use std::path::Path;

use rusqlite::{Connection, Error, Result, Row, types::ValueRef};

use super::super::{file, read_only, run::fault};
use crate::{
    error::Fault,
    ledger::{Checker, Repeated, Scan, StoredRow, columns},
};

const EVERYTHING: &str = concat!("SELECT ", columns!(), " FROM ledger ORDER BY position");
const WRITER: &str = concat!("SELECT ", columns!(), " FROM ledger WHERE writer = ? AND seq >= ? ORDER BY seq");

pub(super) fn scan(path: &Path, scans: &[Scan], mut checker: Checker) -> Result<Checker, Fault> {
    let opened = file::connect(path).and_then(read_only);
    let connection = opened.map_err(|error| Fault::Unavailable(error.to_string()))?;
    for scan in scans {
        read(&connection, scan, &mut checker).map_err(|error| fault(&error))?;
    }
    Ok(checker)
}

fn read(connection: &Connection, scan: &Scan, checker: &mut Checker) -> Result<()> {
    let mut statement;
    let mut rows = match scan {
        Scan::Everything => {
            statement = connection.prepare_cached(EVERYTHING)?;
            statement.query([])?
        }
        Scan::Writer { writer, from } => {
            statement = connection.prepare_cached(WRITER)?;
            statement.query((writer, from))?
        }
    };
    while let Some(row) = rows.next()? {
        match stored(row) {
            Ok(row) => checker.take(&row),
            Err(_) => checker.unreadable(row.get(0).unwrap_or(-1)),
        }
    }
    Ok(())
}

fn stored<'a>(row: &'a Row<'_>) -> Result<StoredRow<'a>> {
    let text = |column: usize| row.get_ref(column)?.as_str().map_err(Error::from);
    let int = |column: usize| row.get_ref(column)?.as_i64().map_err(Error::from);
    let bytes = |column: usize| row.get_ref(column)?.as_blob().map_err(Error::from);
    let maybe = |column: usize| match row.get_ref(column)? {
        ValueRef::Null => Ok(None),
        value => value.as_str().map(Some).map_err(Error::from),
    };
    Ok(StoredRow {
        position: int(0)?,
        writer: text(1)?,
        seq: int(2)?,
        repeated: Repeated {
            time: int(3)?,
            kind: text(4)?,
            call: text(5)?,
            tool: text(6)?,
            principal: text(7)?,
            tenant: maybe(8)?,
            flow: maybe(9)?,
            outcome: text(10)?,
        },
        previous: bytes(11)?,
        hash: bytes(12)?,
        text: row.get_ref(13)?.as_bytes().map_err(Error::from)?,
    })
}
