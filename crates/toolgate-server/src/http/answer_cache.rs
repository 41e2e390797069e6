//! Answers that cost something and are the same for everybody for a while.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use bytes::Bytes;
use toolgate_core::{Gate, LogThrottle};
use toolgate_store::Store;

/// How long an answer of the store about its health counts.
const READY_FOR: Duration = Duration::from_secs(1);

/// What a server remembers of its own answers.
#[derive(Default)]
pub struct AnswerCache {
    /// Held while the store is asked: one question at a time, whoever wants to know.
    ready: tokio::sync::Mutex<Option<(Instant, bool)>>,
    /// The description of the addresses, by the revision of the gate.
    description: Mutex<Option<(u64, Bytes)>>,
    pub(super) turned_away: LogThrottle,
}

impl AnswerCache {
    /// Whether the store answered within the last second.
    pub(super) async fn is_ready(&self, store: &Store) -> bool {
        let mut ready = self.ready.lock().await;
        if let Some((at, is_ready)) = *ready
            && at.elapsed() < READY_FOR
        {
            return is_ready;
        }
        let answered = store.ping().await;
        if let Err(fault) = &answered {
            tracing::warn!(%fault, "not ready");
        }
        *ready = Some((Instant::now(), answered.is_ok()));
        answered.is_ok()
    }

    /// The description for this gate, made once.
    pub(super) fn description(&self, gate: &Arc<Gate>, make: impl FnOnce(&Gate) -> Option<Bytes>) -> Option<Bytes> {
        let mut kept = self.description.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((revision, description)) = &*kept
            && *revision == gate.revision()
        {
            return Some(description.clone());
        }
        let description = make(gate)?;
        *kept = Some((gate.revision(), description.clone()));
        Some(description)
    }
}
