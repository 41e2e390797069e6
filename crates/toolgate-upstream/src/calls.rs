//! The calls under way on one connection, and which of them a server means.
//!
//! INVARIANT: what a server says without a word about which call it means goes to a call only where it can be no other's.
//! Shown to the wrong client, it would be another caller's data.

use std::{
    collections::{HashMap, HashSet},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use bytes::Bytes;
use serde::Deserialize;
use serde_json::value::RawValue;
use tokio::sync::{Notify, oneshot};
use toolgate_spine::{Asking, Client};

use crate::{
    UpstreamConfig,
    counts::Counts,
    elsewhere::Elsewhere,
    fault::{Fault, shortened},
    marks::params_without_marks,
    message::{self, Request},
    questions::{Turn, refusal},
    scan,
};

/// Calls given up that are remembered one by one; after more, none is certain any longer.
const GIVEN_UP: usize = 4096;

pub(crate) struct Calls {
    counts: Arc<Counts>,
    pub(crate) allowed: Vec<Asking>,
    under_way: Mutex<UnderWay>,
    elsewhere: Elsewhere,
    /// Streams of the newer era that the server has not acknowledged yet.
    opening: Mutex<HashMap<u64, oneshot::Sender<Honoured>>>,
    renew: Notify,
}

/// What a server agreed to tell on a stream.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct Honoured {
    #[serde(default, rename = "resourceSubscriptions")]
    pub(crate) resources: Vec<String>,
}

#[derive(Default)]
struct UnderWay {
    /// A question was refused only because of calls that were given up: nothing is certain on this connection any more.
    spoilt: bool,
    open: HashMap<u64, Arc<Turn>>,
    /// Nobody waits for these, but the server may still be at them.
    given_up: HashSet<u64>,
}

/// Where something was said, and so which call it is about.
pub(crate) enum Whose<'a> {
    /// On the stream of this call.
    Of(&'a Arc<Turn>),
    /// Where all calls share one stream.
    Unsaid,
    /// On the stream of a request of our own.
    Nobodys,
}

/// A call under way. Dropped before its answer, it is given up.
pub(crate) struct Under {
    calls: Arc<Calls>,
    pub(crate) turn: Arc<Turn>,
}

impl Drop for Under {
    fn drop(&mut self) {
        self.calls.gave_up(self.turn.id);
    }
}

impl Calls {
    pub(crate) fn new(config: &UpstreamConfig, counts: Arc<Counts>) -> Arc<Self> {
        let allowed = Asking::ALL.into_iter().filter(|asking| config.ask.contains(asking)).collect();
        Arc::new(Self {
            counts,
            allowed,
            under_way: Mutex::default(),
            elsewhere: Elsewhere::default(),
            opening: Mutex::default(),
            renew: Notify::new(),
        })
    }

    /// `may_ask`: in the newer era a server asks in its answers alone.
    pub(crate) fn begin(self: &Arc<Self>, id: u64, client: &Client, may_ask: bool) -> Under {
        let allowed = if may_ask { self.allowed.clone() } else { Vec::new() };
        let turn = Arc::new(Turn::new(id, client.clone(), allowed));
        self.under_way().open.insert(id, Arc::clone(&turn));
        Under { calls: Arc::clone(self), turn }
    }

    /// What a refusal sends the call's client to is known before anything else is read.
    pub(crate) fn refused(&self, id: u64, fault: &Fault) {
        let turn = self.under_way().open.get(&id).map(Arc::clone);
        if let Some(turn) = turn {
            self.elsewhere.refused(fault, &turn.client);
        }
    }

    /// The server is done with it, or never got it.
    pub(crate) fn over(&self, id: u64) {
        let turn = {
            let mut under_way = self.under_way();
            if under_way.given_up.len() < GIVEN_UP {
                under_way.given_up.remove(&id);
            }
            let turn = under_way.open.remove(&id);
            self.renew_if_idle(&under_way);
            turn
        };
        if let Some(turn) = turn {
            turn.close();
        }
    }

    fn gave_up(&self, id: u64) {
        let turn = {
            let mut under_way = self.under_way();
            let turn = under_way.open.remove(&id);
            if turn.is_some() && under_way.given_up.len() < GIVEN_UP {
                under_way.given_up.insert(id);
            }
            self.renew_if_idle(&under_way);
            turn
        };
        if let Some(turn) = turn {
            turn.close();
        }
    }

    /// What the server says of the stream that this request opens.
    pub(crate) fn opens(&self, id: u64) -> oneshot::Receiver<Honoured> {
        let (tell, told) = oneshot::channel();
        let mut opening = self.opening.lock().unwrap_or_else(PoisonError::into_inner);
        opening.retain(|_, tell| !tell.is_closed());
        opening.insert(id, tell);
        told
    }

    fn acknowledged(&self, params: &RawValue) {
        let meta = scan::member(params.get(), "_meta");
        let id = meta.and_then(|meta| scan::member(meta, "io.modelcontextprotocol/subscriptionId")?.parse().ok());
        let mut opening = self.opening.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(tell) = id.and_then(|id: u64| opening.remove(&id)) {
            let honoured = scan::member(params.get(), "notifications").and_then(|text| serde_json::from_str(text).ok());
            let _ = tell.send(honoured.unwrap_or_default());
        }
    }

    /// Waits until the connection should be made anew: certain again, and at a time when nobody is at work on it.
    pub(crate) async fn spoilt(&self) -> String {
        self.renew.notified().await;
        "a call that was given up may still run there, so that its questions can't be told apart".to_owned()
    }

