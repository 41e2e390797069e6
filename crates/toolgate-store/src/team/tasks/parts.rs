//! A task and what is below it: what whoever has it needs to see.

use super::{TeamTask, TeamTasks, columns};
use crate::{
    StoreError,
    engine::Write,
    statement::{Statement, Value},
};

/// The most parts that are shown of one task.
const MOST: i64 = 100;

macro_rules! parts {
    ($condition:literal) => {
        concat!(
            "SELECT ",
            columns!(),
            " FROM team_tasks WHERE project = $1 AND parent = $2 ",
            $condition,
            " ORDER BY created_at, id LIMIT $3"
        )
    };
}
const ALL: &str = parts!("");
const UNFINISHED: &str = parts!("AND status NOT IN ('done', 'cancelled')");
const BLOCKED: &str = parts!("AND status = 'blocked'");
const UNASSIGNED: &str = parts!("AND assignee IS NULL AND status IN ('backlog', 'todo')");
const STARTABLE: &str = concat!(
    "SELECT ",
    columns!(),
    " FROM team_tasks WHERE project = $1 AND parent = $2 AND assignee = $3 AND status = 'todo'
    AND approval = 'approved' AND NOT EXISTS (SELECT 1 FROM team_task_needs JOIN team_tasks need ON need.id = needs
        WHERE task = team_tasks.id AND need.status <> 'done')
    ORDER BY created_at, id LIMIT 1"
);
const AT_WORK: &str = concat!(
    "SELECT ",
    columns!(),
    " FROM team_tasks WHERE project = $1 AND parent = $2 AND assignee = $3
    AND status = 'in_progress' ORDER BY created_at, id LIMIT 1"
);
/// Given to others and ready to be started by whoever has the task above.
const DISPATCHABLE: &str = concat!(
    "SELECT ",
    columns!(),
    " FROM team_tasks WHERE project = $1 AND parent = $2 AND assignee <> $3 AND status IN ('backlog', 'todo')
    AND approval = 'approved' AND NOT EXISTS (SELECT 1 FROM team_task_needs JOIN team_tasks need ON need.id = needs
        WHERE task = team_tasks.id AND need.status <> 'done')
    ORDER BY created_at, id LIMIT 1"
);
const HANDLE: &str = "UPDATE team_tasks SET handled = TRUE
    WHERE project = $1 AND parent = $2 AND status = 'blocked' AND NOT handled RETURNING id";

impl TeamTasks {
    /// The parts of a task, the oldest first.
    pub async fn parts(&self, task: &str) -> Result<Vec<TeamTask>, StoreError> {
        self.some_of(ALL, task).await
    }

    pub async fn unfinished(&self, task: &str) -> Result<Vec<TeamTask>, StoreError> {
        self.some_of(UNFINISHED, task).await
    }

    pub async fn blocked(&self, task: &str) -> Result<Vec<TeamTask>, StoreError> {
        self.some_of(BLOCKED, task).await
    }

    pub async fn unassigned(&self, task: &str) -> Result<Vec<TeamTask>, StoreError> {
        self.some_of(UNASSIGNED, task).await
    }

    /// The agent's own part that it is at work on.
    pub async fn at_work(&self, task: &str, agent: &str) -> Result<Option<TeamTask>, StoreError> {
        self.one_of(AT_WORK, task, agent).await
    }

    /// The agent's own part that it can start.
    pub async fn startable(&self, task: &str, agent: &str) -> Result<Option<TeamTask>, StoreError> {
        self.one_of(STARTABLE, task, agent).await
    }

    /// A part that somebody else has and could be at work on.
    pub async fn dispatchable(&self, task: &str, agent: &str) -> Result<Option<TeamTask>, StoreError> {
        self.one_of(DISPATCHABLE, task, agent).await
    }

    /// Whoever has the task has seen what is blocked, and goes on.
    pub async fn handle_blocked(&self, task: &str) -> Result<(), StoreError> {
        let handle = Write::new(Statement::new(HANDLE, [self.project(), Value::id(task)]));
        self.engine.write::<crate::engine::Touched>("go on without what is blocked", handle).await.map(drop)
    }

    async fn some_of(&self, sql: &'static str, task: &str) -> Result<Vec<TeamTask>, StoreError> {
        let values = [self.project(), Value::id(task), Value::int(MOST)];
        self.engine.read("list a task's parts", Statement::new(sql, values)).await
    }

    async fn one_of(&self, sql: &'static str, task: &str, agent: &str) -> Result<Option<TeamTask>, StoreError> {
        let values = [self.project(), Value::id(task), Value::id(agent)];
        self.engine.find("look for a part of a task", Statement::new(sql, values)).await
    }
}
