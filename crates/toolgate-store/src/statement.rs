//! A statement and the rows it gives, in a form both engines understand.
//!
//! INVARIANT: SQL text is `&'static str` with `$1`, `$2`… for values, so no value can ever become
//! part of a statement.

use crate::error::Fault;

/// The longest id, user or name that may be looked up: what PostgreSQL can index in every case,
/// with room to spare.
const MAX_ID: usize = 1024;

pub(crate) struct Statement {
    pub(crate) sql: &'static str,
    pub(crate) values: Vec<Value>,
}

pub(crate) enum Value {
    /// Text that names something: indexed, so not empty and of limited length.
    Id(String),
    Text(Option<String>),
    Int(Option<i64>),
    Bool(bool),
    MaybeBool(Option<bool>),
    Bytes(Vec<u8>),
    MaybeBytes(Option<Vec<u8>>),
}

impl Statement {
    pub(crate) fn new(sql: &'static str, values: impl IntoIterator<Item = Value>) -> Self {
        Self { sql, values: values.into_iter().collect() }
    }

    /// Whether every value is one that both engines can hold.
    pub(crate) fn check(&self) -> Result<(), Fault> {
        self.values.iter().try_for_each(|value| match value {
            Value::Id(id) => check_id(id),
            Value::Text(Some(text)) if text.contains('\0') => {
                Err(Fault::Invalid("text holds a NUL character; remove it".into()))
            }
            _ => Ok(()),
        })
    }
}

pub(crate) fn check_id(id: &str) -> Result<(), Fault> {
    if id.is_empty() {
        Err(Fault::Invalid("an id or name is empty; give one".into()))
    } else if id.len() > MAX_ID {
        Err(Fault::Invalid(format!("an id or name has {} bytes; at most {MAX_ID} are allowed", id.len())))
    } else if id.contains('\0') {
        Err(Fault::Invalid("an id or name holds a NUL character; remove it".into()))
    } else {
        Ok(())
    }
}

impl Value {
    pub(crate) fn id(id: &str) -> Self {
        Value::Id(id.to_owned())
    }

    pub(crate) fn maybe_id(id: Option<&str>) -> Self {
        id.map_or(Value::Text(None), Value::id)
    }

    pub(crate) fn digest(digest: &[u8; 32]) -> Self {
        Value::Bytes(digest.to_vec())
    }

    pub(crate) fn text(text: &str) -> Self {
        Value::Text(Some(text.to_owned()))
    }

    pub(crate) fn maybe_text(text: Option<&str>) -> Self {
        Value::Text(text.map(str::to_owned))
    }

    pub(crate) fn int(number: i64) -> Self {
        Value::Int(Some(number))
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Cell {
    Null,
    Text(String),
    /// A number, or a truth value as 0 or 1.
    Int(i64),
    Bytes(Vec<u8>),
}

/// A row, read column by column in the order of the statement.
pub(crate) struct Row(std::vec::IntoIter<Cell>);

/// A record knows the order of its own columns.
pub(crate) trait FromRow: Sized {
    fn from_row(row: &mut Row) -> Result<Self, Fault>;
}

impl Row {
    pub(crate) fn new(cells: Vec<Cell>) -> Self {
        Row(cells.into_iter())
    }

    pub(crate) fn text(&mut self) -> Result<String, Fault> {
        self.maybe_text()?.ok_or_else(|| unexpected("text"))
    }

    pub(crate) fn maybe_text(&mut self) -> Result<Option<String>, Fault> {
        match self.0.next() {
            Some(Cell::Text(text)) => Ok(Some(text)),
            Some(Cell::Null) => Ok(None),
            _ => Err(unexpected("text")),
        }
    }

    pub(crate) fn int(&mut self) -> Result<i64, Fault> {
        self.maybe_int()?.ok_or_else(|| unexpected("a number"))
    }

    pub(crate) fn maybe_int(&mut self) -> Result<Option<i64>, Fault> {
        match self.0.next() {
            Some(Cell::Int(number)) => Ok(Some(number)),
            Some(Cell::Null) => Ok(None),
            _ => Err(unexpected("a number")),
        }
    }

    pub(crate) fn bool(&mut self) -> Result<bool, Fault> {
        self.int().map(|number| number != 0)
    }

    pub(crate) fn maybe_bool(&mut self) -> Result<Option<bool>, Fault> {
        Ok(self.maybe_int()?.map(|number| number != 0))
    }

    pub(crate) fn bytes(&mut self) -> Result<Vec<u8>, Fault> {
        self.maybe_bytes()?.ok_or_else(|| unexpected("bytes"))
    }

    fn maybe_bytes(&mut self) -> Result<Option<Vec<u8>>, Fault> {
        match self.0.next() {
            Some(Cell::Bytes(bytes)) => Ok(Some(bytes)),
            Some(Cell::Null) => Ok(None),
            _ => Err(unexpected("bytes")),
        }
    }

    pub(crate) fn digest(&mut self) -> Result<[u8; 32], Fault> {
        self.maybe_digest()?.ok_or_else(|| unexpected("digest"))
    }

    pub(crate) fn maybe_digest(&mut self) -> Result<Option<[u8; 32]>, Fault> {
        let digest = self.maybe_bytes()?.map(<[u8; 32]>::try_from).transpose();
        digest.map_err(|_| unexpected("digest of 32 bytes"))
    }

    pub(crate) fn count(&mut self) -> Result<u32, Fault> {
        self.maybe_count()?.ok_or_else(|| unexpected("count"))
    }

    pub(crate) fn maybe_count(&mut self) -> Result<Option<u32>, Fault> {
        self.maybe_int()?.map(u32::try_from).transpose().map_err(|_| unexpected("count"))
    }
}

fn unexpected(wanted: &str) -> Fault {
    Fault::Other(format!("a stored row has no {wanted} where it should; the database was changed by something else"))
}
