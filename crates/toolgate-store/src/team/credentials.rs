//! How an agent proves who it is: a passkey, kept as a hash that is slow to try.

use std::{fmt, sync::Arc};

use crate::{
    StoreError,
    engine::{Engine, Touched, Write},
    error::Fault,
    statement::{FromRow, Row, Statement, Value},
};

#[derive(Clone, PartialEq, Eq)]
pub struct Credential {
    /// Argon2id, in the form `$argon2id$v=…`.
    pub hash: String,
    pub set_at: i64,
    pub last_used_at: Option<i64>,
}

impl fmt::Debug for Credential {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Credential").field("set_at", &self.set_at).finish_non_exhaustive()
    }
}

pub struct Credentials {
    engine: Arc<Engine>,
}

const SET: &str = "INSERT INTO team_credentials (agent, hash, set_at)
    SELECT id, $2, $3 FROM team_agents WHERE id = $1
    ON CONFLICT (agent) DO UPDATE SET hash = excluded.hash, set_at = excluded.set_at, last_used_at = NULL
    RETURNING agent";
/// Whoever knew the old passkey may hold sessions by it.
const END_SESSIONS: &str =
    "UPDATE team_sessions SET state = 'ended', ended_at = $2 WHERE agent = $1 AND state <> 'ended'";
const GET: &str = "SELECT hash, set_at, last_used_at FROM team_credentials WHERE agent = $1";
const USED: &str = "UPDATE team_credentials SET last_used_at = $2 WHERE agent = $1 RETURNING agent";

impl Credentials {
    pub(super) fn new(engine: Arc<Engine>) -> Self {
        Self { engine }
    }

    /// Gives an agent a new passkey in place of the old one, and ends its sessions. `false` if there is no such agent.
    pub async fn set(&self, agent: &str, hash: &str, at: i64) -> Result<bool, StoreError> {
        let write = Write::new(Statement::new(SET, [Value::id(agent), Value::text(hash), Value::int(at)]))
            .then(Statement::new(END_SESSIONS, [Value::id(agent), Value::int(at)]));
        Ok(self.engine.write_first::<Touched>("set a passkey", write).await?.is_some())
    }

    pub async fn get(&self, agent: &str) -> Result<Option<Credential>, StoreError> {
        self.engine.find("look up a credential", Statement::new(GET, [Value::id(agent)])).await
    }

    pub async fn used(&self, agent: &str, at: i64) -> Result<(), StoreError> {
        let write = Write::new(Statement::new(USED, [Value::id(agent), Value::int(at)]));
        self.engine.write::<Touched>("note the use of a credential", write).await.map(drop)
    }
}

impl FromRow for Credential {
    fn from_row(row: &mut Row) -> Result<Self, Fault> {
        Ok(Credential { hash: row.text()?, set_at: row.int()?, last_used_at: row.maybe_int()? })
    }
}
