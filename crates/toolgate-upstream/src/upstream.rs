//! One upstream, from its start to its stop.

use std::{
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use arc_swap::ArcSwapOption;
use tokio::{
    sync::{Semaphore, watch},
    task::JoinHandle,
};
use tokio_util::sync::{CancellationToken, DropGuard};
use toolgate_core::Quota;

use crate::{
    Definition, Fault, UpstreamConfig, breaker::Breaker, config::Transport, counts::Counts, definition::Offers,
    handshake::Live, http::Credentials, keeper, listed::Listed,
};

/// An MCP server behind the gate. Dropped without [`Upstream::stop`], it ends all the same, only not in step.
pub struct Upstream {
    pub(crate) inner: Arc<Inner>,
    keeper: Mutex<Option<JoinHandle<()>>>,
    stop: DropGuard,
}

/// What the calls and the keeper share.
pub(crate) struct Inner {
    pub(crate) config: UpstreamConfig,
    pub(crate) live: ArcSwapOption<Live>,
    pub(crate) offers: Offers,
    /// Outlive each connection.
    pub(crate) credentials: Option<Arc<Credentials>>,
    pub(crate) changes: watch::Sender<u64>,
    pub(crate) state: watch::Sender<State>,
    pub(crate) counts: Arc<Counts>,
    pub(crate) connections: AtomicU64,
    pub(crate) slots: Semaphore,
    /// The calls of each caller among them.
    pub(crate) shares: Arc<Quota<String>>,
    pub(crate) breaker: Breaker,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum State {
    Starting,
    Up,
    /// Not connected, or over HTTP not answering; calls find out for themselves.
    Down(Fault),
    Stopped,
}

/// How an upstream is, for operators.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Status {
    pub state: State,
    /// The protocol's version agreed on, while connected.
    pub version: Option<String>,
    pub tools: usize,
    /// Connections made since the start.
    pub connections: u64,
    pub calls_under_way: usize,
    /// It failed too often and is left alone for now.
    pub resting: bool,
    /// Lines and events that were no messages.
    pub garbage: u64,
    /// Answers that nobody waited for.
    pub unmatched: u64,
    pub notifications: u64,
    /// The child's process id, while it runs.
    pub process: Option<u32>,
}

impl Upstream {
    /// Returns at once; connecting goes on in the background, again and again if it must. Needs a Tokio runtime.
    pub fn start(config: UpstreamConfig) -> Arc<Self> {
        let inner = Arc::new(Inner {
            live: ArcSwapOption::empty(),
            offers: Offers::default(),
            credentials: match &config.transport {
                Transport::Http { url, auth: Some(auth), .. } => Some(Arc::new(Credentials::new(auth, url))),
                _ => None,
            },
            changes: watch::Sender::new(0),
            state: watch::Sender::new(State::Starting),
            counts: Arc::new(Counts::of(&config.name)),
            connections: AtomicU64::new(0),
            slots: Semaphore::new(config.concurrency.clamp(1, Semaphore::MAX_PERMITS)),
            shares: Quota::new(config.caller_share(), usize::MAX),
            breaker: Breaker::new(config.patience.failures, config.patience.trial_after),
            config,
        });
        let stop = CancellationToken::new();
        let keeper = tokio::spawn(keeper::keep(Arc::clone(&inner), stop.clone()));
        Arc::new(Self { inner, keeper: Mutex::new(Some(keeper)), stop: stop.drop_guard() })
    }

    pub fn config(&self) -> &UpstreamConfig {
        &self.inner.config
    }

    /// Waits for the first lists. After `timeout`, says why there is none yet.
    pub async fn ready(&self, timeout: Duration) -> Result<(), Fault> {
        let mut state = self.inner.state.subscribe();
        let settled =
            |state: &State| matches!(state, State::Up | State::Stopped | State::Down(Fault::Misconfigured { .. }));
        let _ = tokio::time::timeout(timeout, state.wait_for(settled)).await;
        match &*self.inner.state.borrow() {
            State::Up => Ok(()),
            State::Starting => Err(Fault::Starting),
            State::Stopped => Err(Fault::Stopped),
            State::Down(fault) => Err(fault.clone()),
        }
    }

    /// The tools last heard of, in the upstream's order; kept while it is away.
    pub fn definitions(&self) -> Vec<Definition> {
        self.known(Listed::Tools)
    }

    /// The prompts last heard of, as [`Self::definitions`].
    pub fn prompts(&self) -> Vec<Definition> {
        self.known(Listed::Prompts)
    }

    /// The resources last heard of, by their addresses.
    pub fn resources(&self) -> Vec<Definition> {
        self.known(Listed::Resources)
    }

    /// The templates of resources last heard of, by their patterns.
    pub fn templates(&self) -> Vec<Definition> {
        self.known(Listed::Templates)
    }

    fn known(&self, listed: Listed) -> Vec<Definition> {
        self.inner.offers.of(listed).load().all().to_vec()
    }

    /// A number that grows whenever some list is another than before.
    pub fn changes(&self) -> watch::Receiver<u64> {
        self.inner.changes.subscribe()
    }

    /// Its state, now and from here on.
    pub fn states(&self) -> watch::Receiver<State> {
        self.inner.state.subscribe()
    }

    pub fn status(&self) -> Status {
        let inner = &self.inner;
        let live = inner.live.load();
        let count = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let concurrency = inner.config.concurrency.clamp(1, Semaphore::MAX_PERMITS);
        Status {
            state: inner.state.borrow().clone(),
            version: live.as_ref().map(|live| live.era.version().to_owned()),
            tools: inner.offers.of(Listed::Tools).load().all().len(),
            connections: count(&inner.connections),
            calls_under_way: concurrency.saturating_sub(inner.slots.available_permits()),
            resting: inner.breaker.is_open(),
            garbage: count(&inner.counts.garbage),
            unmatched: count(&inner.counts.unmatched),
            notifications: count(&inner.counts.notifications),
            process: live.as_ref().and_then(|live| live.link.process()),
        }
    }

    /// Ends the connection and, with a child, every process it started. Calls under way fail.
    pub async fn stop(&self) {
        self.stop.token().cancel();
        let keeper = self.keeper.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(keeper) = keeper {
            let _ = keeper.await;
        }
    }
}
