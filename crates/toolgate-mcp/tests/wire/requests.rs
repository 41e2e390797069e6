//! Requests as clients of each era make them, and what came back.

use bytes::Bytes;
use http::{HeaderMap, Method, Request, request::Parts};
use serde_json::{Value, json};
use toolgate_mcp::{Peer, Reply, ReplyBody};

use crate::house::Site;

pub const MODERN: &str = "2026-07-28";

/// A request to be changed a little before it is sent.
#[derive(Clone)]
pub struct Ask {
    headers: Vec<(String, String)>,
    query: String,
    pub body: String,
}

/// What a reply says.
#[derive(Debug)]
pub struct Got {
    pub status: u16,
    pub headers: HeaderMap,
    pub body: String,
}

pub fn meta() -> Value {
    json!({"io.modelcontextprotocol/protocolVersion": MODERN, "io.modelcontextprotocol/clientCapabilities": {}})
}

/// A 2026-07-28 request with all it must have; `params` may add to `_meta`.
pub fn modern(method: &str, mut params: Value) -> Ask {
    let mut full = meta();
    if let Some(more) = params.get("_meta").and_then(Value::as_object) {
        full.as_object_mut().unwrap().extend(more.clone());
    }
    params["_meta"] = full;
    let name = params.get("uri").unwrap_or(&params["name"]).as_str().unwrap_or_default().to_owned();
    let mut ask = Ask::of(json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).to_string())
        .header("mcp-protocol-version", MODERN)
        .header("mcp-method", method);
    if matches!(method, "tools/call" | "prompts/get" | "resources/read") {
        ask = ask.header("mcp-name", &name);
    }
    ask
}

/// A request of the older era, without a session.
pub fn legacy(method: &str, params: Value) -> Ask {
    Ask::of(json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).to_string())
}

/// A client of the newer era that can be asked all there is to ask.
pub fn able() -> Value {
    can(json!({"elicitation": {}, "sampling": {}, "roots": {}}))
}

/// `_meta` that declares these capabilities.
pub fn can(capabilities: Value) -> Value {
    json!({"io.modelcontextprotocol/clientCapabilities": capabilities})
}

/// A session of the older era.
pub async fn initialize(site: &Site, token: Option<&str>, capabilities: Value) -> String {
    let ask = legacy("initialize", json!({"protocolVersion": "2025-11-25", "capabilities": capabilities}));
    let ask = token.map_or(ask.clone(), |token| ask.bearer(token));
    ask.post(site).await.header("mcp-session-id").to_owned()
}

impl Ask {
    pub fn of(body: impl Into<String>) -> Self {
        Self { headers: Vec::new(), query: String::new(), body: body.into() }
            .header("content-type", "application/json")
            .header("accept", "application/json, text/event-stream")
    }

    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Replaces the header.
    pub fn set(self, name: &str, value: &str) -> Self {
        self.without(name).header(name, value)
    }

    pub fn without(mut self, name: &str) -> Self {
        self.headers.retain(|(known, _)| known != name);
        self
    }

    pub fn bearer(self, token: &str) -> Self {
        self.set("authorization", &format!("Bearer {token}"))
    }

    pub fn session(self, session: &str) -> Self {
        self.set("mcp-session-id", session)
    }

    pub fn query(mut self, query: &str) -> Self {
        self.query = format!("?{query}");
        self
    }

    pub fn head(&self, method: Method) -> Parts {
        let mut request = Request::builder().method(method).uri(format!("/mcp{}", self.query));
        for (name, value) in &self.headers {
            request = request.header(name, value.as_bytes());
        }
        request.body(()).unwrap().into_parts().0
    }

    pub async fn reply(&self, site: &Site) -> Reply {
        site.wire.post(&self.head(Method::POST), Bytes::from(self.body.clone()), &Peer::default()).await
    }

    /// Over a connection of this peer.
    pub async fn post_from(&self, site: &Site, peer: &Peer) -> Got {
        Got::of(site.wire.post(&self.head(Method::POST), Bytes::from(self.body.clone()), peer).await).await
    }

    pub async fn post(&self, site: &Site) -> Got {
        Got::of(self.reply(site).await).await
    }

    pub async fn get(&self, site: &Site) -> Reply {
        site.wire.get(&self.head(Method::GET), None).await
    }

    pub async fn delete(&self, site: &Site) -> Got {
        Got::of(site.wire.delete(&self.head(Method::DELETE), None).await).await
    }
}

impl Got {
    /// Reads a stream to its end.
    pub async fn of(reply: Reply) -> Self {
        let (head, body) = reply.into_response().into_parts();
        let body = match body {
            ReplyBody::Empty => Vec::new(),
            ReplyBody::Json(parts) => parts.concat(),
            ReplyBody::Events(mut events) => {
                let mut all = Vec::new();
                while let Some(event) = events.recv().await {
                    all.extend_from_slice(&event);
                }
                all
            }
        };
        Self { status: head.status.as_u16(), headers: head.headers, body: String::from_utf8(body).unwrap() }
    }

    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {}", self.body))
    }

    pub fn result(&self) -> Value {
        let json = self.json();
        assert!(json.get("error").is_none(), "{json}");
        json["result"].clone()
    }

    /// Status and JSON-RPC code.
    pub fn error(&self) -> (u16, i64) {
        (self.status, self.json()["error"]["code"].as_i64().unwrap_or_default())
    }

    pub fn message(&self) -> String {
        self.json()["error"]["message"].as_str().unwrap_or_default().to_owned()
    }

    /// The messages of a stream.
    pub fn events(&self) -> Vec<Value> {
        self.body
            .lines()
            .filter_map(|line| line.strip_prefix("data: "))
            .map(|data| serde_json::from_str(data).unwrap())
            .collect()
    }

    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().unwrap())
    }
}
