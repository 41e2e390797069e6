//! Brings a PostgreSQL database up to date, in one transaction that only one replica can be in at a
//! time. A database that is up to date is only looked at.

use sqlx::{Connection, Executor, PgConnection, Row, postgres::PgRow};

use super::run::fault;
use crate::{
    StoreError,
    migration::{self, Applied, Line, SchemaPolicy},
};

const OPERATION: &str = "bring the database up to date";
/// Any number will do, as long as every version of Toolgate takes the same.
const LOCK: i64 = 0x746f_6f6c_6761_7465;

const EXISTS: &str = "SELECT to_regclass($1) IS NOT NULL";

pub(super) async fn migrate(
    connection: &mut PgConnection,
    line: &Line,
    policy: SchemaPolicy,
) -> Result<(), StoreError> {
    let failed = |error: sqlx::Error| fault(&error).during(OPERATION);
    if let Some((applied, compatible)) = state(connection, line).await.map_err(failed)? {
        let pending = migration::pending(line.migrations, &applied, compatible)?;
        policy.check(&applied, pending)?;
        if pending.is_empty() {
            return Ok(());
        }
    }
    let mut transaction = connection.begin().await.map_err(failed)?;
    prepare(&mut transaction, line).await.map_err(failed)?;
    let encoding: String =
        sqlx::query_scalar("SHOW server_encoding").fetch_one(&mut *transaction).await.map_err(failed)?;
    if encoding != "UTF8" {
        let reason =
            format!("it stores text as {encoding}, which can't hold every character; create it with ENCODING 'UTF8'");
        return Err(StoreError::Migration { reason });
    }
    let (applied, compatible) = state(&mut transaction, line).await.map_err(failed)?.unwrap_or_default();
    let pending = migration::pending(line.migrations, &applied, compatible)?;
    for migration in pending {
        transaction.execute(sqlx::raw_sql(migration.sql)).await.map_err(failed)?;
        let record = sqlx::query(line.add).bind(migration.version).bind(migration.name).bind(migration.digest());
        record.execute(&mut *transaction).await.map_err(failed)?;
    }
    if !pending.is_empty() {
        let compatible = sqlx::query(line.set_compatible).bind(line.compatible_from);
        compatible.execute(&mut *transaction).await.map_err(failed)?;
    }
    transaction.commit().await.map_err(failed)
}

async fn prepare(transaction: &mut PgConnection, line: &Line) -> Result<(), sqlx::Error> {
    transaction.execute("SET LOCAL lock_timeout = '30s'").await?;
    transaction.execute("SET LOCAL statement_timeout = 0").await?;
    transaction.execute("SET LOCAL client_min_messages = warning").await?;
    sqlx::query("SELECT pg_advisory_xact_lock($1)").bind(LOCK).execute(&mut *transaction).await?;
    transaction.execute(sqlx::raw_sql(line.create)).await?;
    Ok(())
}

/// The migrations that the database had, and who may use it; `None` for a database that had none.
async fn state(connection: &mut PgConnection, line: &Line) -> Result<Option<(Vec<Applied>, Option<i64>)>, sqlx::Error> {
    if !exists(connection, line.table).await? {
        return Ok(None);
    }
    let rows = sqlx::query(line.read).fetch_all(&mut *connection).await?;
    let applied = rows.iter().map(applied).collect::<Result<_, _>>()?;
    let compatible = if exists(connection, &format!("{}_compatible", line.table)).await? {
        sqlx::query_scalar(line.read_compatible).fetch_optional(connection).await?
    } else {
        None
    };
    Ok(Some((applied, compatible)))
}

fn applied(row: &PgRow) -> Result<Applied, sqlx::Error> {
    Ok(Applied { version: row.try_get(0)?, digest: row.try_get(1)? })
}

async fn exists(connection: &mut PgConnection, table: &str) -> Result<bool, sqlx::Error> {
    sqlx::query_scalar(EXISTS).bind(table).fetch_one(connection).await
}
