//! Who has a task.

use super::{TaskFault, TeamTask, TeamTasks};
use crate::{
    backoff,
    engine::Write,
    error::Fault,
    fresh,
    statement::{FromRow, Row, Statement, Value},
    team::{AgentStatus, machine::Machine, notifications, task_status::TaskStatus},
};

/// Who gives a task to somebody.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Assigner<'a> {
    /// Only to who stands directly under it.
    Manager(&'a str),
    /// To anyone in the project.
    Operator,
}

impl<'a> Assigner<'a> {
    fn name(self) -> &'a str {
        match self {
            Self::Manager(manager) => manager,
            Self::Operator => "operator",
        }
    }
}

/// A task in other hands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Assigned {
    pub task: TeamTask,
    pub previous: Option<String>,
}

/// Not while somebody is at work on it, and only to who is there and active.
const ASSIGN: &str = "UPDATE team_tasks SET assignee = $3, changed_by = $4, changed_at = $5, trace = $6
    WHERE project = $1 AND id = $2 AND assignee IS NOT DISTINCT FROM $7
    AND status NOT IN ('in_progress', 'done', 'cancelled')
    AND (CAST($3 AS TEXT) IS NULL OR EXISTS (SELECT 1 FROM team_agents JOIN team_assignments ON agent = team_agents.id
        WHERE team_agents.id = $3 AND team_assignments.project = $1 AND status = 'active'
        AND ($8 OR team_agents.parent = $4)))
    RETURNING id";
const ASSIGNEE: &str = "SELECT parent, status,
        EXISTS (SELECT 1 FROM team_assignments WHERE agent = team_agents.id AND project = $1)
    FROM team_agents WHERE id = $2";

const TRIES: u32 = 32;

impl TeamTasks {
    /// Gives a task to an agent, or takes it from whoever has it.
    pub async fn assign(
        &self,
        id: &str,
        to: Option<&str>,
        assigner: Assigner<'_>,
        now: i64,
    ) -> Result<Assigned, TaskFault> {
        for attempt in 0..TRIES {
            if attempt > 0 {
                backoff::pause(attempt).await;
            }
            let task = self.get(id).await?.ok_or_else(|| TaskFault::unknown(id))?;
            let previous = task.assignee.clone();
            if let Some(task) = self.hand_over(&task, to, assigner, now).await? {
                return Ok(Assigned { task, previous });
            }
            self.why_not(&task, to, assigner).await?;
        }
        Err(TaskFault::busy(id))
    }

    async fn hand_over(
        &self,
        task: &TeamTask,
        to: Option<&str>,
        assigner: Assigner<'_>,
        now: i64,
    ) -> Result<Option<TeamTask>, TaskFault> {
        let operation = "assign a task";
        let trace = fresh::id("change_").map_err(|fault| fault.during(operation))?;
        let mut write = Write::new(self.project_turn()).then(self.assigning(task, to, assigner, &trace, now));
        write = write.then(notifications::of_assignment(&self.project, &trace, assigner.name(), now));
        Ok(self.engine.write(operation, write.then(self.traced(&trace))).await?.into_iter().next())
    }

    pub(super) fn assigning(
        &self,
        task: &TeamTask,
        to: Option<&str>,
        assigner: Assigner<'_>,
        trace: &str,
        now: i64,
    ) -> Statement {
        let values = [
            self.project(),
            Value::id(&task.id),
            Value::maybe_id(to),
            Value::id(assigner.name()),
            Value::int(now),
            Value::id(trace),
            Value::maybe_id(task.assignee.as_deref()),
            Value::Bool(assigner == Assigner::Operator),
        ];
        Statement::new(ASSIGN, values)
    }

    pub(super) async fn why_not(
        &self,
        task: &TeamTask,
        to: Option<&str>,
        assigner: Assigner<'_>,
    ) -> Result<(), TaskFault> {
        if task.status.is_final() {
            return Err(TaskFault::Over { id: task.id.clone(), status: task.status });
        }
        if task.status == TaskStatus::InProgress {
            return Err(TaskFault::InProgress { id: task.id.clone() });
        }
        let Some(agent) = to.map(str::to_owned) else { return Ok(()) };
        let look = Statement::new(ASSIGNEE, [self.project(), Value::id(&agent)]);
        let Some(assignee) = self.engine.find::<Assignee>("look up an agent", look).await? else {
            return Err(TaskFault::UnknownAgent { agent });
        };
        match assigner {
            Assigner::Manager(manager) if assignee.parent.as_deref() != Some(manager) => {
                Err(TaskFault::NotSubordinate { agent, manager: manager.to_owned() })
            }
            _ if !assignee.in_project => Err(TaskFault::NotInProject { agent, project: self.project.clone() }),
            _ if assignee.status != AgentStatus::Active => Err(TaskFault::NotActive { agent }),
            _ => Ok(()),
        }
    }
}

struct Assignee {
    parent: Option<String>,
    status: AgentStatus,
    in_project: bool,
}

impl FromRow for Assignee {
    fn from_row(row: &mut Row) -> Result<Self, Fault> {
        let parent = row.maybe_text()?;
        Ok(Assignee { parent, status: AgentStatus::from_cell(row)?, in_project: row.bool()? })
    }
}
