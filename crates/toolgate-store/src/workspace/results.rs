//! Results: one for each task, replaced when it is written again.

use std::sync::Arc;

use super::{json, names, process_of, search::Indexed, search::Source, tenant_of};
use crate::{
    StoreError,
    engine::{Engine, Touched, Write},
    error::Fault,
    statement::{FromRow, Row, Statement, Value},
};

/// Made for exactly one process; nothing outside it exists for it.
///
/// INVARIANT: every statement says `process` with the process it was made for.
pub struct ResultRepository {
    engine: Arc<Engine>,
    process: String,
    tenant: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewResult {
    pub text: String,
    pub summary: Option<String>,
    pub key_files: Vec<String>,
    pub tags: Vec<String>,
    /// What it is found by.
    pub terms: Vec<String>,
    pub at: i64,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskResult {
    pub task_id: String,
    pub text: String,
    pub summary: Option<String>,
    pub key_files: Vec<String>,
    pub tags: Vec<String>,
    pub created_at: i64,
}

/// Whose result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Which<'t> {
    Task(&'t str),
    /// The newest of all tasks with this name.
    Named(&'t str),
}

const WRITE: &str = "INSERT INTO results
    (task_id, process, task_name, result_text, summary_text, key_files, tags, created_at)
    SELECT task_id, $2, name, $3, $4, $5, $6, $7 FROM tasks WHERE task_id = $1 AND COALESCE(process, task_id) = $2
    ON CONFLICT (task_id) DO UPDATE SET result_text = excluded.result_text, summary_text = excluded.summary_text,
        key_files = excluded.key_files, tags = excluded.tags, created_at = excluded.created_at";
macro_rules! find {
    ($which:literal) => {
        concat!(
            "SELECT task_id, result_text, summary_text, key_files, tags, created_at FROM results WHERE process = $1 AND ",
            $which,
            " = $2 ORDER BY created_at DESC, task_id DESC LIMIT 1"
        )
    };
}
const FIND: &str = find!("task_id");
const FIND_NAMED: &str = find!("task_name");
const TITLE: &str = "SELECT COALESCE(name, task_id) FROM tasks WHERE task_id = $1 AND COALESCE(process, task_id) = $2";

impl ResultRepository {
    pub(crate) fn new(engine: Arc<Engine>, process: &str, tenant: Option<&str>) -> Result<Self, StoreError> {
        Ok(Self { engine, process: process_of(process)?, tenant: tenant_of(tenant)? })
    }

    /// Writes a task's result, in place of an earlier one and its summary. `false` if the process has no such task.
    pub async fn write(&self, task_id: &str, new: &NewResult) -> Result<bool, StoreError> {
        const OPERATION: &str = "write a result";
        let failed = |fault: Fault| fault.during(OPERATION);
        let statement = Statement::new(TITLE, [Value::id(task_id), Value::id(&self.process)]);
        let Some(Title(title)) = self.engine.find(OPERATION, statement).await? else { return Ok(false) };
        let values = [
            Value::id(task_id),
            Value::id(&self.process),
            Value::text(&new.text),
            Value::maybe_text(new.summary.as_deref()),
            Value::Text(Some(json(&new.key_files).map_err(failed)?)),
            Value::Text(Some(json(&new.tags).map_err(failed)?)),
            Value::int(new.at),
        ];
        let write = Write::new(Statement::new(WRITE, values));
        let indexed = Indexed {
            tenant: &self.tenant,
            source: Source::Result,
            source_id: task_id,
            title: &title,
            text: &new.text,
            terms: &new.terms,
            at: new.at,
        };
        self.engine.write::<Touched>(OPERATION, indexed.after(write, &self.engine)).await?;
        Ok(true)
    }

    pub async fn find(&self, which: Which<'_>) -> Result<Option<TaskResult>, StoreError> {
        let (sql, value) = match which {
            Which::Task(task_id) => (FIND, task_id),
            Which::Named(name) => (FIND_NAMED, name),
        };
        self.engine.find("look up a result", Statement::new(sql, [Value::id(&self.process), Value::id(value)])).await
    }
}

struct Title(String);

impl FromRow for Title {
    fn from_row(row: &mut Row) -> Result<Self, Fault> {
        row.text().map(Title)
    }
}

impl FromRow for TaskResult {
    fn from_row(row: &mut Row) -> Result<Self, Fault> {
        Ok(TaskResult {
            task_id: row.text()?,
            text: row.text()?,
            summary: row.maybe_text()?,
            key_files: names(row)?,
            tags: names(row)?,
            created_at: row.int()?,
        })
    }
}
