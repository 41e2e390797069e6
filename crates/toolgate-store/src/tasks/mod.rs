//! The task log: which tasks run, under which parent, and whether their rights still hold.

mod record;

use std::sync::Arc;

pub use self::record::{Phase, TaskEnd, TaskRecord, TaskSetting};
use crate::{
    Change, StoreError,
    engine::{Engine, Touched, Write},
    error::Fault,
    statement::{FromRow, Row, Statement, Value},
};

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NewTask {
    /// The public id; the secret key is stored as its hash only.
    pub task_id: String,
    pub key_hash: [u8; 32],
    pub owner: Option<String>,
    pub process: Option<String>,
    pub name: Option<String>,
    pub parent: Option<String>,
    pub is_orchestrator: bool,
    pub setting: TaskSetting,
    pub created_at: i64,
}

/// What a request made for a task rests on; everything else that is known of it is a [`TaskRecord`].
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

/// With a guard, for a task that starts only if something else holds.
macro_rules! start {
    ($($guard:tt)*) => {
        concat!(
            "INSERT INTO tasks (task_id, key_hash, owner, process, name, parent, is_orchestrator, created_at,
                branch, worktree, main_repo, engine, model, session, prompt, prompt_hash, phase, step, ordinal)
            SELECT $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19",
            $($guard)*,
            " RETURNING task_id"
        )
    };
}
pub(crate) use start;

const START: &str = start!("");
/// A task that is a part of a process's run ends with what that means for the process.
const FINISH: &str = "UPDATE tasks SET finished_at = $2
    WHERE task_id = $1 AND finished_at IS NULL AND phase IS NULL RETURNING task_id";

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
        let write = Write::new(Statement::new(START, task.values(None))).announcing(change);
        self.engine.write::<Touched>("start a task", write).await.map(drop)
    }

    /// Reading first is safe: a task's rights never change, no task is ever deleted, and one whose
    /// parent ends in between is not live.
    pub(crate) async fn check_parent(&self, parent: &str, wants_orchestrator: bool) -> Result<(), StoreError> {
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

    /// Whether this call ended it; `false` if there is no such task, if it had ended before, or if it is a part of a
    /// process's run: that ends with [`crate::Processes::end`].
    pub async fn finish(&self, task_id: &str, at: i64) -> Result<bool, StoreError> {
        let write = Write::new(Statement::new(FINISH, [Value::id(task_id), Value::int(at)]))
            .announcing(Change::Task { task_id: task_id.to_owned() });
        Ok(!self.engine.write::<Touched>("finish a task", write).await?.is_empty())
    }
}

impl NewTask {
    /// The values of `start!`; with its part in a process's run: the phase, the step's number and its own ordinal.
    pub(crate) fn values(self, part: Option<(Phase, Option<i64>, i64)>) -> Vec<Value> {
        let TaskSetting { branch, worktree, main_repo, engine, model, session, prompt } = self.setting;
        let prompt_hash = prompt.as_deref().map(record::prompt_hash);
        let mut values = vec![
            Value::Id(self.task_id),
            Value::Bytes(self.key_hash.to_vec()),
            Value::Text(self.owner),
            Value::Text(self.process),
            Value::maybe_id(self.name.as_deref()),
            Value::Text(self.parent),
            Value::Bool(self.is_orchestrator),
            Value::int(self.created_at),
        ];
        values.extend([branch, worktree, main_repo, engine, model, session, prompt, prompt_hash].map(Value::Text));
        values.push(Value::maybe_text(part.map(|(phase, ..)| phase.as_str())));
        values.push(Value::Int(part.and_then(|(_, step, _)| step)));
        values.push(Value::Int(part.map(|(.., ordinal)| ordinal)));
        values
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
