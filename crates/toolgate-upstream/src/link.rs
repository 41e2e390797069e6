//! One connection to an upstream, whatever carries it.

use std::sync::Arc;

use bytes::Bytes;
use tokio::sync::oneshot;
use toolgate_spine::Client;

use crate::{
    calls::{Calls, Honoured},
    child::ChildLink,
    era::{Era, Told},
    fault::Fault,
    http::{Head, HttpLink},
    message::{self, Member, Value},
    mirror::{self, Mirror},
    questions,
};

pub(crate) enum Link {
    Child(ChildLink),
    Http(HttpLink),
}

/// One request.
#[derive(Default)]
pub(crate) struct Ask<'a> {
    pub(crate) method: &'static str,
    /// What is called, where the method calls something.
    pub(crate) name: Option<&'a str>,
    /// Of `params`.
    pub(crate) members: &'a [Member<'a>],
    /// Whom it is for; `None` for a request of our own.
    pub(crate) client: Option<&'a Client>,
    pub(crate) mirrors: &'a [Mirror],
    pub(crate) arguments: &'a str,
}

impl Link {
    /// Asks in an era; without one, before any is agreed on.
    pub(crate) async fn ask(&self, era: Option<&Era>, ask: Ask<'_>) -> Result<Bytes, Fault> {
        let id = self.next_id();
        let told = ask.client.map(|client| self.told(id, client)).unwrap_or_default();
        let meta = era.and_then(|era| era.meta(&told));
        let body = message::request(id, ask.method, ask.members, Value::json(meta.as_deref()));
        let may_ask = matches!(era, Some(Era::Legacy(_)));
        let under = ask.client.map(|client| self.calls().begin(id, client, may_ask));
        match self {
            Self::Child(link) => link.request(id, body, under).await,
            Self::Http(link) => {
                let mirrored = match era {
                    Some(Era::Modern) => mirror::headers(ask.method, ask.name, ask.mirrors, ask.arguments),
                    _ => Vec::new(),
                };
                link.request(id, body, Head { era: era.copied(), more: mirrored }, under).await
            }
        }
    }

    fn told(&self, id: u64, client: &Client) -> Told {
        Told {
            progress_token: client.wants_progress().then_some(id),
            capabilities: Some(questions::passed_on(client, &self.calls().allowed)),
            log_level: client.log_level(),
        }
    }

    fn next_id(&self) -> u64 {
        match self {
            Self::Child(link) => link.next_id(),
            Self::Http(link) => link.next_id(),
        }
    }

    pub(crate) fn calls(&self) -> &Arc<Calls> {
        match self {
            Self::Child(link) => link.calls(),
            Self::Http(link) => link.calls(),
        }
    }

    pub(crate) async fn notify(&self, era: &Era, method: &str) -> Result<(), Fault> {
        let body = message::notification(method, "");
        match self {
            Self::Child(link) => {
                link.notify(body).await;
                Ok(())
            }
            Self::Http(link) => link.notify(body, Head { era: Some(*era), ..Head::default() }).await,
        }
    }

    /// Hears what is `wanted` (members of a filter) until there is nothing more to hear. In the older era everything that
    /// belongs to no request comes on one stream.
    pub(crate) async fn listen(&self, era: &Era, wanted: &str) -> Result<(), Fault> {
        match (self, era) {
            (_, Era::Modern) => self.subscribe(era, wanted).0.await,
            // an older child just tells
            (Self::Child(_), Era::Legacy(_)) => std::future::pending().await,
            (Self::Http(link), Era::Legacy(_)) => link.listen(None, Head { era: Some(*era), ..Head::default() }).await,
        }
    }

    /// A stream of the newer era, and what the server agrees to tell on it.
    pub(crate) fn subscribe(
        &self,
        era: &Era,
        wanted: &str,
    ) -> (impl Future<Output = Result<(), Fault>> + Send, oneshot::Receiver<Honoured>) {
        const METHOD: &str = "subscriptions/listen";
        let (id, filter, meta) = (self.next_id(), format!("{{{wanted}}}"), era.meta(&Told::default()));
        let filter = ("notifications", Value::Json(&filter));
        let body = message::request(id, METHOD, &[filter], Value::json(meta.as_deref()));
        let head = Head { era: Some(*era), more: mirror::headers(METHOD, None, &[], "") };
        let stream = async move {
            match self {
                // its answer only comes when it ends
                Self::Child(link) => link.request(id, body, None).await.map(drop),
                Self::Http(link) => link.listen(Some(body), head).await,
            }
        };
        (stream, self.calls().opens(id))
    }

    /// Waits until the connection is gone, and says why. Over HTTP only a session can go.
    pub(crate) async fn over(&self) -> String {
        let gone = async {
            match self {
                Self::Child(link) => link.why().await,
                Self::Http(link) => link.session_ended().await,
            }
        };
        tokio::select! {
            why = gone => why,
            why = self.calls().spoilt() => why,
        }
    }

    pub(crate) async fn close(&self, era: &Era) {
        match self {
            Self::Child(link) => link.stop().await,
            Self::Http(link) => link.close(era).await,
        }
    }

    pub(crate) fn process(&self) -> Option<u32> {
        match self {
            Self::Child(link) => link.process(),
            Self::Http(_) => None,
        }
    }
}
