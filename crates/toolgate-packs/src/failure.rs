//! Every way a tool of `workspace`, `process` or `fitness` fails: one shape, one set of codes.

use serde::Serialize;
use toolgate_spine::{ArgumentFault, OUTCOME_UNKNOWN, SourceFault, ToolAnswer};
use toolgate_store::StoreError;

/// The answer of a write that the store was told to commit and did not answer.
pub(crate) const MAY_BE_DONE: &str = "It is not known whether this was done: the store did not answer in time. \
    Look before trying again.";

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Failure {
    pub(crate) error: String,
    pub(crate) code: &'static str,
}

impl Failure {
    pub(crate) fn invalid(error: impl Into<String>) -> Self {
        Self { error: error.into(), code: "validation" }
    }

    pub(crate) fn not_found(error: impl Into<String>) -> Self {
        Self { error: error.into(), code: "not_found" }
    }

    /// It is there, and in a state in which this can't be done.
    pub(crate) fn conflict(error: impl Into<String>) -> Self {
        Self { error: error.into(), code: "conflict" }
    }

    pub(crate) fn internal(error: impl Into<String>) -> Self {
        Self { error: error.into(), code: "internal" }
    }

    pub(crate) fn no_task() -> Self {
        Self { error: "Missing X-Toolgate-Task-ID header.".to_owned(), code: "task_required" }
    }

    pub(crate) fn unknown_task(task_id: &str) -> Self {
        let task_id = short(task_id);
        Self::not_found(format!(
            "Task '{task_id}' not found in task_log. The task may not have been registered before execution."
        ))
    }

    /// The store's own words go to the log, not to the caller.
    pub(crate) fn store(fault: &StoreError) -> Self {
        if let StoreError::Invalid { reason, .. } = fault {
            return Self::invalid(format!("The store can't hold this: {reason}."));
        }
        tracing::error!(target: "toolgate::packs", %fault, "the store failed");
        if fault.is_outcome_unknown() {
            return Self { error: MAY_BE_DONE.to_owned(), code: OUTCOME_UNKNOWN };
        }
        Self::internal("The store can't be reached. Try again later.")
    }

    /// What the schema refused, where a tool has no words of its own for it.
    pub(crate) fn of_arguments(fault: &ArgumentFault) -> Self {
        match (fault.keyword.as_str(), &fault.property, fault.path.trim_start_matches('/')) {
            ("required", Some(property), "") => Self::invalid(format!("Argument '{property}' is required.")),
            (_, _, "") => Self::invalid(format!("Invalid arguments: {}.", fault.message)),
            (_, _, place) => Self::invalid(format!("Argument '{place}' is not valid: {}.", fault.message)),
        }
    }

    pub(crate) fn into_answer(self) -> ToolAnswer {
        let text = serde_json::to_string(&self).unwrap_or_else(|_| self.error.clone());
        let answer = ToolAnswer::failure(&self, &text);
        if self.code == OUTCOME_UNKNOWN { answer.of_unknown_outcome() } else { answer }
    }
}

/// The end of an undo that the store did not take. Unless the store may have taken it, nothing was done, and the undo can
/// be tried again.
pub(crate) fn undo_fault(fault: &StoreError) -> SourceFault {
    tracing::error!(target: "toolgate::packs", %fault, "the store failed");
    if fault.is_outcome_unknown() {
        return SourceFault::unavailable(MAY_BE_DONE);
    }
    SourceFault::Conflict("the store can't be reached, and nothing was changed; try again later".to_owned())
}

/// Whatever a caller sent is repeated only so far.
pub(crate) fn short(text: &str) -> String {
    text.chars().take(100).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_undo_may_have_happened_only_where_the_store_may_have_taken_it() {
        let (operation, reason) = ("restore", "no answer".to_owned());
        let unknown = undo_fault(&StoreError::OutcomeUnknown { operation, reason: reason.clone() });
        assert!(matches!(unknown, SourceFault::Unavailable(_)));
        for fault in [
            StoreError::Unavailable { operation, reason: reason.clone() },
            StoreError::Overloaded { operation },
            StoreError::Closed { operation },
            StoreError::Failed { operation, reason },
        ] {
            assert!(matches!(undo_fault(&fault), SourceFault::Conflict(_)), "{fault}");
        }
    }
}
