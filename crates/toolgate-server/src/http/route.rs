//! From a request to the room that answers it.

use std::net::IpAddr;

use bytes::Bytes;
use http::{HeaderName, HeaderValue, Method, Request, Response, StatusCode, header, request::Parts};
use hyper::body::Incoming;
use toolgate_mcp::{Credentials, Peer, ReplyBody};

use super::{
    ServerLimits, Site, admin,
    answer_cache::NotReady,
    approvals,
    body::{OutBody, RequestBody, Seat, Unread, WholeBody},
    client_address::ClientAddress,
    front::Refused,
    json::Problem,
    processes, routes, team,
};

pub(super) type Answer = Response<OutBody>;

const METADATA: &str = "/.well-known/oauth-protected-resource";

impl Site {
    pub(super) async fn answer(&self, request: Request<Incoming>, peer: IpAddr) -> Answer {
        let (mut head, body) = request.into_parts();
        let address = self.proxies.client(peer, &head.headers);
        if head.uri.path() != "/mcp" {
            head.extensions.insert(ClientAddress(address));
        }
        let origin = match self.front.check(&head.uri, &head.headers) {
            Ok(origin) => origin.cloned(),
            Err(Refused::Host) if is_probe(&head) => None,
            Err(refused) => return turned_away(refused),
        };
        if head.headers.get_all(header::AUTHORIZATION).iter().nth(1).is_some() {
            return refusal(StatusCode::BAD_REQUEST, "header authorization is there more than once; send it once");
        }
        let mut answer = self.route(&head, body, (origin.is_some(), address)).await;
        if let Some(origin) = origin {
            let headers = answer.headers_mut();
            headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin);
            headers.insert(header::VARY, HeaderValue::from_static("Origin"));
            headers.insert(
                header::ACCESS_CONTROL_EXPOSE_HEADERS,
                HeaderValue::from_static("Mcp-Session-Id, WWW-Authenticate, Retry-After"),
            );
        }
        answer
    }

    async fn route(&self, head: &Parts, body: Incoming, (browser, address): (bool, IpAddr)) -> Answer {
        if !admin::is_here(head.uri.path())
            && let Some(refusal) = routes::refusal(head)
        {
            return refusal;
        }
        match (head.uri.path(), &head.method) {
            ("/mcp", &Method::POST) => self.post(head, body, address).await,
            ("/mcp", &Method::GET) => {
                Box::pin(self.wire.get(head, Some(address))).await.into_response().map(OutBody::from)
            }
            ("/mcp", &Method::DELETE) => {
                Box::pin(self.wire.delete(head, Some(address))).await.into_response().map(OutBody::from)
            }
            ("/mcp", &Method::OPTIONS) if browser => preflight(head),
            ("/mcp", _) => routes::wrong_method("/mcp"),
            ("/api/v1/openapi.json", &Method::GET) => match Seat::taken(&self.limits.places) {
                Some(_seat) => Box::pin(self.openapi(head)).await,
                None => Problem::overloaded("too many requests are being answered").answer(),
            },
            (path, _) if is_rest(path) => Box::pin(self.rest(head, body, (browser, address))).await,
            ("/healthz", &Method::GET) => text(StatusCode::OK, "ok\n"),
            ("/readyz", &Method::GET) => Box::pin(self.ready()).await,
            ("/metrics", &Method::GET) => match Seat::taken(&self.limits.places) {
                Some(_seat) => Box::pin(self.metrics(head)).await,
                None => overloaded("too many requests are being answered; try again in 1 s"),
            },
            (path, &Method::GET) if path == METADATA || path.strip_prefix(METADATA) == Some("/mcp") => self.metadata(),
            _ => text(StatusCode::NOT_FOUND, "nothing is at this address; MCP is at /mcp\n"),
        }
    }

    /// The addresses under `/api/v1`, each request in a place among those that are being answered.
    async fn rest(&self, head: &Parts, body: Incoming, (browser, address): (bool, IpAddr)) -> Answer {
        let seat = Seat::new(&self.limits.places);
        let body = RequestBody::new(body, self.limits.bodies.charge(address), Some(seat.clone()));
        let waits_for_body = matches!(head.method, Method::POST | Method::PUT | Method::PATCH) && !body.is_empty();
        if self.limits.places.is_full() || !waits_for_body && !seat.take() {
            return Problem::overloaded("too many requests are being answered").answer();
        }
        match head.uri.path() {
            path if admin::is_here(path) => Box::pin(self.admin(head, body, browser)).await,
            path if approvals::is_here(path) => Box::pin(self.approvals(head, body, browser)).await,
            path if processes::is_here(path) => Box::pin(self.processes(head, body, browser)).await,
            _ => Box::pin(self.team(head, body, browser)).await,
        }
    }

    async fn post(&self, head: &Parts, body: Incoming, address: IpAddr) -> Answer {
        let ServerLimits { places, bodies, body_bytes, .. } = &self.limits;
        // said before anything is read; the place itself is taken after, so that who sends slowly holds none
        if places.is_full() {
            return overloaded("too many messages are being answered; try again in 1 s");
        }
        let body = RequestBody::new(body, bodies.charge(address), None);
        let is_signed_in = async || {
            let identified = self.identify.identify(Credentials { address: Some(address), ..by_header(head) }).await;
            identified.is_ok_and(|identified| identified.caller.is_signed_in())
        };
        match body.whole(*body_bytes, is_signed_in).await {
            Ok(WholeBody { bytes, charge }) => {
                let Some(place) = places.enter(charge.counted()) else {
                    return overloaded("too many messages are being answered; try again in 1 s");
                };
                let peer = Peer { address: Some(address), place: Some(place) };
                // boxed: a future within a future is copied into it, and there are some around this one
                Box::pin(self.wire.post(head, bytes, &peer)).await.into_response().map(OutBody::from)
            }
            Err(Unread::TooLarge) => refusal(
                StatusCode::PAYLOAD_TOO_LARGE,
                &format!("the message is larger than {body_bytes} bytes; send less at once"),
            ),
            Err(Unread::CutOff) => refusal(StatusCode::BAD_REQUEST, "the message was cut off"),
            Err(Unread::Slow) => refusal(StatusCode::REQUEST_TIMEOUT, "the message did not arrive in time"),
            Err(Unread::NoRoom) => overloaded("too many bytes of messages are being read; try again in 1 s"),
        }
    }

    async fn ready(&self) -> Answer {
        match self.cache.readiness(self.check()).await {
            Ok(()) => text(StatusCode::OK, "ready\n"),
            Err(problem) => text(StatusCode::SERVICE_UNAVAILABLE, format!("{problem}\n")),
        }
    }

    /// Asks the store and the ledger whether they work.
    async fn check(&self) -> Result<(), NotReady> {
        let fault = self.store.ping().await.err();
        if let Some(fault) = fault {
            return Err(NotReady { told: "the store does not answer", fault: fault.to_string() });
        }
        let Some(books) = self.spine.books() else { return Ok(()) };
        let health = books.ledger().health().await;
        health.map_err(|fault| NotReady { told: fault.cause.as_str(), fault: fault.to_string() })
    }

    /// Its labels name tools, so it is for operators.
    async fn metrics(&self, head: &Parts) -> Answer {
        match self.identified(head).await {
            Ok(identified) if identified.caller.operator => with_header(
                text(StatusCode::OK, self.spine.recorder().metrics()),
                header::CONTENT_TYPE,
                "text/plain; version=0.0.4; charset=utf-8",
            ),
            Ok(identified) if identified.caller.is_signed_in() => {
                text(StatusCode::FORBIDDEN, "metrics are for operators: toolgate token mint --user NAME --operator\n")
            }
            Ok(_) => with_header(
                text(
                    StatusCode::UNAUTHORIZED,
                    "metrics are for operators: toolgate token mint --user NAME --operator\n",
                ),
                header::WWW_AUTHENTICATE,
                "Bearer",
            ),
            Err(fault) => text(StatusCode::SERVICE_UNAVAILABLE, format!("{fault}\n")),
        }
    }

    fn metadata(&self) -> Answer {
        match &self.metadata {
            Some(metadata) => {
                with_header(text(StatusCode::OK, metadata.clone()), header::CONTENT_TYPE, "application/json")
            }
            None => text(StatusCode::NOT_FOUND, "no issuer is configured: [[identity.issuers]] in toolgate.toml\n"),
        }
    }
}

