//! Brings a SQLite file up to date, in one transaction that no other process can be in at the same
//! time.

use rusqlite::{Connection, TransactionBehavior, params};

use super::run::fault;
use crate::{
    StoreError,
    migration::{self, Applied, Line},
};

const OPERATION: &str = "bring the database up to date";

pub(super) fn migrate(connection: &mut Connection, line: &Line) -> Result<(), StoreError> {
    let failed = |error: rusqlite::Error| fault(&error).during(OPERATION);
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(failed)?;
    transaction.execute_batch(line.create).map_err(failed)?;
    let applied = applied(&transaction, line).map_err(failed)?;
    for migration in migration::pending(line.migrations, &applied)? {
        transaction.execute_batch(migration.sql).map_err(failed)?;
        transaction
            .execute(line.add, params![migration.version, migration.name, migration.digest()])
            .map_err(failed)?;
    }
    transaction.commit().map_err(failed)
}

fn applied(connection: &Connection, line: &Line) -> rusqlite::Result<Vec<Applied>> {
    let mut statement = connection.prepare(line.read)?;
    let rows = statement.query_map([], |row| Ok(Applied { version: row.get(0)?, digest: row.get(1)? }))?;
    rows.collect()
}
