//! What was seen of an upstream, counted; the wish for new lists; and who waits for changes of a resource.

use std::{
    pin::pin,
    sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering},
};

use tokio::sync::Notify;

use crate::{fault::shortened, listed::Listed, watching::Watches};

#[derive(Default)]
pub(crate) struct Counts {
    pub(crate) upstream: String,
    pub(crate) garbage: AtomicU64,
    pub(crate) unmatched: AtomicU64,
    pub(crate) notifications: AtomicU64,
    /// Lists that may have changed. However often this is said, it is one wish.
    outdated: AtomicU8,
    wish: Notify,
    /// A question of it found no call; that is said once.
    homeless: AtomicBool,
    pub(crate) watches: Watches,
}

impl Counts {
    pub(crate) fn of(upstream: &str) -> Self {
        Self { upstream: upstream.to_owned(), ..Self::default() }
    }

    pub(crate) fn notified(&self, method: &str) {
        self.notifications.fetch_add(1, Ordering::Relaxed);
        self.outdated(Listed::changed_by(method));
    }

    pub(crate) fn outdated(&self, lists: &[Listed]) {
        if !lists.is_empty() {
            let bits = lists.iter().fold(0, |bits, listed| bits | listed.bit());
            self.outdated.fetch_or(bits, Ordering::AcqRel);
            self.wish.notify_waiters();
        }
    }

    /// Waits until one of these lists may have changed, and says which.
    pub(crate) async fn changed(&self, lists: &[Listed]) -> Vec<Listed> {
        let bits = lists.iter().fold(0, |bits, listed| bits | listed.bit());
        loop {
            let mut wished = pin!(self.wish.notified());
            // from here on no wish is missed
            wished.as_mut().enable();
            let bits = self.outdated.fetch_and(!bits, Ordering::AcqRel) & bits;
            if bits != 0 {
                return lists.iter().copied().filter(|listed| bits & listed.bit() != 0).collect();
            }
            wished.await;
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

    /// A question that may be any call's or none's.
    pub(crate) fn homeless(&self, method: &str) {
        if !self.homeless.swap(true, Ordering::Relaxed) {
            tracing::warn!(
                target: "toolgate::upstream",
                upstream = self.upstream,
                method,
                "refused a question that does not say which call it belongs to, and there was not exactly one it could be; if this upstream must ask its callers, set concurrency = 1 for it"
            );
        }
    }
}
