//! The wire itself: what it holds, and the steps that HTTP and stdio share.

use std::{
    net::IpAddr,
    sync::Arc,
    time::{Instant, SystemTime, UNIX_EPOCH},
};

use bytes::Bytes;
use http::{HeaderMap, StatusCode};
use serde_json::value::RawValue;
use tokio::sync::{Semaphore, mpsc};
use toolgate_core::{Kind, Lang, Listing, tool::Permission};
use toolgate_spine::{CallPlace, FlowProblem, Spine};

use crate::{
    abilities::Abilities,
    anonymous_rate::{AnonymousRate, AnonymousUse},
    config::WireConfig,
    cursor::Cursors,
    ended_sessions::EndedSessions,
    era::Version,
    http_endpoint::Peer,
    identity::{Credentials, Identified, Identify, IdentityUnavailable, Rejection},
    json::text,
    message::Message,
    method::Method,
    owner_key::{OwnerKey, OwnerQuota},
    parked::Parking,
    pieces::Pieces,
    questions::Questions,
    refusal::{Refusal, code},
    session::{SessionId, Sessions},
    session_memory::SessionMemory,
    state::States,
    stream_quota::StreamQuota,
    under_way::UnderWay,
    unknown_rate::UnknownRate,
    watches,
    wishes::Wishes,
};

/// MCP in both eras, in front of one spine. Cheap to clone.
#[derive(Clone)]
pub struct Wire {
    pub(crate) inner: Arc<Inner>,
}

pub(crate) struct Inner {
    pub(crate) spine: Arc<Spine>,
    pub(crate) identify: Arc<dyn Identify>,
    pub(crate) memory: Arc<dyn SessionMemory>,
    pub(crate) config: WireConfig,
    pub(crate) pieces: Pieces,
    pub(crate) cursors: Cursors,
    pub(crate) sessions: Sessions,
    pub(crate) states: States,
    pub(crate) parking: Arc<Parking>,
    pub(crate) questions: Questions,
    pub(crate) under_way: Arc<UnderWay>,
    pub(crate) wishes: Arc<Wishes>,
    pub(crate) streams: StreamQuota,
    pub(crate) anonymous: AnonymousRate,
    pub(crate) unknown: UnknownRate,
    pub(crate) watched: OwnerQuota,
    pub(crate) ended_here: EndedSessions,
    /// Streams that judge their caller anew at the same time: a change of rights concerns all of them at once.
    pub(crate) looks: Semaphore,
}

impl Wire {
    pub fn new(
        spine: Arc<Spine>,
        identify: Arc<dyn Identify>,
        memory: Arc<dyn SessionMemory>,
        config: WireConfig,
    ) -> Self {
        let inner = Inner {
            pieces: Pieces::new(&config),
            cursors: Cursors::new(&config.seal_key),
            sessions: Sessions::new(&config.seal_key),
            states: States::new(&config.seal_key),
            parking: Arc::default(),
            questions: Questions::default(),
            under_way: Arc::default(),
            wishes: Arc::default(),
            streams: StreamQuota::new(&config.streams),
            anonymous: AnonymousRate::new(&config.anonymous),
            unknown: UnknownRate::default(),
            watched: OwnerQuota::with_anonymous(
                (watches::MOST, usize::MAX),
                (watches::ANONYMOUS_EACH, watches::ANONYMOUS),
            ),
            ended_here: EndedSessions::default(),
            looks: Semaphore::new(LOOKS),
            spine,
            identify,
            memory,
            config,
        };
        Self { inner: Arc::new(inner) }
    }
}

/// Streams that look again at the same time.
const LOOKS: usize = 32;

/// One request, past everything that is the same for all methods.
#[derive(Clone, Copy)]
pub(crate) struct Ask<'a> {
    pub(crate) message: &'a Message<'a>,
    pub(crate) id: &'a str,
    pub(crate) version: Version,
    pub(crate) lang: Lang,
    pub(crate) identified: &'a Identified,
    /// What is known of a client of the older era, where it has a session.
    pub(crate) legacy: Option<Legacy>,
    pub(crate) transport: Transport<'a>,
}

