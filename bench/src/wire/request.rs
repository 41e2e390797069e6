//! The bytes of a request, in each era.

use std::net::SocketAddr;

use crate::workload::{Era, Work};

/// Ids have nine digits, so that a request can be reused by writing over its id.
pub(crate) const FIRST_ID: u64 = 100_000_000;
/// 200 bytes, the text that `echo` is called with.
pub(crate) const TEXT: &str = concat!(
    "x7Qx7Qx7Qx7Qx7Qx7Qx7Qx7Qx7Qx7Qx7Qx7Qx7Qx7Qx7Qx7Qx7Qx7Qx7Qx7Qx7Qx7Qx7Qx7Qx7Qx7Qx7Qx7Qx7Qx7Qx7Qx7Qx7Qx",
    "7Qx7Qx7Qx7Qx7Qx7Qx7Qx7Qx7Qx7Qx7Qx7Qx7Qx7Qx7Qx7Qx7Qx7Qx7Qx7Qx7Qx7Qx7Qx7Qx7Qx7Qx7Qx7Qx7Qx7Qx7Qx7Qx7Qx7"
);

const META: &str = concat!(
    r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","#,
    r#""io.modelcontextprotocol/clientInfo":{"name":"toolgate-bench","version":"0.1"},"#,
    r#""io.modelcontextprotocol/clientCapabilities":{}}"#
);
const INITIALIZE: &str = concat!(
    r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","#,
    r#""capabilities":{},"clientInfo":{"name":"toolgate-bench","version":"0.1"}}}"#
);

/// Who asks, where, and in which era.
#[derive(Clone, Debug)]
pub(crate) struct Caller {
    pub(crate) address: SocketAddr,
    pub(crate) token: Option<String>,
    pub(crate) era: Era,
}

/// A request whose id can be changed in place.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    bytes: Vec<u8>,
    id_at: usize,
}

impl Caller {
    pub(crate) fn initialize(&self) -> Vec<u8> {
        self.post("", INITIALIZE)
    }

    pub(crate) fn initialized(&self, session: &str) -> Vec<u8> {
        let fields = session_fields(Some(session));
        self.post(&fields, r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#)
    }

    pub(crate) fn request(&self, work: Work, session: Option<&str>) -> Request {
        match work {
            Work::List => self.ask(work, String::new(), "", session),
            Work::Call => self.call("echo", &format!(r#"{{"text":"{TEXT}"}}"#), session),
        }
    }

    pub(crate) fn call(&self, tool: &str, arguments: &str, session: Option<&str>) -> Request {
        let params = format!(r#""name":"{tool}","arguments":{arguments}"#);
        self.ask(Work::Call, params, &format!("Mcp-Name: {tool}\r\n"), session)
    }

    /// `name` is the header that repeats what is called.
    fn ask(&self, work: Work, mut params: String, name: &str, session: Option<&str>) -> Request {
        let method = work.method();
        let fields = match self.era {
            Era::Raw => String::new(),
            Era::Sessions => session_fields(session),
            Era::Stateless => {
                if !params.is_empty() {
                    params.push(',');
                }
                params.push_str(META);
                format!("MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: {method}\r\n{name}")
            }
        };
        let start = r#"{"jsonrpc":"2.0","id":"#;
        let body = format!(r#"{start}{FIRST_ID},"method":"{method}","params":{{{params}}}}}"#);
        let bytes = self.post(&fields, &body);
        let id_at = bytes.len() - body.len() + start.len();
        Request { bytes, id_at }
    }

    fn post(&self, fields: &str, body: &str) -> Vec<u8> {
        let Self { address, token, .. } = self;
        let authorization =
            token.as_ref().map(|token| format!("Authorization: Bearer {token}\r\n")).unwrap_or_default();
        let length = body.len();
        format!(
            "POST /mcp HTTP/1.1\r\nHost: {address}\r\nContent-Type: application/json\r\n\
             Accept: application/json, text/event-stream\r\n{authorization}{fields}\
             Content-Length: {length}\r\n\r\n{body}"
        )
        .into_bytes()
    }
}

fn session_fields(session: Option<&str>) -> String {
    let session = session.map(|session| format!("Mcp-Session-Id: {session}\r\n")).unwrap_or_default();
    format!("MCP-Protocol-Version: 2025-11-25\r\n{session}")
}

impl Request {
    /// Writes the id in place; ids have as many digits as [`FIRST_ID`].
    pub(crate) fn set_id(&mut self, id: u64) {
        let digits = id.to_string();
        debug_assert_eq!(digits.len(), FIRST_ID.to_string().len());
        if let Some(place) = self.bytes.get_mut(self.id_at..self.id_at + digits.len()) {
            place.copy_from_slice(digits.as_bytes());
        }
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use serde_json::Value;

    fn sent(era: Era, work: Work, session: Option<&str>) -> (String, Value) {
        let caller = Caller { address: ([127, 0, 0, 1], 80).into(), token: Some("t0".to_owned()), era };
        let mut request = caller.request(work, session);
        request.set_id(FIRST_ID + 7);
        let text = String::from_utf8(request.bytes().to_vec()).unwrap();
        let (head, body) = text.split_once("\r\n\r\n").unwrap();
        assert!(head.contains(&format!("Content-Length: {}", body.len())));
        assert!(head.contains("Authorization: Bearer t0"));
        (head.to_owned(), serde_json::from_str(body).unwrap())
    }

    #[test]
    fn the_id_is_written_where_it_belongs() {
        for era in [Era::Raw, Era::Sessions, Era::Stateless] {
            for work in [Work::List, Work::Call] {
                let (_, body) = sent(era, work, None);
                assert_eq!(body.get("id"), Some(&Value::from(FIRST_ID + 7)));
            }
        }
    }

    #[test]
    fn a_stateless_call_mirrors_its_facts_in_headers() {
        let (head, body) = sent(Era::Stateless, Work::Call, None);
        assert!(head.contains("Mcp-Method: tools/call\r\nMcp-Name: echo"));
        let version = body.pointer("/params/_meta/io.modelcontextprotocol~1protocolVersion");
        assert_eq!(version, Some(&Value::from("2026-07-28")));
    }

    #[test]
    fn a_session_is_named_in_the_older_era() {
        let (head, body) = sent(Era::Sessions, Work::List, Some("s1"));
        assert!(head.contains("MCP-Protocol-Version: 2025-11-25\r\nMcp-Session-Id: s1"));
        assert_eq!(body.get("params"), Some(&serde_json::json!({})));
    }

    #[test]
    fn the_text_has_200_bytes() {
        assert_eq!(TEXT.len(), 200);
    }
}