/// Whether the path is one of those under `/api/v1`.
fn is_rest(path: &str) -> bool {
    admin::is_here(path) || approvals::is_here(path) || processes::is_here(path) || team::is_here(path)
}

/// Who asks outside MCP: by the header alone.
pub(super) fn by_header(head: &Parts) -> Credentials<'_> {
    let bearer = head
        .headers
        .get(header::AUTHORIZATION)
        .and_then(|value| value.to_str().ok())
        .and_then(|value| value.split_once(' '))
        .and_then(|(scheme, token)| scheme.eq_ignore_ascii_case("bearer").then(|| token.trim()));
    let address = head.extensions.get::<ClientAddress>().map(|client| client.0);
    Credentials { bearer, browser: head.headers.contains_key(header::ORIGIN), address, ..Credentials::default() }
}

/// Load balancers and schedulers probe by whatever address they know, and learn nothing but a state.
fn is_probe(head: &Parts) -> bool {
    head.method == Method::GET
        && matches!(head.uri.path(), "/healthz" | "/readyz")
        && !head.headers.contains_key(header::ORIGIN)
}

fn turned_away(refused: Refused) -> Answer {
    let why = match refused {
        Refused::Host => "this server does not go by that Host; let it in with [server] hosts",
        Refused::Origin => "requests from that Origin are not taken; let it in with [server] origins",
    };
    refusal(StatusCode::FORBIDDEN, why)
}

