//! Brings a PostgreSQL database up to date, in one transaction that only one replica can be in at a
//! time.

use sqlx::{Connection, Executor, PgConnection, Row};

use super::run::fault;
use crate::{
    StoreError,
    migration::{self, Applied, Line},
};

const OPERATION: &str = "bring the database up to date";
/// Any number will do, as long as every version of Toolgate takes the same.
const LOCK: i64 = 0x746f_6f6c_6761_7465;

pub(super) async fn migrate(connection: &mut PgConnection, line: &Line) -> Result<(), StoreError> {
    let failed = |error: sqlx::Error| fault(&error).during(OPERATION);
    let mut transaction = connection.begin().await.map_err(failed)?;
    prepare(&mut transaction, line).await.map_err(failed)?;
    let encoding: String =
        sqlx::query_scalar("SHOW server_encoding").fetch_one(&mut *transaction).await.map_err(failed)?;
    if encoding != "UTF8" {
        let reason =
            format!("it stores text as {encoding}, which can't hold every character; create it with ENCODING 'UTF8'");
        return Err(StoreError::Migration { reason });
    }
    let applied = applied(&mut transaction, line).await.map_err(failed)?;
    for migration in migration::pending(line.migrations, &applied)? {
        transaction.execute(sqlx::raw_sql(migration.sql)).await.map_err(failed)?;
        let record = sqlx::query(line.add).bind(migration.version).bind(migration.name).bind(migration.digest());
        record.execute(&mut *transaction).await.map_err(failed)?;
    }
    transaction.commit().await.map_err(failed)
}

async fn prepare(transaction: &mut PgConnection, line: &Line) -> Result<(), sqlx::Error> {
    transaction.execute("SET LOCAL lock_timeout = '30s'").await?;
    transaction.execute("SET LOCAL client_min_messages = warning").await?;
    sqlx::query("SELECT pg_advisory_xact_lock($1)").bind(LOCK).execute(&mut *transaction).await?;
    transaction.execute(line.create).await?;
    Ok(())
}

async fn applied(transaction: &mut PgConnection, line: &Line) -> Result<Vec<Applied>, sqlx::Error> {
    let rows = sqlx::query(line.read).fetch_all(transaction).await?;
    rows.iter().map(|row| Ok(Applied { version: row.try_get(0)?, digest: row.try_get(1)? })).collect()
}
