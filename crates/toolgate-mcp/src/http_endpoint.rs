//! `POST`, `GET` and `DELETE` of the one MCP address.

use std::{net::IpAddr, sync::Arc};

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, StatusCode, header, request::Parts};
use toolgate_spine::CallPlace;

use crate::{
    abilities::Abilities,
    call,
    era::Version,
    headers,
    identity::{Credentials, Identified},
    json::text,
    listen::Listener,
    message::{Kind, Message},
    method::Method,
    mirror,
    owner_key::OwnerKey,
    refusal::{Refusal, code},
    reply::Reply,
    request::Answer,
    wire::{self, Ask, Inner, Transport, Wire},
};

/// The other end of a connection.
#[derive(Debug, Default)]
pub struct Peer {
    /// Its address, where that is known.
    pub address: Option<IpAddr>,
    /// The place of the message among those that are being answered.
    pub place: Option<Arc<CallPlace>>,
}

impl Wire {
    /// Answers one message.
    pub async fn post(&self, head: &Parts, body: Bytes, peer: &Peer) -> Reply {
        let message = match self.inner.read(head, &body) {
            Ok(message) => message,
            Err((refusal, id)) => return Reply::refused(&refusal, id),
        };
        let answer = self.inner.answer((&head.headers, peer), &message).await;
        answer.unwrap_or_else(|refusal| Reply::refused(&refusal, message.id))
    }

    /// Opens the stream of a legacy session; there is none in the modern era.
    pub async fn get(&self, head: &Parts, address: Option<IpAddr>) -> Reply {
        self.inner.get(head, address).await.unwrap_or_else(|refusal| Reply::refused(&refusal, None))
    }

    /// Ends a legacy session.
    pub async fn delete(&self, head: &Parts, address: Option<IpAddr>) -> Reply {
        self.inner.delete(head, address).await.unwrap_or_else(|refusal| Reply::refused(&refusal, None))
    }
}

