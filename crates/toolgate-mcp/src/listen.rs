//! Streams that stay open: told of a change only when it is a change of this caller's own list.

use std::{future, sync::Arc, time::Duration};

use bytes::Bytes;
use serde::Deserialize;
use tokio::{
    sync::{mpsc, watch},
    time,
};

use crate::{
    framing,
    identity::{Identified, KeptCredentials},
    message::Message,
    refusal::Refusal,
    session::Session,
    wire::Inner,
};

pub(crate) const KEEP_ALIVE_EVERY: Duration = Duration::from_secs(15);

/// The kinds of notification a subscription asks for, as far as we have them.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Filter {
    #[serde(default)]
    tools_list_changed: bool,
}

impl Filter {
    pub(crate) fn read(message: &Message<'_>) -> Result<Self, Refusal> {
        let filter = message.params.notifications.and_then(|raw| serde_json::from_str(raw).ok());
        filter.ok_or_else(|| {
            Refusal::params("params.notifications must be an object such as {\"toolsListChanged\": true}")
        })
    }
}

/// What a stream belongs to.
enum Origin {
    /// A modern subscription; the request's id, as it was written.
    Subscription(String),
    /// The GET stream of a legacy session.
    Session(Session),
    /// A legacy client on stdio.
    Process,
}

/// One open stream, before it starts.
pub(crate) struct Listener {
    inner: Arc<Inner>,
    credentials: KeptCredentials,
    origin: Origin,
    wants_tools: bool,
}

/// How messages are put on the stream.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Framing {
    Events,
    Lines,
}

impl Listener {
    pub(crate) fn subscription(inner: &Arc<Inner>, credentials: KeptCredentials, id: &str, filter: Filter) -> Self {
        let origin = Origin::Subscription(id.to_owned());
        Self { inner: inner.clone(), credentials, origin, wants_tools: filter.tools_list_changed }
    }

    pub(crate) fn session(inner: &Arc<Inner>, credentials: KeptCredentials, session: Session) -> Self {
        Self { inner: inner.clone(), credentials, origin: Origin::Session(session), wants_tools: true }
    }

    pub(crate) fn process(inner: &Arc<Inner>, credentials: KeptCredentials) -> Self {
        Self { inner: inner.clone(), credentials, origin: Origin::Process, wants_tools: true }
    }

    /// Runs in a task of its own until the receiver is dropped.
    pub(crate) fn start_events(self, identified: &Identified) -> mpsc::Receiver<Bytes> {
        let (out, events) = mpsc::channel(16);
        let open = Open::new(self, identified, Framing::Events, out);
        tokio::spawn(open.run());
        events
    }

    pub(crate) async fn run_lines(self, identified: &Identified, out: mpsc::Sender<Bytes>) {
        Open::new(self, identified, Framing::Lines, out).run().await;
    }
}

/// A stream that is running.
struct Open {
    listener: Listener,
    /// Of the list this client was last told about.
    digest: Option<[u8; 32]>,
    revisions: watch::Receiver<u64>,
    framing: Framing,
    out: mpsc::Sender<Bytes>,
}

impl Open {
    fn new(listener: Listener, identified: &Identified, framing: Framing, out: mpsc::Sender<Bytes>) -> Self {
        // Watched before looked at, so that a change in between is not missed.
        let mut revisions = listener.inner.spine.revisions();
        revisions.mark_unchanged();
        let mut open = Self { listener, digest: None, revisions, framing, out };
        open.digest = open.current(identified);
        open
    }

    async fn run(mut self) {
        if !self.acknowledge().await {
            return;
        }
        let mut shutdown = self.listener.inner.config.shutdown.clone();
        let mut keep_alive = time::interval_at(time::Instant::now() + KEEP_ALIVE_EVERY, KEEP_ALIVE_EVERY);
        keep_alive.set_missed_tick_behavior(time::MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                () = self.out.closed() => return,
                () = turned_true(&mut shutdown) => return self.farewell().await,
                changed = self.revisions.changed() => {
                    if changed.is_err() {
                        return self.farewell().await;
                    }
                }
                // Looked at again here too: a credential that runs out changes no revision.
                _ = keep_alive.tick() => {
                    if self.framing == Framing::Events && self.out.send(framing::KEEP_ALIVE).await.is_err() {
                        return;
                    }
                }
            }
            if !self.look_again().await {
                return self.farewell().await;
            }
        }
    }

    /// Judges the credentials anew and tells of a changed list. False where the stream must end.
    async fn look_again(&mut self) -> bool {
        let inner = &self.listener.inner;
        // Who can't be identified now is told nothing; the next look decides.
        let Ok(identified) = self.listener.credentials.identify(&*inner.identify).await else { return true };
        let goes_on = match &self.listener.origin {
            Origin::Session(session) => inner.session_goes_on(session, &identified),
            Origin::Subscription(_) | Origin::Process => true,
        };
        let goes_on = goes_on && inner.demand_signed_in(&identified).is_ok();
        let digest = self.current(&identified);
        if digest != self.digest {
            self.digest = digest;
            if !self.notify("notifications/tools/list_changed", "").await {
                return false;
            }
        }
        goes_on
    }

    fn current(&self, identified: &Identified) -> Option<[u8; 32]> {
        let listing = || self.listener.inner.listing(identified).ok();
        self.listener.wants_tools.then(listing).flatten().map(|listing| listing.digest())
    }

    async fn acknowledge(&self) -> bool {
        if !matches!(self.listener.origin, Origin::Subscription(_)) {
            return true;
        }
        let honoured = if self.listener.wants_tools { r#"{"toolsListChanged":true}"# } else { "{}" };
        self.notify("notifications/subscriptions/acknowledged", &format!(",\"notifications\":{honoured}")).await
    }

    /// The specification asks for a cancellation in one place and for a result in another; both are sent.
    async fn farewell(&self) {
        let Origin::Subscription(id) = &self.listener.origin else { return };
        let extra = format!(",\"requestId\":{id},\"reason\":\"the server ends this subscription\"");
        if self.notify("notifications/cancelled", &extra).await {
            let result = format!(
                r#"{{"jsonrpc":"2.0","id":{id},"result":{{"resultType":"complete","_meta":{{"{SUBSCRIPTION_ID}":{id}}}}}}}"#
            );
            self.send(result.as_bytes()).await;
        }
    }

    /// False if the client is gone.
    async fn notify(&self, method: &str, more_params: &str) -> bool {
        let message = match &self.listener.origin {
            Origin::Subscription(id) => format!(
                r#"{{"jsonrpc":"2.0","method":"{method}","params":{{"_meta":{{"{SUBSCRIPTION_ID}":{id}}}{more_params}}}}}"#
            ),
            Origin::Session(_) | Origin::Process => format!(r#"{{"jsonrpc":"2.0","method":"{method}"}}"#),
        };
        self.send(message.as_bytes()).await
    }

    async fn send(&self, message: &[u8]) -> bool {
        let bytes = match self.framing {
            Framing::Events => framing::event(&[message]),
            Framing::Lines => framing::line(&[message]),
        };
        self.out.send(bytes).await.is_ok()
    }
}

const SUBSCRIPTION_ID: &str = "io.modelcontextprotocol/subscriptionId";

/// Waits for the signal; a signal that nobody can give any more never comes.
async fn turned_true(signal: &mut watch::Receiver<bool>) {
    let nobody = signal.wait_for(|down| *down).await.is_err();
    if nobody {
        future::pending().await
    }
}
