//! The limit of passing a call on: the envelope is parsed, the same bytes go to the upstream over a connection that is
//! kept, and what it answers comes back.

use std::cell::RefCell;
use std::error::Error;
use std::net::SocketAddr;

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::client::conn::http1::{self, SendRequest};
use hyper::header::{ACCEPT, CONTENT_TYPE, HOST, HeaderValue};
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;

use crate::rpc::Envelope;
use crate::serving;

/// Connections to the upstream that nobody uses at the moment.
pub(super) struct Pool {
    upstream: SocketAddr,
    host: String,
    idle: RefCell<Vec<SendRequest<Full<Bytes>>>>,
}

impl Pool {
    pub(super) fn new(upstream: SocketAddr) -> Self {
        Self { upstream, host: upstream.to_string(), idle: RefCell::default() }
    }

    async fn connection(&self) -> Result<SendRequest<Full<Bytes>>, Box<dyn Error>> {
        loop {
            // Taken out before it is waited for: a borrow must not live across an await.
            let Some(mut kept) = self.idle.borrow_mut().pop() else { break };
            if kept.ready().await.is_ok() {
                return Ok(kept);
            }
        }
        let stream = TcpStream::connect(self.upstream).await?;
        stream.set_nodelay(true)?;
        let (sender, connection) = http1::handshake(TokioIo::new(stream)).await?;
        tokio::task::spawn_local(async move {
            let _ = connection.await;
        });
        Ok(sender)
    }

    async fn ask(&self, body: Bytes) -> Result<Response<Full<Bytes>>, Box<dyn Error>> {
        let mut connection = self.connection().await?;
        let mut request = Request::post("/mcp").body(Full::new(body))?;
        let fields = request.headers_mut();
        fields.insert(HOST, HeaderValue::try_from(&self.host)?);
        fields.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        fields.insert(ACCEPT, HeaderValue::from_static("application/json, text/event-stream"));
        let (head, body) = connection.send_request(request).await?.into_parts();
        let body = body.collect().await?.to_bytes();
        self.idle.borrow_mut().push(connection);
        let mut answer = serving::json(body);
        *answer.status_mut() = head.status;
        Ok(answer)
    }
}

pub(super) async fn pass(pool: &Pool, body: Bytes) -> Response<Full<Bytes>> {
    if Envelope::read(&body).is_none() {
        return serving::bare(StatusCode::BAD_REQUEST);
    }
    pool.ask(body).await.unwrap_or_else(|_| serving::bare(StatusCode::BAD_GATEWAY))
}
