//! Somebody else's database, asked one question that changes nothing.
//!
//! INVARIANT: the database itself refuses everything but one reading statement. Nothing here looks at the text of a
//! statement to find out what it does.

mod exact;
mod postgres;
mod sqlite;

use std::time::Duration;

use serde_json::{Map, Value};

use crate::Location;

/// How much one question may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct QueryLimits {
    pub rows: usize,
    /// Of all rows together, about.
    pub bytes: usize,
    pub time: Duration,
}

#[derive(Debug, Clone, PartialEq)]
pub struct QueryRows {
    /// Each by the names of its columns; a name that is there twice gets a number.
    pub rows: Vec<Map<String, Value>>,
    /// The limit that kept further rows back.
    pub cut: Option<RowCut>,
}

/// A limit that rows were cut at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RowCut {
    Rows,
    Bytes,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum QueryFault {
    /// Not one statement that only reads.
    #[error("only one statement that reads is allowed: {0}")]
    NotAllowed(String),
    /// The database does not understand it, or the values do not fit.
    #[error("the database refused the statement: {0}")]
    Invalid(String),
    /// Not even the first row fits.
    #[error("the first row is larger than {0} bytes")]
    RowTooLarge(usize),
    #[error("the statement took longer than {} ms", .0.as_millis())]
    TimedOut(Duration),
    /// Who asks learns no more; the reason is for the log.
    #[error("the database can't be reached ({0})")]
    Unavailable(String),
}

/// A database that can be asked and not changed.
pub struct ReadOnlyDatabase {
    location: Location,
}

impl ReadOnlyDatabase {
    pub fn new(location: Location) -> Self {
        Self { location }
    }

    /// `$1`, `$2`… (or `?` on SQLite) stand for the parameters.
    pub async fn query(&self, sql: &str, parameters: &[Value], limits: QueryLimits) -> Result<QueryRows, QueryFault> {
        let scalar = |value: &Value| !value.is_array() && !value.is_object();
        if !parameters.iter().all(scalar) {
            return Err(QueryFault::Invalid("a parameter is text, a number, true, false or null".to_owned()));
        }
        let text = |value: &Value| value.as_str().is_some_and(|text| text.contains('\0'));
        if sql.contains('\0') || parameters.iter().any(text) {
            return Err(QueryFault::Invalid("text holds a NUL character; remove it".to_owned()));
        }
        match &self.location {
            Location::Sqlite(path) => sqlite::query(path.clone(), sql.to_owned(), parameters.to_vec(), limits).await,
            Location::Postgres(url) => postgres::query(url, sql, parameters, limits).await,
        }
    }
}

/// Collects rows until a limit is reached.
struct Gathered {
    rows: Vec<Map<String, Value>>,
    bytes: usize,
    cut: Option<RowCut>,
    limits: QueryLimits,
}

impl Gathered {
    fn new(limits: QueryLimits) -> Self {
        Self { rows: Vec::new(), bytes: 0, cut: None, limits }
    }

    /// Counts a row of this many bytes. `false` means that the row is one too many, and so is every further one.
    fn admits(&mut self, bytes: usize) -> bool {
        self.bytes = self.bytes.saturating_add(bytes);
        self.cut = if self.rows.len() >= self.limits.rows {
            Some(RowCut::Rows)
        } else if self.bytes > self.limits.bytes {
            Some(RowCut::Bytes)
        } else {
            None
        };
        self.cut.is_none()
    }

    fn add(&mut self, row: Map<String, Value>) {
        self.rows.push(row);
    }

    fn done(self) -> Result<QueryRows, QueryFault> {
        match self.cut {
            Some(RowCut::Bytes) if self.rows.is_empty() => Err(QueryFault::RowTooLarge(self.limits.bytes)),
            cut => Ok(QueryRows { rows: self.rows, cut }),
        }
    }
}
