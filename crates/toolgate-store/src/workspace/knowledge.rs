//! Knowledge: what outlives a process, version after version, never changed in place.

use std::sync::Arc;

use super::{search::Indexed, search::Source, tenant_of};
use crate::{
    StoreError,
    engine::{Engine, Write},
    error::Fault,
    statement::{FromRow, Row, Statement, Value},
};

/// Made for exactly one tenant, or for those without; nothing outside it exists for it.
///
/// INVARIANT: every statement says `tenant = $1` with the tenant it was made for.
pub struct KnowledgeRepository {
    pub(super) engine: Arc<Engine>,
    tenant: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Knowledge {
    pub key: String,
    /// Counted from 1.
    pub version: i64,
    pub content: String,
    pub reason: String,
    pub created_at: i64,
}

/// A version in a key's history.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KnowledgeVersion {
    pub version: i64,
    pub reason: String,
    /// The first 200 characters.
    pub preview: String,
    pub created_at: i64,
}

/// Whoever finds a version taken takes the next one; every time someone else has got on.
const TRIES: u32 = 64;

const WRITE: &str = "INSERT INTO knowledge (tenant, key, version, content, reason, created_at)
    SELECT $1, $2, COALESCE(MAX(version), 0) + 1, $3, $4, $5 FROM knowledge WHERE tenant = $1 AND key = $2
    RETURNING version";
macro_rules! find {
    ($which:literal) => {
        concat!(
            "SELECT key, version, content, reason, created_at FROM knowledge WHERE tenant = $1 AND key = $2",
            $which
        )
    };
}
const LATEST: &str = find!(" ORDER BY version DESC LIMIT 1");
const VERSION: &str = find!(" AND version = $3");
const HISTORY: &str = "SELECT version, reason, substr(content, 1, 200), created_at
    FROM knowledge WHERE tenant = $1 AND key = $2 ORDER BY version";

impl KnowledgeRepository {
    pub(crate) fn new(engine: Arc<Engine>, tenant: Option<&str>) -> Result<Self, StoreError> {
        Ok(Self { engine, tenant: tenant_of(tenant)? })
    }

    pub(super) fn tenant(&self) -> Value {
        Value::text(&self.tenant)
    }

    /// Adds a version, and says which. However many write at once, each gets one of its own.
    pub async fn write(
        &self,
        key: &str,
        content: &str,
        reason: &str,
        terms: &[String],
        at: i64,
    ) -> Result<i64, StoreError> {
        const OPERATION: &str = "write knowledge";
        let mut tries = TRIES;
        loop {
            let values = [self.tenant(), Value::id(key), Value::text(content), Value::text(reason), Value::int(at)];
            let indexed = Indexed {
                tenant: &self.tenant,
                source: Source::Knowledge,
                source_id: key,
                title: key,
                text: content,
                terms,
                at,
            };
            // the versions keep writers apart: who has the next one has seen the last one
            let write = indexed.after(Write::new(Statement::new(WRITE, values)), &self.engine);
            match self.engine.write_first::<Version>(OPERATION, write).await {
                Ok(Some(Version(version))) => return Ok(version),
                Ok(None) => return Err(Fault::Other("it was not stored".to_owned()).during(OPERATION)),
                Err(StoreError::Duplicate { .. }) if tries > 0 => tries -= 1,
                Err(fault) => return Err(fault),
            }
        }
    }

    /// The latest version, or the one that is named.
    pub async fn find(&self, key: &str, version: Option<i64>) -> Result<Option<Knowledge>, StoreError> {
        let mut values = vec![self.tenant(), Value::id(key)];
        values.extend(version.map(Value::int));
        let sql = if version.is_some() { VERSION } else { LATEST };
        self.engine.find("look up knowledge", Statement::new(sql, values)).await
    }

    /// Oldest first.
    pub async fn history(&self, key: &str) -> Result<Vec<KnowledgeVersion>, StoreError> {
        self.engine.read("list versions of knowledge", Statement::new(HISTORY, [self.tenant(), Value::id(key)])).await
    }
}

struct Version(i64);

impl FromRow for Version {
    fn from_row(row: &mut Row) -> Result<Self, Fault> {
        row.int().map(Version)
    }
}

impl FromRow for Knowledge {
    fn from_row(row: &mut Row) -> Result<Self, Fault> {
        Ok(Knowledge {
            key: row.text()?,
            version: row.int()?,
            content: row.text()?,
            reason: row.text()?,
            created_at: row.int()?,
        })
    }
}

impl FromRow for KnowledgeVersion {
    fn from_row(row: &mut Row) -> Result<Self, Fault> {
        Ok(KnowledgeVersion { version: row.int()?, reason: row.text()?, preview: row.text()?, created_at: row.int()? })
    }
}
