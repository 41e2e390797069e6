//! One JSON-RPC message: its envelope checked, its parameters found and left as text.

use std::borrow::Cow;

use crate::{
    json::{
        fault::shortened,
        limits::Limits,
        scan::{self, Sink},
        text,
    },
    refusal::Refusal,
};

/// What a message is, from which of its members are there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Request,
    Notification,
    /// An answer to a question of ours.
    Response,
}

/// A message, borrowed from its bytes.
#[derive(Debug)]
pub(crate) struct Message<'a> {
    pub(crate) kind: Kind,
    /// As it was written, to be echoed byte for byte.
    pub(crate) id: Option<&'a str>,
    pub(crate) method: Cow<'a, str>,
    pub(crate) params: Params<'a>,
    /// Of a response, as JSON text.
    pub(crate) result: Option<&'a str>,
    pub(crate) error: Option<&'a str>,
}

/// Members of `params` that some method reads, each as its JSON text.
#[derive(Debug, Default)]
pub(crate) struct Params<'a> {
    pub(crate) name: Option<&'a str>,
    pub(crate) arguments: Option<&'a str>,
    pub(crate) cursor: Option<&'a str>,
    pub(crate) token: Option<&'a str>,
    pub(crate) protocol_version: Option<&'a str>,
    pub(crate) notifications: Option<&'a str>,
    pub(crate) request_id: Option<&'a str>,
    pub(crate) uri: Option<&'a str>,
    /// What an argument is to be completed of, which, and with what others.
    pub(crate) reference: Option<&'a str>,
    pub(crate) argument: Option<&'a str>,
    pub(crate) context: Option<&'a str>,
    pub(crate) level: Option<&'a str>,
    /// The client's, with `initialize`.
    pub(crate) capabilities: Option<&'a str>,
    pub(crate) input_responses: Option<&'a str>,
    pub(crate) request_state: Option<&'a str>,
    pub(crate) meta: Meta<'a>,
    /// From `arguments`, where clients without headers put their session.
    pub(crate) session_token: Option<&'a str>,
    pub(crate) coordinator_token: Option<&'a str>,
}

/// Members of `params._meta` that we read, each as its JSON text.
#[derive(Debug, Default)]
pub(crate) struct Meta<'a> {
    pub(crate) version: Option<&'a str>,
    pub(crate) capabilities: Option<&'a str>,
    pub(crate) token: Option<&'a str>,
    pub(crate) dry_run: Option<&'a str>,
    pub(crate) flow: Option<&'a str>,
    pub(crate) wait: Option<&'a str>,
    pub(crate) approval: Option<&'a str>,
    pub(crate) approval_scope: Option<&'a str>,
    pub(crate) progress_token: Option<&'a str>,
    pub(crate) log_level: Option<&'a str>,
}

impl<'a> Message<'a> {
    /// Reads a message, or says why it is none, with its id where that could be read.
    pub(crate) fn read(body: &'a [u8], limits: &Limits) -> Result<Self, (Refusal, Option<&'a str>)> {
        // Refused before it is read: a batch could carry any number of requests past per-request limits.
        if first_byte(body) == Some(b'[') {
            return Err((Refusal::request("batches are not supported; send one message at a time"), None));
        }
        let mut slots = Slots::default();
        if let Err(fault) = scan::scan(body, limits, &mut slots) {
            return Err((Refusal::fault(&fault, body), fault.is_limit().then(|| slots.sound_id()).flatten()));
        }
        let id = slots.sound_id();
        slots.into_message().map_err(|refusal| (refusal, id))
    }
}

fn first_byte(body: &[u8]) -> Option<u8> {
    body.iter().copied().find(|byte| !matches!(byte, b' ' | b'\n' | b'\r' | b'\t'))
}

/// Where the scanner stands, as far as we care.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Place {
    Envelope,
    Params,
    Meta,
    Arguments,
    #[default]
    Elsewhere,
}

/// What the scanner found.
#[derive(Default)]
struct Slots<'a> {
    places: [Place; 3],
    jsonrpc: Option<&'a str>,
    id: Option<&'a str>,
    id_twice: bool,
    method: Option<&'a str>,
    params: Option<&'a str>,
    result: Option<&'a str>,
    error: Option<&'a str>,
    /// An envelope key in the wrong case, which some other reader might take for the right one.
    variant: Option<String>,
    found: Params<'a>,
}

const ENVELOPE: [&str; 6] = ["jsonrpc", "id", "method", "params", "result", "error"];

