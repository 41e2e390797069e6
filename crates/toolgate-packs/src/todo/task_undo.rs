//! Undo of a change to a task: the task goes back to what it was, if it is still what the change made of it.

use serde::{Deserialize, Serialize};
use serde_json::{
    json,
    value::{RawValue, to_raw_value},
};
use toolgate_spine::{SourceFault, ToolAnswer};
use toolgate_store::{Store, TodoTask};

use crate::failure::undo_fault;

/// A task before and after a change; `None` where there was none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct TaskChange {
    pub(super) before: Option<TodoTask>,
    pub(super) after: Option<TodoTask>,
}

/// What a receipt keeps of a change.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct UndoRecord {
    user: String,
    before: Option<Kept>,
    after: Option<Kept>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Kept {
    id: i64,
    title: String,
    description: Option<String>,
    completed: bool,
}

impl From<TodoTask> for Kept {
    fn from(TodoTask { id, title, description, completed }: TodoTask) -> Self {
        Self { id, title, description, completed }
    }
}

impl From<Kept> for TodoTask {
    fn from(Kept { id, title, description, completed }: Kept) -> Self {
        Self { id, title, description, completed }
    }
}

impl TaskChange {
    /// The answer of a call that made this change, with what takes it back.
    pub(super) fn undoable(self, user: &str, answer: ToolAnswer) -> ToolAnswer {
        if self.before == self.after {
            return answer.never_undone("Nothing was changed.");
        }
        let (before, after) = (self.before.map(Kept::from), self.after.map(Kept::from));
        match to_raw_value(&UndoRecord { user: user.to_owned(), before, after }) {
            Ok(record) => answer.undone_by(record),
            Err(_) => answer,
        }
    }
}

pub(super) async fn undo(store: &Store, record: &RawValue) -> Result<ToolAnswer, SourceFault> {
    let unreadable = |fault| SourceFault::Conflict(format!("what takes it back can't be read: {fault}"));
    let UndoRecord { user, before, after } = serde_json::from_str(record.get()).map_err(unreadable)?;
    let (before, after) = (before.map(TodoTask::from), after.map(TodoTask::from));
    let failed = |fault| undo_fault(&fault);
    let repository = store.todo(&user).map_err(failed)?;
    if !repository.replace(after.as_ref(), before.as_ref()).await.map_err(failed)? {
        return Err(SourceFault::Conflict("the task was changed since".to_owned()));
    }
    let task_id = before.as_ref().or(after.as_ref()).map(|task| task.id);
    let title = before.as_ref().or(after.as_ref()).map(|task| task.title.clone());
    let answer = ToolAnswer::structured(&json!({ "task_id": task_id, "status": "undone", "title": title }), false);
    let answer = answer.map_err(|fault| SourceFault::unavailable(fault.to_string()))?;
    // to undo the undo is to make the change again
    Ok(TaskChange { before: after, after: before }.undoable(&user, answer))
}
