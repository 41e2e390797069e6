//! `tools/call`, `prompts/get` and `resources/read`: hands the call down and puts what came of it into an answer.

use std::{borrow::Cow, future, pin::Pin, sync::Arc, time::Instant};

use http::StatusCode;
use serde_json::value::RawValue;
use toolgate_core::Kind;
use toolgate_spine::{CallerIdentity, LogLevel, Resumed};

use crate::{
    approval::Wish,
    call_identity::CallIdentity,
    conversation::{self, Hears},
    elsewhere,
    identity::KeptCredentials,
    json::text,
    message::Message,
    mirror, notes,
    parked::Parked,
    refusal::{Refusal, code},
    render::Asked,
    reply::Reply,
    running::{self, Ear, OwnedCall, Running},
    state::State,
    under_way::Begun,
    wire::{self, Ask, Inner, Transport},
};

/// Where the name of what is called stands.
pub(crate) fn field(kind: Kind) -> &'static str {
    if kind == Kind::Resource { "params.uri" } else { "params.name" }
}

/// The name of what is called.
pub(crate) fn name<'a>(message: &Message<'a>, kind: Kind) -> Result<Cow<'a, str>, Refusal> {
    let (name, what) = match kind {
        Kind::Tool => (message.params.name, "params.name must be a string: the tool's name"),
        Kind::Prompt => (message.params.name, "params.name must be a string: the prompt's name"),
        _ => (message.params.uri, "params.uri must be a string: the resource's address"),
    };
    let name = name.and_then(text::string).ok_or_else(|| Refusal::params(what))?;
    if has_control(&name) { Err(Refusal::params(CONTROL)) } else { Ok(name) }
}

/// Said of a name or an address that nothing has, and that no record could show.
pub(crate) const CONTROL: &str = "a name or an address has no control characters; leave them out";

pub(crate) fn has_control(name: &str) -> bool {
    name.chars().any(char::is_control)
}

/// An answer on its way. In a box, so that what waits for it stays small: a future within a future is copied into it, and
/// then copied with it.
pub(crate) type Answering<'a> = Pin<Box<dyn Future<Output = Result<Reply, Refusal>> + Send + 'a>>;

pub(crate) fn answer<'a>(
    inner: &Arc<Inner>,
    ask: &Ask<'a>,
    kind: Kind,
    credentials: Option<KeptCredentials>,
) -> Result<Answering<'a>, Refusal> {
    inner.unknown.admit(&ask.identified.caller, Instant::now())?;
    let params = &ask.message.params;
    let call = read(inner, ask, kind)?;
    let hears = Hears { token: notes::token(params)?, log: log_level(inner, ask)? };
    let mut asked = inner.asked(ask, call);
    asked.begun = begun(inner, ask);
    let resumed = match resumed(&asked, ask)? {
        Came::Back(mut parked) => {
            // The call that goes on takes its own place again; a second one for its answer would be one too many.
            if let Some(place) = ask.transport.place() {
                place.end();
            }
            parked.answer(params.input_responses.unwrap_or("{}"));
            if !parked.questions.is_empty() {
                return asked
                    .park(*parked)
                    .map(Reply::json)
                    .map(|reply| Box::pin(future::ready(Ok(reply))) as Answering<'a>);
            }
            return Ok(converse(asked, parked.running, hears, ask));
        }
        Came::Again(resumed) => Some(resumed),
        Came::First => None,
    };
    let ear = Ear {
        wants_progress: hears.token.is_some(),
        log: hears.log,
        capabilities: if can_be_asked(ask) { asked.capabilities.clone() } else { running::empty() },
        asked_while_running: !ask.version.is_modern(),
        address: ask.transport.address(),
        place: ask.transport.place(),
        post: asked.post.clone(),
        identity: credentials.map(|kept| CallIdentity::of(inner, ask, kept) as Arc<dyn CallerIdentity>),
    };
    let running = Running::start(inner, &asked.caller, &asked.call, resumed, ear);
    Ok(converse(asked, running, hears, ask))
}

/// A client of the older era is asked on the stream of its call; without one there is nowhere to ask.
fn can_be_asked(ask: &Ask<'_>) -> bool {
    ask.version.is_modern() || !matches!(ask.transport, Transport::Http { events: false, .. })
}

fn begun(inner: &Inner, ask: &Ask<'_>) -> Option<Begun> {
    let session = ask.legacy.filter(|_| matches!(ask.transport, Transport::Http { .. }))?.session;
    Some(inner.under_way.begin(session, ask.id))
}

fn converse<'a>(asked: Asked, running: Running, hears: Hears<'a>, ask: &Ask<'a>) -> Answering<'a> {
    match ask.transport {
        Transport::Http { events: true, .. } => Box::pin(conversation::with_events(asked, running, hears)),
        Transport::Http { .. } => Box::pin(conversation::plain(asked, running)),
        Transport::Stdio { out } => Box::pin(conversation::with_lines(asked, running, hears, out)),
    }
}

