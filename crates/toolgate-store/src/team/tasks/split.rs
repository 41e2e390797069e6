//! One task becomes several: it is cancelled, they stand in its place.

use super::{NewTeamTask, TaskFault, TeamTask, TeamTasks};
use crate::{
    engine::Write,
    fresh,
    statement::{Statement, Value},
    team::{TaskStatus, machine::Machine, notifications},
};

/// Only before anybody began: nothing is below it, nothing was done.
const CANCEL: &str = "UPDATE team_tasks SET status = 'cancelled', changed_by = $4, changed_at = $5, trace = $6
    WHERE project = $1 AND id = $2 AND status = $3
    AND NOT EXISTS (SELECT 1 FROM team_tasks bit WHERE bit.parent = $2 AND bit.status NOT IN ('done', 'cancelled'))
    RETURNING id";
const NEED_THE_SAME: &str = "INSERT INTO team_task_needs (task, needs)
    SELECT $2, needs FROM team_task_needs WHERE task = $1
    AND EXISTS (SELECT 1 FROM team_tasks WHERE id = $2) ON CONFLICT (task, needs) DO NOTHING";
const NEEDED_BY_THE_SAME: &str = "INSERT INTO team_task_needs (task, needs)
    SELECT task, $2 FROM team_task_needs WHERE needs = $1
    AND EXISTS (SELECT 1 FROM team_tasks WHERE id = $2) ON CONFLICT (task, needs) DO NOTHING";
const NO_LONGER_NEEDED: &str = "DELETE FROM team_task_needs WHERE needs = $1
    AND EXISTS (SELECT 1 FROM team_tasks WHERE id = $1 AND trace = $2)";

impl TeamTasks {
    /// The parts stand where the task stood: below the same one, after and before the same others.
    pub async fn split(&self, id: &str, parts: &[NewTeamTask], by: &str, now: i64) -> Result<Vec<TeamTask>, TaskFault> {
        let task = self.get(id).await?.ok_or_else(|| TaskFault::unknown(id))?;
        let splittable = matches!(task.status, TaskStatus::Todo | TaskStatus::Backlog);
        let step = match task.status.step(TaskStatus::Cancelled) {
            Ok(step) if splittable => step,
            _ => return Err(TaskFault::NotSplittable { id: task.id, status: task.status }),
        };
        self.check(parts).await?;
        let operation = "split a task";
        let failed = |fault: crate::error::Fault| fault.during(operation);
        let (cancelling, creating) = (fresh::id("change_").map_err(failed)?, fresh::id("change_").map_err(failed)?);
        let cancel = [
            self.project(),
            Value::id(id),
            Value::text(step.from().as_str()),
            Value::id(by),
            Value::int(now),
            Value::id(&cancelling),
        ];
        let mut write = Write::new(self.project_turn()).then(Statement::new(CANCEL, cancel));
        write = self.creating(write, parts, (&creating, Some(&cancelling)), now);
        for part in parts {
            for sql in [NEED_THE_SAME, NEEDED_BY_THE_SAME] {
                write = write.then(Statement::new(sql, [Value::id(id), Value::id(&part.id)]));
            }
        }
        write = write.then(Statement::new(NO_LONGER_NEEDED, [Value::id(id), Value::id(&cancelling)]));
        write = notifications::of_change(&self.project, &cancelling, by, now).into_iter().fold(write, Write::then);
        let made: Vec<TeamTask> = self.engine.write(operation, write.then(self.traced(&creating))).await?;
        if made.is_empty() { Err(TaskFault::busy(id)) } else { Ok(made) }
    }
}
