//! The event log: what callers noted, in the order in which they did. Appended, never changed.

use std::sync::Arc;

use crate::{
    StoreError,
    engine::{Engine, Touched, Write},
    error::Fault,
    statement::{FromRow, Row, Statement, Value},
};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    pub at: i64,
    pub principal: String,
    pub flow: Option<String>,
    pub name: String,
    /// JSON text.
    pub payload: String,
}

/// Made for exactly one principal; another's events do not exist for it.
pub struct Events {
    engine: Arc<Engine>,
    principal: String,
}

const APPEND: &str = "INSERT INTO event_log (principal, at, flow, name, payload) VALUES ($1, $2, $3, $4, $5)
    RETURNING number";
const LIST: &str = "SELECT at, principal, flow, name, payload FROM event_log WHERE principal = $1
    ORDER BY number DESC LIMIT $2";

impl Events {
    pub(crate) fn new(engine: Arc<Engine>, principal: &str) -> Self {
        Self { engine, principal: principal.to_owned() }
    }

    pub async fn append(&self, at: i64, flow: Option<&str>, name: &str, payload: &str) -> Result<(), StoreError> {
        let values = [
            Value::id(&self.principal),
            Value::int(at),
            Value::maybe_text(flow),
            Value::text(name),
            Value::text(payload),
        ];
        let write = Write::new(Statement::new(APPEND, values));
        self.engine.write::<Touched>("append an event", write).await.map(drop)
    }

    /// The newest first.
    pub async fn newest(&self, limit: i64) -> Result<Vec<Event>, StoreError> {
        let statement = Statement::new(LIST, [Value::id(&self.principal), Value::int(limit)]);
        self.engine.read("list events", statement).await
    }
}

impl FromRow for Event {
    fn from_row(row: &mut Row) -> Result<Self, Fault> {
        Ok(Event {
            at: row.int()?,
            principal: row.text()?,
            flow: row.maybe_text()?,
            name: row.text()?,
            payload: row.text()?,
        })
    }
}
