//! What an agent's task session hands to its chat session: talk to somebody, about something.

use std::sync::Arc;

use super::{
    delegation_state::DelegationStatus,
    machine::{Machine, NoStep, Step},
};
use crate::{
    Change, StoreError,
    engine::{Engine, Write},
    error::Fault,
    fresh,
    statement::{FromRow, Row, Statement, Value},
};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Delegation {
    pub id: String,
    pub task: Option<String>,
    pub target: String,
    pub purpose: String,
    pub context: Option<String>,
    pub status: DelegationStatus,
    pub result: Option<String>,
    pub created_at: i64,
    pub taken_at: Option<i64>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewDelegation {
    pub task: Option<String>,
    pub target: String,
    pub purpose: String,
    pub context: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DelegationFault {
    #[error("Delegation not found: {id}")]
    Unknown { id: String },
    #[error(transparent)]
    NoStep(#[from] NoStep),
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Made for one agent in one project; what another delegated does not exist for it.
pub struct Delegations {
    engine: Arc<Engine>,
    project: String,
    agent: String,
}

macro_rules! columns {
    () => {
        "id, task, target, purpose, context, status, result, created_at, taken_at"
    };
}
const ADD: &str = concat!(
    "INSERT INTO team_delegations (id, project, agent, task, target, purpose, context, status, created_at)
    VALUES ($1, $2, $3, $4, $5, $6, $7, 'pending', $8) RETURNING ",
    columns!()
);
const GET: &str =
    concat!("SELECT ", columns!(), " FROM team_delegations WHERE project = $1 AND agent = $2 AND id = $3");
const OPEN: &str = concat!(
    "SELECT ",
    columns!(),
    " FROM team_delegations WHERE project = $1 AND agent = $2
    AND status IN ('pending', 'processing') ORDER BY created_at, id LIMIT 100"
);
const STEP: &str = concat!(
    "UPDATE team_delegations SET status = $5, result = COALESCE($6, result),
        taken_at = CASE WHEN $5 = 'processing' THEN $7 ELSE taken_at END,
        finished_at = CASE WHEN $5 = 'processing' THEN NULL ELSE $7 END
    WHERE project = $1 AND agent = $2 AND id = $3 AND status = $4 RETURNING ",
    columns!()
);

impl Delegations {
    pub(super) fn new(engine: Arc<Engine>, project: &str, agent: &str) -> Self {
        Self { engine, project: project.to_owned(), agent: agent.to_owned() }
    }

    pub async fn add(&self, new: &NewDelegation, now: i64) -> Result<Delegation, StoreError> {
        let operation = "delegate to a chat session";
        let failed = |fault: Fault| fault.during(operation);
        let values = [
            Value::Id(fresh::id("dlg_").map_err(failed)?),
            Value::id(&self.project),
            Value::id(&self.agent),
            Value::maybe_id(new.task.as_deref()),
            Value::id(&new.target),
            Value::text(&new.purpose),
            Value::maybe_text(new.context.as_deref()),
            Value::int(now),
        ];
        let write = Write::new(Statement::new(ADD, values))
            .announcing(Change::Team { project: self.project.clone(), agents: vec![self.agent.clone()] });
        let added = self.engine.write_first(operation, write).await?;
        added.ok_or_else(|| failed(Fault::Other("the delegation was not stored".to_owned())))
    }

    pub async fn get(&self, id: &str) -> Result<Option<Delegation>, StoreError> {
        let values = [Value::id(&self.project), Value::id(&self.agent), Value::id(id)];
        self.engine.find("look up a delegation", Statement::new(GET, values)).await
    }

    /// Those that are not finished, the oldest first.
    pub async fn open(&self) -> Result<Vec<Delegation>, StoreError> {
        let values = [Value::id(&self.project), Value::id(&self.agent)];
        self.engine.read("list an agent's delegations", Statement::new(OPEN, values)).await
    }

    /// The chat session has it. `None` if it was taken or finished meanwhile.
    pub async fn take(&self, delegation: &Delegation, now: i64) -> Result<Option<Delegation>, DelegationFault> {
        let step = delegation.status.step(DelegationStatus::Processing)?;
        Ok(self.walk(&delegation.id, step, None, now).await?)
    }

    pub async fn finish(
        &self,
        id: &str,
        to: DelegationStatus,
        result: Option<&str>,
        now: i64,
    ) -> Result<Delegation, DelegationFault> {
        let unknown = || DelegationFault::Unknown { id: id.chars().take(100).collect() };
        // a second look where somebody else took a step in between: there are no more than two steps
        for _ in 0..3 {
            let delegation = self.get(id).await?.ok_or_else(unknown)?;
            let step = delegation.status.step(to)?;
            if let Some(finished) = self.walk(id, step, result, now).await? {
                return Ok(finished);
            }
        }
        Err(unknown())
    }

    async fn walk(
        &self,
        id: &str,
        step: Step<DelegationStatus>,
        result: Option<&str>,
        now: i64,
    ) -> Result<Option<Delegation>, StoreError> {
        let values = [
            Value::id(&self.project),
            Value::id(&self.agent),
            Value::id(id),
            Value::text(step.from().as_str()),
            Value::text(step.to().as_str()),
            Value::maybe_text(result),
            Value::int(now),
        ];
        self.engine.write_first("change a delegation", Write::new(Statement::new(STEP, values))).await
    }
}

impl FromRow for Delegation {
    fn from_row(row: &mut Row) -> Result<Self, Fault> {
        let (id, task, target, purpose) = (row.text()?, row.maybe_text()?, row.text()?, row.text()?);
        let (context, status, result) = (row.maybe_text()?, DelegationStatus::from_cell(row)?, row.maybe_text()?);
        Ok(Delegation {
            id,
            task,
            target,
            purpose,
            context,
            status,
            result,
            created_at: row.int()?,
            taken_at: row.maybe_int()?,
        })
    }
}