    fn renew_if_idle(&self, under_way: &UnderWay) {
        if under_way.spoilt && under_way.open.is_empty() {
            self.renew.notify_one();
        }
    }

    fn turn(&self, whose: &Whose<'_>) -> Option<Arc<Turn>> {
        match whose {
            Whose::Of(turn) => Some(Arc::clone(turn)),
            Whose::Nobodys => None,
            Whose::Unsaid => {
                let under_way = self.under_way();
                let mut open = under_way.open.values();
                let only = open.next().filter(|_| under_way.given_up.is_empty());
                only.filter(|_| open.next().is_none()).cloned()
            }
        }
    }

    /// A request of the server. What is not put to a client is answered at once, with what comes back.
    pub(crate) fn asked<F>(
        &self,
        whose: &Whose<'_>,
        request: &Request<'_>,
        send: impl FnOnce(Bytes) -> F + Send + 'static,
    ) -> Option<Bytes>
    where
        F: Future<Output = ()> + Send + 'static,
    {
        if request.method == "ping" {
            return Some(message::answer(request.id, "{}"));
        }
        let asking = Asking::of_method(&request.method).filter(|asking| self.allowed.contains(asking));
        let Some(asking) = asking else {
            return Some(message::error(request.id, &refusal(-32601, "this client offers no such method")));
        };
        let Some(turn) = self.turn(whose) else {
            self.counts.homeless(&request.method);
            if matches!(whose, Whose::Unsaid) {
                let mut under_way = self.under_way();
                under_way.spoilt |= under_way.open.len() <= 1 && !under_way.given_up.is_empty();
                self.renew_if_idle(&under_way);
            }
            let why = "it is not certain which call this belongs to; ask on the stream of the call, or run one call at a time";
            return Some(message::error(request.id, &refusal(-32600, why)));
        };
        let put = turn.put(request, asking, send);
        if put.is_ok() {
            self.elsewhere.asked(asking, request, &turn.client);
        }
        put.err().map(|fault| message::error(request.id, &fault))
    }

    /// A notification of the server.
    pub(crate) fn told(&self, whose: &Whose<'_>, method: &str, params: Option<&RawValue>) {
        self.counts.notified(method);
        match (method, params) {
            ("notifications/progress", params) => {
                if let Some((id, note)) = message::progress(params)
                    && let Some(turn) = self.under_way().open.get(&id)
                {
                    turn.client.report(note);
                }
            }
            ("notifications/message", Some(params)) => match (self.turn(whose), message::level(params)) {
                (Some(turn), Some(level)) => turn.client.log(level, &params_without_marks(params)),
                _ => {
                    let text = shortened(params.get(), 500);
                    tracing::debug!(target: "toolgate::upstream", upstream = self.counts.upstream, "{text}");
                }
            },
            ("notifications/cancelled", Some(params)) => {
                if let Some(id) = scan::member(params.get(), "requestId") {
                    self.under_way().open.values().for_each(|turn| turn.withdraw(id));
                }
            }
            ("notifications/resources/updated", Some(params)) => {
                let uri = scan::member(params.get(), "uri").map(serde_json::from_str::<String>);
                if let Some(Ok(uri)) = uri {
                    self.counts.watches.updated(&uri);
                }
            }
            ("notifications/elicitation/complete", Some(params)) => {
                if let Err(why) = self.elsewhere.ended(params) {
                    let text = shortened(params.get(), 200);
                    tracing::debug!(target: "toolgate::upstream", upstream = self.counts.upstream, "nobody is told what has ended, {why}: {text}");
                }
            }
            ("notifications/subscriptions/acknowledged", Some(params)) => self.acknowledged(params),
            _ => {}
        }
    }

    fn under_way(&self) -> MutexGuard<'_, UnderWay> {
        self.under_way.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Transport;

    fn calls() -> Arc<Calls> {
        let transport = Transport::Http { url: String::new(), headers: Vec::new(), auth: None };
        Calls::new(&UpstreamConfig::new("x", transport), Arc::default())
    }

    #[test]
    fn only_a_call_that_is_certainly_meant_is_found() {
        let calls = calls();
        let only = || calls.turn(&Whose::Unsaid).map(|turn| turn.id);
        assert_eq!(only(), None);
        let one = calls.begin(1, &Client::default(), true);
        assert_eq!(only(), Some(1));
        let two = calls.begin(2, &Client::default(), true);
        assert_eq!(only(), None, "it may be either's");
        calls.over(2);
        drop(two);
        assert_eq!(only(), Some(1));
        assert!(calls.turn(&Whose::Nobodys).is_none());
        drop(one);
        let three = calls.begin(3, &Client::default(), true);
        assert_eq!(only(), None, "the server may still be at the call that was given up");
        assert_eq!(calls.turn(&Whose::Of(&three.turn)).map(|turn| turn.id), Some(3));
        calls.over(1);
        assert_eq!(only(), Some(3), "its late answer came");
    }

    #[test]
    fn too_many_calls_given_up_leave_nothing_certain() {
        let calls = calls();
        for id in 0..=GIVEN_UP as u64 {
            drop(calls.begin(id, &Client::default(), true));
        }
        (0..=GIVEN_UP as u64).for_each(|id| calls.over(id));
        let _one = calls.begin(9999, &Client::default(), true);
        assert!(calls.turn(&Whose::Unsaid).is_none());
    }
}
