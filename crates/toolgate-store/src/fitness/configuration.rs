//! A user's own figures: a profile and what differs from it.

use super::FitnessRepository;
use crate::{
    StoreError,
    engine::Write,
    error::Fault,
    statement::{FromRow, Row, Statement, Value},
};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Configuration {
    pub profile: Option<String>,
    /// A JSON object.
    pub parameters: String,
    /// Grows with every change.
    pub revision: i64,
}

const FIND: &str = "SELECT profile, parameters, revision FROM fitness_configuration WHERE user_id = $1";
const CHANGE: &str = "INSERT INTO fitness_configuration (user_id, profile, parameters, revision, changed_at)
    VALUES ($1, $2, $3, 1, $4)
    ON CONFLICT (user_id) DO UPDATE SET profile = excluded.profile, parameters = excluded.parameters,
        revision = fitness_configuration.revision + 1, changed_at = excluded.changed_at
    WHERE fitness_configuration.revision = $5
    RETURNING profile, parameters, revision";
#[cfg(test)]
pub(super) const STATEMENTS: &[&str] = &[FIND, CHANGE];

impl FitnessRepository {
    /// `None` if nothing was ever set.
    pub async fn configuration(&self) -> Result<Option<Configuration>, StoreError> {
        self.engine.find("look up a configuration", Statement::new(FIND, [self.user()])).await
    }

    /// Replaces the configuration of this revision, 0 for none. `None` if it is no longer that one.
    pub async fn configure(
        &self,
        profile: Option<&str>,
        parameters: &str,
        revision: i64,
        at: i64,
    ) -> Result<Option<Configuration>, StoreError> {
        let values =
            [self.user(), Value::maybe_text(profile), Value::text(parameters), Value::int(at), Value::int(revision)];
        let write = Write::new(Statement::new(CHANGE, values));
        Ok(self.engine.write("change a configuration", write).await?.into_iter().next())
    }
}

impl FromRow for Configuration {
    fn from_row(row: &mut Row) -> Result<Self, Fault> {
        Ok(Configuration { profile: row.maybe_text()?, parameters: row.text()?, revision: row.int()? })
    }
}
