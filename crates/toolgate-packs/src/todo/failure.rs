//! Every way a todo tool fails: one shape, and the texts people know.

use serde::Serialize;
use toolgate_spine::{ArgumentFault, OUTCOME_UNKNOWN, ToolAnswer};
use toolgate_store::StoreError;

use crate::failure::MAY_BE_DONE;

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct Failure {
    error: String,
    code: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    task_id: Option<i64>,
}

impl Failure {
    pub(super) fn validation(error: impl Into<String>) -> Self {
        Self { error: error.into(), code: "validation", task_id: None }
    }

    pub(super) fn title_required() -> Self {
        Self::validation("Title is required")
    }

    pub(super) fn title_too_long() -> Self {
        Self::validation("Title must be 200 characters or less")
    }

    pub(super) fn description_too_long() -> Self {
        Self::validation("Description must be 1000 characters or less")
    }

    pub(super) fn invalid_id() -> Self {
        Self::validation("Invalid task ID")
    }

    /// The same for a task that does not exist and for another user's.
    pub(super) fn not_found(id: i64) -> Self {
        Self { error: "Task not found".to_owned(), code: "not_found", task_id: Some(id) }
    }

    /// The store's own words go to the log, not to the caller.
    pub(super) fn store(tool: &str, fault: &StoreError) -> Self {
        if matches!(fault, StoreError::Invalid { .. }) {
            return Self::validation("Text must not hold a zero byte");
        }
        tracing::error!(target: "toolgate::todo", tool, %fault, "the store failed");
        if fault.is_outcome_unknown() {
            return Self { error: MAY_BE_DONE.to_owned(), code: OUTCOME_UNKNOWN, task_id: None };
        }
        Self::internal(tool)
    }

    pub(super) fn internal(tool: &str) -> Self {
        let error = match tool {
            "add_task" => "Failed to create task",
            "list_tasks" => "Failed to list tasks",
            "complete_task" => "Failed to complete task",
            "delete_task" => "Failed to delete task",
            _ => "Failed to update task",
        };
        Self { error: error.to_owned(), code: "internal", task_id: None }
    }

    pub(super) fn invalid_limit() -> Self {
        Self::validation("Limit must be a positive integer")
    }

    /// What the schema refused, in the words a use case would have had for it.
    pub(super) fn of_arguments(fault: &ArgumentFault) -> Self {
        let at = match (fault.keyword.as_str(), &fault.property) {
            ("required", Some(property)) => property.as_str(),
            _ => fault.path.trim_start_matches('/'),
        };
        match (at, fault.keyword.as_str()) {
            ("title", "required" | "minLength") => Self::title_required(),
            ("title", "maxLength") => Self::title_too_long(),
            ("title", _) => Self::validation("Title must be text"),
            ("description", "maxLength") => Self::description_too_long(),
            ("description", _) => Self::validation("Description must be text"),
            ("task_id" | "before", _) => Self::invalid_id(),
            ("limit", _) => Self::invalid_limit(),
            ("status", _) => Self::validation("Status must be one of: all, pending, completed"),
            ("user_id", "bind") => Self::validation("user_id does not match the caller"),
            _ => Self::validation(format!("Invalid arguments: {}", fault.message)),
        }
    }

    pub(super) fn into_answer(self) -> ToolAnswer {
        let text = serde_json::to_string(&self).unwrap_or_else(|_| self.error.clone());
        let answer = ToolAnswer::failure(&self, &text);
        if self.code == OUTCOME_UNKNOWN { answer.of_unknown_outcome() } else { answer }
    }
}
