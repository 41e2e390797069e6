//! One kept-alive HTTP/1.1 connection: bytes out, one answer in.

use std::borrow::Cow;
use std::net::SocketAddr;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::answer::Head;
use crate::failure::{Doing, Failure};

/// Room that is made for each read.
const READ: usize = 128 * 1024;

pub(crate) struct Connection {
    stream: TcpStream,
    arrived: Vec<u8>,
    /// Bytes of the last answer, given back when the next one is asked for.
    consumed: usize,
}

pub(crate) struct Answer<'a> {
    pub(crate) head: Head,
    pub(crate) body: Cow<'a, [u8]>,
}

impl Connection {
    pub(crate) async fn open(address: SocketAddr) -> Result<Self, Failure> {
        let stream = TcpStream::connect(address).await.doing("connecting")?;
        stream.set_nodelay(true).doing("connecting")?;
        Ok(Self { stream, arrived: Vec::with_capacity(READ), consumed: 0 })
    }

    /// Touches memory for an answer of this size.
    pub(super) fn make_room(&mut self, bytes: usize) {
        let kept = self.arrived.len();
        self.arrived.resize(kept + bytes, 0);
        self.arrived.truncate(kept);
    }

    pub(crate) async fn exchange(&mut self, request: &[u8]) -> Result<Answer<'_>, Failure> {
        self.arrived.drain(..self.consumed);
        self.consumed = 0;
        self.stream.write_all(request).await.doing("sending")?;
        let head = loop {
            match Head::read(&self.arrived)? {
                Some(head) => break head,
                None => self.fill().await?,
            }
        };
        let consumed = loop {
            match head.body(&self.arrived)? {
                Some(body) => break body.consumed,
                None => self.fill().await?,
            }
        };
        self.consumed = consumed;
        match head.body(&self.arrived)? {
            Some(body) => Ok(Answer { head, body: body.bytes }),
            None => Err(Failure::Answer("an answer that went away".to_owned())),
        }
    }

    async fn fill(&mut self) -> Result<(), Failure> {
        self.arrived.reserve(READ);
        match self.stream.read_buf(&mut self.arrived).await {
            Ok(0) => Err(Failure::Answer("the server closed the connection".to_owned())),
            read => read.map(|_| ()).doing("receiving"),
        }
    }
}

impl Answer<'_> {
    /// What to show of an answer that is not as expected.
    pub(crate) fn excerpt(&self) -> String {
        let body = String::from_utf8_lossy(&self.body);
        let start: String = body.chars().take(300).collect();
        format!("HTTP {} {start}", self.head.status)
    }
}