impl Inner {
    fn read<'b>(&self, head: &Parts, body: &'b Bytes) -> Result<Message<'b>, (Refusal, Option<&'b str>)> {
        let unread = |refusal| (refusal, None);
        headers::check_query(head.uri.query()).map_err(unread)?;
        headers::check_content_type(&head.headers).map_err(unread)?;
        self.check_size(body).map_err(unread)?;
        Message::read(body, &self.config.limits)
    }

    async fn answer(
        self: &Arc<Self>,
        (headers, peer): (&HeaderMap, &Peer),
        message: &Message<'_>,
    ) -> Result<Reply, Refusal> {
        let version = version_of(headers, message)?;
        let (Kind::Request, Some(id)) = (message.kind, message.id) else {
            return Box::pin(self.take((headers, peer.address), message, version)).await;
        };
        let accepted = headers::accepted(headers);
        if !accepted.json || (version.is_modern() && !accepted.events) {
            return Err(not_acceptable());
        }
        let method = Method::of(version, &message.method);
        if version.is_modern() {
            wire::check_modern_meta(message)?;
            let name = match method {
                Some(Method::Use(kind)) => Some((call::field(kind), call::name(message, kind)?)),
                _ => None,
            };
            let name = name.as_ref().map(|(field, name)| (*field, &**name));
            mirror::check_standard(headers, message, name)?;
        }
        if method == Some(Method::Discover) {
            let notice = Box::pin(self.discovery_notice((headers, peer.address), message)).await;
            return Ok(Reply::json(self.pieces.discover(id, self.spine.has_more(), notice.as_deref())));
        }

        let task_keys = headers::task_keys(headers, &self.config.task_headers);
        let credentials = self.credentials((headers, peer.address), &task_keys)?.with_params(&message.params)?;
        let kept = method.is_some_and(Method::keeps_credentials).then(|| credentials.to_kept());
        let identified = self.identify_for(method, credentials).await?;
        let mut legacy = None;
        if !version.is_modern() && method != Some(Method::Initialize) && headers.contains_key(headers::SESSION_ID) {
            legacy = Some(
                self.check_session(headers, &identified).await?.known(OwnerKey::of(&identified.caller, peer.address)),
            );
        }
        if !method.is_some_and(Method::is_open) {
            self.demand_signed_in(&identified)?;
        }
        if !identified.caller.is_signed_in() {
            self.admit_anonymous(method, message, peer.address)?;
        }
        let identified = self.within_flow(identified, message).await?;
        let lang = headers::language(headers, self.spine.gate().lang());
        let events = accepted.events && headers.contains_key(header::ACCEPT);
        let transport = Transport::Http { headers, events, peer };
        let ask = Ask { message, id, version, lang, identified: &identified, legacy, transport };
        if method == Some(Method::Initialize) {
            return self.initialize(&ask);
        }
        match self.dispatch(ask, method, kept).await? {
            Answer::Reply(reply) => Ok(reply),
            Answer::Stream(listener) => {
                let permit = self.streams.enter(&identified.caller, peer.address)?;
                Ok(Reply::events(listener.start_events(&identified, permit)))
            }
        }
    }

    /// What is not answered.
    async fn take(
        &self,
        (headers, address): (&HeaderMap, Option<IpAddr>),
        message: &Message<'_>,
        version: Version,
    ) -> Result<Reply, Refusal> {
        if message.kind == Kind::Response {
            if version.is_modern() {
                return Err(Refusal::request("responses are not taken; answers come with the next try of the call"));
            }
            return self.take_response((headers, address), message).await;
        }
        if version.is_modern() {
            mirror::check_standard(headers, message, None)?;
        } else if headers.contains_key(headers::SESSION_ID) {
            if message.method == "notifications/cancelled" {
                return self.take_cancelled((headers, address), message).await;
            }
            // It changes nothing, so whose it is does not matter, only that the client hears of a lost session.
            self.read_session(headers)?;
        }
        Ok(Reply::accepted())
    }

    /// A client calls off a request of its own session.
    async fn take_cancelled(
        &self,
        (headers, address): (&HeaderMap, Option<IpAddr>),
        message: &Message<'_>,
    ) -> Result<Reply, Refusal> {
        let identified = self.identify_by_headers((headers, address)).await?;
        let session = self.check_session(headers, &identified).await?;
        if let Some(id) = message.params.request_id {
            self.under_way.call_off(session.id, id);
        }
        Ok(Reply::accepted())
    }

    /// The answer to a question of ours. Whatever it is, the client learns nothing from how it is taken.
    async fn take_response(
        &self,
        (headers, address): (&HeaderMap, Option<IpAddr>),
        message: &Message<'_>,
    ) -> Result<Reply, Refusal> {
        let identified = self.identify_by_headers((headers, address)).await?;
        let mut session = None;
        if headers.contains_key(headers::SESSION_ID) {
            session = Some(self.check_session(headers, &identified).await?.id);
        }
        self.questions.answered(message, &identified.caller, session);
        Ok(Reply::accepted())
    }

    /// Agrees on a version and hands out a session; a client may use it or not.
    fn initialize(&self, ask: &Ask<'_>) -> Result<Reply, Refusal> {
        let version = wire::negotiate(ask.message)?;
        let ttl = self.config.session_ttl.as_secs();
        let abilities = Abilities::declared(ask.message.params.capabilities);
        let notice = ask.identified.rejected.map(|rejection| rejection.notice(ask.lang));
        let session = self.sessions.open((version, abilities), &ask.identified.caller, wire::now(), ttl);
        Ok(Reply {
            session: session.and_then(|name| HeaderValue::try_from(name).ok()),
            ..Reply::json(self.pieces.initialize(ask.id, version, self.spine.has_more(), notice.as_deref()))
        })
    }

    /// Discovery is answered whatever becomes of the credentials.
    async fn discovery_notice(
        &self,
        (headers, address): (&HeaderMap, Option<IpAddr>),
        message: &Message<'_>,
    ) -> Option<String> {
        let task_keys = headers::task_keys(headers, &self.config.task_headers);
        let credentials = self.credentials((headers, address), &task_keys).ok()?.with_params(&message.params).ok()?;
        self.notice(credentials, headers::language(headers, self.spine.gate().lang())).await
    }

    async fn get(self: &Arc<Self>, head: &Parts, address: Option<IpAddr>) -> Result<Reply, Refusal> {
        let headers = &head.headers;
        headers::check_query(head.uri.query())?;
        let asks_for_events = headers.contains_key(header::ACCEPT) && headers::accepted(headers).events;
        if !asks_for_events || !headers.contains_key(headers::SESSION_ID) {
            return Err(no_such_way(
                "only the stream of a session is here: send Accept: text/event-stream and Mcp-Session-Id",
            ));
        }
        let task_keys = headers::task_keys(headers, &self.config.task_headers);
        let credentials = self.credentials((headers, address), &task_keys)?;
        let kept = credentials.to_kept();
        let identified = self.identify(credentials).await?;
        let session = self.check_session(headers, &identified).await?;
        self.demand_signed_in(&identified)?;
        let permit = self.streams.enter(&identified.caller, address)?;
        let owner = OwnerKey::of(&identified.caller, address);
        Ok(Reply::events(Listener::session(self, kept, session, owner).start_events(&identified, permit)))
    }

    async fn delete(&self, head: &Parts, address: Option<IpAddr>) -> Result<Reply, Refusal> {
        headers::check_query(head.uri.query())?;
        if !head.headers.contains_key(headers::SESSION_ID) {
            return Err(no_such_way("only a session can be deleted: send its Mcp-Session-Id"));
        }
        let identified = self.identify_by_headers((&head.headers, address)).await?;
        let session = self.check_session(&head.headers, &identified).await?;
        if session.opened_by_nobody() && self.memory.bound(&session.id).is_none() {
            // nobody's: not worth a durable write, which anybody could cause
            self.ended_here.insert(session.id, session.expires, wire::now());
        } else {
            let ended = self.memory.end(&session.id, session.expires).await;
            ended.map_err(|error| Refusal::unavailable(error.to_string()))?;
        }
        self.wishes.forget(&session.id);
        Ok(Reply { status: StatusCode::NO_CONTENT, ..Reply::accepted() })
    }

    /// What the headers carry; the message's parameters are added by whoever has them.
    fn credentials<'a>(
        &self,
        (headers, address): (&'a HeaderMap, Option<IpAddr>),
        task_keys: &'a [&'a str],
    ) -> Result<Credentials<'a>, Refusal> {
        Ok(Credentials {
            bearer: headers::bearer(headers)?,
            task_keys,
            browser: headers.contains_key(header::ORIGIN),
            address,
            ..Credentials::default()
        })
    }

    async fn identify_by_headers(
        &self,
        (headers, address): (&HeaderMap, Option<IpAddr>),
    ) -> Result<Identified, Refusal> {
        let task_keys = headers::task_keys(headers, &self.config.task_headers);
        self.identify(self.credentials((headers, address), &task_keys)?).await
    }

    pub(crate) fn check_size(&self, body: &[u8]) -> Result<(), Refusal> {
        let limit = self.config.limits.body_bytes;
        if body.len() <= limit {
            return Ok(());
        }
        Err(Refusal::new(
            StatusCode::PAYLOAD_TOO_LARGE,
            code::INVALID_REQUEST,
            format!("message is larger than {limit} bytes; send less at once"),
        ))
    }
}

