//! Answers that cost something and are the same for everybody for a while.

use std::{
    collections::HashMap,
    future::Future,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use bytes::Bytes;
use tokio::time::Instant;
use toolgate_core::{Gate, LogThrottle};

/// What keeps a server from answering calls.
pub(super) struct NotReady {
    /// For anybody.
    pub(super) told: &'static str,
    /// For the log.
    pub(super) fault: String,
}

/// How long an answer about the health of the store and the ledger counts.
const READY_FOR: Duration = Duration::from_secs(1);

/// Descriptions that are remembered; callers of one role are shown the same.
const MOST_DESCRIPTIONS: usize = 16;

/// What a server remembers of its own answers.
#[derive(Default)]
pub struct AnswerCache {
    /// Held while the store and the ledger are asked: one question at a time, whoever wants to know.
    ready: tokio::sync::Mutex<Option<(Instant, Readiness)>>,
    /// Descriptions of the addresses for the gate of one revision, by the routes that are shown.
    descriptions: Mutex<(u64, HashMap<Vec<bool>, Bytes>)>,
    pub(super) turned_away: LogThrottle,
}

/// Whether calls can be answered, or what keeps them from it, in words that anybody may read.
pub(super) type Readiness = Result<(), &'static str>;

impl AnswerCache {
    /// What `check` found within the last second. A change is logged, and a state that stays is not.
    pub(super) async fn readiness(&self, check: impl Future<Output = Result<(), NotReady>>) -> Readiness {
        let mut ready = self.ready.lock().await;
        if let Some((at, readiness)) = *ready
            && at.elapsed() < READY_FOR
        {
            return readiness;
        }
        let found = check.await;
        let readiness = found.as_ref().map_err(|problem| problem.told).copied();
        let before = ready.map_or(Ok(()), |(_, before)| before);
        match &found {
            Err(problem) if before != readiness => tracing::warn!(fault = problem.fault, "not ready"),
            Ok(()) if before.is_err() => tracing::info!("ready again"),
            _ => {}
        }
        *ready = Some((Instant::now(), readiness));
        readiness
    }

    /// The description of these routes for this gate, made once.
    pub(super) fn description(
        &self,
        gate: &Arc<Gate>,
        shown: &[bool],
        make: impl FnOnce(&Gate) -> Option<Bytes>,
    ) -> Option<Bytes> {
        let mut kept = self.descriptions.lock().unwrap_or_else(PoisonError::into_inner);
        let (revision, descriptions) = &mut *kept;
        if *revision != gate.revision() || descriptions.len() >= MOST_DESCRIPTIONS {
            (*revision, *descriptions) = (gate.revision(), HashMap::new());
        }
        if let Some(description) = descriptions.get(shown) {
            return Some(description.clone());
        }
        let description = make(gate)?;
        descriptions.insert(shown.to_vec(), description.clone());
        Some(description)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn store_and_ledger_are_asked_once_a_second_however_many_want_to_know() {
        let (cache, checks) = (AnswerCache::default(), AtomicUsize::new(0));
        let ask = async |is_ready: bool| {
            let check = async {
                checks.fetch_add(1, Ordering::Relaxed);
                tokio::task::yield_now().await;
                if is_ready { Ok(()) } else { Err(NotReady { told: "no", fault: "why".to_owned() }) }
            };
            cache.readiness(check).await.is_ok()
        };
        assert_eq!(tokio::join!(ask(true), ask(false), ask(false)), (true, true, true), "one check at a time");
        assert_eq!(checks.load(Ordering::Relaxed), 1);
        tokio::time::advance(READY_FOR - Duration::from_millis(1)).await;
        assert!(ask(false).await, "it still counts");
        tokio::time::advance(Duration::from_millis(1)).await;
        assert!(!ask(false).await, "it does not count any longer");
        assert!(!ask(true).await, "that it is away counts as long");
        assert_eq!(checks.load(Ordering::Relaxed), 2);
    }
}
