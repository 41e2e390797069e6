//! A stream of server-sent events that stays open.

use std::{
    io::{BufRead, BufReader, Write},
    net::{SocketAddr, TcpStream},
};

use serde_json::Value;

use super::{
    http::{Chunked, Request, read_head},
    wait::DEADLINE,
};

pub struct Events {
    pub status: u16,
    lines: BufReader<Chunked<BufReader<TcpStream>>>,
}

impl Events {
    pub fn open(address: SocketAddr, request: &Request) -> Self {
        let mut stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(DEADLINE)).unwrap();
        stream.write_all(request.head(address).as_bytes()).unwrap();
        stream.write_all(&request.body).unwrap();
        let mut reader = BufReader::new(stream);
        let (status, _) = read_head(&mut reader).unwrap();
        Self { status, lines: BufReader::new(Chunked::new(reader)) }
    }

    /// The next message, or `None` where the stream has ended in good order.
    pub fn next(&mut self) -> Option<Value> {
        loop {
            let mut line = String::new();
            if self.lines.read_line(&mut line).expect("an event or the end of the stream") == 0 {
                return None;
            }
            if let Some(json) = line.strip_prefix("data: ") {
                return Some(serde_json::from_str(json).unwrap());
            }
        }
    }

    /// The method of the next message.
    pub fn method(&mut self) -> String {
        let message = self.next().expect("the stream goes on");
        message["method"].as_str().unwrap_or_else(|| panic!("no notification: {message}")).to_owned()
    }

    /// Methods of all messages that are left; the last one, a result, has none.
    pub fn rest(mut self) -> Vec<String> {
        let mut methods = Vec::new();
        while let Some(message) = self.next() {
            methods.push(message["method"].as_str().unwrap_or("result").to_owned());
        }
        methods
    }
}
