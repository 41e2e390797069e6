//! A client on stdio.

use std::time::Duration;

use bytes::Bytes;
use serde_json::{Value, json};
use tokio::{sync::mpsc, time};
use toolgate_mcp::StdioSession;

use crate::house::Site;

/// A client on lines.
pub struct Client {
    pub session: StdioSession,
    pub lines: mpsc::Receiver<Bytes>,
}

impl Client {
    pub fn new(site: &Site, token: Option<&str>) -> Self {
        let (session, lines) = site.wire.stdio(token.map(str::to_owned));
        Self { session, lines }
    }

    pub async fn say(&mut self, line: impl ToString) {
        self.session.feed(Bytes::from(line.to_string())).await;
    }

    pub async fn ask(&mut self, id: u32, method: &str, params: Value) {
        self.say(json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})).await;
    }

    pub async fn hear(&mut self) -> Option<Value> {
        let line = time::timeout(Duration::from_secs(5), self.lines.recv()).await.ok()??;
        assert_eq!(line.iter().filter(|byte| **byte == b'\n').count(), 1);
        assert!(line.ends_with(b"\n"));
        Some(serde_json::from_slice(&line).unwrap())
    }
}
