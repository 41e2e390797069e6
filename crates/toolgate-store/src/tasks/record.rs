//! All that is known of a task: where and how it runs, what it is of its process, how it ended.

use aws_lc_rs::digest;

use super::{Task, Tasks};
use crate::{
    StoreError,
    error::Fault,
    statement::{FromRow, Row, Statement, Value},
};

words! {
    /// What a task is of its process's run.
    Phase {
        PreStep = "pre_step",
        Step = "step",
        PostStep = "post_step",
        Finalize = "finalize",
    }
}

/// Where and how a task runs; nothing here gives it a right.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TaskSetting {
    pub branch: Option<String>,
    /// The absolute path of the folder it works in.
    pub worktree: Option<String>,
    /// The repository that the worktree belongs to.
    pub main_repo: Option<String>,
    pub engine: Option<String>,
    pub model: Option<String>,
    /// The engine's own name for its session.
    pub session: Option<String>,
    pub prompt: Option<String>,
}

/// How a task ended, as far as its runner says.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TaskEnd {
    pub success: bool,
    pub exit_code: Option<i64>,
    pub error_message: Option<String>,
    pub duration_ms: Option<i64>,
    /// In millionths of whatever the runner counts in.
    pub cost_micros: Option<i64>,
    pub input_tokens: Option<i64>,
    pub output_tokens: Option<i64>,
    /// The engine's session, where it was not known before.
    pub session: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskRecord {
    pub task: Task,
    pub setting: TaskSetting,
    /// The first 16 hexadecimal digits of the prompt's SHA-256.
    pub prompt_hash: Option<String>,
    pub phase: Option<Phase>,
    /// The number of the step it is about, which outlives injections.
    pub step: Option<i64>,
    /// Absent while it runs.
    pub end: Option<TaskEnd>,
}

const RECORD: &str = "SELECT branch, worktree, main_repo, engine, model, session, prompt, prompt_hash, phase, step,
    success, exit_code, error_message, duration_ms, cost_micros, input_tokens, output_tokens
    FROM tasks WHERE task_id = $1";

impl Tasks {
    pub async fn record(&self, task_id: &str) -> Result<Option<TaskRecord>, StoreError> {
        let Some(task) = self.find(task_id).await? else { return Ok(None) };
        let statement = Statement::new(RECORD, [Value::id(task_id)]);
        let found = self.engine.find::<Rest>("look up a task's record", statement).await?;
        Ok(found.map(|Rest { setting, prompt_hash, phase, step, end }| {
            let end = end.filter(|_| task.finished_at.is_some());
            TaskRecord { task, setting, prompt_hash, phase, step, end }
        }))
    }
}

pub(super) fn prompt_hash(prompt: &str) -> String {
    let hash = digest::digest(&digest::SHA256, prompt.as_bytes());
    hash.as_ref().iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}

struct Rest {
    setting: TaskSetting,
    prompt_hash: Option<String>,
    phase: Option<Phase>,
    step: Option<i64>,
    end: Option<TaskEnd>,
}

impl FromRow for Rest {
    fn from_row(row: &mut Row) -> Result<Self, Fault> {
        let setting = TaskSetting {
            branch: row.maybe_text()?,
            worktree: row.maybe_text()?,
            main_repo: row.maybe_text()?,
            engine: row.maybe_text()?,
            model: row.maybe_text()?,
            session: row.maybe_text()?,
            prompt: row.maybe_text()?,
        };
        let (prompt_hash, phase, step) = (row.maybe_text()?, row.maybe_text()?, row.maybe_int()?);
        let success = row.maybe_int()?;
        let end = TaskEnd {
            success: success == Some(1),
            exit_code: row.maybe_int()?,
            error_message: row.maybe_text()?,
            duration_ms: row.maybe_int()?,
            cost_micros: row.maybe_int()?,
            input_tokens: row.maybe_int()?,
            output_tokens: row.maybe_int()?,
            session: None,
        };
        let phase = phase.as_deref().and_then(Phase::parse);
        Ok(Rest { setting, prompt_hash, phase, step, end: success.map(|_| end) })
    }
}
