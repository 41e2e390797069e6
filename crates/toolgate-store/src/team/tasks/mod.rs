//! The tasks of one project.
//!
//! INVARIANT: whatever changes at once, a task in progress has an assignee with room for it and waits for nothing, and a task
//! that is done has no unfinished part. Changes that touch these take a turn: one after the other in a project, and for what
//! an agent has in progress, one after the other for that agent.

mod add;
mod assign;
mod change;
mod create;
mod fault;
mod list;
mod parts;
mod request;
mod split;

use std::sync::Arc;

use super::task_status::{TaskApproval, TaskPriority, TaskResult, TaskStatus};
use crate::{
    Mark, StoreError,
    engine::Engine,
    error::Fault,
    page::Listed,
    statement::{FromRow, Row, Statement, Value, check_id},
};

pub use assign::{Assigned, Assigner};
pub use change::{Report, StatusChange};
pub use create::NewTeamTask;
pub use fault::TaskFault;
pub use list::TaskFilter;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TeamTask {
    pub id: String,
    pub title: String,
    pub description: String,
    pub status: TaskStatus,
    pub priority: TaskPriority,
    pub assignee: Option<String>,
    pub created_by: String,
    pub parent: Option<String>,
    pub result: Option<TaskResult>,
    pub summary: Option<String>,
    pub next_steps: Option<String>,
    pub changed_by: String,
    pub changed_at: i64,
    pub blocked_reason: Option<String>,
    pub requester: Option<String>,
    pub approval: TaskApproval,
    pub created_at: i64,
}

impl TeamTask {
    /// Given to its assignee by somebody else.
    pub fn is_delegated(&self) -> bool {
        self.assignee.as_deref() != Some(self.created_by.as_str())
    }
}

/// Made for exactly one project; no other project's task exists for it.
#[derive(Clone)]
pub struct TeamTasks {
    engine: Arc<Engine>,
    project: String,
}

macro_rules! columns {
    () => {
        "id, title, description, status, priority, assignee, created_by, parent, result, summary, next_steps, changed_by,
        changed_at, blocked_reason, requester, approval, created_at"
    };
}
use columns;

const GET: &str = concat!("SELECT ", columns!(), " FROM team_tasks WHERE project = $1 AND id = $2");
const TRACED: &str =
    concat!("SELECT ", columns!(), " FROM team_tasks WHERE project = $1 AND trace = $2 ORDER BY created_at, id");
const NEEDS: &str = "SELECT needs FROM team_task_needs JOIN team_tasks ON team_tasks.id = task
    WHERE project = $1 AND task = $2 ORDER BY needs LIMIT 1000";
/// Whoever has the row waits for nobody else until it is done.
const TURN: &str = "INSERT INTO team_turns (key, turn) VALUES ($1, 1)
    ON CONFLICT (key) DO UPDATE SET turn = team_turns.turn + 1 RETURNING turn";

impl TeamTasks {
    pub(super) fn new(engine: Arc<Engine>, project: &str) -> Result<Self, StoreError> {
        check_id(project).map_err(|fault| fault.during("open a project's tasks"))?;
        Ok(Self { engine, project: project.to_owned() })
    }

    pub async fn get(&self, id: &str) -> Result<Option<TeamTask>, StoreError> {
        self.engine.find("look up a task", Statement::new(GET, [self.project(), Value::id(id)])).await
    }

    /// Tasks that must be done before this one.
    pub async fn needs(&self, id: &str) -> Result<Vec<String>, StoreError> {
        let needs = Statement::new(NEEDS, [self.project(), Value::id(id)]);
        Ok(self
            .engine
            .read::<Named>("look up what a task needs", needs)
            .await?
            .into_iter()
            .map(|named| named.0)
            .collect())
    }

    fn project(&self) -> Value {
        Value::id(&self.project)
    }

    fn project_turn(&self) -> Statement {
        Statement::new(TURN, [Value::Id(format!("project:{}", self.project))])
    }

    fn agent_turn(agent: &str) -> Statement {
        Statement::new(TURN, [Value::Id(format!("agent:{agent}"))])
    }

    /// What the change of this trace left.
    fn traced(&self, trace: &str) -> Statement {
        Statement::new(TRACED, [self.project(), Value::id(trace)])
    }
}

struct Named(String);

impl FromRow for Named {
    fn from_row(row: &mut Row) -> Result<Self, Fault> {
        row.text().map(Named)
    }
}

impl Listed for TeamTask {
    fn mark(&self) -> Mark {
        Mark { at: self.created_at, id: self.id.clone() }
    }
}

impl FromRow for TeamTask {
    fn from_row(row: &mut Row) -> Result<Self, Fault> {
        let (id, title, description) = (row.text()?, row.text()?, row.text()?);
        let (status, priority) = (TaskStatus::from_cell(row)?, TaskPriority::from_cell(row)?);
        let (assignee, created_by, parent) = (row.maybe_text()?, row.text()?, row.maybe_text()?);
        let result = row.maybe_text()?.and_then(|word| TaskResult::parse(&word));
        let (summary, next_steps) = (row.maybe_text()?, row.maybe_text()?);
        let (changed_by, changed_at, blocked_reason) = (row.text()?, row.int()?, row.maybe_text()?);
        let requester = row.maybe_text()?;
        let (approval, created_at) = (TaskApproval::from_cell(row)?, row.int()?);
        Ok(TeamTask {
            id,
            title,
            description,
            status,
            priority,
            assignee,
            created_by,
            parent,
            result,
            summary,
            next_steps,
            changed_by,
            changed_at,
            blocked_reason,
            requester,
            approval,
            created_at,
        })
    }
}
