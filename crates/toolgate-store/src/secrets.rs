//! Named secrets that every replica must share, such as the key that seals sessions.

use std::sync::Arc;

use crate::{
    StoreError,
    engine::{Engine, Write},
    error::Fault,
    statement::{FromRow, Row, Statement, Value},
};

pub struct Secrets {
    engine: Arc<Engine>,
}

const GET: &str = "SELECT value FROM secrets WHERE name = $1";
/// The update changes nothing; it is there so that the row that came first is returned.
const CREATE: &str = "INSERT INTO secrets (name, value) VALUES ($1, $2)
    ON CONFLICT (name) DO UPDATE SET name = excluded.name RETURNING value";

impl Secrets {
    pub(crate) fn new(engine: Arc<Engine>) -> Self {
        Self { engine }
    }

    /// The secret of this name, if it was made.
    pub(crate) async fn get(&self, name: &str) -> Result<Option<Vec<u8>>, StoreError> {
        let found = self.engine.find("get a shared secret", Statement::new(GET, [Value::id(name)])).await?;
        Ok(found.map(|Secret(value)| value))
    }

    /// The secret of this name; made by `create` if there is none. When several make it at once,
    /// all get the one that was stored first.
    pub async fn get_or_create(&self, name: &str, create: impl FnOnce() -> Vec<u8>) -> Result<Vec<u8>, StoreError> {
        let operation = "get a shared secret";
        if let Some(value) = self.get(name).await? {
            return Ok(value);
        }
        let write = Write::new(Statement::new(CREATE, [Value::id(name), Value::Bytes(create())]));
        let stored = self.engine.write::<Secret>(operation, write).await?;
        let missing = || Fault::Other("the secret was not stored".into()).during(operation);
        stored.into_iter().next().map(|Secret(value)| value).ok_or_else(missing)
    }
}

struct Secret(Vec<u8>);

impl FromRow for Secret {
    fn from_row(row: &mut Row) -> Result<Self, Fault> {
        row.bytes().map(Secret)
    }
}
