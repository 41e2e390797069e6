//! One request, once its caller is known: the same for HTTP and stdio.

use std::sync::Arc;

use serde_json::value::RawValue;
use toolgate_core::{Caller, Kind, SessionDigest};
use toolgate_spine::Call;

use crate::{
    approval::Wish,
    call, headers,
    identity::KeptCredentials,
    json::text,
    list,
    listen::Listener,
    mailbox::SessionPost,
    method::Method,
    refusal::{Refusal, code},
    render::Asked,
    reply::Reply,
    running::OwnedCall,
    subscription_filter::Filter,
    wire::{self, Ask, Inner, Transport},
};

/// An answer, or a stream that stays open.
pub(crate) enum Answer {
    Reply(Reply),
    Stream(Listener),
}

impl Inner {
    pub(crate) async fn dispatch(
        self: &Arc<Self>,
        ask: Ask<'_>,
        method: Option<Method>,
        kept: Option<KeptCredentials>,
    ) -> Result<Answer, Refusal> {
        let not_found = || wire::method_not_found(ask.version, &ask.message.method);
        let method = method.filter(|method| self.spine.has_more() || !method.is_of_more()).ok_or_else(not_found)?;
        if method.is_of_more() {
            self.spine.settled().await;
        }
        let parts = match method {
            Method::Initialize => return Err(not_found()),
            Method::Discover => {
                let notice = ask.identified.rejected.map(|rejection| rejection.notice(ask.lang));
                self.pieces.discover(ask.id, self.spine.has_more(), notice.as_deref())
            }
            Method::Ping => self.pieces.empty(ask.id, ask.version),
            Method::List(kind) => list::page(self, &ask, kind)?,
            Method::Use(kind) => return call::answer(self, &ask, kind, kept)?.await.map(Answer::Reply),
            // boxed, like what follows: rare, and too deep to lie inside every request's future
            Method::Complete => Box::pin(self.complete(&ask)).await?,
            Method::SetLevel => {
                self.set_level(&ask)?;
                self.pieces.empty(ask.id, ask.version)
            }
            Method::Subscribe => {
                Box::pin(self.subscribe(&ask)).await?;
                self.pieces.empty(ask.id, ask.version)
            }
            Method::Unsubscribe => {
                self.unsubscribe(&ask)?;
                self.pieces.empty(ask.id, ask.version)
            }
            Method::Listen => {
                let kept = kept.ok_or_else(not_found)?;
                let filter = Filter::read(ask.message)?;
                return Ok(Answer::Stream(Box::pin(Listener::subscription(self, kept, &ask, filter)).await));
            }
        };
        Ok(Answer::Reply(Reply::json(parts)))
    }

    async fn complete(self: &Arc<Self>, ask: &Ask<'_>) -> Result<[bytes::Bytes; 3], Refusal> {
        #[derive(serde::Deserialize)]
        struct Reference {
            r#type: String,
            name: Option<String>,
            uri: Option<String>,
        }
        let params = &ask.message.params;
        let bad = || {
            Refusal::params(
                "params.ref must be {\"type\": \"ref/prompt\", \"name\": …} or {\"type\": \"ref/resource\", \"uri\": …}",
            )
        };
        let reference: Reference = params.reference.and_then(|raw| serde_json::from_str(raw).ok()).ok_or_else(bad)?;
        let (kind, name) = match (reference.r#type.as_str(), reference.name, reference.uri) {
            ("ref/prompt", Some(name), _) => (Kind::Prompt, name),
            ("ref/resource", _, Some(uri)) => (Kind::Template, uri),
            _ => return Err(bad()),
        };
        if call::has_control(&name) {
            return Err(Refusal::params(call::CONTROL));
        }
        let Some(argument) = params.argument.filter(|raw| text::is_object(raw)) else {
            return Err(Refusal::params("params.argument must be an object with a name and a value"));
        };
        let context = params.context.map(|context| format!(",\"context\":{context}")).unwrap_or_default();
        let given = RawValue::from_string(format!("{{\"argument\":{argument}{context}}}"));
        let given = given.map_err(|_| Refusal::params("params.argument must be an object with a name and a value"))?;
        let call = OwnedCall { kind, name, arguments: None, dry_run: false, lang: ask.lang, wish: Wish::default() };
        let asked = self.asked(ask, call);
        let call = Call::of(kind, &asked.call.name, None, ask.lang);
        let outcome = self.spine.complete(&asked.caller, call, &given).await;
        asked.plain_outcome(outcome)
    }

    fn set_level(&self, ask: &Ask<'_>) -> Result<(), Refusal> {
        let level = call::level(ask.message.params.level.unwrap_or("null"), "params.level")?;
        match ask.legacy {
            Some(legacy) if !self.wishes.set_level(&legacy, level) => Err(too_many()),
            // without a session there is nothing it could last for
            _ => Ok(()),
        }
    }

    async fn subscribe(self: &Arc<Self>, ask: &Ask<'_>) -> Result<(), Refusal> {
        let uri = call::name(ask.message, Kind::Resource)?.into_owned();
        let Some(legacy) = ask.legacy else {
            return Err(Refusal::request("only a session can subscribe; send its Mcp-Session-Id"));
        };
        let call = OwnedCall {
            kind: Kind::Resource,
            name: uri,
            arguments: None,
            dry_run: false,
            lang: ask.lang,
            wish: Wish::default(),
        };
        let asked = self.asked(ask, call);
        let uri = &asked.call.name;
        match self.spine.watch(&asked.caller, Call::of(Kind::Resource, uri, None, ask.lang)).await {
            Ok(watch) => match self.wishes.watches(&legacy) {
                Some(watches) if watches.add(uri, watch, || self.watched.take(legacy.owner)) => Ok(()),
                _ => Err(too_many()),
            },
            Err(outcome) => asked.plain_outcome(outcome).map(drop),
        }
    }

    fn unsubscribe(&self, ask: &Ask<'_>) -> Result<(), Refusal> {
        let uri = call::name(ask.message, Kind::Resource)?;
        if let Some(watches) = ask.legacy.and_then(|legacy| self.wishes.watches(&legacy)) {
            watches.remove(&uri);
        }
        Ok(())
    }

    pub(crate) fn asked(self: &Arc<Self>, ask: &Ask<'_>, call: OwnedCall) -> Asked {
        Asked {
            inner: Arc::clone(self),
            id: ask.id.to_owned(),
            version: ask.version,
            caller: in_session(ask),
            rejected: ask.identified.rejected,
            call: Arc::new(call),
            capabilities: ask.capabilities(),
            session: ask.legacy.map(|legacy| legacy.session),
            begun: None,
            post: ask.legacy.and_then(|client| SessionPost::of(&self.wishes, &client)),
        }
    }
}

/// The caller with the session that its client speaks in, if it has one.
fn in_session(ask: &Ask<'_>) -> Arc<Caller> {
    let caller = &ask.identified.caller;
    let Some(legacy) = &ask.legacy else { return Arc::clone(caller) };
    let session = match ask.transport {
        Transport::Http { headers, .. } => headers.get(headers::SESSION_ID).map(|name| name.as_bytes()),
        // on standard input a session has no name that anybody was told
        Transport::Stdio { .. } => Some(&legacy.session[..]),
    };
    Arc::new(Caller { session: session.map(SessionDigest::of), ..Caller::clone(caller) })
}

fn too_many() -> Refusal {
    Refusal::new(http::StatusCode::OK, code::INTERNAL, "too much is watched already; end some of it first")
}
