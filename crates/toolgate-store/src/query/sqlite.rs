//! SQLite: a file opened for reading, where SQLite asks before it compiles anything but a read.

use std::{
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use rusqlite::{
    Connection, Error, ErrorCode, OpenFlags, Statement,
    hooks::{AuthAction, AuthContext, Authorization},
    limits::Limit,
    types::ValueRef,
};
use serde_json::{Map, Number, Value};

use super::{Gathered, QueryFault, QueryLimits, QueryRows, exact};

/// Steps of SQLite's machine between two looks at the clock.
const STEPS: i32 = 1_000;
/// Of the statement and of any value in it.
const LONGEST: i32 = 1 << 20;

pub(super) async fn query(
    path: PathBuf,
    sql: String,
    parameters: Vec<Value>,
    limits: QueryLimits,
) -> Result<QueryRows, QueryFault> {
    let ask = move || ask(&path, &sql, &parameters, limits);
    match tokio::task::spawn_blocking(ask).await {
        Ok(answer) => answer,
        Err(_) => Err(QueryFault::Unavailable("the question was given up".to_owned())),
    }
}

fn ask(path: &Path, sql: &str, parameters: &[Value], limits: QueryLimits) -> Result<QueryRows, QueryFault> {
    let unavailable = |error: Error| QueryFault::Unavailable(error.to_string());
    let connection = open(path, limits.time).map_err(unavailable)?;
    let mut statement = connection.prepare(sql).map_err(|error| refused(&error, limits.time))?;
    if !statement.readonly() || statement.column_count() == 0 {
        return Err(QueryFault::NotAllowed("it is not a SELECT".to_owned()));
    }
    bind(&mut statement, parameters)?;
    gather(&mut statement, limits).map_err(|error| refused(&error, limits.time))?.done()
}

/// Three locks, each enough alone: the file is opened for reading, the connection writes nothing, and what is not a read
/// does not compile.
fn open(path: &Path, time: Duration) -> Result<Connection, Error> {
    // an absolute path: SQLite would read a relative one that begins with "file:" as a URL
    let path = std::path::absolute(path).map_err(|error| Error::InvalidPath(error.to_string().into()))?;
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut connection = Connection::open_with_flags(path, flags)?;
    connection.busy_timeout(time)?;
    connection.pragma_update(None, "query_only", true)?;
    connection.pragma_update(None, "trusted_schema", false)?;
    connection.set_limit(Limit::SQLITE_LIMIT_LENGTH, LONGEST)?;
    connection.set_limit(Limit::SQLITE_LIMIT_ATTACHED, 0)?;
    let until = Instant::now() + time;
    connection.progress_handler(STEPS, Some(move || Instant::now() >= until))?;
    connection.authorizer(Some(only_reads))?;
    Ok(connection)
}

fn only_reads(asked: AuthContext<'_>) -> Authorization {
    match asked.action {
        AuthAction::Select | AuthAction::Read { .. } | AuthAction::Recursive => Authorization::Allow,
        AuthAction::Function { function_name } if !function_name.eq_ignore_ascii_case("load_extension") => {
            Authorization::Allow
        }
        _ => Authorization::Deny,
    }
}

fn bind(statement: &mut Statement<'_>, parameters: &[Value]) -> Result<(), QueryFault> {
    let expected = statement.parameter_count();
    if expected != parameters.len() {
        let given = parameters.len();
        return Err(QueryFault::Invalid(format!("it has {expected} parameters and {given} values were given")));
    }
    for (place, value) in (1..).zip(parameters) {
        // `$2` is a name to SQLite: it counts names in the order in which they first appear
        let place = statement.parameter_index(&format!("${place}")).ok().flatten().unwrap_or(place);
        let bound = match value {
            Value::Null => statement.raw_bind_parameter(place, rusqlite::types::Null),
            Value::Bool(truth) => statement.raw_bind_parameter(place, truth),
            Value::Number(number) => match number.as_i64() {
                Some(whole) => statement.raw_bind_parameter(place, whole),
                None => statement.raw_bind_parameter(place, number.as_f64()),
            },
            other => statement.raw_bind_parameter(place, other.as_str().unwrap_or_default()),
        };
        bound.map_err(|error| QueryFault::Invalid(error.to_string()))?;
    }
    Ok(())
}

fn gather(statement: &mut Statement<'_>, limits: QueryLimits) -> Result<Gathered, Error> {
    let names = named(statement.column_names());
    let mut gathered = Gathered::new(limits);
    let mut rows = statement.raw_query();
    while let Some(row) = rows.next()? {
        let mut object = Map::new();
        let mut bytes = 0;
        for (column, name) in names.iter().enumerate() {
            let (value, length) = json(row.get_ref(column)?);
            bytes += length + name.len();
            object.insert(name.clone(), value);
        }
        if !gathered.admits(bytes) {
            break;
        }
        gathered.add(object);
    }
    Ok(gathered)
}

/// Names of columns, each once.
fn named<'a>(columns: impl Iterator<Item = &'a str>) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for column in columns {
        names.push(exact::unique_name(column, |name| names.iter().any(|taken| taken == name)));
    }
    names
}

fn json(value: ValueRef<'_>) -> (Value, usize) {
    match value {
        ValueRef::Null => (Value::Null, 4),
        ValueRef::Integer(number) => (Value::from(number), 8),
        // JSON has no infinity: as PostgreSQL writes it in JSON
        ValueRef::Real(number) if number.is_infinite() => {
            (Value::from(if number > 0.0 { "Infinity" } else { "-Infinity" }), 10)
        }
        ValueRef::Real(number) => (Number::from_f64(number).map_or(Value::Null, Value::Number), 8),
        ValueRef::Text(text) => (Value::String(String::from_utf8_lossy(text).into_owned()), text.len()),
        // as PostgreSQL writes bytes in JSON
        ValueRef::Blob(bytes) => {
            let digits: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
            (Value::String(format!("\\x{digits}")), bytes.len() * 2)
        }
    }
}

fn refused(error: &Error, time: Duration) -> QueryFault {
    match error {
        Error::MultipleStatement => QueryFault::NotAllowed("there is more than one".to_owned()),
        Error::SqliteFailure(failure, _) | Error::SqlInputError { error: failure, .. } => match failure.code {
            ErrorCode::AuthorizationForStatementDenied | ErrorCode::ReadOnly => {
                QueryFault::NotAllowed("this one would do something else".to_owned())
            }
            ErrorCode::OperationInterrupted | ErrorCode::DatabaseBusy => QueryFault::TimedOut(time),
            ErrorCode::CannotOpen | ErrorCode::SystemIoFailure | ErrorCode::NotADatabase => {
                QueryFault::Unavailable(error.to_string())
            }
            _ => QueryFault::Invalid(words(error)),
        },
        _ => QueryFault::Invalid(words(error)),
    }
}

/// Without the statement, which whoever asked knows.
fn words(error: &Error) -> String {
    match error {
        Error::SqlInputError { msg, .. } | Error::SqliteFailure(_, Some(msg)) => msg.clone(),
        other => other.to_string(),
    }
}
