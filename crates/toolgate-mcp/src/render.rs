//! What came of a call, as an answer: a result, or an error where the protocol has no other way to say it.

use std::{sync::Arc, time::Instant};

use bytes::Bytes;
use http::StatusCode;
use serde_json::value::RawValue;
use toolgate_core::{Caller, Denial, Kind, Tool, has_escaped_slash, normal_address};
use toolgate_spine::{InputRequired, Outcome, Post, Question};

use crate::{
    elsewhere,
    era::Version,
    identity::Rejection,
    json::{fault::shortened, text},
    parked::Parked,
    refusal::{Refusal, code},
    running::{self, Hearing, OwnedCall, Running},
    session::SessionId,
    state::{Belongs, State},
    under_way::Begun,
    wire::{self, Inner},
};

/// A request that is being answered, and all that its answer needs.
pub(crate) struct Asked {
    pub(crate) inner: Arc<Inner>,
    /// As it was written.
    pub(crate) id: String,
    pub(crate) version: Version,
    pub(crate) caller: Arc<Caller>,
    /// Some credential did not count.
    pub(crate) rejected: Option<Rejection>,
    pub(crate) call: Arc<OwnedCall>,
    /// The client's, as it declared them.
    pub(crate) capabilities: Box<RawValue>,
    /// Of a client of the older era, where it has one.
    pub(crate) session: Option<SessionId>,
    /// Where such a client hears of what ends after the call.
    pub(crate) post: Option<Arc<dyn Post>>,
    /// Of a call that such a client may call off by a message.
    pub(crate) begun: Option<Begun>,
}

impl Asked {
    /// Waits for the client to call it off.
    pub(crate) async fn called_off(&self) {
        match &self.begun {
            Some(begun) => begun.called_off().await,
            None => std::future::pending().await,
        }
    }

    /// The answer. `statuses` says whether an HTTP status can still be chosen.
    pub(crate) fn outcome(&self, outcome: Outcome, statuses: bool) -> Result<[Bytes; 3], Refusal> {
        match outcome {
            Outcome::Answered(result) => self.result(&self.with_notice(result)),
            Outcome::Denied { tool, mut denial, needs_identity, missing_scopes } => {
                let reason = self.rejected.filter(|_| needs_identity).map(|rejection| rejection.text(self.call.lang));
                let reason = reason.as_deref();
                if let Some(reason) = reason {
                    denial.remedy = Some(followed(reason, denial.remedy.as_deref()));
                }
                let challenge = self.challenge(&denial, needs_identity, &missing_scopes);
                match challenge.filter(|_| statuses) {
                    Some(mut refusal) => {
                        refusal.message = followed(&refusal.message, reason).into();
                        Err(refusal)
                    }
                    None => self.denied(&tool, &denial, reason),
                }
            }
            Outcome::NeedsApproval { tool, denial, approval } if self.call.kind == Kind::Tool => {
                self.result(&self.inner.spine.needs_approval(&tool, &denial, approval.as_deref()))
            }
            Outcome::NeedsApproval { tool, denial, .. } => self.denied(&tool, &denial, None),
            Outcome::Unrecorded { message } => Err(Refusal::unavailable(message)),
            Outcome::Refused { answer, .. } if self.call.kind == Kind::Tool => self.result(&answer.into_bytes()),
            Outcome::Refused { message, .. } => Err(Refusal::new(StatusCode::OK, code::DENIED, message)),
            // Unknown and hidden tools take this one branch, so that nobody can tell them apart.
            Outcome::Unknown => {
                self.inner.unknown.count(&self.caller, Instant::now());
                Err(self.unknown())
            }
            Outcome::Unbound { argument, .. } => Err(Refusal::params(format!(
                "argument '{argument}' is filled in from the caller, and nothing says what it is; sign in with a credential that does"
            ))),
            Outcome::Unavailable { message, .. } => Err(Refusal::new(StatusCode::OK, code::INTERNAL, message)),
            Outcome::Rejected { code, message, data, .. } => match self.addresses(code, data.as_deref()) {
                Some(requests) => self.elsewhere(&requests),
                None => Err(self.rejected(code, message, data)),
            },
            Outcome::InputRequired { input, .. } => self.input_required(&input),
        }
    }

