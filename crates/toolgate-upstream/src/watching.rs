//! Resources that somebody watches: one subscription for each address, however many watch it, kept up over reconnections.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError, Weak},
};

use tokio::{
    sync::{OwnedMutexGuard, watch},
    time::{sleep, timeout},
};
use tokio_util::task::AbortOnDropHandle;
use toolgate_core::{Caller, Quota, QuotaPermit};
use toolgate_spine::{SourceFault, Watch};

use crate::{
    Fault, State,
    backoff::Backoff,
    era::Era,
    handshake::Live,
    link::Ask,
    message::{self, Value},
    upstream::Inner,
};

/// Addresses watched at once.
const MOST: usize = 1000;
/// Of them one owner's: that caller is refused more, and nobody else is.
const OF_ONE: usize = MOST / 4;

/// What is watched, by address, and the share of each caller.
pub(crate) struct Watches {
    entries: Mutex<HashMap<String, Entry>>,
    shares: Arc<Quota<String>>,
}

impl Default for Watches {
    fn default() -> Self {
        // several callers of one address count once among the addresses, and each on its own here
        Self { entries: Mutex::default(), shares: Quota::new(OF_ONE, usize::MAX) }
    }
}

struct Entry {
    watched: Weak<Watched>,
    /// Held from before a subscription until after its end, so that an end never overtakes the next beginning.
    turn: Arc<tokio::sync::Mutex<()>>,
}

/// One watched address. Gone with the last who watches it.
struct Watched {
    changes: watch::Sender<u64>,
    /// What came of the first try to subscribe.
    settled: watch::Receiver<Option<Result<(), SourceFault>>>,
    _keeper: AbortOnDropHandle<()>,
}

impl Watches {
    /// A resource changed, or a part of it did.
    pub(crate) fn updated(&self, address: &str) {
        let within = |watched: &str| {
            let rest = address.strip_prefix(watched);
            rest.is_some_and(|rest| rest.is_empty() || watched.ends_with('/') || rest.starts_with('/'))
        };
        let entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        for (_, entry) in entries.iter().filter(|(watched, _)| within(watched)) {
            if let Some(watched) = entry.watched.upgrade() {
                watched.changes.send_modify(|changes| *changes += 1);
            }
        }
    }

    /// A place among those of the caller.
    fn share(&self, caller: &Caller, upstream: &str) -> Result<QuotaPermit<String>, SourceFault> {
        self.shares.take(caller.principal(), 1).ok_or_else(|| {
            let message =
                format!("{OF_ONE} resources of '{upstream}' are watched for this caller already; watch fewer");
            SourceFault::Rejected { code: -32603, message, data: None }
        })
    }

    fn find_or_begin(&self, inner: &Arc<Inner>, address: &str) -> Result<Arc<Watched>, SourceFault> {
        let mut entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(watched) = entries.get(address).and_then(|entry| entry.watched.upgrade()) {
            return Ok(watched);
        }
        entries.retain(|_, entry| entry.watched.strong_count() > 0 || Arc::strong_count(&entry.turn) > 1);
        if entries.len() >= MOST {
            let message = format!("{MOST} resources of '{}' are watched already; watch fewer", inner.config.name);
            return Err(SourceFault::Rejected { code: -32603, message, data: None });
        }
        let turn = entries.get(address).map(|entry| Arc::clone(&entry.turn)).unwrap_or_default();
        let (settle, settled) = watch::channel(None);
        let changes = watch::Sender::new(0);
        let keeper = Keeper { inner: Arc::clone(inner), address: address.to_owned(), changes: changes.clone(), settle };
        let keeper = tokio::spawn(keeper.keep(Arc::clone(&turn)));
        let watched = Arc::new(Watched { changes, settled, _keeper: AbortOnDropHandle::new(keeper) });
        entries.insert(address.to_owned(), Entry { watched: Arc::downgrade(&watched), turn });
        Ok(watched)
    }
}

impl Inner {
    pub(crate) async fn watch(self: &Arc<Self>, address: &str, caller: &Caller) -> Result<Watch, SourceFault> {
        let live = self.connected().await.map_err(|fault| self.unwatched(&fault))?;
        if !live.does("resources", "subscribe") {
            return Err(self.unsupported("tells of no changes of its resources"));
        }
        let share = self.counts.watches.share(caller, &self.config.name)?;
        let watched = self.counts.watches.find_or_begin(self, address)?;
        let mut settled = watched.settled.clone();
        match settled.wait_for(Option::is_some).await.map(|outcome| outcome.clone()) {
            Ok(Some(Err(fault))) => Err(fault),
            Ok(_) => Ok(Watch { changes: watched.changes.subscribe(), held: Box::new((watched, share)) }),
            Err(_) => Err(self.unwatched(&Fault::Stopped)),
        }
    }

    fn unwatched(&self, fault: &Fault) -> SourceFault {
        match fault.clone() {
            Fault::Refused { code, message, data } => SourceFault::Rejected { code, message, data },
            fault => SourceFault::Unavailable(fault.about(&self.config.name)),
        }
    }

    /// The next connection that stands; `None` once there will be no more.
    async fn next_live(&self) -> Option<Arc<Live>> {
        let mut state = self.state.subscribe();
        loop {
            let stopped = *state.borrow_and_update() == State::Stopped;
            match self.live.load_full().filter(|live| !live.gone.is_cancelled()) {
                _ if stopped => return None,
                Some(live) => return Some(live),
                None => state.changed().await.ok()?,
            }
        }
    }
}

