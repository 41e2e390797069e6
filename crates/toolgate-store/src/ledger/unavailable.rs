//! The one way in which recording fails.

use crate::error::Fault;

/// Nothing was recorded, so nothing may run.
///
/// On PostgreSQL a connection that breaks while a group is being committed leaves open whether the group is in the ledger;
/// a record that is then found without an outcome is shown as unknown, which is what it is.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the ledger can't record: {reason}; no call runs until it can")]
pub struct LedgerUnavailable {
    /// The whole reason, for operators.
    pub reason: String,
    pub cause: LedgerFailure,
}

/// The kind of a failure, in words that callers may hear.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LedgerFailure {
    /// `max_bytes` is reached.
    Full,
    /// The disk does not take or keep what is written.
    Disk,
    /// The database does not answer.
    Database,
    /// More records wait than may wait.
    Busy,
    Closed,
    /// This one record can't be kept; others can.
    Record,
}

impl LedgerFailure {
    /// The failure without anything that belongs to the operator alone.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Full => "the ledger is full",
            Self::Disk => "the ledger's disk fails",
            Self::Database => "the ledger's database does not answer",
            Self::Busy => "too many records are waiting",
            Self::Closed => "the ledger is closed",
            Self::Record => "the call can't be put on record",
        }
    }
}

impl LedgerUnavailable {
    pub(crate) fn new(cause: LedgerFailure, reason: impl Into<String>) -> Self {
        Self { reason: reason.into(), cause }
    }

    pub(crate) fn closed() -> Self {
        Self::new(LedgerFailure::Closed, "the ledger is closed")
    }

    pub(crate) fn busy() -> Self {
        Self::new(LedgerFailure::Busy, "too many records are waiting")
    }

    pub(crate) fn disk(what: &str, error: &std::io::Error) -> Self {
        Self::new(LedgerFailure::Disk, format!("{what}: {error}"))
    }
}

impl From<Fault> for LedgerUnavailable {
    fn from(fault: Fault) -> Self {
        match fault {
            Fault::Unavailable(reason)
            | Fault::OutcomeUnknown(reason)
            | Fault::Other(reason)
            | Fault::Invalid(reason) => Self::new(LedgerFailure::Database, reason),
            Fault::Duplicate => Self::new(LedgerFailure::Database, "its chain was continued by something else"),
            Fault::Overloaded => Self::busy(),
            Fault::Closed => Self::closed(),
        }
    }
}
