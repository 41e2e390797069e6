//! Lookup of ids by their beginning, for people who do not type 32 hexadecimal digits.

use crate::{
    Store, StoreError,
    error::Fault,
    statement::{FromRow, Row, Statement, Value},
};

/// The records whose ids can be looked up by a prefix.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IdKind {
    Approval,
    Plan,
    Receipt,
}

impl IdKind {
    /// The text that every id of this kind begins with.
    pub const fn prefix(self) -> &'static str {
        match self {
            Self::Approval => "appr_",
            Self::Plan => "plan_",
            Self::Receipt => "rcpt_",
        }
    }

    /// A range of the primary key, so that the index is used.
    const fn statement(self) -> &'static str {
        match self {
            Self::Approval => "SELECT id FROM approvals WHERE id >= $1 AND id < $2 ORDER BY id LIMIT $3",
            Self::Plan => "SELECT id FROM plans WHERE id >= $1 AND id < $2 ORDER BY id LIMIT $3",
            Self::Receipt => "SELECT id FROM receipts WHERE id >= $1 AND id < $2 ORDER BY id LIMIT $3",
        }
    }
}

/// The end of the range of ids that begin with a text: ids are ASCII without `~`.
const AFTER_ALL: char = '~';

impl Store {
    /// Returns up to `limit` ids that begin with `beginning`, in their order.
    pub async fn ids_beginning_with(
        &self,
        kind: IdKind,
        beginning: &str,
        limit: u32,
    ) -> Result<Vec<String>, StoreError> {
        let end = format!("{beginning}{AFTER_ALL}");
        let values = [Value::id(beginning), Value::id(&end), Value::int(limit.into())];
        let found: Vec<FoundId> = self.engine.read("look up an id", Statement::new(kind.statement(), values)).await?;
        Ok(found.into_iter().map(|FoundId(id)| id).collect())
    }
}

struct FoundId(String);

impl FromRow for FoundId {
    fn from_row(row: &mut Row) -> Result<Self, Fault> {
        row.text().map(Self)
    }
}
