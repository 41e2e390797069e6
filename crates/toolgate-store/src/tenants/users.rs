//! Users as Toolgate knows them: everybody who is a member of some tenant, and whoever was added before.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::{
    Mark, Page, Paging, StoreError,
    engine::Engine,
    error::Fault,
    page::Listed,
    statement::{FromRow, Row, Statement, Value},
};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct User {
    /// `name`, or `issuer/subject`.
    pub id: String,
    pub name: Option<String>,
    pub email: Option<String>,
    pub created_at: i64,
}

pub struct Users {
    engine: Arc<Engine>,
}

macro_rules! columns {
    () => {
        "id, name, email, created_at"
    };
}
const GET: &str = concat!("SELECT ", columns!(), " FROM users WHERE id = $1");
const LIST: &str = concat!(
    "SELECT ",
    columns!(),
    " FROM users WHERE (created_at, id) < ($1, $2) ORDER BY created_at DESC, id DESC LIMIT $3"
);
const SET: &str = "INSERT INTO users (id, name, email, created_at) VALUES ($1, $2, $3, $4)
    ON CONFLICT (id) DO UPDATE SET name = excluded.name, email = excluded.email";
const REMOVE: &str = "DELETE FROM users WHERE id = $1";

impl Users {
    pub(crate) fn new(engine: Arc<Engine>) -> Self {
        Self { engine }
    }

    pub async fn get(&self, id: &str) -> Result<Option<User>, StoreError> {
        self.engine.find("look up a user", get(id)).await
    }

    /// Newest first.
    pub async fn list(&self, paging: &Paging) -> Result<Page<User>, StoreError> {
        Ok(paging.page(self.engine.read("list the users", Statement::new(LIST, paging.values())).await?))
    }
}

pub(super) fn get(id: &str) -> Statement {
    Statement::new(GET, [Value::id(id)])
}

pub(super) fn set(User { id, name, email, created_at }: &User) -> Statement {
    let values = [
        Value::id(id),
        Value::maybe_text(name.as_deref()),
        Value::maybe_text(email.as_deref()),
        Value::int(*created_at),
    ];
    Statement::new(SET, values)
}

pub(super) fn remove(id: &str) -> Statement {
    Statement::new(REMOVE, [Value::id(id)])
}

impl Listed for User {
    fn mark(&self) -> Mark {
        Mark { at: self.created_at, id: self.id.clone() }
    }
}

impl FromRow for User {
    fn from_row(row: &mut Row) -> Result<Self, Fault> {
        Ok(User { id: row.text()?, name: row.maybe_text()?, email: row.maybe_text()?, created_at: row.int()? })
    }
}
