//! HTTP: one listener, the MCP address, and the few addresses around it.

mod admin;
mod admin_routes;
mod answer_cache;
mod approvals;
mod body;
mod body_budget;
mod client_address;
mod connection;
mod front;
mod json;
mod limits;
mod openapi;
mod operators;
mod processes;
mod route;
mod routes;
mod team;

use std::{convert::Infallible, future::Future, io, net::IpAddr, sync::Arc, time::Duration};

use bytes::Bytes;
use hyper::{server::conn::http1, service::service_fn};
use hyper_util::{
    rt::{TokioIo, TokioTimer},
    server::graceful::GracefulShutdown,
};
use tokio::net::TcpListener;
use toolgate_core::{Quota, QuotaPermit, quota_address};
use toolgate_mcp::{Identify, Wire};
use toolgate_spine::Spine;
use toolgate_store::Store;

pub use answer_cache::AnswerCache;
pub use body_budget::BodyBudget;
pub use client_address::{ForwardedHeader, Network, NetworkError, ProxyPolicy};
pub use front::FrontDoor;
pub use limits::ServerLimits;
pub use routes::{ROUTES, matches};

use connection::WriteTimeout;

/// Everything a request can reach.
pub struct Site {
    pub wire: Wire,
    pub spine: Arc<Spine>,
    pub identify: Arc<dyn Identify>,
    pub store: Store,
    pub front: FrontDoor,
    /// Proxies that name the client's address.
    pub proxies: ProxyPolicy,
    /// The protected-resource metadata, where an issuer is configured.
    pub metadata: Option<Bytes>,
    pub limits: ServerLimits,
    /// Answers that are the same for everybody for a while.
    pub cache: AnswerCache,
}

/// How long a client may take to send a request's head, or its body.
const PATIENCE: Duration = Duration::from_secs(30);
/// How long a client may take nothing of an answer that is ready for it.
const WRITE_TIMEOUT: Duration = Duration::from_secs(30);
/// Bytes of a connection's buffers: no head needs more, and bodies are gathered elsewhere.
const BUFFER: usize = 16 << 10;

impl Site {
    /// Serves until `shutdown` resolves; then takes no more and lets what is under way finish, for `grace` at the most.
    pub async fn serve(
        self,
        listener: TcpListener,
        shutdown: impl Future<Output = ()>,
        grace: Duration,
    ) -> io::Result<()> {
        let connections = Quota::new(usize::MAX, self.limits.connections);
        let by_address = Quota::new(self.limits.connections_per_address, usize::MAX);
        let site = Arc::new(self);
        let graceful = GracefulShutdown::new();
        let mut shutdown = std::pin::pin!(shutdown);
        loop {
            let (stream, peer) = tokio::select! {
                accepted = listener.accept() => match accepted {
                    Ok(accepted) => accepted,
                    Err(fault) => {
                        // out of descriptors, most often: wait for some to come back rather than spin
                        tracing::warn!(%fault, "a connection could not be accepted");
                        tokio::time::sleep(Duration::from_millis(50)).await;
                        continue;
                    }
                },
                () = &mut shutdown => break,
            };
            let Some(place) = site.admit(&connections, &by_address, peer.ip()) else { continue };
            let _ = stream.set_nodelay(true);
            let site = Arc::clone(&site);
            let service = service_fn(move |request| {
                let site = Arc::clone(&site);
                async move { Ok::<_, Infallible>(site.answer(request, peer.ip()).await) }
            });
            let connection = http1::Builder::new()
                .timer(TokioTimer::new())
                .header_read_timeout(PATIENCE)
                .max_buf_size(BUFFER)
                .serve_connection(TokioIo::new(WriteTimeout::new(stream, WRITE_TIMEOUT)), service);
            let connection = graceful.watch(connection);
            tokio::spawn(async move {
                // a client that hangs up is no fault of ours
                let _ = connection.await;
                drop(place);
            });
        }
        drop(listener);
        let ended = async {
            graceful.shutdown().await;
            site.spine.drain().await;
        };
        if tokio::time::timeout(grace, ended).await.is_err() {
            tracing::warn!("some requests did not finish in time and were cut off");
        }
        if let Some(books) = site.spine.books() {
            books.ledger().close().await;
        }
        site.store.close().await;
        Ok(())
    }

    /// A place for a new connection; `None`, said once in a while, where there is none.
    fn admit(
        &self,
        connections: &Arc<Quota<()>>,
        by_address: &Arc<Quota<IpAddr>>,
        peer: IpAddr,
    ) -> Option<(QuotaPermit<()>, Option<QuotaPermit<IpAddr>>)> {
        let own = match self.proxies.trusts(peer) {
            true => None,
            false => match by_address.take(quota_address(peer), 1) {
                Some(own) => Some(own),
                None => {
                    self.cache.turned_away.say(|left_out| {
                        tracing::warn!(%peer, most = by_address.each(), left_out,
                            "too many connections of one address: some were turned away; \
                             name a proxy in [server] trusted_proxies, or raise connections_per_address");
                    });
                    return None;
                }
            },
        };
        let Some(place) = connections.take((), 1) else {
            self.cache.turned_away.say(|left_out| {
                tracing::warn!(most = self.limits.connections, left_out, "too many connections: some were turned away");
            });
            return None;
        };
        Some((place, own))
    }
}
