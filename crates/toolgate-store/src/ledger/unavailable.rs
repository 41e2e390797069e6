//! The one way in which recording fails.

use crate::error::Fault;

/// Nothing was recorded, so nothing may run.
///
/// On PostgreSQL a connection that breaks while a group is being committed leaves open whether the group is in the ledger;
/// a record that is then found without an outcome is shown as unknown, which is what it is.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the ledger can't record: {reason}; no call runs until it can")]
pub struct LedgerUnavailable {
    pub reason: String,
}

impl LedgerUnavailable {
    pub(crate) fn new(reason: impl Into<String>) -> Self {
        Self { reason: reason.into() }
    }
}

impl From<Fault> for LedgerUnavailable {
    fn from(fault: Fault) -> Self {
        Self::new(match fault {
            Fault::Unavailable(reason) | Fault::Other(reason) | Fault::Invalid(reason) => reason,
            Fault::Duplicate => "its chain was continued by something else".to_owned(),
            Fault::Overloaded => "too many records are waiting".to_owned(),
            Fault::Closed => "the ledger is closed".to_owned(),
        })
    }
}