impl<'a> Sink<'a> for Slots<'a> {
    const DEPTH: usize = 3;

    fn enter(&mut self, depth: usize, key: Option<&str>, object: bool) {
        let parent = depth.checked_sub(2).and_then(|above| self.places.get(above)).copied();
        let place = match (parent, key) {
            _ if !object => Place::Elsewhere,
            (None, None) => Place::Envelope,
            (Some(Place::Envelope), Some("params")) => Place::Params,
            (Some(Place::Params), Some("_meta")) => Place::Meta,
            (Some(Place::Params), Some("arguments")) => Place::Arguments,
            _ => Place::Elsewhere,
        };
        if let Some(slot) = self.places.get_mut(depth - 1) {
            *slot = place;
        }
    }

    fn member(&mut self, depth: usize, key: &str, value: &'a str) {
        match self.places.get(depth - 1) {
            Some(Place::Envelope) => self.envelope(key, value),
            Some(Place::Params) => self.param(key, value),
            Some(Place::Meta) => self.meta(key, value),
            Some(Place::Arguments) => match key {
                "session_token" => self.found.session_token = Some(value),
                "coordinator_token" => self.found.coordinator_token = Some(value),
                _ => {}
            },
            _ => {}
        }
    }
}

impl<'a> Slots<'a> {
    fn envelope(&mut self, key: &str, value: &'a str) {
        match key {
            "jsonrpc" => self.jsonrpc = Some(value),
            "id" => self.id_twice = self.id.replace(value).is_some(),
            "method" => self.method = Some(value),
            "params" => self.params = Some(value),
            "result" => self.result = Some(value),
            "error" => self.error = Some(value),
            _ if ENVELOPE.iter().any(|known| known.eq_ignore_ascii_case(key)) => self.variant = Some(key.to_owned()),
            _ => {}
        }
    }

    fn param(&mut self, key: &str, value: &'a str) {
        let slot = match key {
            "name" => &mut self.found.name,
            "arguments" => &mut self.found.arguments,
            "cursor" => &mut self.found.cursor,
            "token" => &mut self.found.token,
            "protocolVersion" => &mut self.found.protocol_version,
            "notifications" => &mut self.found.notifications,
            "requestId" => &mut self.found.request_id,
            "uri" => &mut self.found.uri,
            "ref" => &mut self.found.reference,
            "argument" => &mut self.found.argument,
            "context" => &mut self.found.context,
            "level" => &mut self.found.level,
            "capabilities" => &mut self.found.capabilities,
            "inputResponses" => &mut self.found.input_responses,
            "requestState" => &mut self.found.request_state,
            _ => return,
        };
        *slot = Some(value);
    }

    fn meta(&mut self, key: &str, value: &'a str) {
        let slot = match key {
            "io.modelcontextprotocol/protocolVersion" => &mut self.found.meta.version,
            "io.modelcontextprotocol/clientCapabilities" => &mut self.found.meta.capabilities,
            "toolgate/token" => &mut self.found.meta.token,
            "toolgate/dryRun" => &mut self.found.meta.dry_run,
            "toolgate/flow" => &mut self.found.meta.flow,
            "toolgate/wait" => &mut self.found.meta.wait,
            "toolgate/approval" => &mut self.found.meta.approval,
            "toolgate/approvalScope" => &mut self.found.meta.approval_scope,
            "progressToken" => &mut self.found.meta.progress_token,
            "io.modelcontextprotocol/logLevel" => &mut self.found.meta.log_level,
            _ => return,
        };
        *slot = Some(value);
    }

    /// The id, if there is one good one.
    fn sound_id(&self) -> Option<&'a str> {
        self.id.filter(|id| !self.id_twice && is_id(id))
    }

    fn into_message(self) -> Result<Message<'a>, Refusal> {
        if self.places.first() != Some(&Place::Envelope) {
            return Err(Refusal::request("message must be a JSON object"));
        }
        if let Some(key) = &self.variant {
            return Err(Refusal::request(format!(
                "key '{}' is not in its proper case; the envelope's keys are jsonrpc, id, method, params",
                shortened(key)
            )));
        }
        if self.jsonrpc.and_then(text::string).as_deref() != Some("2.0") {
            return Err(Refusal::request("jsonrpc must be the string \"2.0\""));
        }
        if self.id.is_some_and(|id| !is_id(id)) {
            return Err(Refusal::request("id must be a string or an integer"));
        }
        let method = self.method.map(text::string);
        let kind = match (&method, self.result.is_some() || self.error.is_some(), self.id) {
            (None, true, _) => Kind::Response,
            (Some(Some(_)), false, Some(_)) => Kind::Request,
            (Some(Some(_)), false, None) => Kind::Notification,
            (Some(None), ..) => return Err(Refusal::request("method must be a string")),
            (Some(_), true, _) => {
                return Err(Refusal::request("message has both a method and an answer; send one of them"));
            }
            (None, false, _) => return Err(Refusal::request("method is missing")),
        };
        if self.params.is_some_and(|params| !text::is_object(params)) {
            return Err(Refusal::params("params must be an object"));
        }
        Ok(Message {
            kind,
            id: self.id,
            method: method.flatten().unwrap_or_default(),
            params: self.found,
            result: self.result,
            error: self.error,
        })
    }
}

