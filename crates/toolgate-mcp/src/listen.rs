//! Streams that stay open: told of a change only when it is a change of this caller's own list.

use std::{collections::BTreeSet, future, sync::Arc, time::Duration};

use bytes::Bytes;
use serde_json::value::RawValue;
use tokio::{
    sync::{mpsc, watch},
    time,
};
use toolgate_core::{Decision, Found, Kind};
use toolgate_spine::Call;

use crate::{
    call, framing,
    identity::{Identified, KeptCredentials},
    method::Method,
    notes,
    owner_key::OwnerKey,
    session::Session,
    stream_quota::StreamPermit,
    subscription_filter::Filter,
    watches::{self, Watches},
    wire::{Ask, Inner},
    wishes::Kept,
};

pub(crate) const KEEP_ALIVE_EVERY: Duration = Duration::from_secs(15);

/// The lists a client can hear of, and how it hears.
const TOLD: [(Kind, &str); 4] = [
    (Kind::Tool, "notifications/tools/list_changed"),
    (Kind::Prompt, "notifications/prompts/list_changed"),
    (Kind::Resource, "notifications/resources/list_changed"),
    (Kind::Template, "notifications/resources/list_changed"),
];

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
    filter: Filter,
    kept: Kept,
}

/// How messages are put on the stream.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Framing {
    Events,
    Lines,
}

impl Listener {
    /// Watches what the caller may watch; the rest is left out of what is honoured.
    pub(crate) async fn subscription(
        inner: &Arc<Inner>,
        credentials: KeptCredentials,
        ask: &Ask<'_>,
        mut filter: Filter,
    ) -> Self {
        let watches = Arc::<Watches>::default();
        let owner = OwnerKey::of(&ask.identified.caller, ask.transport.address());
        let has_more = inner.spine.has_more();
        filter.prompts_list_changed &= has_more;
        filter.resources_list_changed &= has_more;
        let wanted: BTreeSet<String> = std::mem::take(&mut filter.resource_subscriptions).into_iter().collect();
        for uri in wanted.into_iter().filter(|uri| !call::has_control(uri)).take(watches::MOST) {
            // each of them is on record
            let is_anonymous = !ask.identified.caller.is_signed_in();
            if is_anonymous
                && inner.admit_anonymous(Some(Method::Subscribe), ask.message, ask.transport.address()).is_err()
            {
                break;
            }
            let call = Call::of(Kind::Resource, &uri, None, ask.lang);
            if let Ok(watch) = inner.spine.watch(&ask.identified.caller, call).await
                && watches.add(&uri, watch, || inner.watched.take(owner))
            {
                filter.resource_subscriptions.push(uri);
            }
        }
        let origin = Origin::Subscription(ask.id.to_owned());
        Self { inner: inner.clone(), credentials, origin, filter, kept: Kept { watches, ..Kept::default() } }
    }

    pub(crate) fn session(inner: &Arc<Inner>, credentials: KeptCredentials, session: Session, owner: OwnerKey) -> Self {
        let kept = inner.wishes.kept(&session.known(owner)).unwrap_or_default();
        Self { inner: inner.clone(), credentials, origin: Origin::Session(session), filter: Filter::all(), kept }
    }

    pub(crate) fn process(inner: &Arc<Inner>, credentials: KeptCredentials, kept: Option<Kept>) -> Self {
        let kept = kept.unwrap_or_default();
        Self { inner: inner.clone(), credentials, origin: Origin::Process, filter: Filter::all(), kept }
    }

    /// Runs in a task of its own until the receiver is dropped.
    pub(crate) fn start_events(self, identified: &Identified, permit: StreamPermit) -> mpsc::Receiver<Bytes> {
        let (out, events) = mpsc::channel(16);
        let open = Open::new(self, identified, Framing::Events, out);
        tokio::spawn(async move {
            open.run(permit.age).await;
            drop(permit);
        });
        events
    }

    pub(crate) async fn run_lines(self, identified: &Identified, out: mpsc::Sender<Bytes>) {
        Open::new(self, identified, Framing::Lines, out).run(None).await;
    }
}

