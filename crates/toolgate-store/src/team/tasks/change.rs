//! A task goes from one status to another.

use super::{Named, TaskFault, TeamTask, TeamTasks};
use crate::{
    StoreError, backoff,
    engine::Write,
    error::Fault,
    fresh,
    statement::{FromRow, Row, Statement, Value},
    team::{
        TaskResult, TaskStatus,
        at_work::{at_work, unmet},
        machine::{Machine, Step},
        notifications,
    },
};

/// What a task is to be, and who says so.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StatusChange {
    pub to: TaskStatus,
    /// The agent that changes it.
    pub by: String,
    /// Why, where it is blocked.
    pub reason: Option<String>,
    /// What came of it, where its assignee reports so. Only a task of `by` can be reported.
    pub report: Option<Report>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    pub result: TaskResult,
    pub summary: Option<String>,
    pub next_steps: Option<String>,
}

const CHANGE: &str = concat!(
    "UPDATE team_tasks SET status = $4, changed_by = $5, changed_at = $6,
        blocked_reason = CASE WHEN $4 = 'blocked' THEN $7 ELSE NULL END, handled = FALSE, trace = $8,
        result = COALESCE($10, result), summary = COALESCE($11, summary), next_steps = COALESCE($12, next_steps)
    WHERE project = $1 AND id = $2 AND status = $3 AND assignee IS NOT DISTINCT FROM $9
    AND ($4 <> 'in_progress' OR (assignee IS NOT NULL AND approval = 'approved' AND NOT EXISTS (SELECT 1 ",
    unmet!("team_tasks.id"),
    ") AND ",
    at_work!("team_tasks.assignee", "team_tasks.parent"),
    " < (SELECT max_parallel_tasks FROM team_agents WHERE team_agents.id = team_tasks.assignee)))
    AND ($4 <> 'done' OR NOT EXISTS (SELECT 1 FROM team_tasks bit
        WHERE bit.parent = team_tasks.id AND bit.status NOT IN ('done', 'cancelled')))
    RETURNING id"
);
/// What is below a blocked task and being worked at is blocked with it.
const CASCADE: &str = "UPDATE team_tasks SET status = 'blocked', changed_by = $3, changed_at = $4, blocked_reason = $5,
        handled = FALSE, trace = $6
    WHERE project = $1 AND status = 'in_progress' AND id IN (
        WITH RECURSIVE below (id) AS (
            SELECT bit.id FROM team_tasks bit JOIN team_tasks top ON top.id = bit.parent
            WHERE top.project = $1 AND top.id = $2 AND top.trace = $6
            UNION
            SELECT bit.id FROM team_tasks bit JOIN below ON bit.parent = below.id
        ) SELECT id FROM below)";
const CHANGED: &str =
    concat!("SELECT ", super::columns!(), " FROM team_tasks WHERE project = $1 AND id = $2 AND trace = $3");
const UNMET: &str = concat!("SELECT need.id ", unmet!("$1"), " ORDER BY need.id LIMIT 10");
const OPEN: &str = "SELECT id FROM team_tasks WHERE parent = $1 AND status NOT IN ('done', 'cancelled')
    ORDER BY created_at, id LIMIT 10";
const ROOM: &str =
    concat!("SELECT ", at_work!("$1", "$2"), ", max_parallel_tasks FROM team_agents WHERE team_agents.id = $1");

/// Others may change the same task; each time round, one of them got on.
const TRIES: u32 = 32;

impl TeamTasks {
    /// Takes the step if there is one and nothing stands in its way.
    pub async fn change(&self, id: &str, change: &StatusChange, now: i64) -> Result<TeamTask, TaskFault> {
        for attempt in 0..TRIES {
            if attempt > 0 {
                backoff::pause(attempt).await;
            }
            let task = self.get(id).await?.ok_or_else(|| TaskFault::unknown(id))?;
            if change.report.is_some() && task.assignee.as_deref() != Some(change.by.as_str()) {
                return Err(TaskFault::unknown(id));
            }
            let step = task.status.step(change.to)?;
            if let Some(changed) = self.take_step(&task, step, change, now).await? {
                return Ok(changed);
            }
            // what stands in the way of a task that others changed meanwhile may be that very change
            match self.obstacle(&task, step).await {
                Err(TaskFault::Store(fault)) => return Err(fault.into()),
                Err(obstacle) if self.get(id).await?.is_some_and(|now| now == task) => return Err(obstacle),
                _ => {}
            }
        }
        Err(TaskFault::busy(id))
    }

    async fn take_step(
        &self,
        task: &TeamTask,
        step: Step<TaskStatus>,
        change: &StatusChange,
        now: i64,
    ) -> Result<Option<TeamTask>, StoreError> {
        let operation = "change a task's status";
        let trace = fresh::id("change_").map_err(|fault| fault.during(operation))?;
        let mut write = Write::new(self.project_turn());
        if let Some(assignee) = &task.assignee {
            write = write.then(Self::agent_turn(assignee));
        }
        write = write.then(self.stepping(task, step, change, &trace, now));
        if step.to() == TaskStatus::Blocked {
            let values = [
                self.project(),
                Value::id(&task.id),
                Value::id(&change.by),
                Value::int(now),
                Value::maybe_text(change.reason.as_deref()),
                Value::id(&trace),
            ];
            write = write.then(Statement::new(CASCADE, values));
        }
        write = notifications::of_change(&self.project, &trace, &change.by, now).into_iter().fold(write, Write::then);
        let changed = [self.project(), Value::id(&task.id), Value::id(&trace)];
        Ok(self.engine.write(operation, write.then(Statement::new(CHANGED, changed))).await?.into_iter().next())
    }

    pub(super) fn stepping(
        &self,
        task: &TeamTask,
        step: Step<TaskStatus>,
        change: &StatusChange,
        trace: &str,
        now: i64,
    ) -> Statement {
        let report = change.report.as_ref();
        let values = [
            self.project(),
            Value::id(&task.id),
            Value::text(step.from().as_str()),
            Value::text(step.to().as_str()),
            Value::id(&change.by),
            Value::int(now),
            Value::maybe_text(change.reason.as_deref()),
            Value::id(trace),
            Value::maybe_id(task.assignee.as_deref()),
            Value::maybe_text(report.map(|report| report.result.as_str())),
            Value::maybe_text(report.and_then(|report| report.summary.as_deref())),
            Value::maybe_text(report.and_then(|report| report.next_steps.as_deref())),
        ];
        Statement::new(CHANGE, values)
    }

    /// What stands in the way of a step. Nothing, if others changed the task meanwhile: then it is worth trying again.
    pub(super) async fn obstacle(&self, task: &TeamTask, step: Step<TaskStatus>) -> Result<(), TaskFault> {
        let id = task.id.clone();
        match step.to() {
            TaskStatus::InProgress => {
                let Some(agent) = task.assignee.clone() else { return Err(TaskFault::NoAssignee { id }) };
                if task.approval != super::TaskApproval::Approved {
                    return Err(TaskFault::NotApproved { id });
                }
                let needs = self.named(Statement::new(UNMET, [Value::id(&id)])).await?;
                if !needs.is_empty() {
                    return Err(TaskFault::NeedsUnmet { id, needs });
                }
                let room = Statement::new(ROOM, [Value::id(&agent), Value::maybe_id(task.parent.as_deref())]);
                match self.engine.find::<Room>("look what an agent has in progress", room).await? {
                    None => Err(TaskFault::UnknownAgent { agent }),
                    Some(Room { busy, most }) if busy >= most => Err(TaskFault::NoCapacity { agent, most }),
                    Some(_) => Ok(()),
                }
            }
            TaskStatus::Done => {
                let open = self.named(Statement::new(OPEN, [Value::id(&id)])).await?;
                if open.is_empty() { Ok(()) } else { Err(TaskFault::OpenParts { id, open }) }
            }
            _ => Ok(()),
        }
    }

    async fn named(&self, statement: Statement) -> Result<Vec<String>, StoreError> {
        let names = self.engine.read::<Named>("look what stands in a task's way", statement).await?;
        Ok(names.into_iter().map(|named| named.0).collect())
    }
}

struct Room {
    busy: i64,
    most: i64,
}

impl FromRow for Room {
    fn from_row(row: &mut Row) -> Result<Self, Fault> {
        Ok(Room { busy: row.int()?, most: row.int()? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_statements_do_by_themselves_are_steps_too() {
        assert!(CASCADE.contains("SET status = 'blocked'") && CASCADE.contains("status = 'in_progress'"));
        assert!(TaskStatus::InProgress.step(TaskStatus::Blocked).is_ok());
    }
}
