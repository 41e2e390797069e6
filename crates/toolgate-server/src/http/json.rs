//! What the rooms under `/api/v1` share: bodies that are JSON, lists in pages, and problems in words.

use http::{HeaderValue, StatusCode, header, request::Parts};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};
use toolgate_core::Lang;
use toolgate_mcp::Rejection;
use toolgate_store::{Mark, Page, Paging, StoreError};

use super::{
    body::{RequestBody, Unread, WholeBody},
    route::{Answer, text, with_header},
};

const PAGE: u32 = 50;
const LARGEST_PAGE: u32 = 500;

/// A problem in words for programs and for people.
pub(super) struct Problem {
    pub(super) status: StatusCode,
    pub(super) code: String,
    pub(super) message: String,
    pub(super) remedy: Option<String>,
}

impl Problem {
    pub(super) fn new(status: StatusCode, code: &str, message: impl Into<String>, remedy: &str) -> Self {
        Self { status, code: code.to_owned(), message: message.into(), remedy: Some(remedy.to_owned()) }
    }

    pub(super) fn wrong(message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "bad_request", message, "correct the request and send it again")
    }

    /// For a caller without a credential, or with one that was refused.
    pub(super) fn not_signed_in(message: &str, rejected: Option<Rejection>, remedy: &str) -> Self {
        let message = rejected.map_or_else(|| message.to_owned(), |rejection| rejection.text(Lang::En));
        Self::new(StatusCode::UNAUTHORIZED, "not_signed_in", message, remedy)
    }

    /// A limit of the whole server, which is free again soon.
    pub(super) fn overloaded(message: &str) -> Self {
        Self::new(StatusCode::SERVICE_UNAVAILABLE, "overloaded", message, "try again in 1 s")
    }

    pub(super) fn answer(self) -> Answer {
        self.answer_with(|_| {})
    }

    /// With more beside the words.
    pub(super) fn answer_with(self, more: impl FnOnce(&mut Map<String, Value>)) -> Answer {
        let mut body = Map::new();
        more(&mut body);
        body.insert("code".to_owned(), self.code.into());
        body.insert("message".to_owned(), self.message.into());
        body.extend(self.remedy.map(|remedy| ("remedy".to_owned(), remedy.into())));
        let is_overloaded = body.get("code").is_some_and(|code| code == "overloaded");
        let answer = sent(self.status, &Value::Object(body));
        match self.status {
            StatusCode::UNAUTHORIZED => with_header(answer, header::WWW_AUTHENTICATE, "Bearer"),
            StatusCode::SERVICE_UNAVAILABLE if is_overloaded => with_header(answer, header::RETRY_AFTER, "1"),
            _ => answer,
        }
    }
}

impl From<StoreError> for Problem {
    /// Why is the operator's to know.
    fn from(fault: StoreError) -> Self {
        tracing::error!(%fault, "the store can't be asked");
        let message = "this can't be looked up now";
        Self::new(
            StatusCode::SERVICE_UNAVAILABLE,
            "unavailable",
            message,
            "try again, and tell the operator if it stays",
        )
    }
}

/// Members of a query.
pub(super) fn members(query: &str) -> impl Iterator<Item = (&str, &str)> {
    query.split('&').filter(|part| !part.is_empty()).map(|part| part.split_once('=').unwrap_or((part, "")))
}

/// The first page, unless the query says otherwise.
pub(super) fn first_page() -> Paging {
    Paging { limit: PAGE, after: None }
}

/// Takes `limit` and `after` of a query; whether it was one of them.
pub(super) fn paged(paging: &mut Paging, name: &str, value: &str) -> Result<bool, Problem> {
    match name {
        "limit" => {
            let limit = value.parse().ok().filter(|limit| (1..=LARGEST_PAGE).contains(limit));
            paging.limit = limit.ok_or_else(|| Problem::wrong(format!("limit must be 1 to {LARGEST_PAGE}")))?;
        }
        "after" => {
            let mark =
                value.split_once('.').and_then(|(at, id)| Some(Mark { at: at.parse().ok()?, id: id.to_owned() }));
            paging.after = Some(mark.ok_or_else(|| Problem::wrong("after must be the 'next' of the page before"))?);
        }
        _ => return Ok(false),
    }
    Ok(true)
}

/// A page under the name of what is on it, with the `after` of the one that follows.
pub(super) fn page<T>(name: &str, page: &Page<T>, item: impl Fn(&T) -> Value) -> Value {
    let next = page.next.as_ref().map(|mark| format!("{}.{}", mark.at, mark.id));
    json!({name: page.items.iter().map(item).collect::<Vec<_>>(), "next": next})
}

/// A body that is JSON and says so: a form of another site can't, and so never answers in a browser's name.
pub(super) async fn read<T: DeserializeOwned + Default>(
    head: &Parts,
    body: RequestBody,
    most: usize,
) -> Result<T, Problem> {
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
    let seat = body.seat();
    let read = body.signed_in().whole(most, async || true).await;
    let WholeBody { bytes, charge: _charge } = read.map_err(|unread| unread_problem(unread, most))?;
    if seat.is_some_and(|seat| !seat.take()) {
        return Err(Problem::overloaded("too many requests are being answered"));
    }
    if bytes.is_empty() {
        return Ok(T::default());
    }
    // a list would do for a structure otherwise
    if bytes.trim_ascii_start().first() != Some(&b'{') {
        return Err(Problem::wrong("the body must be a JSON object"));
    }
    if std::str::from_utf8(&bytes).is_ok_and(toolgate_core::has_reserved_key) {
        return Err(Problem::wrong("the body has a key that is reserved and can't be passed on; use another key"));
    }
    serde_json::from_slice(&bytes).map_err(|fault| Problem::wrong(format!("the body is wrong: {fault}")))
}

fn unread_problem(unread: Unread, most: usize) -> Problem {
    match unread {
        Unread::TooLarge => {
            let message = format!("the body is larger than {most} bytes");
            Problem::new(StatusCode::PAYLOAD_TOO_LARGE, "too_large", message, "send less")
        }
        Unread::CutOff => Problem::wrong("the body was cut off"),
        Unread::Slow => {
            Problem::new(StatusCode::REQUEST_TIMEOUT, "slow", "the body did not arrive in time", "send it at once")
        }
        Unread::NoRoom => Problem::overloaded("too many bytes of requests are being read"),
    }
}

pub(super) fn sent(status: StatusCode, body: &Value) -> Answer {
    let answer = with_header(text(status, body.to_string()), header::CONTENT_TYPE, "application/json");
    with_header(answer, header::CACHE_CONTROL, "no-store")
}
