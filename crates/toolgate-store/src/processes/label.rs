//! Tasks that share a label: a process's name that stands for no steps.

use super::{Processes, RunEnd};
use crate::{
    StoreError,
    error::Fault,
    statement::{FromRow, Row, Statement, Value},
};

/// A task of a label.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LabelledTask {
    pub task_id: String,
    pub name: Option<String>,
    pub is_orchestrator: bool,
    /// Absent while it runs.
    pub ended: Option<RunEnd>,
}

const LABELLED: &str = "SELECT task_id, name, is_orchestrator, finished_at, success, exit_code, duration_ms
    FROM tasks WHERE process = $1 AND phase IS NULL ORDER BY created_at, task_id LIMIT 1000";

impl Processes {
    /// The tasks that share a label, oldest first, a thousand at most.
    pub async fn labelled(&self, label: &str) -> Result<Vec<LabelledTask>, StoreError> {
        self.engine.read("list the tasks of a label", Statement::new(LABELLED, [Value::id(label)])).await
    }
}

impl FromRow for LabelledTask {
    fn from_row(row: &mut Row) -> Result<Self, Fault> {
        let (task_id, name, is_orchestrator) = (row.text()?, row.maybe_text()?, row.bool()?);
        let (finished, success) = (row.maybe_int()?, row.maybe_int()?);
        let ended = RunEnd { success: success == Some(1), exit_code: row.maybe_int()?, duration_ms: row.maybe_int()? };
        Ok(LabelledTask { task_id, name, is_orchestrator, ended: finished.map(|_| ended) })
    }
}