/// A client of the older era, by its session.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Legacy {
    pub(crate) abilities: Abilities,
    pub(crate) session: SessionId,
    pub(crate) expires: u64,
    pub(crate) owner: OwnerKey,
}

impl Ask<'_> {
    /// What the client says it can be asked: a JSON object.
    pub(crate) fn capabilities(&self) -> Box<RawValue> {
        let declared = match (self.version.is_modern(), self.legacy) {
            (true, _) => self.message.params.meta.capabilities.map(str::to_owned),
            (false, Some(legacy)) => return legacy.abilities.to_json(),
            (false, None) => None,
        };
        RawValue::from_string(declared.unwrap_or_else(|| "{}".to_owned())).unwrap_or_else(|_| RawValue::NULL.to_owned())
    }
}

#[derive(Clone, Copy)]
pub(crate) enum Transport<'a> {
    Http {
        headers: &'a HeaderMap,
        /// The client takes an answer as a stream of events.
        events: bool,
        /// The other end of the connection.
        peer: &'a Peer,
    },
    Stdio {
        out: &'a mpsc::Sender<Bytes>,
    },
}

impl Transport<'_> {
    pub(crate) fn address(self) -> Option<IpAddr> {
        match self {
            Transport::Http { peer, .. } => peer.address,
            Transport::Stdio { .. } => None,
        }
    }

    pub(crate) fn place(self) -> Option<Arc<CallPlace>> {
        match self {
            Transport::Http { peer, .. } => peer.place.clone(),
            Transport::Stdio { .. } => None,
        }
    }
}

impl Inner {
    pub(crate) async fn identify(&self, credentials: Credentials<'_>) -> Result<Identified, Refusal> {
        let identified = self.identify.identify(credentials).await.map_err(|fault| unidentified(&fault))?;
        Ok(self.within_configured_flow(identified))
    }

    /// The caller of a credential whose flow the configuration names is within what stands there.
    pub(crate) fn within_configured_flow(&self, Identified { caller, rejected }: Identified) -> Identified {
        Identified { caller: self.spine.within_configured_flow(caller), rejected }
    }

    /// A list is shown to whom the caller was last known to be, or to nobody in particular, rather than to nobody at all:
    /// it tells of tools and does nothing. Everything else fails while it is not known who asks.
    pub(crate) async fn identify_for(
        &self,
        method: Option<Method>,
        credentials: Credentials<'_>,
    ) -> Result<Identified, Refusal> {
        match self.identify.identify(credentials).await {
            Ok(identified) => Ok(self.within_configured_flow(identified)),
            Err(fault) if matches!(method, Some(Method::List(_))) => {
                tracing::warn!(%fault, "a list is shown to whom the caller was last known to be");
                let last_known = Identified { caller: fault.last_known.unwrap_or_default(), rejected: None };
                Ok(self.within_configured_flow(last_known))
            }
            Err(fault) => Err(unidentified(&fault)),
        }
    }

    /// The caller within the flow that the message names, if it names one.
    pub(crate) async fn within_flow(
        &self,
        identified: Identified,
        message: &Message<'_>,
    ) -> Result<Identified, Refusal> {
        let Some(raw) = message.params.meta.flow.filter(|raw| *raw != "null") else { return Ok(identified) };
        let Some(id) = text::string(raw) else {
            return Err(Refusal::params("_meta[\"toolgate/flow\"] must be a string: the flow's id"));
        };
        let entered = Box::pin(self.spine.enter_flow(&identified.caller, &id)).await;
        let caller = entered.map_err(|problem| match problem {
            FlowProblem::Unavailable(_) => Refusal::unavailable(problem.to_string()),
            _ => Refusal::params(problem.to_string()).over_ok(),
        })?;
        Ok(Identified { caller, ..identified })
    }

    /// What the caller is shown now.
    pub(crate) fn listing(&self, identified: &Identified) -> Result<Listing, Refusal> {
        let listing = self.spine.gate().listing(&identified.caller);
        listing.ok_or_else(|| {
            Refusal::new(StatusCode::OK, code::INTERNAL, "what this caller may see can't be decided; tell the operator")
        })
    }