type Digests = [Option<[u8; 32]>; TOLD.len()];

/// A stream that is running.
struct Open {
    listener: Listener,
    /// Of the lists this client was last told about.
    digests: Digests,
    /// Resources that changed and that this client was not told of yet.
    updated: BTreeSet<String>,
    /// That interactions outside the protocol have ended, likewise.
    ended: Vec<Box<RawValue>>,
    revisions: watch::Receiver<u64>,
    framing: Framing,
    out: mpsc::Sender<Bytes>,
    /// The caller was signed in when the stream was opened.
    was_signed_in: bool,
    /// The session is another's, who signed in to it: its news are not for this stream.
    is_guest: bool,
}

impl Open {
    fn new(listener: Listener, identified: &Identified, framing: Framing, out: mpsc::Sender<Bytes>) -> Self {
        // Watched before looked at, so that a change in between is not missed.
        let mut revisions = listener.inner.spine.revisions();
        revisions.mark_unchanged();
        let (digests, updated, ended) = (Digests::default(), BTreeSet::new(), Vec::new());
        let was_signed_in = identified.caller.is_signed_in();
        let mut open =
            Self { listener, digests, updated, ended, revisions, framing, out, was_signed_in, is_guest: false };
        open.digests = open.current(identified);
        open.is_guest = open.is_a_guest(identified);
        open
    }

    /// Ends after `age`, if there is one.
    async fn run(mut self, age: Option<Duration>) {
        let over = age.map(|age| time::Instant::now() + age);
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
                () = reached(over) => return self.farewell().await,
                changed = self.revisions.changed() => {
                    if changed.is_err() {
                        return self.farewell().await;
                    }
                }
                // Told below, once it is certain that the caller may still read them. A guest leaves them to the holder.
                uris = self.listener.kept.watches.updated(), if !self.is_guest => self.updated.extend(uris),
                ended = self.listener.kept.mailbox.taken(), if !self.is_guest => self.ended.extend(ended),
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
        let inner = Arc::clone(&self.listener.inner);
        let turn = inner.looks.acquire().await;
        // Who can't be identified now is told nothing; the next look decides.
        let Ok(identified) = self.listener.credentials.identify(&*inner.identify).await else { return true };
        let identified = inner.within_configured_flow(identified);
        let goes_on = match &self.listener.origin {
            Origin::Session(session) => inner.session_goes_on(session, &identified),
            Origin::Subscription(_) | Origin::Process => true,
        };
        // A stream is counted by who opened it: one whose credential no longer holds is not an anonymous caller's.
        let signed_out = self.was_signed_in && !identified.caller.is_signed_in();
        let goes_on = goes_on && !signed_out && inner.demand_signed_in(&identified).is_ok();
        self.is_guest = self.is_a_guest(&identified);
        if self.is_guest {
            self.give_back();
        }
        self.drop_what_is_lost(&identified);
        let now = self.current(&identified);
        // What follows may wait for the client, and so must not keep others from their turn.
        drop(turn);
        let before = std::mem::replace(&mut self.digests, now);
        let mut told = Vec::new();
        for ((kind, method), (before, now)) in TOLD.iter().zip(before.iter().zip(now)) {
            if self.listener.filter.wants(*kind) && *before != now && !told.contains(method) {
                told.push(*method);
            }
        }
        for method in told {
            if !self.notify(method, "").await {
                return false;
            }
        }
        goes_on && self.tell_of_updates().await && self.tell_of_ends().await
    }

    async fn tell_of_ends(&mut self) -> bool {
        for params in std::mem::take(&mut self.ended) {
            if !self.send(&notes::ended(&params)).await {
                // for the next stream
                self.listener.kept.mailbox.put(params);
            }
        }
        !self.out.is_closed()
    }

    async fn tell_of_updates(&mut self) -> bool {
        let watched = self.listener.kept.watches.uris();
        for uri in std::mem::take(&mut self.updated).iter().filter(|uri| watched.contains(*uri)) {
            let uri = serde_json::to_string(uri).unwrap_or_default();
            if !self.notify("notifications/resources/updated", &format!("\"uri\":{uri}")).await {
                return false;
            }
        }
        true
    }

