//! Resources that one client watches, and which of them changed since it was last told.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use tokio::{sync::Notify, task::AbortHandle};
use toolgate_core::QuotaPermit;
use toolgate_spine::Watch;

use crate::owner_key::OwnerKey;

/// As many resources may one owner watch, in all of its streams and sessions.
pub(crate) const MOST: usize = 256;
/// Resources that anonymous callers may watch from one address.
pub(crate) const ANONYMOUS_EACH: usize = 64;
/// Resources that all anonymous callers may watch: a part of what a server can be asked to watch, so that signed-in callers
/// always find room.
pub(crate) const ANONYMOUS: usize = 256;

#[derive(Default)]
pub(crate) struct Watches {
    held: Mutex<BTreeMap<String, Held>>,
    updated: Arc<Updated>,
}

#[derive(Default)]
struct Updated {
    uris: Mutex<BTreeSet<String>>,
    any: Notify,
}

/// A watch and the task that looks at it; both end together.
struct Held {
    task: AbortHandle,
    permit: Option<QuotaPermit<OwnerKey>>,
    _watch: Box<dyn Send + Sync>,
}

impl Drop for Held {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Watches {
    /// False where the client's owner watches too many already.
    pub(crate) fn add(&self, uri: &str, watch: Watch, permit: impl FnOnce() -> Option<QuotaPermit<OwnerKey>>) -> bool {
        let mut held = lock(&self.held);
        let before = held.get_mut(uri).and_then(|held| held.permit.take());
        let Some(permit) = before.or_else(permit) else { return false };
        let Watch { mut changes, held: alive } = watch;
        let (updated, name) = (Arc::clone(&self.updated), uri.to_owned());
        let task = tokio::spawn(async move {
            while changes.changed().await.is_ok() {
                lock(&updated.uris).insert(name.clone());
                updated.any.notify_one();
            }
        });
        held.insert(uri.to_owned(), Held { task: task.abort_handle(), permit: Some(permit), _watch: alive });
        true
    }

    pub(crate) fn remove(&self, uri: &str) {
        lock(&self.held).remove(uri);
        lock(&self.updated.uris).remove(uri);
    }

    pub(crate) fn uris(&self) -> BTreeSet<String> {
        lock(&self.held).keys().cloned().collect()
    }

    pub(crate) fn is_empty(&self) -> bool {
        lock(&self.held).is_empty()
    }

    /// Puts changes back that were taken and not told, for another stream.
    pub(crate) fn give_back(&self, uris: BTreeSet<String>) {
        if !uris.is_empty() {
            lock(&self.updated.uris).extend(uris);
            self.updated.any.notify_one();
        }
    }

    /// Waits for changes and takes them, each resource once however often it changed.
    pub(crate) async fn updated(&self) -> BTreeSet<String> {
        loop {
            let taken = std::mem::take(&mut *lock(&self.updated.uris));
            if !taken.is_empty() {
                return taken;
            }
            self.updated.any.notified().await;
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
