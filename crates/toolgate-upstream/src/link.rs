//! One connection to an upstream, whatever carries it.

use bytes::Bytes;
use toolgate_spine::Client;

use crate::{
    child::ChildLink,
    era::Era,
    fault::Fault,
    http::{Head, HttpLink},
    message,
    mirror::{self, Mirror},
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
    /// `None` where no reports are wanted.
    pub(crate) client: Option<&'a Client>,
    pub(crate) mirrors: &'a [Mirror],
    pub(crate) arguments: &'a str,
}

impl Link {
    /// Asks in an era; without one, before any is agreed on.
    pub(crate) async fn ask(&self, era: Option<&Era>, ask: Ask<'_>) -> Result<Bytes, Fault> {
        let id = match self {
            Self::Child(link) => link.next_id(),
            Self::Http(link) => link.next_id(),
        };
        let meta = era
            .map(|era| era.meta(ask.client.filter(|client| client.wants_progress()).map(|_| id)))
            .unwrap_or_default();
        let members: Vec<&str> = ask.members.iter().copied().chain([meta.as_str()]).collect();
        let body = message::request(id, ask.method, &members);
        let nobody = Client::default();
        let client = ask.client.unwrap_or(&nobody);
        match self {
            Self::Child(link) => link.request(id, body, client).await,
            Self::Http(link) => {
                let mirrored = match era {
                    Some(Era::Modern) => mirror::headers(ask.method, ask.name, ask.mirrors, ask.arguments),
                    _ => Vec::new(),
                };
                let cancellable = ask.method == "tools/call";
                link.request(id, body, Head { era: era.cloned(), mirrored, cancellable }, client).await
            }
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

    /// Hears of changes until there is nothing more to hear.
    pub(crate) async fn listen(&self, era: &Era) -> Result<(), Fault> {
        const METHOD: &str = "subscriptions/listen";
        let meta = era.meta(None);
        let body = |id: u64| message::request(id, METHOD, &["\"notifications\":{\"toolsListChanged\":true}", &meta]);
        match (self, era) {
            (Self::Child(link), Era::Modern) => {
                // its answer only comes when it ends, and then the child ends too
                let id = link.next_id();
                link.request(id, body(id), &Client::default()).await.map(drop)
            }
            // an older child just tells
            (Self::Child(_), Era::Legacy(_)) => std::future::pending().await,
            (Self::Http(link), era) => {
                let modern = *era == Era::Modern;
                let mirrored = if modern { mirror::headers(METHOD, None, &[], "") } else { Vec::new() };
                let head = Head { era: Some(era.clone()), mirrored, cancellable: false };
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