    /// Whether what this stream looks at is another's: it was signed in to the session, and this stream was not.
    fn is_a_guest(&self, identified: &Identified) -> bool {
        match &self.listener.origin {
            Origin::Session(session) => {
                !identified.caller.is_signed_in() && self.listener.inner.memory.bound(&session.id).is_some()
            }
            Origin::Subscription(_) | Origin::Process => false,
        }
    }

    /// News that were taken before somebody signed in to the session are for the holder.
    fn give_back(&mut self) {
        let kept = &self.listener.kept;
        kept.watches.give_back(std::mem::take(&mut self.updated));
        std::mem::take(&mut self.ended).into_iter().for_each(|params| kept.mailbox.put(params));
    }

    /// Who may no longer read a resource no longer hears of it. A guest takes nothing from whoever holds the session.
    fn drop_what_is_lost(&mut self, identified: &Identified) {
        let gate = self.listener.inner.spine.gate();
        let caller = &identified.caller;
        let may_read = |uri: &str| {
            let view = gate.view(caller)?;
            match gate.find_any(&view, caller, (Kind::Resource, uri), (false, false), gate.lang()) {
                Found::Tool { decision: Decision::Allow, .. } => Some(()),
                _ => None,
            }
        };
        for uri in self.listener.kept.watches.uris() {
            if may_read(&uri).is_some() {
                continue;
            }
            if !self.is_guest {
                self.listener.kept.watches.remove(&uri);
            }
        }
    }

    fn current(&self, identified: &Identified) -> Digests {
        let listing = self.listener.inner.listing(identified).ok();
        TOLD.map(|(kind, _)| {
            let listing = listing.as_ref().filter(|_| self.listener.filter.wants(kind));
            listing.map(|listing| listing.digest(kind))
        })
    }

    async fn acknowledge(&self) -> bool {
        if !matches!(self.listener.origin, Origin::Subscription(_)) {
            return true;
        }
        let honoured = serde_json::to_string(&self.listener.filter).unwrap_or_else(|_| "{}".to_owned());
        self.notify("notifications/subscriptions/acknowledged", &format!("\"notifications\":{honoured}")).await
    }

    /// The specification asks for a cancellation in one place and for a result in another; both are sent.
    async fn farewell(&self) {
        let Origin::Subscription(id) = &self.listener.origin else { return };
        let extra = format!("\"requestId\":{id},\"reason\":\"the server ends this subscription\"");
        if self.notify("notifications/cancelled", &extra).await {
            let result = format!(
                r#"{{"jsonrpc":"2.0","id":{id},"result":{{"resultType":"complete","_meta":{{"{SUBSCRIPTION_ID}":{id}}}}}}}"#
            );
            self.send(result.as_bytes()).await;
        }
    }

    /// False if the client is gone. `params` are members of an object.
    async fn notify(&self, method: &str, params: &str) -> bool {
        let comma = if params.is_empty() { "" } else { "," };
        let params = match &self.listener.origin {
            Origin::Subscription(id) => {
                format!(r#","params":{{"_meta":{{"{SUBSCRIPTION_ID}":{id}}}{comma}{params}}}"#)
            }
            Origin::Session(_) | Origin::Process if params.is_empty() => String::new(),
            Origin::Session(_) | Origin::Process => format!(r#","params":{{{params}}}"#),
        };
        self.send(format!(r#"{{"jsonrpc":"2.0","method":"{method}"{params}}}"#).as_bytes()).await
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

/// Waits for the time; without one for ever.
async fn reached(time: Option<time::Instant>) {
    match time {
        Some(time) => time::sleep_until(time).await,
        None => future::pending().await,
    }
}

/// Waits for the signal; a signal that nobody can give any more never comes.
async fn turned_true(signal: &mut watch::Receiver<bool>) {
    let nobody = signal.wait_for(|down| *down).await.is_err();
    if nobody {
        future::pending().await
    }
}
