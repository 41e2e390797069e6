//! One connection to an upstream, whatever carries it.

use std::sync::Arc;

use bytes::Bytes;
use toolgate_spine::Client;

use crate::{
    calls::Calls,
    child::ChildLink,
    era::{Era, Told},
    fault::Fault,
    http::{Head, HttpLink},
    message,
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
    /// Members of `params`, each as `"key":value`.
    pub(crate) members: &'a [&'a str],
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
        let meta = era.map(|era| era.meta(&told)).unwrap_or_default();
        let members: Vec<&str> = ask.members.iter().copied().chain([meta.as_str()]).collect();
        let body = message::request(id, ask.method, &members);
        let may_ask = matches!(era, Some(Era::Legacy(_)));
        let under = ask.client.map(|client| self.calls().begin(id, client, may_ask));
        match self {
            Self::Child(link) => link.request(id, body, under).await,
            Self::Http(link) => {
                let mirrored = match era {
                    Some(Era::Modern) => mirror::headers(ask.method, ask.name, ask.mirrors, ask.arguments),
                    _ => Vec::new(),
                };
                link.request(id, body, Head { era: era.cloned(), mirrored }, under).await
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
            Self::Http(link) => link.notify(body, Head { era: Some(era.clone()), ..Head::default() }).await,
        }
    }

    /// Hears what is `wanted` (members of a filter) until there is nothing more to hear. In the older era everything that
    /// belongs to no request comes on one stream.
    pub(crate) async fn listen(&self, era: &Era, wanted: &str) -> Result<(), Fault> {
        const METHOD: &str = "subscriptions/listen";
        let (meta, filter) = (era.meta(&Told::default()), format!("\"notifications\":{{{wanted}}}"));
        let body = |id: u64| message::request(id, METHOD, &[&filter, &meta]);
        match (self, era) {
            (Self::Child(link), Era::Modern) => {
                // its answer only comes when it ends
                let id = link.next_id();
                link.request(id, body(id), None).await.map(drop)
            }
            // an older child just tells
            (Self::Child(_), Era::Legacy(_)) => std::future::pending().await,
            (Self::Http(link), era) => {
                let modern = *era == Era::Modern;
                let mirrored = if modern { mirror::headers(METHOD, None, &[], "") } else { Vec::new() };
                let head = Head { era: Some(era.clone()), mirrored };
                link.listen(modern.then(|| body(link.next_id())), head).await
            }
        }
    }

    /// Waits until the connection is gone, and says why. Over HTTP only a session can go.
    pub(crate) async fn over(&self) -> String {
        match self {
            Self::Child(link) => link.why().await,
            Self::Http(link) => link.session_ended().await,
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
