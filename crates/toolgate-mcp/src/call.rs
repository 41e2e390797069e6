//! `tools/call`: hands the call down and puts what came of it into an answer.

use std::{borrow::Cow, sync::Arc};

use bytes::Bytes;
use http::StatusCode;
use serde_json::value::RawValue;
use toolgate_core::Denial;
use toolgate_spine::{Call, Outcome, Progress};

use crate::{
    era::Version,
    json::{fault::shortened, text},
    message::Message,
    mirror, progress,
    refusal::{Refusal, code},
    reply::Reply,
    wire::{Ask, Inner, Transport},
};

/// The name of the tool to call.
pub(crate) fn name<'a>(message: &Message<'a>) -> Result<Cow<'a, str>, Refusal> {
    let name = message.params.name.and_then(text::string);
    name.ok_or_else(|| Refusal::params("params.name must be a string: the tool's name"))
}

pub(crate) async fn answer(inner: &Arc<Inner>, ask: Ask<'_>) -> Result<Reply, Refusal> {
    let params = &ask.message.params;
    let name = name(ask.message)?;
    let arguments = params.arguments.filter(|raw| *raw != "null");
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
        && is_mirrored(inner, &name)
        && let Some(listing) = inner.spine.gate().listing(&ask.identified.caller)
        && let Some(definition) = listing.definition(&name)
    {
        mirror::check_params(headers, definition, arguments)?;
    }
    let arguments: Option<&RawValue> = match arguments.map(serde_json::from_str) {
        None => None,
        Some(Ok(raw)) => Some(raw),
        Some(Err(_)) => return Err(Refusal::params("params.arguments must be an object")),
    };
    let render = Render { inner, id: ask.id, version: ask.version, name: &name, rejected: ask.identified.rejected };
    let call = Call { name: &name, arguments, dry_run, lang: ask.lang, progress: Progress::default() };
    match (progress::token(params)?, ask.transport) {
        (Some(token), Transport::Http { events: true, .. }) => {
            progress::answer_with_events(render, &ask.identified.caller, call, token).await
        }
        (Some(token), Transport::Stdio { out }) => {
            progress::answer_with_lines(render, &ask.identified.caller, call, token, out).await
        }
        _ => {
            let outcome = inner.spine.call(&ask.identified.caller, call).await;
            let statuses = matches!(ask.transport, Transport::Http { .. });
            render.outcome(outcome, statuses).map(Reply::json)
        }
    }
}

/// Whether some argument of the tool is repeated in a header: hardly ever, so that the caller's list is not looked at.
fn is_mirrored(inner: &Inner, name: &str) -> bool {
    inner.spine.gate().catalog().find(name).is_some_and(|tool| mirror::is_annotated(&tool.definition))
}

/// All that an answer needs besides the outcome.
#[derive(Clone, Copy)]
pub(crate) struct Render<'a> {
    pub(crate) inner: &'a Arc<Inner>,
    pub(crate) id: &'a str,
    pub(crate) version: Version,
    pub(crate) name: &'a str,
    pub(crate) rejected: bool,
}

impl Render<'_> {
    /// The answer. `statuses` says whether an HTTP status can still be chosen.
    pub(crate) fn outcome(&self, outcome: Outcome, statuses: bool) -> Result<[Bytes; 3], Refusal> {
        match outcome {
            Outcome::Answered(result) => self.result(&result),
            Outcome::Denied { tool, denial, needs_identity, missing_scopes } => {
                if let Some(refusal) = self.challenge(&denial, needs_identity, &missing_scopes).filter(|_| statuses) {
                    return Err(refusal);
                }
                self.result(&self.inner.spine.denied(&tool, &denial))
            }
            Outcome::NeedsApproval { tool, denial } => self.result(&self.inner.spine.denied(&tool, &denial)),
            Outcome::Refused { answer, .. } => self.result(&answer.into_bytes()),
            // Unknown and hidden tools take this one branch, so that nobody can tell them apart.
            Outcome::Unknown => Err(Refusal::params(format!("Unknown tool: {}", shortened(self.name))).over_ok()),
            Outcome::Unbound { argument, .. } => Err(Refusal::params(format!(
                "argument '{argument}' is filled in from the caller, and nothing says what it is; sign in with a credential that does"
            ))),
            Outcome::Unavailable { message, .. } => Err(Refusal::new(StatusCode::OK, code::INTERNAL, message)),
        }
    }

    fn result(&self, result: &Bytes) -> Result<[Bytes; 3], Refusal> {
        let parts = self.inner.pieces.called(self.id, self.version, result);
        parts.ok_or_else(|| Refusal::new(StatusCode::OK, code::INTERNAL, "tool gave a result that is no object"))
    }

    /// Where there is an issuer, a denial that signing in or another scope would lift says so in HTTP's words.
    fn challenge(&self, denial: &Denial, needs_identity: bool, missing_scopes: &[String]) -> Option<Refusal> {
        let challenge = self.inner.config.challenge.as_ref()?;
        let (status, code, header) = if needs_identity {
            (StatusCode::UNAUTHORIZED, code::NOT_SIGNED_IN, challenge.sign_in(self.rejected))
        } else if !missing_scopes.is_empty() {
            (StatusCode::FORBIDDEN, code::INSUFFICIENT_SCOPE, challenge.step_up(missing_scopes))
        } else {
            return None;
        };
        let refusal = Refusal::new(status, code, denial.message.clone());
        Some(refusal.with_data(serde_json::to_string(denial).ok()).with_challenge(header))
    }
}
