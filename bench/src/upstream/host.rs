//! What is answered to a message, whatever carried it.

use memchr::memmem;
use serde_json::value::RawValue;

use super::Speaks;
use crate::rpc::Envelope;
use crate::tools;

const MODERN: &[u8] = b"2026-07-28";
const DISCOVERED: &str = concat!(
    r#"{"resultType":"complete","supportedVersions":["2026-07-28","2025-11-25"],"capabilities":{"tools":{}},"#,
    r#""serverInfo":{"name":"bench","version":"0"},"ttlMs":0,"cacheScope":"public"}"#
);
const INITIALIZED: &str = concat!(
    r#"{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"#,
    r#""serverInfo":{"name":"bench","version":"0"}}"#
);

pub(super) struct Host {
    speaks: Speaks,
    /// The result of tools/list in each era.
    older_list: String,
    modern_list: String,
}

/// What to do with a message.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Reply {
    Answer(Vec<u8>),
    /// The answer to `initialize`, which begins a session where there are sessions.
    Welcome(Vec<u8>),
    /// It was a notification.
    Nothing,
}

impl Host {
    pub(super) fn new(tools: usize, speaks: Speaks) -> Self {
        let tools = tools::definitions(tools);
        Self {
            speaks,
            older_list: format!(r#"{{"tools":{tools}}}"#),
            modern_list: format!(r#"{{"resultType":"complete","ttlMs":0,"cacheScope":"private","tools":{tools}}}"#),
        }
    }

    pub(super) fn reply(&self, message: &[u8]) -> Reply {
        let Some(envelope) = Envelope::read(message) else {
            return Reply::Answer(error("null", -32700, "not JSON-RPC"));
        };
        let Some(id) = envelope.id.map(RawValue::get) else {
            return Reply::Nothing;
        };
        // The version stands in `_meta` of every request of the newer era, over HTTP and over streams alike.
        let modern = envelope.params.is_some_and(|params| memmem::find(params.get().as_bytes(), MODERN).is_some());
        match &*envelope.method {
            "server/discover" if self.speaks != Speaks::Older => Reply::Answer(result(id, &[DISCOVERED])),
            "initialize" if self.speaks != Speaks::Newer => Reply::Welcome(result(id, &[INITIALIZED])),
            "ping" => Reply::Answer(result(id, &["{}"])),
            "tools/list" if modern => Reply::Answer(result(id, &[&self.modern_list])),
            "tools/list" => Reply::Answer(result(id, &[&self.older_list])),
            "tools/call" => Reply::Answer(match envelope.text() {
                Some(text) => {
                    let kind = if modern { r#"{"resultType":"complete","# } else { "{" };
                    result(id, &[kind, r#""content":[{"type":"text","text":"#, text, r#"}],"isError":false}"#])
                }
                None => error(id, -32602, "no argument 'text'"),
            }),
            _ => Reply::Answer(error(id, -32601, "no such method")),
        }
    }
}

fn result(id: &str, result: &[&str]) -> Vec<u8> {
    let mut answer = Vec::with_capacity(64 + result.iter().map(|part| part.len()).sum::<usize>());
    let start = [r#"{"jsonrpc":"2.0","id":"#, id, r#","result":"#];
    for part in start.iter().chain(result).chain(&["}"]) {
        answer.extend_from_slice(part.as_bytes());
    }
    answer
}

fn error(id: &str, code: i32, message: &str) -> Vec<u8> {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":{code},"message":"{message}"}}}}"#).into_bytes()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use serde_json::Value;

    fn answered(speaks: Speaks, message: &str) -> Value {
        match Host::new(3, speaks).reply(message.as_bytes()) {
            Reply::Answer(answer) | Reply::Welcome(answer) => serde_json::from_slice(&answer).unwrap(),
            Reply::Nothing => Value::Null,
        }
    }

    fn asked(method: &str, params: &str) -> String {
        format!(r#"{{"jsonrpc":"2.0","id":7,"method":"{method}","params":{params}}}"#)
    }

    const META: &str = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}"#;

    #[test]
    fn an_era_is_offered_unless_only_the_other_is_spoken() {
        let discover = asked("server/discover", &format!("{{{META}}}"));
        let offered = answered(Speaks::Both, &discover);
        assert_eq!(offered.pointer("/result/supportedVersions/0"), Some(&Value::from("2026-07-28")));
        let refused = answered(Speaks::Older, &discover);
        assert_eq!(refused.pointer("/error/code"), Some(&Value::from(-32601)));
        let greeted = answered(Speaks::Older, &asked("initialize", "{}"));
        assert_eq!(greeted.pointer("/result/protocolVersion"), Some(&Value::from("2025-11-25")));
        let refused = answered(Speaks::Newer, &asked("initialize", "{}"));
        assert_eq!(refused.pointer("/error/code"), Some(&Value::from(-32601)));
    }

    #[test]
    fn lists_and_calls_say_their_kind_in_the_newer_era_only() {
        for (meta, kind) in [("", None), (META, Some(&Value::from("complete")))] {
            let list = answered(Speaks::Both, &asked("tools/list", &format!("{{{meta}}}")));
            assert_eq!(list.pointer("/result/tools").unwrap().as_array().unwrap().len(), 3);
            assert_eq!(list.pointer("/result/resultType"), kind);
            let comma = if meta.is_empty() { "" } else { "," };
            let call = asked("tools/call", &format!(r#"{{"name":"echo","arguments":{{"text":"hi"}}{comma}{meta}}}"#));
            let call = answered(Speaks::Both, &call);
            assert_eq!(call.get("id"), Some(&Value::from(7)));
            assert_eq!(call.pointer("/result/content/0/text"), Some(&Value::from("hi")));
            assert_eq!(call.pointer("/result/resultType"), kind);
        }
    }

    #[test]
    fn notifications_are_not_answered_and_nonsense_is_refused() {
        assert_eq!(answered(Speaks::Both, r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#), Value::Null);
        for (message, code) in [
            ("{".to_owned(), -32700),
            (asked("prompts/list", "{}"), -32601),
            (asked("tools/call", r#"{"name":"echo","arguments":{}}"#), -32602),
        ] {
            let answer = answered(Speaks::Both, &message);
            assert_eq!(answer.pointer("/error/code"), Some(&Value::from(code)), "{message}");
        }
    }
}
