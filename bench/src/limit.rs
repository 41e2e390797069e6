//! The physical limit: bare hyper on one thread, with nothing that a gate has to do.
//!
//! It is the divisor of every ratio, so a change here changes the meaning of all figures.

use std::borrow::Cow;
use std::convert::Infallible;
use std::net::SocketAddr;

use bytes::Bytes;
use clap::ValueEnum;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::header::{CONTENT_TYPE, HeaderValue};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use serde::Deserialize;
use serde_json::value::RawValue;
use tokio::io::AsyncReadExt;
use tokio::net::{TcpListener, TcpStream};

use crate::failure::{Doing, Failure};
use crate::tools;

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Mode {
    /// Any POST is answered with the same bytes of a tools/list answer.
    Static,
    /// The JSON-RPC envelope is parsed and `params.arguments.text` comes back as a text block.
    Echo,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    #[arg(long)]
    listen: SocketAddr,
    #[arg(long)]
    mode: Mode,
    #[arg(long)]
    tools: usize,
}

/// Serves until standard input closes, so that it never outlives the run that started it.
pub(crate) async fn serve(options: Options) -> Result<(), Failure> {
    let answer = Bytes::from(format!(
        r#"{{"jsonrpc":"2.0","id":100000000,"result":{{"tools":{}}}}}"#,
        tools::definitions(options.tools)
    ));
    let listener = TcpListener::bind(options.listen).await.doing("listening")?;
    let accepting = async {
        loop {
            let (stream, _) = listener.accept().await.doing("accepting")?;
            tokio::task::spawn_local(connection(stream, options.mode, answer.clone()));
        }
    };
    let mut nothing = [0; 1];
    tokio::select! {
        ended = accepting => ended,
        _ = async { tokio::io::stdin().read(&mut nothing).await } => Ok(()),
    }
}

async fn connection(stream: TcpStream, mode: Mode, answer: Bytes) {
    let _ = stream.set_nodelay(true);
    let service = service_fn(move |request| respond(request, mode, answer.clone()));
    // A client that goes away ends its own connection and nothing else.
    let _ = http1::Builder::new().serve_connection(TokioIo::new(stream), service).await;
}

async fn respond(request: Request<Incoming>, mode: Mode, answer: Bytes) -> Result<Response<Full<Bytes>>, Infallible> {
    let Ok(body) = request.into_body().collect().await else {
        return Ok(refused());
    };
    let answer = match mode {
        Mode::Static => Some(answer),
        Mode::Echo => echo(&body.to_bytes()),
    };
    Ok(answer.map_or_else(refused, |body| {
        let mut response = Response::new(Full::new(body));
        let json = HeaderValue::from_static("application/json");
        response.headers_mut().insert(CONTENT_TYPE, json);
        response
    }))
}

fn refused() -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::default());
    *response.status_mut() = StatusCode::BAD_REQUEST;
    response
}

#[derive(Deserialize)]
struct Envelope<'a> {
    #[serde(borrow)]
    id: &'a RawValue,
    #[serde(borrow)]
    method: Cow<'a, str>,
    #[serde(borrow)]
    params: &'a RawValue,
}

#[derive(Deserialize)]
struct Call<'a> {
    #[serde(borrow, rename = "name")]
    _name: Cow<'a, str>,
    #[serde(borrow)]
    arguments: &'a RawValue,
}

#[derive(Deserialize)]
struct Arguments<'a> {
    #[serde(borrow)]
    text: &'a RawValue,
}

fn echo(body: &[u8]) -> Option<Bytes> {
    let envelope: Envelope<'_> = serde_json::from_slice(body).ok()?;
    if envelope.method != "tools/call" {
        return None;
    }
    let call: Call<'_> = serde_json::from_str(envelope.params.get()).ok()?;
    let arguments: Arguments<'_> = serde_json::from_str(call.arguments.get()).ok()?;
    let mut answer = Vec::with_capacity(512);
    for part in [
        r#"{"jsonrpc":"2.0","id":"#,
        envelope.id.get(),
        r#","result":{"content":[{"type":"text","text":"#,
        arguments.text.get(),
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
