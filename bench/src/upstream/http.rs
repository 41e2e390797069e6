//! The bench's MCP server over HTTP, with sessions in the older era.

use std::cell::Cell;
use std::convert::Infallible;
use std::net::SocketAddr;
use std::rc::Rc;

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::header::{HeaderMap, HeaderValue};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;

use super::host::{Host, Reply};
use crate::failure::Failure;
use crate::serving;

const SESSION: &str = "mcp-session-id";
const VERSION: &str = "mcp-protocol-version";

struct Site {
    host: Host,
    sessions: Sessions,
}

/// Sessions are numbered; those that have ended are not told apart, since none ends before the run does.
#[derive(Default)]
struct Sessions(Cell<u64>);

impl Sessions {
    fn begin(&self) -> String {
        self.0.set(self.0.get() + 1);
        format!("bench-{}", self.0.get())
    }

    /// A request of the older era must name a session that was begun. Who names no version is no MCP client at all, and
    /// that is how a limit asks.
    fn admit(&self, head: &HeaderMap) -> bool {
        let older = head.get(VERSION).is_some_and(|version| version == "2025-11-25");
        let number = head.get(SESSION).and_then(|session| session.to_str().ok()?.strip_prefix("bench-")?.parse().ok());
        !older || number.is_some_and(|number| (1..=self.0.get()).contains(&number))
    }
}

pub(super) async fn serve(address: SocketAddr, host: Host) -> Result<(), Failure> {
    let site = Rc::new(Site { host, sessions: Sessions::default() });
    serving::listen(address, |stream| connection(stream, Rc::clone(&site))).await
}

async fn connection(stream: TcpStream, site: Rc<Site>) {
    let service = service_fn(move |request| respond(request, Rc::clone(&site)));
    // A client that goes away ends its own connection and nothing else.
    let _ = http1::Builder::new().serve_connection(TokioIo::new(stream), service).await;
}

async fn respond(request: Request<Incoming>, site: Rc<Site>) -> Result<Response<Full<Bytes>>, Infallible> {
    if request.method() != Method::POST {
        return Ok(serving::bare(StatusCode::METHOD_NOT_ALLOWED));
    }
    let (head, body) = request.into_parts();
    let Ok(body) = body.collect().await else {
        return Ok(serving::bare(StatusCode::BAD_REQUEST));
    };
    if !site.sessions.admit(&head.headers) {
        return Ok(serving::bare(StatusCode::NOT_FOUND));
    }
    Ok(match site.host.reply(&body.to_bytes()) {
        Reply::Answer(answer) => serving::json(answer.into()),
        Reply::Nothing => serving::bare(StatusCode::ACCEPTED),
        Reply::Welcome(answer) => {
            let mut response = serving::json(answer.into());
            if let Ok(session) = HeaderValue::try_from(site.sessions.begin()) {
                response.headers_mut().insert(SESSION, session);
            }
            response
        }
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn head(fields: &[(&'static str, &'static str)]) -> HeaderMap {
        fields.iter().map(|(name, value)| (name.parse().unwrap(), HeaderValue::from_static(value))).collect()
    }

    #[test]
    fn the_older_era_needs_a_session_that_was_begun() {
        let sessions = Sessions::default();
        let named = head(&[(VERSION, "2025-11-25"), (SESSION, "bench-1")]);
        assert!(!sessions.admit(&named));
        assert_eq!(sessions.begin(), "bench-1");
        assert!(sessions.admit(&named));
        assert!(!sessions.admit(&head(&[(VERSION, "2025-11-25")])));
        assert!(!sessions.admit(&head(&[(VERSION, "2025-11-25"), (SESSION, "bench-2")])));
    }

    #[test]
    fn the_newer_era_and_a_bare_request_need_none() {
        let sessions = Sessions::default();
        assert!(sessions.admit(&head(&[(VERSION, "2026-07-28")])));
        assert!(sessions.admit(&head(&[])));
    }
}
