//! HTTP/1.1 by hand, so that tests can also send what no library would.

use std::{
    io::{self, BufRead, BufReader, Read, Write},
    net::{SocketAddr, TcpStream},
};

use serde_json::Value;

use super::wait::DEADLINE;

#[derive(Debug, Clone)]
pub struct Request {
    pub method: String,
    pub path: String,
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    pub status: u16,
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

impl Request {
    pub fn new(method: &str, path: &str) -> Self {
        Self { method: method.to_owned(), path: path.to_owned(), headers: Vec::new(), body: Vec::new() }
    }

    /// A message with nothing but what makes it JSON.
    pub fn json(body: impl Into<Vec<u8>>) -> Self {
        let request = Self { body: body.into(), ..Self::new("POST", "/mcp") };
        request.header("Content-Type", "application/json").header("Accept", "application/json, text/event-stream")
    }

    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    pub fn bearer(self, token: &str) -> Self {
        self.header("Authorization", &format!("Bearer {token}"))
    }

    /// Everything before the body.
    pub fn head(&self, address: SocketAddr) -> String {
        let mut head = format!("{} {} HTTP/1.1\r\n", self.method, self.path);
        if !self.headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("host")) {
            head.push_str(&format!("Host: {address}\r\n"));
        }
        for (name, value) in &self.headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        head.push_str(&format!("Content-Length: {}\r\n\r\n", self.body.len()));
        head
    }
}

impl Answer {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    /// The JSON message: the body, or the last of its events.
    pub fn message(&self) -> Value {
        let text = self.text();
        let json = match self.header("content-type") {
            Some("text/event-stream") => text.lines().rev().find_map(|line| line.strip_prefix("data: ")).unwrap_or(""),
            _ => &text,
        };
        serde_json::from_str(json).unwrap_or_else(|fault| panic!("{fault}: {self:?}"))
    }

    pub fn result(&self) -> Value {
        let mut message = self.message();
        assert!(message.get("result").is_some(), "{message}");
        message["result"].take()
    }

    /// What a call came to: "ok", the code of a denial, or the number of an error.
    pub fn verdict(&self) -> String {
        let message = self.message();
        if let Some(code) = message["error"]["code"].as_i64() {
            return code.to_string();
        }
        match message["result"]["isError"].as_bool() {
            Some(true) => message["result"]["structuredContent"]["code"].as_str().unwrap_or("failed").to_owned(),
            _ => "ok".to_owned(),
        }
    }

    /// The text a person reads: a result's, or an error's message.
    pub fn words(&self) -> String {
        let message = self.message();
        let words = message["error"]["message"].as_str().or(message["result"]["content"][0]["text"].as_str());
        words.unwrap_or_else(|| panic!("no words: {message}")).to_owned()
    }

    /// Names of the tools on a list.
    pub fn tools(&self) -> Vec<String> {
        let result = self.result();
        let tools = result["tools"].as_array().unwrap_or_else(|| panic!("no list: {result}"));
        tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
    }
}

/// One request on a connection of its own.
pub fn exchange(address: SocketAddr, request: &Request) -> io::Result<Answer> {
    let mut stream = TcpStream::connect(address)?;
    stream.set_read_timeout(Some(DEADLINE))?;
    let request = request.clone().header("Connection", "close");
    // a server that refuses by the head alone may close before the body is taken: its answer counts
    let _ = stream.write_all(request.head(address).as_bytes()).and_then(|()| stream.write_all(&request.body));
    read_answer(&mut BufReader::new(stream))
}

/// An answer that breaks off is an error of its own kind, so that nobody takes it for none at all.
pub fn read_answer(reader: &mut BufReader<TcpStream>) -> io::Result<Answer> {
    let (status, headers) = read_head(reader)?;
    read_body(reader, status, headers).map_err(|fault| io::Error::other(format!("the answer breaks off: {fault}")))
}

fn read_body(reader: &mut BufReader<TcpStream>, status: u16, headers: Vec<(String, String)>) -> io::Result<Answer> {
    let answer = Answer { status, headers, body: Vec::new() };
    let mut body = Vec::new();
    if answer.header("transfer-encoding") == Some("chunked") {
        Chunked::new(reader).read_to_end(&mut body)?;
    } else if let Some(length) = answer.header("content-length") {
        body.resize(length.parse().unwrap(), 0);
        reader.read_exact(&mut body)?;
    } else if status != 204 && status >= 200 {
        reader.read_to_end(&mut body)?;
    }
    Ok(Answer { body, ..answer })
}

pub fn read_head(reader: &mut impl BufRead) -> io::Result<(u16, Vec<(String, String)>)> {
    let mut line = String::new();
    if reader.read_line(&mut line)? == 0 {
        return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "no answer at all"));
    }
    let status = line.split(' ').nth(1).and_then(|status| status.parse().ok());
    let status = status.ok_or_else(|| io::Error::other(format!("no status line: {line:?}")))?;
    Ok((status, read_fields(reader)?))
}

/// The headers of a request, whatever it is for.
pub fn read_headers(reader: &mut impl BufRead) -> io::Result<Vec<(String, String)>> {
    reader.read_line(&mut String::new())?;
    read_fields(reader)
}

fn read_fields(reader: &mut impl BufRead) -> io::Result<Vec<(String, String)>> {
    let mut headers = Vec::new();
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).unwrap_or(0) == 0 {
            return Err(io::Error::other("the head was cut off"));
        }
        match line.trim_end().split_once(": ") {
            Some((name, value)) => headers.push((name.to_ascii_lowercase(), value.to_owned())),
            None if line.trim_end().is_empty() => return Ok(headers),
            None => headers.push((line.trim_end().trim_end_matches(':').to_ascii_lowercase(), String::new())),
        }
    }
}

/// Takes the chunks' lengths out of a body. A body that ends without its last chunk is an error.
pub struct Chunked<R> {
    inner: R,
    left: usize,
    over: bool,
}

impl<R: BufRead> Chunked<R> {
    pub fn new(inner: R) -> Self {
        Self { inner, left: 0, over: false }
    }
}

impl<R: BufRead> Read for Chunked<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.over {
            return Ok(0);
        }
        if self.left == 0 {
            let mut line = String::new();
            self.inner.read_line(&mut line)?;
            self.left = usize::from_str_radix(line.trim_end(), 16)
                .map_err(|_| io::Error::other(format!("the body was cut off at {line:?}")))?;
            if self.left == 0 {
                self.over = true;
                self.inner.read_line(&mut line)?;
                return Ok(0);
            }
        }
        let most = self.left.min(buffer.len());
        let count = self.inner.read(&mut buffer[..most])?;
        if count == 0 {
            return Err(io::Error::other("the body was cut off within a chunk"));
        }
        self.left -= count;
        if self.left == 0 {
            self.inner.read_line(&mut String::new())?;
        }
        Ok(count)
    }
}
