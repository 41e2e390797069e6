//! Brings a SQLite file up to date, in one transaction that no other process can be in at the same
//! time. A file that is up to date is only looked at.

use rusqlite::{Connection, OptionalExtension, TransactionBehavior, params};

use super::run::fault;
use crate::{
    StoreError,
    migration::{self, Applied, Line, SchemaPolicy},
};

const OPERATION: &str = "bring the database up to date";
const EXISTS: &str = "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = $1";

pub(super) fn migrate(connection: &mut Connection, line: &Line, policy: SchemaPolicy) -> Result<(), StoreError> {
    let failed = |error: rusqlite::Error| fault(&error).during(OPERATION);
    if let Some((applied, compatible)) = state(connection, line).map_err(failed)? {
        let pending = migration::pending(line.migrations, &applied, compatible)?;
        policy.check(&applied, pending)?;
        if pending.is_empty() {
            return Ok(());
        }
    }
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(failed)?;
    transaction.execute_batch(line.create).map_err(failed)?;
    let (applied, compatible) = state(&transaction, line).map_err(failed)?.unwrap_or_default();
    let pending = migration::pending(line.migrations, &applied, compatible)?;
    for migration in pending {
        transaction.execute_batch(migration.sql).map_err(failed)?;
        transaction
            .execute(line.add, params![migration.version, migration.name, migration.digest()])
            .map_err(failed)?;
    }
    if !pending.is_empty() {
        transaction.execute(line.set_compatible, params![line.compatible_from]).map_err(failed)?;
    }
    transaction.commit().map_err(failed)
}

/// The migrations that the file had, and who may use it; `None` for a file that had none.
fn state(connection: &Connection, line: &Line) -> rusqlite::Result<Option<(Vec<Applied>, Option<i64>)>> {
    let exists = |table: &str| connection.query_row(EXISTS, params![table], |_| Ok(())).optional();
    if exists(line.table)?.is_none() {
        return Ok(None);
    }
    let mut statement = connection.prepare(line.read)?;
    let rows = statement.query_map([], |row| Ok(Applied { version: row.get(0)?, digest: row.get(1)? }))?;
    let applied = rows.collect::<rusqlite::Result<_>>()?;
    let compatible = match exists(&format!("{}_compatible", line.table))? {
        Some(()) => connection.query_row(line.read_compatible, [], |row| row.get(0)).optional()?,
        None => None,
    };
    Ok(Some((applied, compatible)))
}
