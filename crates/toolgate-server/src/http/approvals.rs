//! `/api/v1/approvals`: list, look at and answer what waits for a person.
//!
//! What a caller may not see does not exist: both are one answer, byte for byte.

use std::time::Duration;

use http::{HeaderValue, Method, StatusCode, header, request::Parts};
use http_body_util::{BodyExt, Limited};
use hyper::body::Incoming;
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::{Value, json};
use toolgate_core::{Caller, Denial};
use toolgate_spine::{AnswerProblem, Say, approval_json};
use toolgate_store::{AnswerFault, ApprovalFilter, ApprovalState, Mark, Paging, StoreError};

use super::{
    PATIENCE, Site,
    route::{Answer, by_header, preflight, text, with_header},
};

const ROOT: &str = "/api/v1/approvals";
/// No answer to an approval needs more.
const BODY_BYTES: usize = 16 << 10;
const PAGE: u32 = 50;
const LARGEST_PAGE: u32 = 500;

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

/// A problem in words for programs and for people.
pub(super) struct Problem {
    status: StatusCode,
    code: String,
    message: String,
    remedy: Option<String>,
}

impl Problem {
    pub(super) fn new(status: StatusCode, code: &str, message: impl Into<String>, remedy: &str) -> Self {
        Self { status, code: code.to_owned(), message: message.into(), remedy: Some(remedy.to_owned()) }
    }

    fn unknown() -> Self {
        Self::new(
            StatusCode::NOT_FOUND,
            "unknown",
            "there is no such approval for this caller",
            "list those there are: GET /api/v1/approvals",
        )
    }

    fn wrong(message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "bad_request", message, "see docs/approvals.md")
    }

    pub(super) fn answer(self) -> Answer {
        let mut body = json!({"code": self.code, "message": self.message});
        if let (Some(remedy), Some(body)) = (self.remedy, body.as_object_mut()) {
            body.insert("remedy".to_owned(), remedy.into());
        }
        let answer = sent(self.status, &body);
        match self.status {
            StatusCode::UNAUTHORIZED => with_header(answer, header::WWW_AUTHENTICATE, "Bearer"),
            _ => answer,
        }
    }
}