    /// The answer of a call that may have asked. One that could not ask what it wanted to, and failed, needs another client:
    /// that is what a client of the newer era is told. One that managed without has its answer.
    pub(crate) fn ended(&self, outcome: Outcome, said: &Hearing, statuses: bool) -> Result<[Bytes; 3], Refusal> {
        match said.lacks().filter(|_| self.version.is_modern() && self.failed(&outcome)) {
            Some(asking) => Err(self.lacks(asking.capability())),
            None => self.outcome(outcome, statuses),
        }
    }

    fn failed(&self, outcome: &Outcome) -> bool {
        #[derive(serde::Deserialize)]
        struct Answer {
            #[serde(rename = "isError", default)]
            is_error: bool,
        }
        match outcome {
            Outcome::Answered(result) => {
                self.call.kind == Kind::Tool
                    && serde_json::from_slice::<Answer>(result).is_ok_and(|answer| answer.is_error)
            }
            Outcome::Rejected { .. } | Outcome::Unavailable { .. } => true,
            _ => false,
        }
    }

    /// The answer of a method that has no way to ask anything.
    pub(crate) fn plain_outcome(&self, outcome: Outcome) -> Result<[Bytes; 3], Refusal> {
        match outcome {
            Outcome::InputRequired { tool, .. } => {
                let message = format!("{} wants more input, which can't be asked for here", tool.called());
                Err(Refusal::new(StatusCode::OK, code::INTERNAL, message))
            }
            Outcome::Rejected { code, message, data, .. } => Err(self.rejected(code, message, data)),
            outcome => self.outcome(outcome, true),
        }
    }

    fn with_notice(&self, result: Bytes) -> Bytes {
        match self.rejected.filter(|_| self.call.kind == Kind::Tool) {
            Some(rejection) => {
                self.inner.with_notice_in_answer(&self.call.name, result, &rejection.notice(self.call.lang))
            }
            None => result,
        }
    }

    fn result(&self, result: &Bytes) -> Result<[Bytes; 3], Refusal> {
        let cached = self.call.kind == Kind::Resource;
        let parts = self.inner.pieces.called(&self.id, self.version, result, cached);
        parts.ok_or_else(|| {
            let message = format!("{} gave a result that is no object", self.call.kind);
            Refusal::new(StatusCode::OK, code::INTERNAL, message)
        })
    }

    /// A tool's denial is a result that a model reads; prompts and resources have only errors. `reason` says why the caller's
    /// credential was refused: after the rule's own message, which stays as it is.
    fn denied(&self, tool: &Tool, denial: &Denial, reason: Option<&str>) -> Result<[Bytes; 3], Refusal> {
        if self.call.kind == Kind::Tool {
            let result = self.inner.spine.denied(tool, denial);
            return self.result(&reason.map_or(result.clone(), |reason| with_text(&result, reason)));
        }
        let refusal = Refusal::new(StatusCode::OK, code::DENIED, followed(&denial.message, reason));
        Err(refusal.with_data(serde_json::to_string(denial).ok()))
    }

    fn unknown(&self) -> Refusal {
        let name = shortened(&self.call.name);
        let unknown = match self.call.kind {
            Kind::Tool => return Refusal::params(format!("Unknown tool: {name}")).over_ok(),
            Kind::Prompt => return Refusal::params(format!("Unknown prompt: {name}")).over_ok(),
            // said of every address of such a form, whether a resource is listed under it or not
            // the normal form of this one may be another resource's address
            _ if has_escaped_slash(&self.call.name) => {
                format!("The address is not in its normal form: {name}; an escaped slash leads nowhere")
            }
            _ if normal_address(&self.call.name) != self.call.name => {
                let normal = normal_address(&self.call.name);
                format!("The address is not in its normal form: {name}; send {}", shortened(&normal))
            }
            _ => format!("Resource not found: {name}"),
        };
        let mut data = b"{\"uri\":".to_vec();
        text::push_string(&mut data, &name);
        data.push(b'}');
        let code = if self.version.is_modern() { code::INVALID_PARAMS } else { code::RESOURCE_NOT_FOUND };
        Refusal::new(StatusCode::OK, code, unknown).with_data(String::from_utf8(data).ok())
    }

    /// A source's own error, as it came.
    fn rejected(&self, code: i64, message: String, data: Option<String>) -> Refusal {
        let known = match i32::try_from(code).unwrap_or(code::INTERNAL) {
            // the newer era has another word for it
            code::RESOURCE_NOT_FOUND if self.version.is_modern() => code::INVALID_PARAMS,
            code::ADDRESS_REQUIRED if self.version.is_modern() => code::INTERNAL,
            known => known,
        };
        let missing = known == code::MISSING_CAPABILITY && self.version.is_modern();
        let status = if missing { StatusCode::BAD_REQUEST } else { StatusCode::OK };
        Refusal::new(status, known, message).with_data(data)
    }

