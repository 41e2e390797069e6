//! MCP messages in each era's form.

use serde_json::{Map, Value, json};

use super::http::Request;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Era {
    Modern,
    Late,
    Early,
}

pub const ERAS: [Era; 3] = [Era::Modern, Era::Late, Era::Early];

impl Era {
    pub fn version(self) -> &'static str {
        match self {
            Self::Modern => "2026-07-28",
            Self::Late => "2025-11-25",
            Self::Early => "2025-06-18",
        }
    }
}

/// A request, with the headers that carry it over HTTP.
#[derive(Debug, Clone)]
pub struct Message {
    pub era: Era,
    pub id: Value,
    pub method: String,
    pub params: Map<String, Value>,
    pub headers: Vec<(String, String)>,
}

impl Message {
    pub fn new(era: Era, method: &str) -> Self {
        let message = Self { era, id: json!(1), method: method.to_owned(), params: Map::new(), headers: Vec::new() };
        match era {
            Era::Modern => message
                .meta("io.modelcontextprotocol/protocolVersion", json!(era.version()))
                .meta("io.modelcontextprotocol/clientCapabilities", json!({})),
            Era::Late | Era::Early => message,
        }
    }

    pub fn list(era: Era) -> Self {
        Self::new(era, "tools/list")
    }

    pub fn call(era: Era, tool: &str, arguments: Value) -> Self {
        Self::new(era, "tools/call").param("name", json!(tool)).param("arguments", arguments)
    }

    pub fn initialize(era: Era) -> Self {
        let client = json!({"name": "test", "version": "1"});
        Self::new(era, "initialize")
            .param("protocolVersion", json!(era.version()))
            .param("capabilities", json!({}))
            .param("clientInfo", client)
    }

    pub fn id(mut self, id: Value) -> Self {
        self.id = id;
        self
    }

    pub fn param(mut self, key: &str, value: Value) -> Self {
        self.params.insert(key.to_owned(), value);
        self
    }

    pub fn meta(mut self, key: &str, value: Value) -> Self {
        let meta = self.params.entry("_meta").or_insert_with(|| json!({}));
        meta.as_object_mut().unwrap().insert(key.to_owned(), value);
        self
    }

    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    pub fn bearer(self, token: &str) -> Self {
        self.header("Authorization", &format!("Bearer {token}"))
    }

    pub fn body(&self) -> String {
        json!({"jsonrpc": "2.0", "id": self.id, "method": self.method, "params": self.params}).to_string()
    }

    /// As it goes over HTTP.
    pub fn request(&self) -> Request {
        let mut request = Request::json(self.body());
        if self.method != "initialize" {
            request = request.header("MCP-Protocol-Version", self.era.version());
        }
        if self.era == Era::Modern {
            request = request.header("Mcp-Method", &self.method);
            if let Some(name) = self.params.get("name").and_then(Value::as_str) {
                request = request.header("Mcp-Name", name);
            }
        }
        request.headers.extend(self.headers.iter().cloned());
        request
    }
}
