//! The address that `serve` is to have: free, or taken by a Toolgate that runs there already.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    time::timeout,
};

use super::{Finding, Severity};

/// The longest that what listens there may take to answer.
const TIMEOUT: Duration = Duration::from_secs(3);
/// Bytes of an answer that are read.
const MOST: u64 = 64 << 10;

pub async fn look(listen: &str) -> Finding {
    let fault = match TcpListener::bind(listen).await {
        Ok(_) => return Finding::new("address", Severity::Good, format!("{listen} is free")),
        Err(fault) => fault,
    };
    if fault.kind() != std::io::ErrorKind::AddrInUse {
        return Finding::new("address", Severity::Bad, format!("{listen}: {fault}; choose another with --listen"));
    }
    match timeout(TIMEOUT, version(listen)).await {
        Ok(Some(version)) => Finding::new("address", Severity::Good, format!("Toolgate {version} runs at {listen}")),
        _ => {
            let detail =
                format!("another program has {listen}, and it is no Toolgate; choose another address with --listen");
            Finding::new("address", Severity::Bad, detail)
        }
    }
}

/// The version of the Toolgate that answers there, if it is one. No credential is sent: whatever listens there may be anything.
async fn version(listen: &str) -> Option<String> {
    // whoever listens on every address is asked at one of them
    let reached = listen.replacen("0.0.0.0:", "127.0.0.1:", 1).replacen("[::]:", "[::1]:", 1);
    let mut stream = TcpStream::connect(&reached).await.ok()?;
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {},
        "clientInfo": {"name": "toolgate-doctor", "version": env!("CARGO_PKG_VERSION")},
    }})
    .to_string();
    let request = format!(
        "POST /mcp HTTP/1.1\r\nHost: {reached}\r\nContent-Type: application/json\r\n\
         Accept: application/json, text/event-stream\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(request.as_bytes()).await.ok()?;
    let mut answer = Vec::new();
    stream.take(MOST).read_to_end(&mut answer).await.ok()?;
    let answer = String::from_utf8_lossy(&answer);
    let (_, body) = answer.split_once("\r\n\r\n")?;
    let json = body.get(body.find('{')?..=body.rfind('}')?)?;
    let answer: Value = serde_json::from_str(json).ok()?;
    let server = answer.pointer("/result/serverInfo")?;
    let is_toolgate = server.get("name").and_then(Value::as_str) == Some("toolgate");
    server.get("version").and_then(Value::as_str).filter(|_| is_toolgate).map(str::to_owned)
}
