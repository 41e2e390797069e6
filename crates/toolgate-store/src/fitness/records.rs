//! Goals and recipes: JSON of the pack's own, kept under an id.

use super::FitnessRepository;
use crate::{
    StoreError,
    engine::{Touched, Write},
    error::Fault,
    statement::{FromRow, Row, Statement, Value},
};

words! {
    RecordKind {
        Goal = "goal",
        Recipe = "recipe",
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    pub id: String,
    /// JSON text.
    pub content: String,
    pub created_at: i64,
}

const ADD: &str = "INSERT INTO fitness_records (user_id, kind, id, content, created_at) VALUES ($1, $2, $3, $4, $5)
    ON CONFLICT (user_id, kind, id) DO NOTHING RETURNING id";
const REMOVE: &str = "DELETE FROM fitness_records WHERE user_id = $1 AND kind = $2 AND id = $3
    RETURNING id, content, created_at";
const FIND: &str = "SELECT id, content, created_at FROM fitness_records WHERE user_id = $1 AND kind = $2 AND id = $3";
const LIST: &str = "SELECT id, content, created_at FROM fitness_records WHERE user_id = $1 AND kind = $2
    ORDER BY created_at DESC, id LIMIT $3";
const COUNT: &str = "SELECT COUNT(*) FROM fitness_records WHERE user_id = $1 AND kind = $2";
#[cfg(test)]
pub(super) const STATEMENTS: &[&str] = &[ADD, REMOVE, FIND, LIST, COUNT];

impl FitnessRepository {
    /// `false` if there is one of that id; it stays as it is.
    pub async fn add_record(&self, kind: RecordKind, record: &Record) -> Result<bool, StoreError> {
        let values = [
            self.user(),
            Value::text(kind.as_str()),
            Value::id(&record.id),
            Value::text(&record.content),
            Value::int(record.created_at),
        ];
        let write = Write::new(Statement::new(ADD, values));
        Ok(!self.engine.write::<Touched>("keep a goal or recipe", write).await?.is_empty())
    }

    /// The record as it was.
    pub async fn remove_record(&self, kind: RecordKind, id: &str) -> Result<Option<Record>, StoreError> {
        let write = Write::new(Statement::new(REMOVE, [self.user(), Value::text(kind.as_str()), Value::id(id)]));
        Ok(self.engine.write("remove a goal or recipe", write).await?.into_iter().next())
    }

    pub async fn record(&self, kind: RecordKind, id: &str) -> Result<Option<Record>, StoreError> {
        let statement = Statement::new(FIND, [self.user(), Value::text(kind.as_str()), Value::id(id)]);
        self.engine.find("look up a goal or recipe", statement).await
    }

    /// Newest first.
    pub async fn records(&self, kind: RecordKind, most: u32) -> Result<Vec<Record>, StoreError> {
        let values = [self.user(), Value::text(kind.as_str()), Value::int(i64::from(most))];
        self.engine.read("list goals or recipes", Statement::new(LIST, values)).await
    }

    pub async fn count_records(&self, kind: RecordKind) -> Result<i64, StoreError> {
        let statement = Statement::new(COUNT, [self.user(), Value::text(kind.as_str())]);
        let counted = self.engine.find::<Counted>("count goals or recipes", statement).await?;
        Ok(counted.map_or(0, |counted| counted.0))
    }
}

struct Counted(i64);

impl FromRow for Counted {
    fn from_row(row: &mut Row) -> Result<Self, Fault> {
        row.int().map(Counted)
    }
}

impl FromRow for Record {
    fn from_row(row: &mut Row) -> Result<Self, Fault> {
        Ok(Record { id: row.text()?, content: row.text()?, created_at: row.int()? })
    }
}