fn is_id(raw: &str) -> bool {
    raw.starts_with('"') || text::is_integer(raw)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(body: &str) -> Result<Message<'_>, (Refusal, Option<&str>)> {
        Message::read(body.as_bytes(), &Limits::default())
    }

    fn refused(body: &str) -> (i32, String) {
        let (refusal, _) = read(body).unwrap_err();
        (refusal.code, refusal.message.into_owned())
    }

    #[test]
    fn a_request_is_found_in_place() {
        let message = read(
            r#"{"jsonrpc":"2.0","id":"a\u0062","method":"tools\/call","params":{"name":"x","arguments":{"session_token":"s",
            "nested":{"session_token":"not me"}},"_meta":{"toolgate/token":"t","io.modelcontextprotocol/protocolVersion":"2026-07-28"},
            "other":{"name":"not me"}}}"#,
        )
        .unwrap();
        assert_eq!(message.kind, Kind::Request);
        assert_eq!(message.id, Some(r#""a\u0062""#));
        assert_eq!(message.method, "tools/call");
        assert_eq!(message.params.name, Some("\"x\""));
        assert_eq!(message.params.session_token, Some("\"s\""));
        assert_eq!(message.params.meta.token, Some("\"t\""));
        assert_eq!(message.params.meta.version, Some("\"2026-07-28\""));
    }

    #[test]
    fn members_inside_arrays_are_not_mistaken_for_ours() {
        let message = read(r#"{"jsonrpc":"2.0","id":1,"method":"m","x":[{"params":{"name":"n"}}]}"#).unwrap();
        assert_eq!(message.params.name, None);
        assert_eq!(refused(r#"{"jsonrpc":"2.0","id":1,"method":"m","params":[{"name":"n"}]}"#).0, -32602);
    }

    #[test]
    fn kinds_are_told_apart() {
        assert_eq!(read(r#"{"jsonrpc":"2.0","method":"m"}"#).unwrap().kind, Kind::Notification);
        assert_eq!(read(r#"{"jsonrpc":"2.0","id":1,"result":{}}"#).unwrap().kind, Kind::Response);
        assert_eq!(read(r#"{"jsonrpc":"2.0","id":1,"error":{}}"#).unwrap().kind, Kind::Response);
    }

    #[test]
    fn what_is_no_message_is_refused_with_its_reason() {
        let cases = [
            ("[]", -32600, "batches"),
            (" \n[{}]", -32600, "batches"),
            ("{", -32700, "line 1 column 2"),
            ("3", -32600, "must be a JSON object"),
            ("{}", -32600, "jsonrpc"),
            (r#"{"jsonrpc":2.0,"id":1,"method":"m"}"#, -32600, "jsonrpc"),
            (r#"{"jsonrpc":"2.0","id":1}"#, -32600, "method is missing"),
            (r#"{"jsonrpc":"2.0","id":1,"method":4}"#, -32600, "method must be a string"),
            (r#"{"jsonrpc":"2.0","id":1,"method":"m","result":1}"#, -32600, "both"),
            (r#"{"jsonrpc":"2.0","id":1,"method":"m","id":1}"#, -32600, "'id' twice"),
            (
                r#"{"jsonrpc":"2.0","id":1,"method":"m","params":{"arguments":{"a":{"b":1,"b":1}}}}"#,
                -32600,
                "'b' twice",
            ),
        ];
        for (body, code, words) in cases {
            let (got, message) = refused(body);
            assert_eq!(got, code, "{body}");
            assert!(message.contains(words), "{body}: {message}");
        }
    }

    #[test]
    fn envelope_keys_in_another_case_are_refused() {
        for key in ["Method", "ID", "Params", "JsonRpc", "RESULT", "Error"] {
            let (code, message) = refused(&format!(r#"{{"jsonrpc":"2.0","id":1,"method":"m","{key}":1}}"#));
            assert_eq!(code, -32600);
            assert!(message.contains(key), "{message}");
        }
    }

    #[test]
    fn an_id_is_a_string_or_an_integer() {
        for id in ["null", "1.5", "1e3", "true", "{}", "[]"] {
            assert_eq!(refused(&format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"m"}}"#)).0, -32600, "{id}");
        }
        for id in ["0", "-7", "123456789012345678901234567890", "\"\"", "\"x\""] {
            assert_eq!(read(&format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"m"}}"#)).unwrap().id, Some(id));
        }
    }

    #[test]
    fn a_refused_message_is_answered_under_its_id_where_that_is_certain() {
        let id = |body: &'static str| read(body).unwrap_err().1;
        assert_eq!(id(r#"{"jsonrpc":"2.0","id":7,"method":"m","Method":"n"}"#), Some("7"));
        assert_eq!(id(r#"{"jsonrpc":"2.0","id":7,"method":"m","params":{"a":1,"a":2}}"#), Some("7"));
        assert_eq!(id(r#"{"jsonrpc":"2.0","id":7,"method":"m","id":8}"#), None);
        assert_eq!(id(r#"{"jsonrpc":"2.0","id":7,"method":"#), None);
    }
}
