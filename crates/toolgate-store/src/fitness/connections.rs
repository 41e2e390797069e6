//! Which sources of activities a user has connected.

use super::FitnessRepository;
use crate::{
    StoreError,
    engine::{Touched, Write},
    error::Fault,
    statement::{FromRow, Row, Statement, Value},
};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Connection {
    pub provider: String,
    pub connected_at: i64,
}

const CONNECT: &str = "INSERT INTO fitness_connections (user_id, provider, connected_at) VALUES ($1, $2, $3)
    ON CONFLICT (user_id, provider) DO NOTHING RETURNING provider";
const DISCONNECT: &str = "DELETE FROM fitness_connections WHERE user_id = $1 AND provider = $2
    RETURNING provider, connected_at";
const FIND: &str = "SELECT provider, connected_at FROM fitness_connections WHERE user_id = $1 AND provider = $2";
#[cfg(test)]
pub(super) const STATEMENTS: &[&str] = &[CONNECT, DISCONNECT, FIND];

impl FitnessRepository {
    /// Whether it is new; one that is there stays as it is.
    pub async fn connect(&self, provider: &str, at: i64) -> Result<bool, StoreError> {
        let statement = Statement::new(CONNECT, [self.user(), Value::id(provider), Value::int(at)]);
        let added = self.engine.write::<Touched>("connect a provider", Write::new(statement)).await?;
        Ok(!added.is_empty())
    }

    /// The connection as it was.
    pub async fn disconnect(&self, provider: &str) -> Result<Option<Connection>, StoreError> {
        let statement = Statement::new(DISCONNECT, [self.user(), Value::id(provider)]);
        Ok(self.engine.write("disconnect a provider", Write::new(statement)).await?.into_iter().next())
    }

    pub async fn connection(&self, provider: &str) -> Result<Option<Connection>, StoreError> {
        self.engine.find("look up a connection", Statement::new(FIND, [self.user(), Value::id(provider)])).await
    }
}

impl FromRow for Connection {
    fn from_row(row: &mut Row) -> Result<Self, Fault> {
        Ok(Connection { provider: row.text()?, connected_at: row.int()? })
    }
}
