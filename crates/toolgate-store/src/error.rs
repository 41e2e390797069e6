//! Why a call to the store failed, and what to do about it.

/// Everything a store call can fail with. Messages name the operation and never hold a password, a
/// key or a stored value.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    #[error("the database address is not usable: {reason}")]
    Address { reason: String },

    /// The database is gone, locked or too slow, and nothing was done. Later calls find it again by
    /// themselves.
    #[error("could not {operation}: the database is not available ({reason}); try again when it is back")]
    Unavailable { operation: &'static str, reason: String },

    /// The database was told to commit and gave no answer: the write may have taken effect.
    #[error("could not find out whether this was done: {operation} ({reason}); look before trying again")]
    OutcomeUnknown { operation: &'static str, reason: String },

    #[error("could not {operation}: too many calls are waiting for the database; try again later")]
    Overloaded { operation: &'static str },

    #[error("could not {operation}: the store is closed")]
    Closed { operation: &'static str },

    #[error("could not {operation}: it exists already; use another id")]
    Duplicate { operation: &'static str },

    #[error("could not {operation}: {reason}")]
    Invalid { operation: &'static str, reason: String },

    #[error("could not start a task: parent task '{parent}' does not exist; start the parent first")]
    UnknownParent { parent: String },

    #[error("could not start a task: parent task '{parent}' has ended; start it under a task that runs")]
    EndedParent { parent: String },

    #[error("could not start a task: parent task '{parent}' is not an orchestrator, so its child can't be one")]
    ExceedsParent { parent: String },

    #[error("could not bring the database up to date: {reason}")]
    Migration { reason: String },

    #[error("could not {operation}: {reason}")]
    Failed { operation: &'static str, reason: String },
}

impl StoreError {
    /// Returns true where a write may have taken effect although it failed.
    pub fn is_outcome_unknown(&self) -> bool {
        matches!(self, Self::OutcomeUnknown { .. })
    }
}

/// What an engine reports; the operation it belongs to is added on the way out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Fault {
    /// Nothing was done.
    Unavailable(String),
    /// The write may have taken effect.
    OutcomeUnknown(String),
    Overloaded,
    Closed,
    Duplicate,
    Invalid(String),
    Other(String),
}

impl Fault {
    pub(crate) fn during(self, operation: &'static str) -> StoreError {
        match self {
            Fault::Unavailable(reason) => StoreError::Unavailable { operation, reason },
            Fault::OutcomeUnknown(reason) => StoreError::OutcomeUnknown { operation, reason },
            Fault::Overloaded => StoreError::Overloaded { operation },
            Fault::Closed => StoreError::Closed { operation },
            Fault::Duplicate => StoreError::Duplicate { operation },
            Fault::Invalid(reason) => StoreError::Invalid { operation, reason },
            Fault::Other(reason) => StoreError::Failed { operation, reason },
        }
    }
}
