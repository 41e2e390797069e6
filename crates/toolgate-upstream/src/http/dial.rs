//! Opens connections: to a server, or to the proxy the environment names for it (`HTTP_PROXY` and its like).

use std::{sync::OnceLock, time::Duration};

use bytes::Bytes;
use http::{HeaderValue, Uri, uri::Scheme};
use http_body_util::Full;
use hyper::{
    client::conn::{http1, http2},
    rt::{Read, Write},
};
use hyper_rustls::{ConfigBuilderExt, HttpsConnector};
use hyper_util::{
    client::{
        legacy::connect::{Connection, HttpConnector, proxy::Tunnel},
        proxy::matcher::{Intercept, Matcher},
    },
    rt::TokioExecutor,
};
use tower_service::Service;

use super::body;
use crate::fault::Fault;

const CONNECT: Duration = Duration::from_secs(10);

/// A connection that takes requests: one at a time, or many at once.
pub(super) enum Opened {
    One(http1::SendRequest<Full<Bytes>>),
    Many(http2::SendRequest<Full<Bytes>>),
}

/// The way to one server.
pub(super) struct Way {
    uri: Uri,
    proxy: Option<Intercept>,
}

impl Way {
    pub(super) fn to(uri: Uri) -> Self {
        static PROXIES: OnceLock<Matcher> = OnceLock::new();
        let proxy = PROXIES.get_or_init(Matcher::from_env).intercept(&uri);
        Self { uri, proxy }
    }

    pub(super) fn uri(&self) -> &Uri {
        &self.uri
    }

    /// Whether a proxy must be told the whole address: it sees the request, since nothing hides it.
    pub(super) fn is_told_whole(&self) -> bool {
        self.proxy.is_some() && self.uri.scheme() != Some(&Scheme::HTTPS)
    }

    /// For the proxy that sees the request.
    pub(super) fn proxy_credentials(&self) -> Option<&HeaderValue> {
        self.proxy.as_ref().filter(|_| self.is_told_whole()).and_then(Intercept::basic_auth)
    }

    pub(super) async fn open(&self) -> Result<Opened, Fault> {
        let opened = tokio::time::timeout(CONNECT, self.connect()).await;
        opened.unwrap_or_else(|_| Err(Fault::Unreachable { why: "connecting took too long".to_owned() }))
    }

    async fn connect(&self) -> Result<Opened, Fault> {
        let mut tcp = HttpConnector::new();
        tcp.enforce_http(false);
        tcp.set_nodelay(true);
        match &self.proxy {
            None => shaken(reached(secured(tcp)?, &self.uri).await?).await,
            Some(proxy) if self.is_told_whole() => shaken(reached(secured(tcp)?, proxy.uri()).await?).await,
            Some(proxy) => {
                let mut tunnel = Tunnel::new(proxy.uri().clone(), tcp);
                if let Some(credentials) = proxy.basic_auth() {
                    tunnel = tunnel.with_auth(credentials.clone());
                }
                shaken(reached(secured(tunnel)?, &self.uri).await?).await
            }
        }
    }
}

/// With TLS where the address asks for it. The machine's own certificates say whom to trust; they are read once.
fn secured<C>(connector: C) -> Result<HttpsConnector<C>, Fault> {
    static TLS: OnceLock<Result<rustls::ClientConfig, Fault>> = OnceLock::new();
    let config = TLS.get_or_init(|| {
        let provider = std::sync::Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let misconfigured = |fault: rustls::Error| Fault::Misconfigured { why: fault.to_string() };
        let builder = rustls::ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
        let builder = builder.map_err(misconfigured)?.try_with_platform_verifier().map_err(misconfigured)?;
        Ok(builder.with_no_client_auth())
    });
    let builder = hyper_rustls::HttpsConnectorBuilder::new().with_tls_config(config.clone()?);
    Ok(builder.https_or_http().enable_all_versions().wrap_connector(connector))
}

async fn reached<C>(mut connector: C, uri: &Uri) -> Result<C::Response, Fault>
where
    C: Service<Uri, Error: Into<Box<dyn std::error::Error + Send + Sync>>>,
{
    let ready = std::future::poll_fn(|context| connector.poll_ready(context)).await;
    let reached = match ready {
        Ok(()) => connector.call(uri.clone()).await,
        Err(fault) => Err(fault),
    };
    reached.map_err(|fault| Fault::Unreachable { why: body::innermost(&*fault.into()) })
}

/// Each connection is driven by a task that ends with it.
async fn shaken<T>(stream: T) -> Result<Opened, Fault>
where
    T: Read + Write + Connection + Unpin + Send + 'static,
{
    let unreachable = |fault: hyper::Error| Fault::Unreachable { why: body::innermost(&fault) };
    if stream.connected().is_negotiated_h2() {
        let (sender, connection) = http2::handshake(TokioExecutor::new(), stream).await.map_err(unreachable)?;
        tokio::spawn(connection);
        return Ok(Opened::Many(sender));
    }
    let (sender, connection) = http1::handshake(stream).await.map_err(unreachable)?;
    tokio::spawn(connection);
    Ok(Opened::One(sender))
}