/// Which version a message is in: its `_meta`, else its header, else the older era.
fn version_of(headers: &HeaderMap, message: &Message<'_>) -> Result<Version, Refusal> {
    let header = headers::single(headers, &headers::PROTOCOL_VERSION)?;
    let header = header.map(|value| std::str::from_utf8(value).unwrap_or_default());
    let Some(raw) = message.params.meta.version else {
        return match header.map(|word| (word, Version::parse(word))) {
            _ if message.method == "initialize" => Ok(Version::NEWEST_LEGACY),
            // Methods that only the modern era has: its rules say what is missing.
            None if matches!(&*message.method, "server/discover" | "subscriptions/listen") => Ok(Version::V2026_07_28),
            None => Ok(Version::NEWEST_LEGACY),
            Some((_, Some(version))) => Ok(version),
            Some((word, None)) => Err(Refusal::unsupported_version(word)),
        };
    };
    let Some(declared) = text::string(raw) else { return Ok(Version::V2026_07_28) };
    let version = Version::parse(&declared);
    // A client of the older era may repeat its version there; it must not contradict its header.
    if let Some(legacy) = version.filter(|version| !version.is_modern())
        && header.is_none_or(|header| header == declared)
    {
        return Ok(legacy);
    }
    match header {
        // What headers a notification needs is not defined.
        None if message.kind == Kind::Notification => {}
        None => {
            return Err(Refusal::header(
                "header mcp-protocol-version is missing; send the version of params._meta in it",
            ));
        }
        Some(header) if header != declared => {
            return Err(Refusal::header(
                "header mcp-protocol-version does not match the version in params._meta; send the same value in both",
            ));
        }
        Some(_) => {}
    }
    version.ok_or_else(|| Refusal::unsupported_version(&declared))
}

fn not_acceptable() -> Refusal {
    Refusal::new(
        StatusCode::NOT_ACCEPTABLE,
        code::INVALID_REQUEST,
        "answers come as JSON or events; send Accept: application/json, text/event-stream",
    )
}

fn no_such_way(message: &'static str) -> Refusal {
    Refusal::new(StatusCode::METHOD_NOT_ALLOWED, code::INVALID_REQUEST, message).with_allow("POST")
}
