//! Why a task was not made or changed.

use crate::{
    StoreError,
    team::{TaskStatus, machine::NoStep},
};

/// The length of a title.
const MOST_TITLE: usize = 200;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TaskFault {
    #[error("Task not found: {id}")]
    Unknown { id: String },
    #[error("a title has 1 to {MOST_TITLE} characters")]
    BadTitle,
    #[error(transparent)]
    NoStep(#[from] NoStep),
    #[error("Validation error: task {id} is {status}; nothing can be added to it or changed about it")]
    Over { id: String, status: TaskStatus },
    #[error("Validation error: task {id} has no assignee; assign it first")]
    NoAssignee { id: String },
    #[error("Validation error: task {id} is in progress; block it before it changes hands")]
    InProgress { id: String },
    #[error("Validation error: task {id} is not approved")]
    NotApproved { id: String },
    #[error("Validation error: task {id} depends on tasks that are not done: {}", needs.join(", "))]
    NeedsUnmet { id: String, needs: Vec<String> },
    #[error("Validation error: agent '{agent}' has {most} task(s) in progress, which is as many as it may have")]
    NoCapacity { agent: String, most: i64 },
    #[error("Validation error: task {id} has unfinished subtasks: {}", open.join(", "))]
    OpenParts { id: String, open: Vec<String> },
    #[error("Validation error: task {id} is {status}; only a task in todo or backlog can be split")]
    NotSplittable { id: String, status: TaskStatus },
    #[error("Validation error: task {id} is not pending approval")]
    NotPending { id: String },
    #[error("Agent not found: {agent}")]
    UnknownAgent { agent: String },
    #[error("Agent '{agent}' is not a subordinate of '{manager}'")]
    NotSubordinate { agent: String, manager: String },
    #[error("Target agent '{agent}' is not assigned to project '{project}'")]
    NotInProject { agent: String, project: String },
    #[error("Agent '{agent}' is not active")]
    NotActive { agent: String },
    #[error("Validation error: task {id} was changed by others at the same time; look at it and try again")]
    Busy { id: String },
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Checks the length of a title, in characters.
pub(super) fn check_title(title: &str) -> Result<(), TaskFault> {
    if (1..=MOST_TITLE).contains(&title.chars().count()) { Ok(()) } else { Err(TaskFault::BadTitle) }
}

impl TaskFault {
    pub(super) fn unknown(id: &str) -> Self {
        Self::Unknown { id: id.chars().take(100).collect() }
    }

    pub(super) fn busy(id: &str) -> Self {
        Self::Busy { id: id.to_owned() }
    }
}
