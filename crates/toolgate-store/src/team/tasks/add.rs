//! A task that an operator adds, gives to an agent and starts, as one change: all of it is done or nothing.

use super::{NewTeamTask, StatusChange, TaskFault, TeamTask, TeamTasks, assign::Assigner, fault::check_title};
use crate::{
    engine::Write,
    fresh,
    statement::{Statement, Value},
    team::{TaskStatus, machine::Machine, notifications},
};

/// Nobody has seen the task: it was made in this very transaction.
const WITHDRAW: &str = "DELETE FROM team_tasks
    WHERE project = $1 AND id = $2 AND (assignee IS DISTINCT FROM $3 OR status <> $4)";

impl TeamTasks {
    /// Makes a task, gives it to an agent, and starts it where `start` is set.
    pub async fn add(&self, new: NewTeamTask, to: Option<&str>, start: bool, now: i64) -> Result<TeamTask, TaskFault> {
        check_title(&new.title)?;
        let operation = "add a task";
        let trace = fresh::id("change_").map_err(|fault| fault.during(operation))?;
        let mut task = unsaved(&new, now);
        let mut write = Write::new(self.project_turn());
        write = to.into_iter().fold(write, |write, agent| write.then(Self::agent_turn(agent)));
        write = self.creating(write, std::slice::from_ref(&new), (&trace, None), now);
        if to.is_some() {
            write = write.then(self.assigning(&task, to, Assigner::Operator, &trace, now));
            task.assignee = to.map(str::to_owned);
        }
        let step = start.then(|| task.status.step(TaskStatus::InProgress)).transpose()?;
        if let Some(step) = step {
            let change = StatusChange { to: step.to(), by: new.created_by.clone(), reason: None, report: None };
            write = write.then(self.stepping(&task, step, &change, &trace, now));
        }
        let wanted = if start { TaskStatus::InProgress } else { new.status };
        let values = [self.project(), Value::id(&new.id), Value::maybe_id(to), Value::text(wanted.as_str())];
        write = write.then(Statement::new(WITHDRAW, values));
        if to.is_some() {
            write = write.then(notifications::of_assignment(&self.project, &trace, &new.created_by, now));
        }
        if let Some(task) = self.engine.write(operation, write.then(self.traced(&trace))).await?.into_iter().next() {
            return Ok(task);
        }
        let given = TeamTask { assignee: None, ..task.clone() };
        self.why_not(&given, to, Assigner::Operator).await?;
        if let Some(step) = step {
            self.obstacle(&task, step).await?;
        }
        Err(TaskFault::busy(&task.id))
    }
}

/// A task as it is before it is given to anybody.
fn unsaved(new: &NewTeamTask, now: i64) -> TeamTask {
    TeamTask {
        id: new.id.clone(),
        title: new.title.clone(),
        description: new.description.clone(),
        status: new.status,
        priority: new.priority,
        assignee: new.assignee.clone(),
        created_by: new.created_by.clone(),
        parent: new.parent.clone(),
        result: None,
        summary: None,
        next_steps: None,
        changed_by: new.created_by.clone(),
        changed_at: now,
        blocked_reason: None,
        requester: new.requester.clone(),
        approval: new.approval,
        created_at: now,
    }
}
