//! Why a run could not be measured. A missed target is not a failure; a wrong answer is.

use std::io;

#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    #[error("{doing}: {source}")]
    Io { doing: String, source: io::Error },
    #[error("wrong answer: {0}")]
    Answer(String),
    #[error("{part} failed: {said}")]
    Part { part: String, said: String },
    #[error("the policy does not bite: {0}")]
    Policy(String),
    #[error("{0} took too long")]
    Late(String),
    #[error(transparent)]
    Store(#[from] toolgate_store::StoreError),
}

/// Adds to an I/O failure what was being done.
pub(crate) trait Doing<T> {
    fn doing(self, what: impl Into<String>) -> Result<T, Failure>;
}

impl<T> Doing<T> for io::Result<T> {
    fn doing(self, what: impl Into<String>) -> Result<T, Failure> {
        self.map_err(|source| Failure::Io { doing: what.into(), source })
    }
}

impl<T> Doing<T> for serde_json::Result<T> {
    fn doing(self, what: impl Into<String>) -> Result<T, Failure> {
        self.map_err(io::Error::from).doing(what)
    }
}
