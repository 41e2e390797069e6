//! Wire sessions. A session is a sealed token that any replica can open; only what the token can't
//! say is kept here: that it was bound to a principal later on, or that it ended early.

use std::sync::Arc;

use crate::{
    Change, StoreError,
    engine::{Engine, Touched, Write},
    error::Fault,
    statement::{FromRow, Row, Statement, Value},
};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Session {
    pub id: String,
    pub principal: Option<String>,
    pub ended: bool,
    pub expires_at: i64,
}

pub struct Sessions {
    engine: Arc<Engine>,
}

const END: &str = "INSERT INTO wire_sessions (id, ended, expires_at) VALUES ($1, TRUE, $2)
    ON CONFLICT (id) DO UPDATE SET ended = TRUE, expires_at = CASE
        WHEN excluded.expires_at > wire_sessions.expires_at THEN excluded.expires_at ELSE wire_sessions.expires_at END
    RETURNING id";
/// Returns a row only to the one who bound it: the first.
const BIND: &str = "INSERT INTO wire_sessions (id, principal, ended, expires_at) VALUES ($1, $2, FALSE, $3)
    ON CONFLICT (id) DO UPDATE SET principal = excluded.principal
        WHERE wire_sessions.principal IS NULL AND NOT wire_sessions.ended
    RETURNING principal";
const HOLDER: &str = "SELECT principal FROM wire_sessions WHERE id = $1 AND NOT ended";
const LOAD: &str = "SELECT id, principal, ended, expires_at FROM wire_sessions WHERE expires_at > $1 ORDER BY id";
const PURGE: &str = "DELETE FROM wire_sessions WHERE expires_at <= $1 RETURNING expires_at";

impl Sessions {
    pub(crate) fn new(engine: Arc<Engine>) -> Self {
        Self { engine }
    }

    /// Ends a session, known or not; remembered until the token itself expires.
    pub async fn end(&self, id: &str, expires_at: i64) -> Result<(), StoreError> {
        let write = Write::new(Statement::new(END, [Value::id(id), Value::int(expires_at)]))
            .announcing(Change::SessionEnded { id: id.to_owned() });
        self.engine.write::<Touched>("end a session", write).await.map(drop)
    }

    /// Binds a session to a principal and returns the one that holds it: the first wins, here and
    /// on every replica. `None` if the session has ended.
    pub async fn bind(&self, id: &str, principal: &str, expires_at: i64) -> Result<Option<String>, StoreError> {
        let bind = Statement::new(BIND, [Value::id(id), Value::text(principal), Value::int(expires_at)]);
        let write = Write::new(bind)
            .then(Statement::new(HOLDER, [Value::id(id)]))
            .announcing(Change::SessionBound { id: id.to_owned(), principal: principal.to_owned() });
        let holder = self.engine.write::<Holder>("bind a session", write).await?;
        Ok(holder.into_iter().next().map(|Holder(principal)| principal))
    }

    /// Every bound or ended session that has not expired.
    pub async fn load(&self, now: i64) -> Result<Vec<Session>, StoreError> {
        self.engine.read("load the sessions", Statement::new(LOAD, [Value::int(now)])).await
    }

    /// Forgets expired sessions; returns how many.
    pub async fn purge(&self, now: i64) -> Result<usize, StoreError> {
        let write = Write::new(Statement::new(PURGE, [Value::int(now)]));
        Ok(self.engine.write::<Touched>("purge expired sessions", write).await?.len())
    }
}

struct Holder(String);

impl FromRow for Holder {
    fn from_row(row: &mut Row) -> Result<Self, Fault> {
        row.text().map(Holder)
    }
}

impl FromRow for Session {
    fn from_row(row: &mut Row) -> Result<Self, Fault> {
        Ok(Session { id: row.text()?, principal: row.maybe_text()?, ended: row.bool()?, expires_at: row.int()? })
    }
}
