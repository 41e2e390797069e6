//! How the bench's own servers listen: on loopback, one thread, until the run that started them is gone.

use std::net::SocketAddr;

use bytes::Bytes;
use http_body_util::Full;
use hyper::header::{CONTENT_TYPE, HeaderValue};
use hyper::{Response, StatusCode};
use tokio::io::AsyncReadExt;
use tokio::net::{TcpListener, TcpStream};

use crate::failure::{Doing, Failure};

/// Gives every connection to `serve`, until standard input closes: so no server outlives its run.
pub(crate) async fn listen<F, S>(address: SocketAddr, serve: S) -> Result<(), Failure>
where
    F: Future<Output = ()> + 'static,
    S: Fn(TcpStream) -> F,
{
    let listener = TcpListener::bind(address).await.doing("listening")?;
    let accepting = async {
        loop {
            let (stream, _) = listener.accept().await.doing("accepting")?;
            let _ = stream.set_nodelay(true);
            tokio::task::spawn_local(serve(stream));
        }
    };
    let mut nothing = [0; 1];
    tokio::select! {
        ended = accepting => ended,
        _ = async { tokio::io::stdin().read(&mut nothing).await } => Ok(()),
    }
}

pub(crate) fn json(body: Bytes) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(body));
    let json = HeaderValue::from_static("application/json");
    response.headers_mut().insert(CONTENT_TYPE, json);
    response
}

pub(crate) fn bare(status: StatusCode) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::default());
    *response.status_mut() = status;
    response
}
