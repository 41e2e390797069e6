//! Answers that cost something and are the same for everybody for a while.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use bytes::Bytes;
use tokio::time::Instant;
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
        self.remembered(async || {
            let answered = store.ping().await;
            if let Err(fault) = &answered {
                tracing::warn!(%fault, "not ready");
            }
            answered.is_ok()
        })
        .await
    }

    async fn remembered(&self, ask: impl AsyncFnOnce() -> bool) -> bool {
        let mut ready = self.ready.lock().await;
        if let Some((at, is_ready)) = *ready
            && at.elapsed() < READY_FOR
        {
            return is_ready;
        }
        let answered = ask().await;
        *ready = Some((Instant::now(), answered));
        answered
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

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn the_store_is_asked_once_a_second_however_many_want_to_know() {
        let (cache, asked) = (AnswerCache::default(), AtomicUsize::new(0));
        let ask = async |ready: bool| {
            let question = async || {
                asked.fetch_add(1, Ordering::Relaxed);
                tokio::task::yield_now().await;
                ready
            };
            cache.remembered(question).await
        };
        assert_eq!(tokio::join!(ask(true), ask(false), ask(false)), (true, true, true), "one question at a time");
        assert_eq!(asked.load(Ordering::Relaxed), 1);
        tokio::time::advance(READY_FOR - Duration::from_millis(1)).await;
        assert!(ask(false).await, "it still counts");
        tokio::time::advance(Duration::from_millis(1)).await;
        assert!(!ask(false).await, "it does not count any longer");
        assert!(!ask(true).await, "that it is away counts as long");
        assert_eq!(asked.load(Ordering::Relaxed), 2);
    }
}
