//! PostgreSQL: the statement becomes a table within ours, in a transaction that only reads.
//!
//! Only SELECT, VALUES and WITH can stand where a table can, and the extended protocol takes one statement: PostgreSQL's
//! own parser refuses the rest, whatever it is and whoever the role is. The statement is parsed alone first: text that is
//! whole by itself can't close the brackets around it, and so can't get past the limits.

use std::time::Duration;

use serde_json::Value;
use sqlx::{
    AssertSqlSafe, ConnectOptions, Connection, Error, Executor, PgConnection, Row, SqlSafeStr, postgres::PgTypeInfo,
};
use tokio::time::timeout;

use super::{Gathered, QueryFault, QueryLimits, QueryRows, exact};
use crate::location::postgres_options;

/// For the way there and back, beside the statement's own time.
const AROUND: Duration = Duration::from_secs(5);

pub(super) async fn query(
    url: &str,
    sql: &str,
    parameters: &[Value],
    limits: QueryLimits,
) -> Result<QueryRows, QueryFault> {
    let unavailable = |error: Error| QueryFault::Unavailable(error.to_string());
    let options = postgres_options(url).map_err(|error| QueryFault::Unavailable(error.to_string()))?;
    let options = options.application_name("toolgate").statement_cache_capacity(0).disable_statement_logging();
    let connected = timeout(AROUND, options.connect()).await;
    let mut connection = match connected {
        Ok(connected) => connected.map_err(unavailable)?,
        Err(_) => return Err(QueryFault::Unavailable(format!("no connection within {} s", AROUND.as_secs()))),
    };
    let answer = timeout(limits.time + AROUND, ask(&mut connection, sql, parameters, limits)).await;
    // nothing was changed, so nothing is lost with the connection
    drop(connection);
    answer.unwrap_or(Err(QueryFault::TimedOut(limits.time)))
}

async fn ask(
    connection: &mut PgConnection,
    sql: &str,
    parameters: &[Value],
    limits: QueryLimits,
) -> Result<QueryRows, QueryFault> {
    let refused = |error: Error| refused(&error, limits.time);
    let mut transaction = connection.begin_with("BEGIN TRANSACTION READ ONLY").await.map_err(refused)?;
    let time = format!("SET LOCAL statement_timeout = {}", limits.time.as_millis().max(1));
    transaction.execute(AssertSqlSafe(time)).await.map_err(refused)?;
    // once something was read, not even a transaction's own command makes it write
    transaction.execute("SELECT 1").await.map_err(refused)?;
    let types: Vec<PgTypeInfo> = parameters.iter().map(type_of).collect();
    transaction.prepare_with(AssertSqlSafe(sql).into_sql_str(), &types).await.map_err(refused)?;
    let wrapped = wrapped(sql, limits);
    let query = parameters.iter().fold(sqlx::query(AssertSqlSafe(wrapped)), |query, value| match value {
        Value::Null => query.bind(None::<String>),
        Value::Bool(truth) => query.bind(*truth),
        Value::Number(number) => match number.as_i64() {
            Some(whole) => query.bind(whole),
            None => query.bind(number.as_f64()),
        },
        other => query.bind(other.as_str().unwrap_or_default().to_owned()),
    });
    let found = query.persistent(false).fetch_all(&mut *transaction).await.map_err(refused)?;
    let mut gathered = Gathered::new(limits);
    for row in found {
        // a line that did not travel is past the limit of bytes
        let line = row.try_get::<Option<String>, _>(0).map_err(refused)?;
        if !gathered.admits(line.as_ref().map_or(usize::MAX, String::len)) {
            break;
        }
        let object = exact::object(&line.unwrap_or_default());
        gathered.add(object.map_err(|error| QueryFault::Invalid(error.to_string()))?);
    }
    transaction.rollback().await.map_err(refused)?;
    gathered.done()
}

/// The type that a value is sent as.
fn type_of(value: &Value) -> PgTypeInfo {
    match value {
        Value::Bool(_) => <bool as sqlx::Type<sqlx::Postgres>>::type_info(),
        Value::Number(number) if number.as_i64().is_some() => <i64 as sqlx::Type<sqlx::Postgres>>::type_info(),
        Value::Number(_) => <f64 as sqlx::Type<sqlx::Postgres>>::type_info(),
        _ => <String as sqlx::Type<sqlx::Postgres>>::type_info(),
    }
}

/// Each row as a line of JSON; no more rows than asked for and one, and none past the bytes that are wanted, so that they do
/// not even travel.
fn wrapped(sql: &str, limits: QueryLimits) -> String {
    let (rows, bytes) = (limits.rows.saturating_add(1), limits.bytes);
    // a line of its own for the bracket: the statement may end in a comment
    let lines =
        format!("SELECT CAST(row_to_json(asked.*) AS text) AS line FROM (\n{}\n) asked LIMIT {rows}", without_end(sql));
    format!(
        "SELECT CASE WHEN total <= {bytes} THEN line END FROM (
            SELECT line, sum(octet_length(line)) OVER (ROWS UNBOUNDED PRECEDING) AS total FROM ({lines}) lines
        ) summed"
    )
}

/// A semicolon at the end is a habit, not a second statement.
fn without_end(sql: &str) -> &str {
    let sql = sql.trim_end();
    sql.strip_suffix(';').unwrap_or(sql)
}

fn refused(error: &Error, time: Duration) -> QueryFault {
    let Error::Database(answer) = error else {
        return match error {
            Error::Io(_) | Error::Tls(_) | Error::Protocol(_) => QueryFault::Unavailable(error.to_string()),
            other => QueryFault::Invalid(other.to_string()),
        };
    };
    let message = answer.message().to_owned();
    match answer.code().unwrap_or_default().as_ref() {
        // cancelled, which is what a statement's time limit does
        "57014" => QueryFault::TimedOut(time),
        // read-only transaction, something that may not be where it stands, no right to it
        "25006" | "0A000" | "42501" => QueryFault::NotAllowed(message),
        // a syntax error is also what anything but a reading statement is here
        "42601" => QueryFault::NotAllowed(message),
        // more or fewer values than parameters
        "08P01" => QueryFault::Invalid(message),
        code if code.starts_with("08") || code.starts_with("53") || code.starts_with("57") => {
            QueryFault::Unavailable(message)
        }
        _ => QueryFault::Invalid(message),
    }
}