impl From<StoreError> for Problem {
    /// Why is the operator's to know.
    fn from(fault: StoreError) -> Self {
        tracing::error!(%fault, "approvals can't be looked up");
        let message = "approvals can't be looked up now";
        Self::new(
            StatusCode::SERVICE_UNAVAILABLE,
            "unavailable",
            message,
            "try again, and tell the operator if it stays",
        )
    }
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
        };
        let again = "the caller has to ask again";
        let (status, code, remedy) = match &fault {
            AnswerFault::Unknown { .. } => return Self::unknown(),
            AnswerFault::Store(fault) => return fault.clone().into(),
            AnswerFault::Answered { .. } => (StatusCode::CONFLICT, "answered", "look at it to see by whom"),
            AnswerFault::AskedAlone { .. } => (StatusCode::CONFLICT, "asked_alone", "answer the other one"),
            AnswerFault::Expired { .. } => (StatusCode::GONE, "expired", again),
            AnswerFault::Ended { .. } => (StatusCode::GONE, "ended", again),
            AnswerFault::NotOwner { .. } => (StatusCode::FORBIDDEN, "not_owner", "ask its owner"),
            AnswerFault::FourEyes { .. } => (StatusCode::FORBIDDEN, "four_eyes", "ask someone else who may"),
            AnswerFault::TooWide { .. } => (StatusCode::BAD_REQUEST, "too_wide", "grant no more than was asked for"),
            AnswerFault::Over { .. } => (StatusCode::BAD_REQUEST, "over", "grant it for some time"),
        };
        Self::new(status, code, fault.to_string(), remedy)
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
    pub(super) async fn approvals(&self, head: &Parts, body: Incoming, browser: bool) -> Answer {
        let Some(room) = Room::at(head.uri.path()) else { return Problem::unknown().answer() };
        let (method, allow) = room.method();
        if head.method == Method::OPTIONS && browser {
            return with_header(preflight(head), header::ACCESS_CONTROL_ALLOW_METHODS, "GET, POST");
        }
        if head.method != method {
            let message = format!("this address takes {allow}");
            let problem = Problem::new(StatusCode::METHOD_NOT_ALLOWED, "method", message, "use that method");
            return with_header(problem.answer(), header::ALLOW, allow);
        }
        let caller = match self.identify.identify(by_header(head)).await {
            Ok(identified) if identified.caller.is_signed_in() => identified.caller,
            Ok(_) => {
                let remedy = "send a bearer token: toolgate token mint --user NAME --scope approve";
                return Problem::new(StatusCode::UNAUTHORIZED, "not_signed_in", "sign in first", remedy).answer();
            }
            Err(fault) => {
                let message = fault.to_string();
                return Problem::new(StatusCode::SERVICE_UNAVAILABLE, "unavailable", message, "try again").answer();
            }
        };
        let answered = match room {
            Room::List => self.list(&caller, head.uri.query().unwrap_or_default()).await,
            Room::One(id) => self.one(&caller, id).await,
            Room::Approve(id) => match read(head, body).await {
                Ok(yes) => self.approve(&caller, id, &yes).await,
                Err(problem) => Err(problem),
            },
            Room::Deny(id) => match read(head, body).await {
                Ok(No { reason }) => self.say(&caller, id, Say::No { reason }).await,
                Err(problem) => Err(problem),
            },
        };
        answered.map_or_else(Problem::answer, |body| sent(StatusCode::OK, &body))
    }

    async fn list(&self, caller: &Caller, query: &str) -> Result<Value, Problem> {
        let (filter, paging) = asked_for(query)?;
        let page = self.spine.approvals(caller, &filter, &paging).await?;
        let next = page.next.map(|mark| format!("{}.{}", mark.at, mark.id));
        Ok(json!({"approvals": page.items.iter().map(approval_json).collect::<Vec<_>>(), "next": next}))
    }

    async fn one(&self, caller: &Caller, id: &str) -> Result<Value, Problem> {
        let found = self.spine.approval(caller, id).await?;
        found.as_ref().map(approval_json).ok_or_else(Problem::unknown)
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
    let (mut filter, mut paging) = (ApprovalFilter::default(), Paging { limit: PAGE, after: None });
    for (name, value) in
        query.split('&').filter(|part| !part.is_empty()).map(|part| part.split_once('=').unwrap_or((part, "")))
    {
        match name {
            "state" => {
                let known = || ApprovalState::ALL.iter().map(|state| state.as_str()).collect::<Vec<_>>().join(", ");
                let state = ApprovalState::parse(value);
                filter.state = Some(state.ok_or_else(|| Problem::wrong(format!("state must be one of: {}", known())))?);
            }
            "flow" => filter.flow = Some(value.to_owned()),
            "limit" => {
                let limit = value.parse().ok().filter(|limit| (1..=LARGEST_PAGE).contains(limit));
                paging.limit = limit.ok_or_else(|| Problem::wrong(format!("limit must be 1 to {LARGEST_PAGE}")))?;
            }
            "after" => {
                let mark =
                    value.split_once('.').and_then(|(at, id)| Some(Mark { at: at.parse().ok()?, id: id.to_owned() }));
                paging.after = Some(mark.ok_or_else(|| Problem::wrong("after must be the 'next' of the page before"))?);
            }
            _ => return Err(Problem::wrong("a list takes state, flow, limit and after")),
        }
    }
    Ok((filter, paging))
}

/// A body that is JSON and says so: a form of another site can't, and so never answers in a browser's name.
pub(super) async fn read<T: DeserializeOwned + Default>(head: &Parts, body: Incoming) -> Result<T, Problem> {
    let is_json = |value: &HeaderValue| {
        value.to_str().is_ok_and(|text| {
            text.split(';').next().is_some_and(|kind| kind.trim().eq_ignore_ascii_case("application/json"))
        })
    };
    if !head.headers.get(header::CONTENT_TYPE).is_some_and(is_json) {
        let message = "the body must be JSON";
        return Err(Problem::new(
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
            "not_json",
            message,
            "send Content-Type: application/json",
        ));
    }
    let read = tokio::time::timeout(PATIENCE, Limited::new(body, BODY_BYTES).collect()).await;
    let bytes = match read {
        Ok(Ok(body)) => body.to_bytes(),
        Ok(Err(fault)) if fault.is::<http_body_util::LengthLimitError>() => {
            let message = format!("the body is larger than {BODY_BYTES} bytes");
            return Err(Problem::new(StatusCode::PAYLOAD_TOO_LARGE, "too_large", message, "send less"));
        }
        Ok(Err(_)) => return Err(Problem::wrong("the body was cut off")),
        Err(_) => {
            return Err(Problem::new(
                StatusCode::REQUEST_TIMEOUT,
                "slow",
                "the body did not arrive in time",
                "send it at once",
            ));
        }
    };
    if bytes.is_empty() {
        return Ok(T::default());
    }
    // a list would do for a structure otherwise
    if bytes.trim_ascii_start().first() != Some(&b'{') {
        return Err(Problem::wrong("the body must be a JSON object"));
    }
    serde_json::from_slice(&bytes).map_err(|fault| Problem::wrong(format!("the body is wrong: {fault}")))
}

pub(super) fn sent(status: StatusCode, body: &Value) -> Answer {
    let answer = with_header(text(status, body.to_string()), header::CONTENT_TYPE, "application/json");
    with_header(answer, header::CACHE_CONTROL, "no-store")
}