    /// Where there is an issuer, a denial that signing in or another scope would lift says so in HTTP's words.
    fn challenge(&self, denial: &Denial, needs_identity: bool, missing_scopes: &[String]) -> Option<Refusal> {
        let challenge = self.inner.config.challenge.as_ref()?;
        let (status, code, header) = if needs_identity {
            (StatusCode::UNAUTHORIZED, code::NOT_SIGNED_IN, challenge.sign_in(self.rejected.is_some()))
        } else if !missing_scopes.is_empty() {
            (StatusCode::FORBIDDEN, code::INSUFFICIENT_SCOPE, challenge.step_up(missing_scopes))
        } else {
            return None;
        };
        let refusal = Refusal::new(status, code, denial.message.clone());
        Some(refusal.with_data(serde_json::to_string(denial).ok()).with_challenge(header))
    }

    /// A source's questions for a client of the newer era. What the client did not declare is never asked of it.
    fn input_required(&self, input: &InputRequired) -> Result<[Bytes; 3], Refusal> {
        if let Some(missing) = running::missing(input, &self.capabilities) {
            return Err(self.lacks(missing));
        }
        let state = State::Source(input.state.clone());
        Ok(self.questions(input.requests.as_deref(), &state))
    }

    /// Where a client of the newer era must go before the call can run: questions, as the newer era has it.
    fn addresses(&self, code: i64, data: Option<&str>) -> Option<String> {
        elsewhere::requests(code, data).filter(|_| self.version.is_modern())
    }

    fn elsewhere(&self, requests: &str) -> Result<[Bytes; 3], Refusal> {
        if elsewhere::is_offered(&self.capabilities) {
            Ok(self.questions(Some(requests), &State::Elsewhere))
        } else {
            Err(self.lacks_part("elicitation", r#"{"url":{}}"#))
        }
    }

    /// What a call of ours asks of a client of the newer era: the questions are the answer, and the call waits.
    pub(crate) async fn ask(&self, running: Running, question: Question) -> Result<[Bytes; 3], Refusal> {
        self.park(Parked::wait(running, question).await)
    }

    /// The questions of a call that waits here.
    pub(crate) fn park(&self, parked: Parked) -> Result<[Bytes; 3], Refusal> {
        let requests = parked.requests();
        match self.inner.parking.park(parked, &self.caller) {
            Ok(id) => Ok(self.questions(Some(&requests), &State::Parked(id))),
            Err(_) => Err(Refusal::unavailable("too many calls wait for answers; try again later")),
        }
    }

    /// The client can't be asked what the call needs to know.
    fn lacks(&self, capability: &str) -> Refusal {
        self.lacks_part(capability, "{}")
    }

    fn lacks_part(&self, capability: &str, part: &str) -> Refusal {
        let message = format!("this {} needs a client that offers {capability}", self.call.kind);
        let data = format!(r#"{{"requiredCapabilities":{{"{capability}":{part}}}}}"#);
        Refusal::new(StatusCode::BAD_REQUEST, code::MISSING_CAPABILITY, message).with_data(Some(data))
    }

    fn questions(&self, requests: Option<&str>, state: &State) -> [Bytes; 3] {
        let state = self.inner.states.seal(state, &self.belongs(), wire::now());
        self.inner.pieces.input_required(&self.id, requests, &state)
    }

    pub(crate) fn belongs(&self) -> Belongs<'_> {
        let call = &self.call;
        let arguments = call.arguments.as_deref().map_or("", RawValue::get);
        Belongs { caller: &self.caller, kind: call.kind, name: &call.name, arguments }
    }
}

/// One sentence after another.
fn followed(first: &str, then: Option<&str>) -> String {
    then.map_or_else(|| first.to_owned(), |then| format!("{first} {then}"))
}

/// A result with one more block of text.
fn with_text(result: &Bytes, text: &str) -> Bytes {
    let Ok(mut answer) = serde_json::from_slice::<serde_json::Value>(result) else { return result.clone() };
    if let Some(content) = answer.get_mut("content").and_then(serde_json::Value::as_array_mut) {
        content.push(serde_json::json!({"type": "text", "text": text}));
    }
    serde_json::to_vec(&answer).map_or_else(|_| result.clone(), Bytes::from)
}
