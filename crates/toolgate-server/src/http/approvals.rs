//! `/api/v1/approvals`: list, look at and answer what waits for a person.
//!
//! What a caller may not see does not exist: both are one answer, byte for byte.

use std::time::Duration;

use http::{Method, StatusCode, header, request::Parts};
use serde::Deserialize;
use serde_json::Value;
use toolgate_core::{Caller, Denial};
use toolgate_spine::{AnswerProblem, Say, approval_json};
use toolgate_store::{AnswerFault, ApprovalFilter, ApprovalState, Paging};

use super::{
    Site,
    body::RequestBody,
    json::{Problem, first_page, members, page, paged, read, sent},
    route::{Answer, preflight, with_header},
};

const ROOT: &str = "/api/v1/approvals";
/// No answer to an approval needs more.
const BODY_BYTES: usize = 16 << 10;

/// Whether this path is one of ours.
pub(super) fn is_here(path: &str) -> bool {
    path.strip_prefix(ROOT).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// What a request is for.
enum Room<'p> {
    List,
    One(&'p str),
    Approve(&'p str),
    Deny(&'p str),
}

impl<'p> Room<'p> {
    fn at(path: &'p str) -> Option<Self> {
        let mut steps = path.strip_prefix(ROOT)?.strip_prefix('/').unwrap_or_default().split('/');
        match (steps.next().filter(|id| !id.is_empty()), steps.next(), steps.next()) {
            (None, None, None) => Some(Self::List),
            (Some(id), None, None) => Some(Self::One(id)),
            (Some(id), Some("approve"), None) => Some(Self::Approve(id)),
            (Some(id), Some("deny"), None) => Some(Self::Deny(id)),
            _ => None,
        }
    }

    fn method(&self) -> (Method, &'static str) {
        match self {
            Self::List | Self::One(_) => (Method::GET, "GET"),
            Self::Approve(_) | Self::Deny(_) => (Method::POST, "POST"),
        }
    }
}

fn unknown() -> Problem {
    let message = "there is no such approval for this caller";
    Problem::new(StatusCode::NOT_FOUND, "unknown", message, "list those there are: GET /api/v1/approvals")
}

impl From<Denial> for Problem {
    fn from(denial: Denial) -> Self {
        let Denial { code, message, remedy, .. } = denial;
        Self { status: StatusCode::FORBIDDEN, code, message, remedy }
    }
}

impl From<AnswerProblem> for Problem {
    fn from(problem: AnswerProblem) -> Self {
        let fault = match problem {
            AnswerProblem::Denied(denial) => return denial.into(),
            AnswerProblem::Fault(fault) => fault,
            AnswerProblem::Unrecorded(why) => {
                let message = AnswerProblem::Unrecorded(why).to_string();
                let remedy = "try again once the ledger can be written; the operator's log says what is wrong with it";
                return Self::new(StatusCode::SERVICE_UNAVAILABLE, "unrecorded", message, remedy);
            }
        };
        let again = "the caller has to ask again";
        let (status, remedy) = match &fault {
            AnswerFault::Unknown { .. } => return unknown(),
            AnswerFault::Store(fault) => return fault.clone().into(),
            AnswerFault::Answered { .. } => (StatusCode::CONFLICT, "look at it to see by whom"),
            AnswerFault::AskedAlone { .. } => (StatusCode::CONFLICT, "answer the other one"),
            AnswerFault::Expired { .. } | AnswerFault::Ended { .. } => (StatusCode::GONE, again),
            AnswerFault::NotOwner { .. } => (StatusCode::FORBIDDEN, "ask its owner"),
            AnswerFault::FourEyes { .. } => (StatusCode::FORBIDDEN, "ask someone else who may"),
            AnswerFault::TooWide { .. } => (StatusCode::BAD_REQUEST, "grant no more than was asked for"),
            AnswerFault::Over { .. } => (StatusCode::BAD_REQUEST, "grant it for some time"),
        };
        Self::new(status, fault.code(), fault.to_string(), remedy)
    }
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Yes {
    /// The call that asked alone, where more was asked for.
    once: bool,
    /// Seconds that the yes holds.
    ttl: Option<u64>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct No {
    reason: Option<String>,
}

impl Site {
    pub(super) async fn approvals(&self, head: &Parts, body: RequestBody, browser: bool) -> Answer {
        let Some(room) = Room::at(head.uri.path()) else { return unknown().answer() };
        let (method, allow) = room.method();
        if head.method == Method::OPTIONS && browser {
            return with_header(preflight(head), header::ACCESS_CONTROL_ALLOW_METHODS, "GET, POST");
        }
        if head.method != method {
            let message = format!("this address takes {allow}");
            let problem = Problem::new(StatusCode::METHOD_NOT_ALLOWED, "method", message, "use that method");
            return with_header(problem.answer(), header::ALLOW, allow);
        }
        let caller = match self.identified(head).await {
            Ok(identified) if identified.caller.is_signed_in() => identified.caller,
            Ok(identified) => {
                let remedy = "send a bearer token: toolgate token mint --user NAME --scope approve";
                return Problem::not_signed_in("sign in first", identified.rejected, remedy).answer();
            }
            Err(fault) => {
                let message = fault.to_string();
                return Problem::new(StatusCode::SERVICE_UNAVAILABLE, "unavailable", message, "try again").answer();
            }
        };
        let answered = match room {
            Room::List => self.list(&caller, head.uri.query().unwrap_or_default()).await,
            Room::One(id) => self.one(&caller, id).await,
            Room::Approve(id) => match read(head, body, BODY_BYTES).await {
                Ok(yes) => self.approve(&caller, id, &yes).await,
                Err(problem) => Err(problem),
            },
            Room::Deny(id) => match read(head, body, BODY_BYTES).await {
                Ok(No { reason }) => self.say(&caller, id, Say::No { reason }).await,
                Err(problem) => Err(problem),
            },
        };
        answered.map_or_else(Problem::answer, |body| sent(StatusCode::OK, &body))
    }

    async fn list(&self, caller: &Caller, query: &str) -> Result<Value, Problem> {
        let (filter, paging) = asked_for(query)?;
        Ok(page("approvals", &self.spine.approvals(caller, &filter, &paging).await?, approval_json))
    }

    async fn one(&self, caller: &Caller, id: &str) -> Result<Value, Problem> {
        let found = self.spine.approval(caller, id).await?;
        found.as_ref().map(approval_json).ok_or_else(unknown)
    }

    async fn approve(&self, caller: &Caller, id: &str, yes: &Yes) -> Result<Value, Problem> {
        let most = self.spine.approval_ttl();
        let holds = yes.ttl.map(Duration::from_secs);
        if holds.is_some_and(|holds| holds > most || holds.is_zero()) {
            return Err(Problem::wrong(format!("ttl must be seconds, 1 to {}", most.as_secs())));
        }
        self.say(caller, id, Say::Yes { once: yes.once, holds }).await
    }

    async fn say(&self, caller: &Caller, id: &str, say: Say) -> Result<Value, Problem> {
        let lang = self.spine.gate().lang();
        Ok(approval_json(&self.spine.answer_approval(caller, false, id, say, lang).await?))
    }
}

fn asked_for(query: &str) -> Result<(ApprovalFilter, Paging), Problem> {
    let (mut filter, mut paging) = (ApprovalFilter::default(), first_page());
    for (name, value) in members(query) {
        match name {
            "state" => {
                let known = || ApprovalState::ALL.iter().map(|state| state.as_str()).collect::<Vec<_>>().join(", ");
                let state = ApprovalState::parse(value);
                filter.state = Some(state.ok_or_else(|| Problem::wrong(format!("state must be one of: {}", known())))?);
            }
            "flow" => filter.flow = Some(value.to_owned()),
            _ if paged(&mut paging, name, value)? => {}
            _ => return Err(Problem::wrong("a list takes state, flow, limit and after")),
        }
    }
    Ok((filter, paging))
}