/// Keeps one address subscribed to.
struct Keeper {
    inner: Arc<Inner>,
    address: String,
    changes: watch::Sender<u64>,
    settle: watch::Sender<Option<Result<(), SourceFault>>>,
}

impl Keeper {
    async fn keep(self, turn: Arc<tokio::sync::Mutex<()>>) {
        let mut backoff = Backoff::new(self.inner.config.patience.reconnect);
        while let Some(live) = self.inner.next_live().await {
            let ended = match &live.era {
                Era::Modern => self.listen(&live).await,
                Era::Legacy(_) => self.subscribe(&live, Arc::clone(&turn).lock_owned().await).await,
            };
            if let Err(fault) = &ended {
                let (upstream, resource) = (&self.inner.config.name, &self.address);
                tracing::warn!(target: "toolgate::upstream", upstream, resource, "not watched: {fault}");
            }
            // whoever waits for the first try hears of it; nobody waits for the later ones
            let refused = matches!(ended, Err(Fault::Refused { .. } | Fault::Status { status: 400..=499, .. }));
            if let Err(fault) = ended {
                self.settle(Err(self.inner.unwatched(&fault)));
            }
            if refused {
                return;
            }
            sleep(backoff.pause()).await;
            // what changed while nobody listened was not heard
            self.changes.send_modify(|changes| *changes += 1);
        }
    }

    fn settle(&self, outcome: Result<(), SourceFault>) {
        self.settle.send_if_modified(|settled| {
            let first = settled.is_none();
            settled.get_or_insert(outcome);
            first
        });
    }

    /// The older era: told once, until it is told otherwise or gone.
    async fn subscribe(&self, live: &Arc<Live>, turn: OwnedMutexGuard<()>) -> Result<(), Fault> {
        let mut subscribed = Subscribed { live: Arc::clone(live), uri: self.address.clone(), turn: Some(turn) };
        let members = [("uri", Value::Text(&self.address))];
        let ask = Ask { method: "resources/subscribe", members: &members, ..Ask::default() };
        if let Err(fault) = live.link.ask(Some(&live.era), ask).await {
            subscribed.turn = None;
            return Err(fault);
        }
        self.settle(Ok(()));
        live.gone.cancelled().await;
        subscribed.turn = None;
        Ok(())
    }

    /// The newer era: a stream of its own, for as long as it is open.
    async fn listen(&self, live: &Live) -> Result<(), Fault> {
        let address = message::string(&self.address);
        let wanted = format!("\"resourceSubscriptions\":[{address}]");
        let (listening, acknowledged) = live.link.subscribe(&live.era, &wanted);
        tokio::pin!(listening);
        let patience = self.inner.config.patience.probe;
        let honoured = tokio::select! {
            biased;
            ended = &mut listening => {
                ended?;
                return Err(Fault::Lost { why: "it closed the stream".to_owned() });
            }
            honoured = timeout(patience, acknowledged) => {
                let honoured = honoured.map_err(|_| Fault::TimedOut(patience))?.unwrap_or_default();
                honoured.resources.contains(&self.address)
            }
        };
        if !honoured {
            let message = format!("it tells of no changes of '{}'", self.address);
            return Err(Fault::Refused { code: -32601, message, data: None });
        }
        self.settle(Ok(()));
        tokio::select! {
            ended = listening => ended,
            () = live.gone.cancelled() => Ok(()),
        }
    }
}

/// A subscription of the older era. Dropped while it stands, it is ended, and only then may the next one begin.
struct Subscribed {
    live: Arc<Live>,
    uri: String,
    turn: Option<OwnedMutexGuard<()>>,
}

impl Drop for Subscribed {
    fn drop(&mut self) {
        let (Some(turn), Ok(runtime)) = (self.turn.take(), tokio::runtime::Handle::try_current()) else { return };
        let (live, uri) = (Arc::clone(&self.live), std::mem::take(&mut self.uri));
        runtime.spawn(async move {
            let members = [("uri", Value::Text(&uri))];
            let ask = Ask { method: "resources/unsubscribe", members: &members, ..Ask::default() };
            let _ = timeout(std::time::Duration::from_secs(5), live.link.ask(Some(&live.era), ask)).await;
            drop(turn);
        });
    }
}

#[cfg(test)]
mod tests {
    use toolgate_core::caller::UserId;

    use super::*;

    #[test]
    fn one_caller_leaves_the_others_their_share_and_gets_its_own_back() {
        let watches = Watches::default();
        let of = |name: &str| Caller { user: UserId::own(name).ok(), ..Caller::default() };
        let mut held: Vec<_> = (0..OF_ONE).map(|_| watches.share(&of("ann"), "up").unwrap()).collect();
        let refused = watches.share(&of("ann"), "up").unwrap_err();
        assert!(matches!(&refused, SourceFault::Rejected { message, .. } if message.contains("for this caller")));
        assert!(watches.share(&of("bob"), "up").is_ok() && watches.share(&Caller::anonymous(), "up").is_ok());
        held.pop();
        assert!(watches.share(&of("ann"), "up").is_ok(), "what is watched no more is given back");
    }
}