    /// Refuses nobody where the operator wants everyone signed in.
    pub(crate) fn demand_signed_in(&self, identified: &Identified) -> Result<(), Refusal> {
        if self.config.challenge_always && !identified.caller.is_signed_in() {
            return Err(self.not_signed_in(identified.rejected));
        }
        Ok(())
    }

    /// What anonymous callers put on record is bounded in its rate, and leaves room in the ledger for everybody else.
    pub(crate) fn admit_anonymous(
        &self,
        method: Option<Method>,
        message: &Message<'_>,
        address: Option<IpAddr>,
    ) -> Result<(), Refusal> {
        let Some(address) = address.filter(|_| method.is_some_and(Method::is_recorded)) else { return Ok(()) };
        let purpose = match method {
            Some(Method::Use(Kind::Tool)) if self.signs_in(message) => AnonymousUse::SignIn,
            _ => AnonymousUse::Other,
        };
        let admitted = self.anonymous.take(address, purpose, Instant::now()).and_then(|()| {
            let full = self.spine.books().is_some_and(|books| books.ledger().is_nearly_full());
            let message = "the ledger is nearly full, and takes no more calls of anonymous callers; sign in";
            if full { Err(Refusal::unavailable(message)) } else { Ok(()) }
        });
        admitted.inspect_err(|_| self.spine.recorder().throttled())
    }

    /// Whether the message calls the tool that signs callers in.
    fn signs_in(&self, message: &Message<'_>) -> bool {
        let name = message.params.name.and_then(text::string);
        let gate = self.spine.gate();
        let tool = name.and_then(|name| gate.catalog().find(&name).cloned());
        tool.is_some_and(|tool| {
            tool.own_name.as_str() == "authenticate" && tool.facts.permission == Permission::Unauthenticated
        })
    }

    pub(crate) fn not_signed_in(&self, rejected: Option<Rejection>) -> Refusal {
        let message = match rejected {
            Some(rejection) => rejection.text(Lang::En),
            None => "sign in first; no credential was sent".to_owned(),
        };
        let challenge = self.config.challenge.as_ref().and_then(|challenge| challenge.sign_in(rejected.is_some()));
        Refusal::new(StatusCode::UNAUTHORIZED, code::NOT_SIGNED_IN, message).with_challenge(challenge)
    }
}

/// Why is the operator's to know, not a stranger's.
fn unidentified(fault: &IdentityUnavailable) -> Refusal {
    tracing::error!(%fault, "a caller could not be identified");
    Refusal::unavailable("the caller can't be identified now; try again")
}

/// The facts that every modern request must carry.
pub(crate) fn check_modern_meta(message: &Message<'_>) -> Result<(), Refusal> {
    let meta = &message.params.meta;
    if meta.version.and_then(text::string).is_none() {
        return Err(Refusal::params(
            "params._meta[\"io.modelcontextprotocol/protocolVersion\"] is missing or not a string; send it with every request",
        ));
    }
    if !meta.capabilities.is_some_and(text::is_object) {
        return Err(Refusal::params(
            "params._meta[\"io.modelcontextprotocol/clientCapabilities\"] is missing or not an object; send it with every request, {} if there are none",
        ));
    }
    Ok(())
}

pub(crate) fn method_not_found(version: Version, method: &str) -> Refusal {
    let status = if version.is_modern() { StatusCode::NOT_FOUND } else { StatusCode::OK };
    let method = crate::json::fault::shortened(method);
    Refusal::new(status, code::METHOD_NOT_FOUND, format!("Method not found: {method}"))
}

/// The legacy version that `initialize` agrees on.
pub(crate) fn negotiate(message: &Message<'_>) -> Result<Version, Refusal> {
    let Some(requested) = message.params.protocol_version.and_then(text::string) else {
        return Err(Refusal::params("params.protocolVersion must be a string").over_ok());
    };
    Ok(Version::parse(&requested).filter(|version| !version.is_modern()).unwrap_or(Version::NEWEST_LEGACY))
}

/// Seconds since 1970. A clock before that is taken for 1970, when no session is valid yet.
pub(crate) fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}
