//! API keys, stored as hashes.

use std::sync::Arc;

use crate::{
    Change, StoreError,
    engine::{Engine, Touched, Write},
    error::Fault,
    statement::{FromRow, Row, Statement, Value},
};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewKey {
    pub id: String,
    /// The part of the key by which it is found; not secret.
    pub prefix: String,
    pub hash: [u8; 32],
    pub name: String,
    /// What the holder is, as JSON; the store does not look inside.
    pub facts: String,
    pub created_at: i64,
    pub expires_at: Option<i64>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Key {
    pub id: String,
    pub prefix: String,
    pub hash: [u8; 32],
    pub name: String,
    pub facts: String,
    pub created_at: i64,
    pub expires_at: Option<i64>,
    pub revoked_at: Option<i64>,
}

impl Key {
    /// Whether the key opens anything at this time.
    pub fn is_live(&self, now: i64) -> bool {
        self.revoked_at.is_none() && self.expires_at.is_none_or(|end| now < end)
    }
}

pub struct Keys {
    engine: Arc<Engine>,
}

const INSERT: &str = "INSERT INTO api_keys (id, prefix, hash, name, facts, created_at, expires_at)
    VALUES ($1, $2, $3, $4, $5, $6, $7) RETURNING id";
const FIND: &str = "SELECT id, prefix, hash, name, facts, created_at, expires_at, revoked_at
    FROM api_keys WHERE prefix = $1";
const LIST: &str = "SELECT id, prefix, hash, name, facts, created_at, expires_at, revoked_at
    FROM api_keys ORDER BY created_at, id";
const REVOKE: &str = "UPDATE api_keys SET revoked_at = $2 WHERE id = $1 AND revoked_at IS NULL RETURNING id";

impl Keys {
    pub(crate) fn new(engine: Arc<Engine>) -> Self {
        Self { engine }
    }

    pub async fn insert(&self, key: NewKey) -> Result<(), StoreError> {
        let change = Change::Key { id: key.id.clone() };
        let values = [
            Value::Id(key.id),
            Value::Id(key.prefix),
            Value::Bytes(key.hash.to_vec()),
            Value::Text(Some(key.name)),
            Value::Text(Some(key.facts)),
            Value::int(key.created_at),
            Value::Int(key.expires_at),
        ];
        let write = Write::new(Statement::new(INSERT, values)).announcing(change);
        self.engine.write::<Touched>("store an API key", write).await.map(drop)
    }

    /// The key with this prefix, also if it is revoked or expired: ask [`Key::is_live`].
    pub async fn find(&self, prefix: &str) -> Result<Option<Key>, StoreError> {
        self.engine.find("look up an API key", Statement::new(FIND, [Value::id(prefix)])).await
    }

    /// Every key, oldest first.
    pub async fn list(&self) -> Result<Vec<Key>, StoreError> {
        self.engine.read("list the API keys", Statement::new(LIST, [])).await
    }

    /// Whether this call revoked it; `false` if there is no such key or it was revoked before.
    pub async fn revoke(&self, id: &str, at: i64) -> Result<bool, StoreError> {
        let write = Write::new(Statement::new(REVOKE, [Value::id(id), Value::int(at)]))
            .announcing(Change::Key { id: id.to_owned() });
        Ok(!self.engine.write::<Touched>("revoke an API key", write).await?.is_empty())
    }
}

impl FromRow for Key {
    fn from_row(row: &mut Row) -> Result<Self, Fault> {
        Ok(Key {
            id: row.text()?,
            prefix: row.text()?,
            hash: row.bytes()?.try_into().map_err(|_| Fault::Other("a stored key hash is not 32 bytes long".into()))?,
            name: row.text()?,
            facts: row.text()?,
            created_at: row.int()?,
            expires_at: row.maybe_int()?,
            revoked_at: row.maybe_int()?,
        })
    }
}
