//! What was seen of an upstream, counted; and the wish for a new list.

use std::sync::atomic::{AtomicU64, Ordering};

use tokio::sync::Notify;

use crate::fault::shortened;

#[derive(Default)]
pub(crate) struct Counts {
    upstream: String,
    pub(crate) garbage: AtomicU64,
    pub(crate) unmatched: AtomicU64,
    pub(crate) notifications: AtomicU64,
    /// The tools may have changed. However often this is said, it is one wish.
    pub(crate) relist: Notify,
}

impl Counts {
    pub(crate) fn of(upstream: &str) -> Self {
        Self { upstream: upstream.to_owned(), ..Self::default() }
    }

    pub(crate) fn notified(&self, method: &str) {
        self.notifications.fetch_add(1, Ordering::Relaxed);
        if method == "notifications/tools/list_changed" {
            self.relist.notify_one();
        }
    }

    /// Something that is no message. The first is shown, so that the operator sees what it is.
    pub(crate) fn garbage(&self, line: &[u8]) {
        if self.garbage.fetch_add(1, Ordering::Relaxed) == 0 {
            let text = shortened(&String::from_utf8_lossy(line.get(..200).unwrap_or(line)), 200);
            tracing::warn!(target: "toolgate::upstream", upstream = self.upstream, "not a message, skipped: {text}");
        }
    }

    /// An answer that nobody waits for: a wrong id, or a second answer.
    pub(crate) fn unmatched(&self) {
        self.unmatched.fetch_add(1, Ordering::Relaxed);
    }
}
