//! Users as Toolgate knows them: everybody who is a member of some tenant, and whoever was added before.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::{
    Mark, Page, Paging, Rights, StoreError,
    engine::{Engine, Write},
    error::Fault,
    page::Listed,
    rights::Subject,
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

/// What is to be different; what is absent stays.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct UserChange {
    pub name: Option<String>,
    pub email: Option<String>,
}

pub struct Users {
    engine: Arc<Engine>,
    rights: Rights,
}

macro_rules! columns {
    () => {
        "id, name, email, created_at"
    };
}
const ADD: &str =
    concat!("INSERT INTO users (id, name, email, created_at) VALUES ($1, $2, $3, $4) RETURNING ", columns!());
const GET: &str = concat!("SELECT ", columns!(), " FROM users WHERE id = $1");
const LIST: &str = concat!(
    "SELECT ",
    columns!(),
    " FROM users WHERE (created_at, id) < ($1, $2) ORDER BY created_at DESC, id DESC LIMIT $3"
);
const CHANGE: &str = concat!(
    "UPDATE users SET name = coalesce($2, name), email = coalesce($3, email) WHERE id = $1 RETURNING ",
    columns!()
);
const SET: &str = "INSERT INTO users (id, name, email, created_at) VALUES ($1, $2, $3, $4)
    ON CONFLICT (id) DO UPDATE SET name = excluded.name, email = excluded.email";
const REMOVE: &str = concat!("DELETE FROM users WHERE id = $1 RETURNING ", columns!());

impl Users {
    pub(crate) fn new(engine: Arc<Engine>, rights: Rights) -> Self {
        Self { engine, rights }
    }

    /// A user that exists already is a [`StoreError::Duplicate`].
    pub async fn add(&self, user: User) -> Result<User, StoreError> {
        let operation = "add a user";
        let values = [Value::Id(user.id), Value::Text(user.name), Value::Text(user.email), Value::int(user.created_at)];
        let write = Write::new(Statement::new(ADD, values));
        let added = self.engine.write_first(operation, write).await?;
        added.ok_or_else(|| Fault::Other("the user was not stored".to_owned()).during(operation))
    }

    pub async fn get(&self, id: &str) -> Result<Option<User>, StoreError> {
        self.engine.find("look up a user", get(id)).await
    }

    /// Newest first.
    pub async fn list(&self, paging: &Paging) -> Result<Page<User>, StoreError> {
        Ok(paging.page(self.engine.read("list the users", Statement::new(LIST, paging.values())).await?))
    }

    /// `None` if there is no such user.
    pub async fn change(&self, id: &str, change: UserChange) -> Result<Option<User>, StoreError> {
        let values = [Value::id(id), Value::Text(change.name), Value::Text(change.email)];
        let write = Write::new(Statement::new(CHANGE, values));
        self.engine.write_first("change a user", write).await
    }

    /// From every tenant too. `None` if there is no such user.
    pub async fn remove(&self, id: &str) -> Result<Option<User>, StoreError> {
        let about = Subject::User(id.to_owned());
        Ok(self.rights.change("remove a user", [about], vec![remove(id)]).await?.into_iter().next())
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
