//! The task log: which tasks run, under which parent, and whether their rights still hold.

use std::sync::Arc;

use crate::{
    Change, StoreError,
    engine::{Engine, Touched, Write},
    error::Fault,
    statement::{FromRow, Row, Statement, Value},
};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewTask {
    /// The public id; the secret key is stored as its hash only.
    pub task_id: String,
    pub key_hash: [u8; 32],
    pub owner: Option<String>,
    pub process: Option<String>,
    pub name: Option<String>,
    pub parent: Option<String>,
    pub is_orchestrator: bool,
    pub created_at: i64,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Task {
    pub task_id: String,
    pub owner: Option<String>,
    pub process: Option<String>,
    pub name: Option<String>,
    pub parent: Option<String>,
    pub is_orchestrator: bool,
    pub created_at: i64,
    pub finished_at: Option<i64>,
    /// False once the task or any task above it has ended.
    pub live: bool,
}

pub struct Tasks {
    engine: Arc<Engine>,
}

const START: &str = "INSERT INTO tasks
    (task_id, key_hash, owner, process, name, parent, is_orchestrator, created_at)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8) RETURNING task_id";
const FINISH: &str = "UPDATE tasks SET finished_at = $2
    WHERE task_id = $1 AND finished_at IS NULL RETURNING task_id";

/// `line` is the task and everything above it. UNION, not UNION ALL: it ends even if someone edited
/// a circle into the table.
macro_rules! find_by {
    ($column:literal) => {
        concat!(
            "WITH RECURSIVE line AS (
                SELECT task_id, parent, finished_at FROM tasks WHERE ",
            $column,
            " = $1
                UNION
                SELECT above.task_id, above.parent, above.finished_at
                FROM tasks above JOIN line ON above.task_id = line.parent
            )
            SELECT task_id, owner, process, name, parent, is_orchestrator, created_at, finished_at,
                NOT EXISTS (SELECT 1 FROM line WHERE line.finished_at IS NOT NULL)
            FROM tasks WHERE ",
            $column,
            " = $1"
        )
    };
}
const FIND: &str = find_by!("task_id");
const FIND_BY_KEY: &str = find_by!("key_hash");

impl Tasks {
    pub(crate) fn new(engine: Arc<Engine>) -> Self {
        Self { engine }
    }

    /// Starts a task. Its rights may not exceed its parent's, which must exist and run.
    pub async fn start(&self, task: NewTask) -> Result<(), StoreError> {
        if let Some(parent) = &task.parent {
            self.check_parent(parent, task.is_orchestrator).await?;
        }
        let change = Change::Task { task_id: task.task_id.clone() };
        let values = [
            Value::Id(task.task_id),
            Value::Bytes(task.key_hash.to_vec()),
            Value::Text(task.owner),
            Value::Text(task.process),
            Value::Text(task.name),
            Value::Text(task.parent),
            Value::Bool(task.is_orchestrator),
            Value::int(task.created_at),
        ];
        let write = Write::new(Statement::new(START, values)).announcing(change);
        self.engine.write::<Touched>("start a task", write).await.map(drop)
    }

    /// Reading first is safe: a task's rights never change, no task is ever deleted, and one whose
    /// parent ends in between is not live.
    async fn check_parent(&self, parent: &str, wants_orchestrator: bool) -> Result<(), StoreError> {
        let named = || parent.chars().take(100).collect();
        match self.find(parent).await? {
            None => Err(StoreError::UnknownParent { parent: named() }),
            Some(above) if !above.live => Err(StoreError::EndedParent { parent: named() }),
            Some(above) if wants_orchestrator && !above.is_orchestrator => {
                Err(StoreError::ExceedsParent { parent: named() })
            }
            Some(_) => Ok(()),
        }
    }

    pub async fn find(&self, task_id: &str) -> Result<Option<Task>, StoreError> {
        self.engine.find("look up a task", Statement::new(FIND, [Value::id(task_id)])).await
    }

    pub async fn find_by_key(&self, key_hash: &[u8; 32]) -> Result<Option<Task>, StoreError> {
        self.engine
            .find("look up a task by its key", Statement::new(FIND_BY_KEY, [Value::Bytes(key_hash.to_vec())]))
            .await
    }

    /// Whether this call ended it; `false` if there is no such task or it had ended before.
    pub async fn finish(&self, task_id: &str, at: i64) -> Result<bool, StoreError> {
        let write = Write::new(Statement::new(FINISH, [Value::id(task_id), Value::int(at)]))
            .announcing(Change::Task { task_id: task_id.to_owned() });
        Ok(!self.engine.write::<Touched>("finish a task", write).await?.is_empty())
    }
}

impl FromRow for Task {
    fn from_row(row: &mut Row) -> Result<Self, Fault> {
        Ok(Task {
            task_id: row.text()?,
            owner: row.maybe_text()?,
            process: row.maybe_text()?,
            name: row.maybe_text()?,
            parent: row.maybe_text()?,
            is_orchestrator: row.bool()?,
            created_at: row.int()?,
            finished_at: row.maybe_int()?,
            live: row.bool()?,
        })
    }
}
