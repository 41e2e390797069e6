//! Why a process did not go a step further.

use super::{DefinitionProblem, ProcessState};
use crate::StoreError;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ProcessFault {
    #[error("there is no process '{id}'; list them to see their ids")]
    Unknown { id: String },
    #[error("there is no task '{id}'")]
    UnknownTask { id: String },
    #[error("task '{id}' has ended already")]
    Ended { id: String },
    #[error("task '{id}' is no part of a process's run")]
    NoPart { id: String },
    #[error("process '{id}' is {state}: nothing is left to run")]
    Over { id: String, state: ProcessState },
    #[error("process '{id}' waits for task '{task}' ({phase}); finish that one first")]
    Busy { id: String, task: String, phase: &'static str },
    #[error("process '{id}' changes too fast; try again")]
    Restless { id: String },
    #[error("the definition is wrong: {0}")]
    Definition(#[from] DefinitionProblem),
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Whatever a caller sent is repeated only so far.
pub(super) fn short(id: &str) -> String {
    id.chars().take(100).collect()
}
