//! HTTP: one listener, the MCP address, and the few addresses around it.

mod admin;
mod admin_routes;
mod approvals;
mod body;
mod front;
mod json;
mod openapi;
mod operators;
mod processes;
mod route;
mod team;

use std::{convert::Infallible, future::Future, io, sync::Arc, time::Duration};

use bytes::Bytes;
use hyper::{server::conn::http1, service::service_fn};
use hyper_util::{
    rt::{TokioIo, TokioTimer},
    server::graceful::GracefulShutdown,
};
use tokio::{net::TcpListener, sync::Semaphore};
use toolgate_mcp::{Identify, Wire};
use toolgate_spine::Spine;
use toolgate_store::Store;

pub use front::FrontDoor;

/// Everything a request can reach.
pub struct Site {
    pub wire: Wire,
    pub spine: Arc<Spine>,
    pub identify: Arc<dyn Identify>,
    pub store: Store,
    pub front: FrontDoor,
    /// The protected-resource metadata, where an issuer is configured.
    pub metadata: Option<Bytes>,
    pub body_bytes: usize,
    pub connections: usize,
    /// Messages that are being answered at the same time.
    pub in_flight: Semaphore,
}

/// How long a client may take to send a request's head, or its body.
const PATIENCE: Duration = Duration::from_secs(30);

impl Site {
    /// Serves until `shutdown` resolves; then takes no more and lets what is under way finish, for `grace` at the most.
    pub async fn serve(
        self,
        listener: TcpListener,
        shutdown: impl Future<Output = ()>,
        grace: Duration,
    ) -> io::Result<()> {
        let connections = Arc::new(Semaphore::new(self.connections));
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
            let Ok(place) = Arc::clone(&connections).try_acquire_owned() else {
                tracing::warn!(most = site.connections, "too many connections: one was turned away");
                continue;
            };
            let _ = stream.set_nodelay(true);
            let site = Arc::clone(&site);
            let service = service_fn(move |request| {
                let site = Arc::clone(&site);
                async move { Ok::<_, Infallible>(site.answer(request, peer.ip()).await) }
            });
            let connection = http1::Builder::new()
                .timer(TokioTimer::new())
                .header_read_timeout(PATIENCE)
                .serve_connection(TokioIo::new(stream), service);
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
        site.store.close().await;
        Ok(())
    }
}
