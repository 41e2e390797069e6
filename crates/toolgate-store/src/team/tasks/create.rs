//! New tasks: one, or several that belong together.

use super::{Named, TaskFault, TeamTask, TeamTasks, fault::check_title};
use crate::{
    StoreError,
    engine::Write,
    fresh,
    statement::{Statement, Value},
    team::{TaskApproval, TaskPriority, TaskStatus},
};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewTeamTask {
    /// From [`TeamTasks::new_id`].
    pub id: String,
    pub title: String,
    pub description: String,
    pub status: TaskStatus,
    pub priority: TaskPriority,
    pub assignee: Option<String>,
    pub created_by: String,
    pub parent: Option<String>,
    /// Tasks of the project, or others made with it.
    pub needs: Vec<String>,
    pub requester: Option<String>,
    pub approval: TaskApproval,
}

/// Not below a task that is over: it would be done with an unfinished part. With a trace, only if that change was made.
const CREATE: &str =
    "INSERT INTO team_tasks (id, project, title, description, status, priority, assignee, created_by, parent,
        changed_by, changed_at, handled, requester, approval, created_at, trace)
    SELECT $2, $1, $3, $4, $5, $6, $7, $8, $9, $8, $10, FALSE, $11, $12, $10, $13
    WHERE (CAST($9 AS TEXT) IS NULL OR EXISTS (SELECT 1 FROM team_tasks above
        WHERE above.project = $1 AND above.id = $9 AND above.status NOT IN ('done', 'cancelled')))
    AND (CAST($14 AS TEXT) IS NULL OR EXISTS (SELECT 1 FROM team_tasks before WHERE before.trace = $14))
    RETURNING id";
const NEED: &str = "INSERT INTO team_task_needs (task, needs)
    SELECT made.id, need.id FROM team_tasks made, team_tasks need
    WHERE made.project = $1 AND made.id = $2 AND need.project = $1 AND need.id = $3
    ON CONFLICT (task, needs) DO NOTHING";
const KNOWN: &str = "SELECT id FROM team_tasks WHERE project = $1 AND id = $2";
/// A manager who takes a task apart has it from then on. Not out of the hands of who is at work on it.
const TAKE_PARENT: &str = "UPDATE team_tasks SET assignee = $3, changed_by = $3, changed_at = $4
    WHERE project = $1 AND id = $2 AND assignee IS DISTINCT FROM $3 AND status IN ('backlog', 'todo', 'blocked')
    AND EXISTS (SELECT 1 FROM team_tasks made WHERE made.trace = $5) RETURNING id";

impl TeamTasks {
    pub fn new_id() -> Result<String, StoreError> {
        fresh::id("ttask_").map_err(|fault| fault.during("name a task"))
    }

    /// Makes all of them or none, in their order. All are below the same task, or none is; with `taker`, that one goes to
    /// whoever takes it apart.
    pub async fn create(
        &self,
        tasks: &[NewTeamTask],
        taker: Option<&str>,
        now: i64,
    ) -> Result<Vec<TeamTask>, TaskFault> {
        tasks.iter().try_for_each(|task| check_title(&task.title))?;
        self.check(tasks).await?;
        let trace = fresh::id("change_").map_err(|fault| fault.during("add a task"))?;
        let parent = tasks.first().and_then(|task| task.parent.as_deref());
        let mut write = self.creating(Write::new(self.project_turn()), tasks, (&trace, None), now);
        if let (Some(parent), Some(taker)) = (parent, taker) {
            let values = [self.project(), Value::id(parent), Value::id(taker), Value::int(now), Value::id(&trace)];
            write = write.then(Statement::new(TAKE_PARENT, values));
        }
        let made: Vec<TeamTask> = self.engine.write("add a task", write.then(self.traced(&trace))).await?;
        match (made.is_empty(), parent) {
            (true, Some(parent)) => Err(self.over(parent).await?),
            _ => Ok(made),
        }
    }

    /// With `after`, nothing is made unless the change of that trace was.
    pub(super) fn creating(
        &self,
        mut write: Write,
        tasks: &[NewTeamTask],
        (trace, after): (&str, Option<&str>),
        now: i64,
    ) -> Write {
        // a millisecond apart, so that the order stays
        for (task, at) in tasks.iter().zip(now..) {
            let values = [
                self.project(),
                Value::id(&task.id),
                Value::text(&task.title),
                Value::text(&task.description),
                Value::text(task.status.as_str()),
                Value::text(task.priority.as_str()),
                Value::maybe_id(task.assignee.as_deref()),
                Value::id(&task.created_by),
                Value::maybe_id(task.parent.as_deref()),
                Value::int(at),
                Value::maybe_id(task.requester.as_deref()),
                Value::text(task.approval.as_str()),
                Value::id(trace),
                Value::maybe_id(after),
            ];
            write = write.then(Statement::new(CREATE, values));
        }
        for task in tasks {
            for need in &task.needs {
                write = write.then(Statement::new(NEED, [self.project(), Value::id(&task.id), Value::id(need)]));
            }
        }
        write
    }

    /// Looking first is safe: no task ever goes away.
    pub(super) async fn check(&self, tasks: &[NewTeamTask]) -> Result<(), TaskFault> {
        let made: Vec<&str> = tasks.iter().map(|task| task.id.as_str()).collect();
        let mut named: Vec<String> =
            tasks.iter().flat_map(|task| task.needs.iter().chain(&task.parent)).cloned().collect();
        named.retain(|id| !made.contains(&id.as_str()));
        for id in &named {
            let known = Statement::new(KNOWN, [self.project(), Value::id(id)]);
            if self.engine.find::<Named>("look up a task", known).await?.is_none() {
                return Err(TaskFault::unknown(id));
            }
        }
        Ok(())
    }

    async fn over(&self, id: &str) -> Result<TaskFault, StoreError> {
        Ok(match self.get(id).await? {
            Some(task) => TaskFault::Over { id: task.id, status: task.status },
            None => TaskFault::unknown(id),
        })
    }
}
