//! The connections to one server, kept for the next request.
//!
//! INVARIANT: a request that may have reached the server is never sent again. One that certainly was not sent, since its
//! connection had just gone, is.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use bytes::Bytes;
use http::{
    HeaderMap, HeaderValue, Method, Request, StatusCode, Uri,
    header::{HOST, PROXY_AUTHORIZATION},
    response,
};
use http_body_util::{BodyExt, Full};
use hyper::{
    body::{Body, Incoming},
    client::conn::{http1, http2},
};

use super::{
    body,
    dial::{Opened, Way},
};
use crate::fault::Fault;

/// A connection nobody has used for so long is closed: the server may be about to.
const IDLE: Duration = Duration::from_secs(60);

#[derive(Clone)]
pub(super) struct Pool(Arc<Inner>);

struct Inner {
    way: Way,
    /// As they stand in a request of HTTP/1.
    target: Uri,
    host: HeaderValue,
    kept: Mutex<Kept>,
}

#[derive(Default)]
struct Kept {
    /// The one used last is used first.
    idle: Vec<(http1::SendRequest<Full<Bytes>>, Instant)>,
    shared: Option<http2::SendRequest<Full<Bytes>>>,
}

impl Pool {
    pub(super) fn to(uri: Uri) -> Self {
        let way = Way::to(uri);
        let target = match way.uri().path_and_query() {
            Some(path) if !way.is_told_whole() => Uri::from(path.clone()),
            _ => way.uri().clone(),
        };
        let host = way.uri().authority().and_then(|authority| HeaderValue::try_from(authority.as_str()).ok());
        let host = host.unwrap_or(HeaderValue::from_static(""));
        Self(Arc::new(Inner { way, target, host, kept: Mutex::default() }))
    }

    /// Sends the request, and waits for the head of the answer.
    pub(super) async fn send(&self, method: Method, mut headers: HeaderMap, body: Bytes) -> Result<Answer, Fault> {
        if let Some(credentials) = self.0.way.proxy_credentials() {
            headers.insert(PROXY_AUTHORIZATION, credentials.clone());
        }
        let mut request = Request::new(Full::new(body));
        (*request.method_mut(), *request.headers_mut()) = (method, headers);
        loop {
            let (connection, is_new) = match self.0.take() {
                Some(kept) => (kept, false),
                // boxed, like what follows: rare, and too deep to lie inside the future of every call
                None => (Box::pin(self.0.way.open()).await?, true),
            };
            let answer = match connection {
                Opened::One(sender) => self.ask_one(sender, request).await,
                Opened::Many(sender) => Box::pin(self.ask_many(sender, request)).await,
            };
            match answer {
                Ok(answer) => return Ok(answer),
                Err(Unanswered::Lost(fault)) => return Err(fault),
                Err(Unanswered::Unsent(fault, _)) if is_new => return Err(fault),
                Err(Unanswered::Unsent(_, unsent)) => request = *unsent,
            }
        }
    }

    async fn ask_one(
        &self,
        mut sender: http1::SendRequest<Full<Bytes>>,
        mut request: Request<Full<Bytes>>,
    ) -> Result<Answer, Unanswered> {
        if let Err(fault) = sender.ready().await {
            return Err(Unanswered::unsent(&fault, request));
        }
        request.uri_mut().clone_from(&self.0.target);
        request.headers_mut().insert(HOST, self.0.host.clone());
        let (head, body) = sender.try_send_request(request).await.map_err(Unanswered::from)?.into_parts();
        Ok(Answer { head, body, back: Some((self.clone(), sender)) })
    }

    async fn ask_many(
        &self,
        mut sender: http2::SendRequest<Full<Bytes>>,
        mut request: Request<Full<Bytes>>,
    ) -> Result<Answer, Unanswered> {
        if let Err(fault) = sender.ready().await {
            self.0.share(None);
            return Err(Unanswered::unsent(&fault, request));
        }
        self.0.share(Some(&sender));
        request.uri_mut().clone_from(self.0.way.uri());
        request.headers_mut().remove(HOST);
        match sender.try_send_request(request).await {
            Ok(answer) => {
                let (head, body) = answer.into_parts();
                Ok(Answer { head, body, back: None })
            }
            Err(fault) => {
                // one that took nothing is not tried again
                self.0.share(None);
                Err(fault.into())
            }
        }
    }
}

impl Inner {
    fn take(&self) -> Option<Opened> {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(shared) = kept.shared.as_ref().filter(|shared| !shared.is_closed()) {
            return Some(Opened::Many(shared.clone()));
        }
        let fresh = |since: &Instant| since.elapsed() < IDLE;
        while let Some((sender, since)) = kept.idle.pop() {
            if !sender.is_closed() && fresh(&since) {
                return Some(Opened::One(sender));
            }
        }
        None
    }

    fn share(&self, sender: Option<&http2::SendRequest<Full<Bytes>>>) {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner).shared = sender.cloned();
    }

    fn put_back(&self, sender: http1::SendRequest<Full<Bytes>>) {
        if sender.is_closed() {
            return;
        }
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.idle.first().is_some_and(|(_, since)| since.elapsed() >= IDLE) {
            kept.idle.retain(|(_, since)| since.elapsed() < IDLE);
        }
        kept.idle.push((sender, Instant::now()));
    }
}

/// Why there is no answer.
enum Unanswered {
    /// Certainly not sent: the request comes back.
    Unsent(Fault, Box<Request<Full<Bytes>>>),
    Lost(Fault),
}

impl Unanswered {
    fn unsent(fault: &hyper::Error, request: Request<Full<Bytes>>) -> Self {
        Self::Unsent(Fault::Unreachable { why: body::innermost(fault) }, Box::new(request))
    }
}

impl From<hyper::client::conn::TrySendError<Request<Full<Bytes>>>> for Unanswered {
    fn from(mut fault: hyper::client::conn::TrySendError<Request<Full<Bytes>>>) -> Self {
        match fault.take_message() {
            Some(request) => Self::unsent(fault.error(), request),
            None => Self::Lost(body::lost(fault.error())),
        }
    }
}

/// An answer whose body is yet to be read. Read to its end, it gives its connection back; else that is closed.
pub(super) struct Answer {
    head: response::Parts,
    body: Incoming,
    back: Option<(Pool, http1::SendRequest<Full<Bytes>>)>,
}

impl Answer {
    pub(super) fn status(&self) -> StatusCode {
        self.head.status
    }

    pub(super) fn headers(&self) -> &HeaderMap {
        &self.head.headers
    }

    /// The body's length, where it was said.
    pub(super) fn length(&self) -> Option<u64> {
        self.body.size_hint().exact()
    }

    /// The next piece of the body.
    pub(super) async fn piece(&mut self) -> Result<Option<Bytes>, Fault> {
        while let Some(frame) = self.body.frame().await {
            if let Ok(data) = frame.map_err(|fault| body::lost(&fault))?.into_data() {
                if self.is_at_end() {
                    self.give_back();
                }
                return Ok(Some(data));
            }
        }
        self.give_back();
        Ok(None)
    }

    /// Whether there is no next piece. A body whose length was not said only tells by having none.
    pub(super) fn is_at_end(&self) -> bool {
        self.body.is_end_stream()
    }

    fn give_back(&mut self) {
        if let Some((pool, sender)) = self.back.take() {
            pool.0.put_back(sender);
        }
    }
}
