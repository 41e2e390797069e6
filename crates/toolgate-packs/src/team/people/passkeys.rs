//! Checks passkeys, a few at a time: each costs memory and a good part of a second on purpose, and anybody may ask for one.

use tokio::sync::{Semaphore, SemaphorePermit};
use toolgate_store::team::Passkey;

use crate::team::failure::Failure;

/// How many are checked at the same time.
const AT_ONCE: usize = 4;

pub(in crate::team) struct Passkeys(Semaphore);

impl Default for Passkeys {
    fn default() -> Self {
        Self(Semaphore::new(AT_ONCE))
    }
}

/// A place among those that are being checked.
pub(super) struct Turn<'a>(#[allow(dead_code, reason = "held")] SemaphorePermit<'a>);

impl Passkeys {
    pub(super) async fn turn(&self) -> Result<Turn<'_>, Failure> {
        self.0.acquire().await.map(Turn).map_err(|_| Failure::internal())
    }
}

impl Turn<'_> {
    /// Takes as long where nothing is kept.
    pub(super) async fn matches(&self, given: String, kept: Option<String>) -> Result<bool, Failure> {
        let check = tokio::task::spawn_blocking(move || Passkey::matches(&given, kept.as_deref()));
        check.await.map_err(|_| Failure::internal())
    }
}
