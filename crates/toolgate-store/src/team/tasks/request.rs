//! A task that was asked for is approved or rejected, once.

use super::{TaskApproval, TaskFault, TeamTask, TeamTasks};
use crate::{
    engine::Write,
    fresh,
    statement::{Statement, Value},
    team::notifications,
};

/// What is rejected is cancelled with it.
const ANSWER: &str = "UPDATE team_tasks SET approval = $3, changed_by = $4, changed_at = $5, trace = $6,
        status = CASE WHEN $3 = 'rejected' THEN 'cancelled' ELSE status END,
        blocked_reason = CASE WHEN $3 = 'rejected' THEN $7 ELSE blocked_reason END
    WHERE project = $1 AND id = $2 AND approval = 'pending_approval' AND status IN ('backlog', 'todo') RETURNING id";

impl TeamTasks {
    pub async fn answer_request(
        &self,
        id: &str,
        approval: TaskApproval,
        by: &str,
        reason: Option<&str>,
        now: i64,
    ) -> Result<TeamTask, TaskFault> {
        let operation = "answer a task's request";
        let trace = fresh::id("change_").map_err(|fault| fault.during(operation))?;
        let values = [
            self.project(),
            Value::id(id),
            Value::text(approval.as_str()),
            Value::id(by),
            Value::int(now),
            Value::id(&trace),
            Value::maybe_text(reason),
        ];
        let mut write = Write::new(self.project_turn()).then(Statement::new(ANSWER, values));
        write = notifications::of_change(&self.project, &trace, by, now).into_iter().fold(write, Write::then);
        let answered: Vec<TeamTask> = self.engine.write(operation, write.then(self.traced(&trace))).await?;
        match (answered.into_iter().next(), self.get(id).await?) {
            (Some(task), _) => Ok(task),
            (None, Some(task)) => Err(TaskFault::NotPending { id: task.id }),
            (None, None) => Err(TaskFault::unknown(id)),
        }
    }
}
