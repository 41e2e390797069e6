//! How much of the store one user has open: questions to people, plans and flows.

use std::sync::Arc;

use crate::{
    StoreError,
    engine::Engine,
    error::Fault,
    statement::{FromRow, Row, Statement, Value},
};

/// A number of rows and the bytes of their largest column.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Usage {
    pub count: i64,
    pub bytes: i64,
}

/// The repository of usage.
pub struct UsageOf {
    engine: Arc<Engine>,
}

const APPROVALS: &str = "SELECT COUNT(*), CAST(COALESCE(SUM(LENGTH(shown)), 0) AS BIGINT) FROM approvals
    WHERE owner = $1 AND state = 'pending' AND expires > $2";
const PLANS: &str = "SELECT COUNT(*), CAST(COALESCE(SUM(LENGTH(calls)), 0) AS BIGINT) FROM plans
    WHERE owner = $1 AND state IN ('proposed', 'approved')";
const FLOWS: &str = "SELECT COUNT(*), CAST(COALESCE(SUM(LENGTH(allowlist)), 0) AS BIGINT) FROM flows
    WHERE owner = $1 AND closed IS NULL AND expires > $2";

impl UsageOf {
    pub(crate) fn new(engine: Arc<Engine>) -> Self {
        Self { engine }
    }

    /// Questions of this owner that nobody has answered.
    pub async fn approvals(&self, owner: &str, now: i64) -> Result<Usage, StoreError> {
        self.count("count approvals", Statement::new(APPROVALS, [Value::id(owner), Value::int(now)])).await
    }

    /// Plans of this principal that have not run.
    pub async fn plans(&self, owner: &str) -> Result<Usage, StoreError> {
        self.count("count plans", Statement::new(PLANS, [Value::id(owner)])).await
    }

    /// Flows of this principal that are open.
    pub async fn flows(&self, owner: &str, now: i64) -> Result<Usage, StoreError> {
        self.count("count flows", Statement::new(FLOWS, [Value::id(owner), Value::int(now)])).await
    }

    async fn count(&self, operation: &'static str, statement: Statement) -> Result<Usage, StoreError> {
        Ok(self.engine.find(operation, statement).await?.unwrap_or_default())
    }
}

impl FromRow for Usage {
    fn from_row(row: &mut Row) -> Result<Self, Fault> {
        Ok(Self { count: row.int()?, bytes: row.int()? })
    }
}
