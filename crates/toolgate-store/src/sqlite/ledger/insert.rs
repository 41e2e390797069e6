//! The statements of the appending thread.

use rusqlite::{Connection, OptionalExtension, Result, Statement, types::ValueRef};

use crate::ledger::{Hash, Link};

const INSERT: &str = "INSERT INTO ledger
    (writer, seq, time, kind, call, tool, principal, tenant, flow, outcome, previous, hash, record)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";
const HEAD: &str = "SELECT seq, hash FROM ledger WHERE writer = ? ORDER BY seq DESC LIMIT 1";

/// Prepared once, like all of them: a group of one is common.
pub(super) fn begin(connection: &Connection) -> Result<()> {
    connection.prepare_cached("BEGIN IMMEDIATE")?.raw_execute().map(drop)
}

pub(super) fn commit(connection: &Connection) -> Result<()> {
    connection.prepare_cached("COMMIT")?.raw_execute().map(drop)
}

/// One statement for all rows: preparing costs more than a row does.
pub(super) fn insert(connection: &Connection, writer: &str, links: &[Link]) -> Result<()> {
    let mut statement = connection.prepare_cached(INSERT)?;
    links.iter().try_for_each(|link| row(&mut statement, writer, link))
}

fn row(statement: &mut Statement<'_>, writer: &str, link: &Link) -> Result<()> {
    let columns = &link.columns;
    statement.raw_bind_parameter(1, writer)?;
    statement.raw_bind_parameter(2, link.seq)?;
    statement.raw_bind_parameter(3, columns.time)?;
    statement.raw_bind_parameter(4, columns.kind)?;
    statement.raw_bind_parameter(5, &*columns.call)?;
    statement.raw_bind_parameter(6, &*columns.tool)?;
    statement.raw_bind_parameter(7, &*columns.principal)?;
    statement.raw_bind_parameter(8, columns.tenant.as_deref())?;
    statement.raw_bind_parameter(9, columns.flow.as_deref())?;
    statement.raw_bind_parameter(10, columns.outcome)?;
    statement.raw_bind_parameter(11, link.previous.as_bytes().as_slice())?;
    statement.raw_bind_parameter(12, link.hash.as_bytes().as_slice())?;
    statement.raw_bind_parameter(13, link.text.as_str())?;
    statement.raw_execute().map(drop)
}

/// This writer's last record.
pub(super) fn head(connection: &Connection, writer: &str) -> Result<Option<(i64, Hash)>> {
    let mut statement = connection.prepare_cached(HEAD)?;
    let head = statement.query_row([writer], |row| {
        let hash = match row.get_ref(1)? {
            ValueRef::Blob(bytes) => Hash::from_slice(bytes),
            _ => None,
        };
        Ok((row.get(0)?, hash.unwrap_or(Hash::NOTHING)))
    });
    head.optional()
}
