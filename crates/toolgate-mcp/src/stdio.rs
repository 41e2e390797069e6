//! One client on a line-based channel: feed lines in, take lines out.

use std::{
    collections::HashMap,
    sync::{Arc, OnceLock},
    time::Duration,
};

use bytes::Bytes;
use tokio::{
    sync::mpsc,
    task::{AbortHandle, JoinSet},
    time,
};

use crate::{
    abilities::Abilities,
    era::Version,
    framing,
    identity::Credentials,
    json::text,
    listen::Listener,
    message::{Kind, Message},
    method::Method,
    refusal::Refusal,
    reply::{Reply, ReplyBody},
    request::Answer,
    session::SessionId,
    under_way::key,
    wire::{self, Ask, Inner, Legacy, Transport, Wire},
};

/// Requests and subscriptions that one client may have open.
const MOST_AT_ONCE: usize = 256;

/// The state of one client: the version it agreed on and what is running for it.
pub struct StdioSession {
    client: Arc<Client>,
    negotiated: Option<Version>,
    listening: bool,
    /// By request id, so that it can be cancelled.
    running: HashMap<String, AbortHandle>,
    calls: JoinSet<()>,
    streams: JoinSet<()>,
}

/// What every task of a client shares.
struct Client {
    inner: Arc<Inner>,
    /// Used as the bearer token where a message carries none.
    token: Option<String>,
    out: mpsc::Sender<Bytes>,
    /// What a client of the older era said of itself.
    legacy: OnceLock<Legacy>,
}

impl Wire {
    /// A session, and the lines it wants written. They must be taken while lines are fed.
    pub fn stdio(&self, token: Option<String>) -> (StdioSession, mpsc::Receiver<Bytes>) {
        let (out, lines) = mpsc::channel(64);
        let session = StdioSession {
            client: Arc::new(Client { inner: self.inner.clone(), token, out, legacy: OnceLock::new() }),
            negotiated: None,
            listening: false,
            running: HashMap::new(),
            calls: JoinSet::new(),
            streams: JoinSet::new(),
        };
        (session, lines)
    }
}

impl StdioSession {
    /// Takes one line. Requests run on while the next line is fed.
    pub async fn feed(&mut self, line: Bytes) {
        if line.iter().all(u8::is_ascii_whitespace) {
            return;
        }
        if let Err((refusal, id)) = self.take(&line).await {
            self.client.send(&[&refusal.body(id)]).await;
        }
    }

    /// Ends the session after the last line: streams stop, calls have `grace` to finish.
    pub async fn finish(mut self, grace: Duration) {
        self.streams.abort_all();
        let finished = async { while self.calls.join_next().await.is_some() {} };
        // Whatever still runs is stopped when the set is dropped.
        let _ = time::timeout(grace, finished).await;
    }

