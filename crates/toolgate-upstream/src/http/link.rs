//! Talks to one server over HTTP. Nothing of a caller's own request goes along: only what the configuration says.

use std::{
    sync::{
        Arc, OnceLock,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use bytes::Bytes;
use http::{
    HeaderMap, Method, StatusCode, Uri,
    header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderName, HeaderValue},
};
use tokio::sync::Notify;
use url::Url;

use super::{
    Credentials, body,
    events::Events,
    pool::{Answer, Pool},
};
use crate::{
    UpstreamConfig,
    calls::{Calls, Under, Whose},
    config::Transport,
    counts::Counts,
    era::Era,
    fault::{Fault, shortened},
    message::{self, Kind},
};

const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");
const VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");
const LAST_EVENT: HeaderName = HeaderName::from_static("last-event-id");
/// A refusal's text is short; this much of it is read.
const REFUSAL: usize = 64 << 10;

#[derive(Clone)]
pub(crate) struct HttpLink {
    pool: Pool,
    /// Of every request.
    headers: Arc<HeaderMap>,
    credentials: Option<Arc<Credentials>>,
    session: Arc<OnceLock<HeaderValue>>,
    /// The session is gone.
    ended: Arc<Notify>,
    next: Arc<AtomicU64>,
    calls: Arc<Calls>,
    counts: Arc<Counts>,
    most: usize,
}

/// What a request's head says besides the credentials.
#[derive(Default)]
pub(crate) struct Head {
    /// None before a version is agreed on.
    pub(crate) era: Option<Era>,
    /// Headers that repeat the body, or say where a stream is to go on.
    pub(crate) more: Vec<(HeaderName, HeaderValue)>,
}

impl HttpLink {
    pub(crate) fn new(
        config: &UpstreamConfig,
        counts: Arc<Counts>,
        credentials: Option<Arc<Credentials>>,
    ) -> Result<Self, Fault> {
        let wrong = |why: String| Fault::Misconfigured { why };
        let Transport::Http { url, headers, .. } = &config.transport else {
            return Err(wrong("it has no url".to_owned()));
        };
        let url = Url::parse(url).map_err(|fault| wrong(format!("its url is not one ({fault})")))?;
        let pool = Pool::to(asked_at(&url)?);
        let mut own = HeaderMap::new();
        for (name, value) in headers {
            let key =
                HeaderName::try_from(name.as_str()).map_err(|_| wrong(format!("header name '{name}' is not one")))?;
            let value = HeaderValue::try_from(value.reveal());
            let mut value = value.map_err(|_| wrong(format!("the value of header '{name}' can't be sent")))?;
            value.set_sensitive(true);
            own.append(key, value);
        }
        if credentials.is_some() && own.contains_key(AUTHORIZATION) {
            return Err(wrong("it has both a header Authorization and client credentials".to_owned()));
        }
        let most = config.message_bytes();
        Ok(Self {
            pool,
            headers: Arc::new(own),
            credentials,
            session: Arc::default(),
            ended: Arc::default(),
            next: Arc::new(AtomicU64::new(1)),
            calls: Calls::new(config, Arc::clone(&counts)),
            counts,
            most,
        })
    }

    pub(crate) fn next_id(&self) -> u64 {
        self.next.fetch_add(1, Ordering::Relaxed)
    }

    pub(crate) fn calls(&self) -> &Arc<Calls> {
        &self.calls
    }

    pub(crate) async fn request(&self, id: u64, body: Bytes, head: Head, under: Option<Under>) -> Result<Bytes, Fault> {
        let told = under.is_some() && matches!(head.era, Some(Era::Legacy(_)));
        let mut hung_up = HungUp { link: self, era: head.era.filter(|_| told), id };
        let whose = under.as_ref().map_or(Whose::Nobodys, |under| Whose::Of(&under.turn));
        let answer = self.exchange(id, body, head, whose).await;
        if let Err(fault) = &answer {
            self.calls.refused(id, fault);
        }
        if answer.as_ref().map_or_else(Fault::is_final, |_| true) {
            self.calls.over(id);
        }
        hung_up.era = None;
        answer
    }

    async fn exchange(&self, id: u64, body: Bytes, head: Head, whose: Whose<'_>) -> Result<Bytes, Fault> {
        let mut response = self.post(body, &head).await?;
        if head.era.is_none()
            && let Some(session) = response.headers().get(SESSION)
        {
            let _ = self.session.set(session.clone());
        }
        if !body::is_events(&response)? {
            let whole = body::whole(&mut response, self.most).await?;
            return match message::read(&whole) {
                Some(Kind::Answer(Some(given), answer)) if given == id => answer,
                // an error before the id was read has none
                Some(Kind::Answer(None, Err(fault))) => Err(fault),
                Some(_) => Err(Fault::protocol("it answered another request than the one it was asked")),
                None => Err(Fault::protocol("its answer is not a message")),
            };
        }
        // boxed: too deep to lie inside the future of every call
        Box::pin(self.heard(id, response, &head, whose)).await
    }

    /// The answer from a stream of events, and what else comes on it.
    async fn heard(&self, id: u64, mut response: Answer, head: &Head, mut whose: Whose<'_>) -> Result<Bytes, Fault> {
        let mut events = Events::new(self.most);
        loop {
            let end = match response.piece().await {
                Ok(Some(piece)) => {
                    for data in events.push(&piece)? {
                        match message::read(&data) {
                            Some(Kind::Answer(Some(given), answer)) if given == id => return answer,
                            other => self.take(other, &data, head, &whose).await,
                        }
                    }
                    continue;
                }
                Ok(None) => Fault::Lost { why: "it closed the stream".to_owned() },
                Err(fault) => fault,
            };
            response = Box::pin(self.gone_on(&mut events, head, end)).await?;
            // a server that overlooks which stream is meant opens the one it has for all calls
            whose = Whose::Unsaid;
        }
    }

    /// A stream of the older era may end before its answer, which then comes on another. The request is not sent again:
    /// the id of the last event says what is asked for.
    async fn gone_on(&self, events: &mut Events, head: &Head, end: Fault) -> Result<Answer, Fault> {
        let older = matches!(head.era, Some(Era::Legacy(_)));
        while let Some((pause, last)) = events.place.again().filter(|_| older) {
            tokio::time::sleep(pause).await;
            let head = Head { era: head.era, more: vec![(LAST_EVENT, last)] };
            match self.send(Method::GET, Bytes::new(), &head).await {
                Ok(response) if body::is_events(&response) == Ok(true) => {
                    events.go_on();
                    return Ok(response);
                }
                Err(Fault::Unreachable { .. } | Fault::Lost { .. }) => {}
                Ok(_) | Err(_) => break,
            }
        }
        Err(end)
    }

    /// Reads notifications until the stream ends: `body` opens one in the newer era, GET in the older.
    pub(crate) async fn listen(&self, body: Option<Bytes>, head: Head) -> Result<(), Fault> {
        let mut response = match body {
            Some(body) => self.post(body, &head).await?,
            None => self.send(Method::GET, Bytes::new(), &head).await?,
        };
        if !body::is_events(&response)? {
            return Err(Fault::protocol("it gave no stream of events"));
        }
        let whose = if matches!(head.era, Some(Era::Legacy(_))) { Whose::Unsaid } else { Whose::Nobodys };
        let mut events = Events::new(self.most);
        while let Some(piece) = response.piece().await? {
            for data in events.push(&piece)? {
                self.take(message::read(&data), &data, &head, &whose).await;
            }
        }
        Ok(())
    }

    pub(crate) async fn notify(&self, body: Bytes, head: Head) -> Result<(), Fault> {
        self.post(body, &head).await.map(drop)
    }

    pub(crate) async fn session_ended(&self) -> String {
        self.ended.notified().await;
        "its session ended".to_owned()
    }

    /// Says goodbye to a session.
    pub(crate) async fn close(&self, era: &Era) {
        if self.session.get().is_some() {
            let head = Head { era: Some(*era), ..Head::default() };
            let _ = tokio::time::timeout(Duration::from_secs(1), self.send(Method::DELETE, Bytes::new(), &head)).await;
        }
    }

    /// Anything but the answer that is waited for.
    async fn take(&self, message: Option<Kind<'_>>, data: &Bytes, head: &Head, whose: &Whose<'_>) {
        match message {
            Some(Kind::Answer(..)) => self.counts.unmatched(),
            Some(Kind::Request(request)) => {
                let plain = || Head { era: head.era, ..Head::default() };
                let (link, head) = (self.clone(), plain());
                let send = |reply: Bytes| async move { drop(link.post(reply, &head).await) };
                if let Some(reply) = self.calls.asked(whose, &request, send) {
                    // waited for: a server that asks without end is read no faster than it is answered
                    let _ = self.post(reply, &plain()).await;
                }
            }
            Some(Kind::Notification(method, params)) => self.calls.told(whose, &method, params),
            None => self.counts.garbage(data),
        }
    }

    fn post(&self, body: Bytes, head: &Head) -> impl Future<Output = Result<Answer, Fault>> + Send {
        self.send(Method::POST, body, head)
    }

    async fn send(&self, method: Method, body: Bytes, head: &Head) -> Result<Answer, Fault> {
        // a server without streams or goodbyes may answer those with the same status
        let may_lose = method == Method::POST && head.era.is_some();
        let response = match &self.credentials {
            None => self.pool.send(method.clone(), self.fields(&method, head, None), body).await?,
            Some(credentials) => Box::pin(self.sent(credentials, &method, body, head)).await?,
        };
        if response.status().is_success() {
            Ok(response)
        } else {
            Err(Box::pin(self.refused(response, may_lose)).await)
        }
    }

    /// With a token, and with another one where that is not taken any more.
    async fn sent(
        &self,
        credentials: &Credentials,
        method: &Method,
        body: Bytes,
        head: &Head,
    ) -> Result<Answer, Fault> {
        let token = credentials.header().await?;
        let fields = self.fields(method, head, Some(&token));
        let response = self.pool.send(method.clone(), fields, body.clone()).await?;
        if response.status() != StatusCode::UNAUTHORIZED {
            return Ok(response);
        }
        // it was not run: with another token it is the same request, for the first time
        credentials.refused(&token).await;
        let token = credentials.header().await?;
        self.pool.send(method.clone(), self.fields(method, head, Some(&token)), body).await
    }

    fn fields(&self, method: &Method, head: &Head, token: Option<&HeaderValue>) -> HeaderMap {
        let mut headers = HeaderMap::clone(&self.headers);
        headers.reserve(8);
        let accepts = if method == Method::GET { "text/event-stream" } else { "application/json, text/event-stream" };
        headers.insert(ACCEPT, HeaderValue::from_static(accepts));
        if let Some(token) = token {
            headers.insert(AUTHORIZATION, token.clone());
        }
        if let Some(era) = &head.era {
            headers.insert(VERSION, era.header());
            if let Some(session) = self.session.get() {
                headers.insert(SESSION, session.clone());
            }
        }
        for (name, value) in &head.more {
            headers.insert(name, value.clone());
        }
        if method == Method::POST {
            headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        }
        headers
    }

    async fn refused(&self, mut response: Answer, may_lose: bool) -> Fault {
        let status = response.status();
        if status == StatusCode::NOT_FOUND && may_lose && self.session.get().is_some() {
            self.ended.notify_one();
            return Fault::SessionLost;
        }
        let text = body::whole(&mut response, REFUSAL).await.unwrap_or_default();
        let detail = match message::read(&text) {
            Some(Kind::Answer(_, Err(fault @ Fault::Refused { .. }))) if status.is_client_error() => {
                if !matches!(status.as_u16(), 401 | 403) {
                    return fault;
                }
                Some(fault.to_string())
            }
            Some(Kind::Answer(_, Err(Fault::Refused { message, .. }))) => Some(shortened(&message, 200)),
            _ => None,
        };
        Fault::Status { status: status.as_u16(), detail }
    }
}

/// The address as it is asked. A password in it would be in every log that names it.
pub(super) fn asked_at(url: &Url) -> Result<Uri, Fault> {
    let wrong = |why: &str| Fault::Misconfigured { why: why.to_owned() };
    if !matches!(url.scheme(), "http" | "https") {
        return Err(wrong("its url is neither http nor https"));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(wrong("its url holds a user or a password; give them as a header Authorization instead"));
    }
    let asked = url.as_str().split('#').next().unwrap_or_default();
    asked.parse().map_err(|_| wrong("its url can't be asked"))
}

/// A call under way. In the newer era hanging up is enough; in the older the server is told.
struct HungUp<'a> {
    link: &'a HttpLink,
    era: Option<Era>,
    id: u64,
}

impl Drop for HungUp<'_> {
    fn drop(&mut self) {
        let (Some(era), Ok(runtime)) = (self.era.take(), tokio::runtime::Handle::try_current()) else { return };
        let (link, body) = (self.link.clone(), message::cancelled(self.id));
        runtime.spawn(async move {
            let head = Head { era: Some(era), ..Head::default() };
            let _ = tokio::time::timeout(Duration::from_secs(5), link.notify(body, head)).await;
        });
    }
}
