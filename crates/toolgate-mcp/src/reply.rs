//! What goes back over HTTP: a status, a few headers, and a body of bytes that are mostly somebody else's.

use bytes::Bytes;
use http::{HeaderValue, Response, StatusCode, header};
use tokio::sync::mpsc;

use crate::{headers, refusal::Refusal};

/// An answer, for whoever speaks HTTP to write out.
#[derive(Debug)]
pub struct Reply {
    pub status: StatusCode,
    /// `Mcp-Session-Id` of a new legacy session.
    pub session: Option<HeaderValue>,
    /// `WWW-Authenticate`
    pub challenge: Option<HeaderValue>,
    /// `Allow`
    pub allow: Option<HeaderValue>,
    /// `Retry-After`
    pub retry_after: Option<HeaderValue>,
    pub body: ReplyBody,
}

#[derive(Debug)]
pub enum ReplyBody {
    Empty,
    /// One JSON message in pieces, to be written one after the other; some may be empty.
    Json([Bytes; 3]),
    /// Server-sent events. Dropping the receiver is how the client hangs up.
    Events(mpsc::Receiver<Bytes>),
}

impl Reply {
    pub(crate) fn accepted() -> Self {
        Self::with(StatusCode::ACCEPTED, ReplyBody::Empty)
    }

    pub(crate) fn json(parts: [Bytes; 3]) -> Self {
        Self::with(StatusCode::OK, ReplyBody::Json(parts))
    }

    pub(crate) fn events(receiver: mpsc::Receiver<Bytes>) -> Self {
        Self::with(StatusCode::OK, ReplyBody::Events(receiver))
    }

    pub(crate) fn refused(refusal: &Refusal, id: Option<&str>) -> Self {
        Self {
            challenge: refusal.rare().and_then(|rare| rare.challenge.clone()),
            allow: refusal.rare().and_then(|rare| rare.allow.clone()),
            retry_after: refusal.rare().and_then(|rare| rare.retry_after.clone()),
            ..Self::with(refusal.status, ReplyBody::Json([refusal.body(id).into(), Bytes::new(), Bytes::new()]))
        }
    }

    fn with(status: StatusCode, body: ReplyBody) -> Self {
        Self { status, session: None, challenge: None, allow: None, retry_after: None, body }
    }

    /// The same as an HTTP response, its headers set.
    pub fn into_response(self) -> Response<ReplyBody> {
        let content_type = match &self.body {
            ReplyBody::Empty => None,
            ReplyBody::Json(_) => Some(HeaderValue::from_static("application/json")),
            ReplyBody::Events(_) => Some(HeaderValue::from_static("text/event-stream")),
        };
        let streams = matches!(self.body, ReplyBody::Events(_));
        let mut response = Response::new(self.body);
        *response.status_mut() = self.status;
        let named = [
            (header::CONTENT_TYPE, content_type),
            (headers::SESSION_ID, self.session),
            (header::WWW_AUTHENTICATE, self.challenge),
            (header::ALLOW, self.allow),
            (header::RETRY_AFTER, self.retry_after),
            (header::CACHE_CONTROL, streams.then(|| HeaderValue::from_static("no-cache"))),
            // Proxies that buffer would hold events back.
            (headers::ACCEL_BUFFERING, streams.then(|| HeaderValue::from_static("no"))),
        ];
        for (name, value) in named {
            if let Some(value) = value {
                response.headers_mut().insert(name, value);
            }
        }
        response
    }
}
