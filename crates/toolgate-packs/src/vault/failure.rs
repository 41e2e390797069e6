//! Every way a tool of this pack fails: one shape, one set of codes.

use std::io;

use serde::Serialize;
use toolgate_spine::{ArgumentFault, ToolAnswer};
use toolgate_store::{QueryFault, StoreError};

use crate::failure::MAY_BE_DONE;

const UNKNOWN: &str = "OUTCOME_UNKNOWN";

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct Failure {
    pub(super) error: String,
    pub(super) code: &'static str,
}

impl Failure {
    fn new(code: &'static str, error: impl Into<String>) -> Self {
        Self { error: error.into(), code }
    }

    pub(super) fn invalid(error: impl Into<String>) -> Self {
        Self::new("INVALID_INPUT", error)
    }

    pub(super) fn not_found(error: impl Into<String>) -> Self {
        Self::new("NOT_FOUND", error)
    }

    pub(super) fn conflict(error: impl Into<String>) -> Self {
        Self::new("CONFLICT", error)
    }

    pub(super) fn not_allowed(error: impl Into<String>) -> Self {
        Self::new("NOT_ALLOWED", error)
    }

    pub(super) fn internal(error: impl Into<String>) -> Self {
        Self::new("INTERNAL", error)
    }

    pub(super) fn no_item(id: &str) -> Self {
        Self::not_found(format!("There is no document or folder with the id '{}'.", short(id)))
    }

    pub(super) fn no_folder(id: &str) -> Self {
        Self::not_found(format!("There is no folder with the id '{}'.", short(id)))
    }

    /// The vault's own folder is not where it was when it was opened.
    pub(super) fn displaced() -> Self {
        Self::internal(
            "The vault's folder was moved, replaced or removed. The operator must put it back, or restart the gateway \
             to serve the folder that is there now.",
        )
    }

    /// A write that is the whole effect of a call failed. The store's own words go to the log, not to the caller.
    pub(super) fn store(fault: &StoreError) -> Self {
        tracing::error!(target: "toolgate::vault", %fault, "the store failed");
        if fault.is_outcome_unknown() {
            return Self::new(UNKNOWN, MAY_BE_DONE);
        }
        Self::internal("The vault's index can't be reached. Try again later.")
    }

    /// The index failed, which is kept in step with the folder and is nobody's effect: whatever became of it, the folder was
    /// not changed.
    pub(super) fn index(fault: &StoreError) -> Self {
        tracing::error!(target: "toolgate::vault", %fault, "the vault's index failed");
        Self::internal("The vault's index can't be reached. Try again later.")
    }

    /// Paths of this machine are the operator's business.
    pub(super) fn disk(fault: &io::Error) -> Self {
        match fault.kind() {
            io::ErrorKind::AlreadyExists => return Self::conflict("There is something of that name already."),
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => {
                return Self::conflict("It is no longer where it was. List the folder and try again.");
            }
            _ => tracing::error!(target: "toolgate::vault", %fault, "the vault's folder failed"),
        }
        match fault.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Self::internal("The vault's disk is full."),
            io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
                Self::internal("The vault's folder can't be written to.")
            }
            _ => Self::internal("The vault's folder can't be used at the moment."),
        }
    }

    pub(super) fn query(fault: &QueryFault) -> Self {
        match fault {
            QueryFault::NotAllowed(_) => Self::not_allowed(sentence(fault)),
            QueryFault::Invalid(_) => Self::invalid(sentence(fault)),
            QueryFault::RowTooLarge(_) => {
                Self::invalid(format!("{} Ask for fewer columns, or for a part of the value.", sentence(fault)))
            }
            QueryFault::TimedOut(_) => Self::new("TIMED_OUT", format!("{} Ask for less.", sentence(fault))),
            QueryFault::Unavailable(_) => {
                tracing::error!(target: "toolgate::vault", %fault, "a configured database failed");
                Self::internal("The database can't be reached. Try again later.")
            }
        }
    }

    /// What the schema refused.
    pub(super) fn of_arguments(fault: &ArgumentFault) -> Self {
        let place = match (fault.keyword.as_str(), &fault.property) {
            ("required", Some(property)) => return Self::invalid(format!("Argument '{property}' is required.")),
            _ => fault.path.trim_start_matches('/'),
        };
        match place {
            "" => Self::invalid(format!("Invalid arguments: {}.", fault.message)),
            place => Self::invalid(format!("Argument '{place}' is not valid: {}.", fault.message)),
        }
    }

    pub(super) fn into_answer(self) -> ToolAnswer {
        let text = serde_json::to_string(&self).unwrap_or_else(|_| self.error.clone());
        let answer = ToolAnswer::failure(&self, &text);
        if self.code == UNKNOWN { answer.of_unknown_outcome() } else { answer }
    }
}

/// An error begins lower-case; what people read is a sentence.
fn sentence(fault: &QueryFault) -> String {
    let text = fault.to_string();
    let mut letters = text.chars();
    let first = letters.next().map(|c| c.to_uppercase().to_string()).unwrap_or_default();
    format!("{first}{}.", letters.as_str().trim_end_matches('.'))
}

/// Whatever a caller sent is repeated only so far.
pub(super) fn short(text: &str) -> String {
    text.chars().take(80).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_an_effect_has_an_unknown_outcome_and_bookkeeping_has_none() {
        let fault = StoreError::OutcomeUnknown { operation: "keep the index", reason: "no answer".to_owned() };
        assert_eq!(Failure::store(&fault).code, UNKNOWN);
        assert_eq!(Failure::index(&fault).code, "INTERNAL");
    }
}