    async fn take<'l>(&mut self, line: &'l Bytes) -> Result<(), (Refusal, Option<&'l str>)> {
        let inner = self.client.inner.clone();
        inner.check_size(line).map_err(|refusal| (refusal, None))?;
        let message = Message::read(line, &inner.config.limits)?;
        match (message.kind, message.id) {
            (Kind::Request, Some(id)) => self.request(line, &message, id).await.map_err(|refusal| (refusal, Some(id))),
            (Kind::Notification, _) => {
                self.notified(&message);
                Ok(())
            }
            _ => {
                if let Ok(identified) = inner.identify(self.client.credentials()).await {
                    let session = self.client.legacy.get().map(|legacy| legacy.session);
                    inner.questions.answered(&message, &identified.caller, session);
                }
                Ok(())
            }
        }
    }

    async fn request(&mut self, line: &Bytes, message: &Message<'_>, id: &str) -> Result<(), Refusal> {
        let version = self.version_of(message)?;
        let method = Method::of(version, &message.method);
        if method == Some(Method::Initialize) {
            let agreed = wire::negotiate(message)?;
            self.negotiated = Some(agreed);
            let mut session = SessionId::default();
            if aws_lc_rs::rand::fill(&mut session).is_ok() {
                let abilities = Abilities::declared(message.params.capabilities);
                let _ = self.client.legacy.set(Legacy {
                    abilities,
                    session,
                    expires: u64::MAX,
                    owner: crate::owner_key::OwnerKey::Address(None),
                });
            }
            let inner = &self.client.inner;
            let notice = Box::pin(inner.notice(self.client.credentials(), inner.spine.gate().lang())).await;
            let parts = inner.pieces.initialize(id, agreed, inner.spine.has_more(), notice.as_deref());
            self.client.send_parts(&parts).await;
            return Ok(());
        }
        while self.calls.try_join_next().is_some() {}
        while self.streams.try_join_next().is_some() {}
        self.running.retain(|_, task| !task.is_finished());
        if self.running.len() >= MOST_AT_ONCE {
            return Err(Refusal::unavailable(format!(
                "more than {MOST_AT_ONCE} requests at once; wait for an answer first"
            )));
        }
        let (client, line) = (self.client.clone(), line.clone());
        let tasks = if method == Some(Method::Listen) { &mut self.streams } else { &mut self.calls };
        let task = tasks.spawn(async move { client.answer(&line, version).await });
        self.running.insert(key(id), task);
        Ok(())
    }

    fn notified(&mut self, message: &Message<'_>) {
        match &*message.method {
            "notifications/cancelled" => {
                if let Some(task) = message.params.request_id.and_then(|id| self.running.remove(&key(id))) {
                    task.abort();
                }
            }
            // From here on a legacy client hears of changes to its list.
            "notifications/initialized" if self.negotiated.is_some() && !self.listening => {
                self.listening = true;
                let client = self.client.clone();
                self.streams.spawn(async move { client.listen().await });
            }
            _ => {}
        }
    }

    /// Modern where the message says so, else what `initialize` agreed on.
    fn version_of(&self, message: &Message<'_>) -> Result<Version, Refusal> {
        let legacy = self.negotiated.unwrap_or(Version::NEWEST_LEGACY);
        match message.params.meta.version.map(text::string) {
            Some(Some(declared)) => match Version::parse(&declared) {
                Some(version) if version.is_modern() => Ok(version),
                Some(_) => Ok(legacy),
                None => Err(Refusal::unsupported_version(&declared)),
            },
            Some(None) => Ok(Version::V2026_07_28),
            None if matches!(&*message.method, "server/discover" | "subscriptions/listen") => Ok(Version::V2026_07_28),
            None => Ok(legacy),
        }
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        if let Some(legacy) = self.legacy.get() {
            self.inner.wishes.forget(&legacy.session);
        }
    }
}

impl Client {
    async fn answer(&self, line: &Bytes, version: Version) {
        // Read a second time rather than kept: a message borrows its line.
        let Ok(message) = Message::read(line, &self.inner.config.limits) else { return };
        let Some(id) = message.id else { return };
        match self.try_answer(&message, id, version).await {
            Ok(Some(Reply { body: ReplyBody::Json(parts), .. })) => self.send_parts(&parts).await,
            Ok(_) => {}
            Err(refusal) => self.send(&[&refusal.body(Some(id))]).await,
        }
    }

    async fn try_answer(&self, message: &Message<'_>, id: &str, version: Version) -> Result<Option<Reply>, Refusal> {
        let inner = &self.inner;
        let method = Method::of(version, &message.method);
        if version.is_modern() {
            wire::check_modern_meta(message)?;
        }
        let credentials = self.credentials().with_params(&message.params)?;
        let kept = credentials.to_kept();
        let identified = inner.identify_for(method, credentials).await?;
        if !method.is_some_and(Method::is_open) {
            inner.demand_signed_in(&identified)?;
        }
        let identified = inner.within_flow(identified, message).await?;
        let transport = Transport::Stdio { out: &self.out };
        let legacy = self.legacy.get().copied().filter(|_| !version.is_modern());
        let lang = inner.spine.gate().lang();
        let ask = Ask { message, id, version, lang, identified: &identified, legacy, transport };
        match inner.dispatch(ask, method, Some(kept)).await? {
            Answer::Reply(reply) => Ok(Some(reply)),
            Answer::Stream(listener) => {
                listener.run_lines(&identified, self.out.clone()).await;
                Ok(None)
            }
        }
    }

    async fn listen(&self) {
        let credentials = self.credentials();
        let kept = credentials.to_kept();
        if let Ok(identified) = self.inner.identify(credentials).await {
            let told = self.legacy.get().and_then(|legacy| self.inner.wishes.kept(legacy));
            Listener::process(&self.inner, kept, told).run_lines(&identified, self.out.clone()).await;
        }
    }

    fn credentials(&self) -> Credentials<'_> {
        Credentials { bearer: self.token.as_deref(), ..Credentials::default() }
    }

    async fn send_parts(&self, parts: &[Bytes; 3]) {
        self.send(&parts.each_ref().map(|part| &**part)).await;
    }

    async fn send(&self, parts: &[&[u8]]) {
        // Nobody left to read is found out by whoever feeds us.
        let _ = self.out.send(framing::line(parts)).await;
    }
}
