//! The physical limit: bare hyper on one thread, with nothing that a gate has to do.
//!
//! It is the divisor of every ratio, so a change here changes the meaning of all figures.

mod proxy;

use std::convert::Infallible;
use std::net::SocketAddr;
use std::rc::Rc;

use bytes::Bytes;
use clap::ValueEnum;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use serde_json::value::RawValue;
use tokio::net::TcpStream;

use crate::failure::Failure;
use crate::rpc::Envelope;
use crate::{serving, tools};
use proxy::Pool;

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Mode {
    /// Any POST is answered with the same bytes of a tools/list answer.
    Static,
    /// The JSON-RPC envelope is parsed and `params.arguments.text` comes back as a text block.
    Echo,
    /// The JSON-RPC envelope is parsed, the bytes go on to an upstream, and its answer comes back.
    Proxy,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    #[arg(long)]
    listen: SocketAddr,
    #[arg(long)]
    mode: Mode,
    #[arg(long)]
    tools: usize,
    /// Where a proxy passes requests on to
    #[arg(long, required_if_eq("mode", "proxy"))]
    upstream: Option<SocketAddr>,
}

/// What one mode answers from.
enum Limit {
    Static(Bytes),
    Echo,
    Proxy(Pool),
}

pub(crate) async fn serve(options: Options) -> Result<(), Failure> {
    let limit = match (options.mode, options.upstream) {
        (Mode::Static, _) => Limit::Static(Bytes::from(format!(
            r#"{{"jsonrpc":"2.0","id":100000000,"result":{{"tools":{}}}}}"#,
            tools::definitions(options.tools)
        ))),
        (Mode::Proxy, Some(upstream)) => Limit::Proxy(Pool::new(upstream)),
        (Mode::Echo | Mode::Proxy, _) => Limit::Echo,
    };
    let limit = Rc::new(limit);
    serving::listen(options.listen, |stream| connection(stream, Rc::clone(&limit))).await
}

async fn connection(stream: TcpStream, limit: Rc<Limit>) {
    let service = service_fn(move |request| respond(request, Rc::clone(&limit)));
    // A client that goes away ends its own connection and nothing else.
    let _ = http1::Builder::new().serve_connection(TokioIo::new(stream), service).await;
}

async fn respond(request: Request<Incoming>, limit: Rc<Limit>) -> Result<Response<Full<Bytes>>, Infallible> {
    let Ok(body) = request.into_body().collect().await else {
        return Ok(serving::bare(StatusCode::BAD_REQUEST));
    };
    let answer = match &*limit {
        Limit::Static(answer) => Some(answer.clone()),
        Limit::Echo => echo(&body.to_bytes()),
        Limit::Proxy(pool) => return Ok(proxy::pass(pool, body.to_bytes()).await),
    };
    Ok(answer.map_or_else(|| serving::bare(StatusCode::BAD_REQUEST), serving::json))
}

fn echo(body: &[u8]) -> Option<Bytes> {
    let envelope = Envelope::read(body)?;
    let mut answer = Vec::with_capacity(512);
    for part in [
        r#"{"jsonrpc":"2.0","id":"#,
        envelope.id.map(RawValue::get)?,
        r#","result":{"content":[{"type":"text","text":"#,
        envelope.text()?,
        r#"}],"isError":false}}"#,
    ] {
        answer.extend_from_slice(part.as_bytes());
    }
    Some(answer.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn echo_answers_with_the_id_and_the_text_it_got() {
        let asked =
            br#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"echo","arguments":{"text":"a\"b"}}}"#;
        let answer = echo(asked);
        let expected: &[u8] =
            br#"{"jsonrpc":"2.0","id":7,"result":{"content":[{"type":"text","text":"a\"b"}],"isError":false}}"#;
        assert_eq!(answer.as_deref(), Some(expected));
    }

    #[test]
    fn echo_refuses_what_is_not_a_call() {
        assert_eq!(echo(br#"{"id":7,"method":"tools/list","params":{}}"#), None);
        assert_eq!(echo(b"{"), None);
    }
}