fn read(inner: &Arc<Inner>, ask: &Ask<'_>, kind: Kind) -> Result<OwnedCall, Refusal> {
    let params = &ask.message.params;
    let name = name(ask.message, kind)?;
    let arguments = params.arguments.filter(|raw| *raw != "null" && kind != Kind::Resource);
    if arguments.is_some_and(|raw| !text::is_object(raw)) {
        return Err(Refusal::params("params.arguments must be an object"));
    }
    let dry_run = match params.meta.dry_run {
        None | Some("false") => false,
        Some("true") => true,
        Some(_) => return Err(Refusal::params("_meta[\"toolgate/dryRun\"] must be true or false")),
    };
    if let Transport::Http { headers, .. } = ask.transport
        && ask.version.is_modern()
        && kind == Kind::Tool
        && is_mirrored(inner, &name)
        && let Some(listing) = inner.spine.gate().listing(&ask.identified.caller)
        && let Some(definition) = listing.definition(&name)
    {
        mirror::check_params(headers, definition, arguments)?;
    }
    let raw = |text: &str| RawValue::from_string(text.to_owned());
    let arguments = arguments.map(raw).transpose();
    let arguments = arguments.map_err(|_| Refusal::params("params.arguments must be an object"))?;
    let wish = Wish::of(params, inner.config.approval_wait)?;
    Ok(OwnedCall { kind, name: name.into_owned(), arguments, dry_run, lang: ask.lang, wish })
}

/// Whether some argument of the tool is repeated in a header: hardly ever, so that the caller's list is not looked at.
fn is_mirrored(inner: &Inner, name: &str) -> bool {
    inner.spine.gate().catalog().find(name).is_some_and(|tool| mirror::is_annotated(&tool.definition))
}

/// How a request comes.
enum Came {
    First,
    /// With answers for its source.
    Again(Resumed),
    /// With answers for a call that waits.
    Back(Box<Parked>),
}

/// Answers without a state are the source's to judge; a state must be one of ours.
fn resumed(asked: &Asked, ask: &Ask<'_>) -> Result<Came, Refusal> {
    let params = &ask.message.params;
    if !ask.version.is_modern() {
        return Ok(Came::First);
    }
    let responses = params.input_responses.filter(|raw| *raw != "null");
    if responses.is_some_and(|raw| !text::is_object(raw)) {
        return Err(Refusal::params("params.inputResponses must be an object"));
    }
    let responses = responses.map(str::to_owned);
    let state = match params.request_state {
        None | Some("null") if responses.is_none() => return Ok(Came::First),
        None | Some("null") => return Ok(Came::Again(Resumed { responses, state: None })),
        Some(raw) => {
            text::string(raw).and_then(|sealed| asked.inner.states.open(&sealed, &asked.belongs(), wire::now()))
        }
    };
    let stale = "params.requestState is not of this call, or too old; call again without it";
    match state {
        Some(State::Source(state)) => Ok(Came::Again(Resumed { responses, state })),
        Some(State::Parked(id)) => asked.inner.parking.take(&id).map(|parked| Came::Back(Box::new(parked))).ok_or_else(|| {
            let message = "the call that waited for these answers is over, or waits elsewhere; call again without requestState";
            Refusal::new(StatusCode::OK, code::INVALID_PARAMS, message)
        }),
        // the source itself knows whether the client has been there
        Some(State::Elsewhere) if !elsewhere::is_declined(responses.as_deref()) => Ok(Came::First),
        Some(State::Elsewhere) => {
            let message = "this needs an interaction that the client declined; call again without requestState to be asked again";
            Err(Refusal::new(StatusCode::OK, code::INTERNAL, message))
        }
        None => Err(Refusal::params(stale).over_ok()),
    }
}

/// The least urgent log message the client wants: said with each request in the newer era, once in the older.
fn log_level(inner: &Inner, ask: &Ask<'_>) -> Result<Option<LogLevel>, Refusal> {
    match (ask.version.is_modern(), ask.message.params.meta.log_level) {
        (true, Some(raw)) => level(raw, "_meta[\"io.modelcontextprotocol/logLevel\"]").map(Some),
        (true, None) => Ok(None),
        (false, _) => Ok(ask.legacy.map(|legacy| inner.wishes.level(&legacy.session))),
    }
}

pub(crate) fn level(raw: &str, place: &str) -> Result<LogLevel, Refusal> {
    serde_json::from_str(raw).map_err(|_| {
        Refusal::params(format!(
            "{place} must be one of debug, info, notice, warning, error, critical, alert, emergency"
        ))
    })
}