fn refusal(status: StatusCode, message: &str) -> Answer {
    failure(status, -32600, message)
}

/// Too much at once.
fn overloaded(message: &str) -> Answer {
    with_header(failure(StatusCode::SERVICE_UNAVAILABLE, -32603, message), header::RETRY_AFTER, "1")
}

/// A JSON-RPC error without an id: what went wrong happened before there was a message.
fn failure(status: StatusCode, code: i32, message: &str) -> Answer {
    let body = serde_json::json!({"jsonrpc": "2.0", "error": {"code": code, "message": message}}).to_string();
    with_header(text(status, body), header::CONTENT_TYPE, "application/json")
}

/// Headers are the wire's to judge, and who may ask at all was settled before: whatever was asked for may come.
pub(super) fn preflight(head: &Parts) -> Answer {
    let mut answer = Response::new(OutBody::from(ReplyBody::Empty));
    *answer.status_mut() = StatusCode::NO_CONTENT;
    if let Some(wanted) = head.headers.get(header::ACCESS_CONTROL_REQUEST_HEADERS) {
        answer.headers_mut().insert(header::ACCESS_CONTROL_ALLOW_HEADERS, wanted.clone());
    }
    with_header(answer, header::ACCESS_CONTROL_ALLOW_METHODS, "POST, GET, DELETE")
}

pub(super) fn text(status: StatusCode, body: impl Into<Bytes>) -> Answer {
    let mut answer = Response::new(OutBody::from(body.into()));
    *answer.status_mut() = status;
    with_header(answer, header::CONTENT_TYPE, "text/plain; charset=utf-8")
}

pub(super) fn with_header(mut answer: Answer, name: HeaderName, value: &'static str) -> Answer {
    answer.headers_mut().insert(name, HeaderValue::from_static(value));
    answer
}
