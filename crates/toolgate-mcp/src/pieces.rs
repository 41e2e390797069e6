//! Results as bytes: a small head with the request's id, somebody's JSON as it is, and a tail made once.

use std::borrow::Cow;

use bytes::Bytes;
use memchr::memmem::Finder;
use serde::Serialize;
use serde_json::value::RawValue;
use toolgate_core::Kind;

use crate::{
    config::WireConfig,
    era::{self, Version},
    json::text,
};

/// The longest result that is copied into its answer.
const SMALL: usize = 4 << 10;

/// The parts of answers that do not change from request to request.
pub(crate) struct Pieces {
    /// `"_meta":{"io.modelcontextprotocol/serverInfo":{…}}`
    server_meta: Vec<u8>,
    server_info: Vec<u8>,
    instructions: Option<String>,
    discover: Bytes,
    discover_more: Bytes,
    /// What follows a modern list.
    list_tail: Bytes,
    empty_modern: Bytes,
    /// Finds `"_meta"` in a result.
    own_meta: Finder<'static>,
}

const CAPABILITIES: &str = r#""capabilities":{"tools":{"listChanged":true}}"#;
/// Where something behind the gate has more than tools.
const MORE_CAPABILITIES: &str = r#""capabilities":{"tools":{"listChanged":true},"prompts":{"listChanged":true},"resources":{"subscribe":true,"listChanged":true},"completions":{},"logging":{}}"#;

fn capabilities(more: bool) -> &'static [u8] {
    if more { MORE_CAPABILITIES.as_bytes() } else { CAPABILITIES.as_bytes() }
}

/// What the server can do changes with its version only.
const DISCOVER_TTL_MS: u32 = 3_600_000;

impl Pieces {
    pub(crate) fn new(config: &WireConfig) -> Self {
        #[derive(Serialize)]
        struct Info<'a> {
            name: &'a str,
            version: &'a str,
        }
        let info = Info { name: &config.server_name, version: &config.server_version };
        let server_info = serde_json::to_vec(&info).unwrap_or_default();
        let mut server_meta = br#""_meta":{"io.modelcontextprotocol/serverInfo":"#.to_vec();
        server_meta.extend_from_slice(&server_info);
        server_meta.push(b'}');

        let instructions = config.instructions.as_deref();
        let discover = |more| discovery(&server_meta, more, instructions, DISCOVER_TTL_MS);
        let (discover, discover_more) = (discover(false), discover(true));

        let mut list_tail = format!(r#","ttlMs":{},"cacheScope":"private","#, config.list_ttl.as_millis()).into_bytes();
        list_tail.extend_from_slice(&server_meta);
        list_tail.extend_from_slice(b"}}");

        let mut empty_modern = br#"{"resultType":"complete","#.to_vec();
        empty_modern.extend_from_slice(&server_meta);
        empty_modern.extend_from_slice(b"}}");
        Self {
            server_meta,
            server_info,
            instructions: config.instructions.clone(),
            discover,
            discover_more,
            list_tail: list_tail.into(),
            empty_modern: empty_modern.into(),
            own_meta: Finder::new("\"_meta\""),
        }
    }

    /// `notice` comes before the instructions, and is not to be kept by the client.
    pub(crate) fn discover(&self, id: &str, more: bool, notice: Option<&str>) -> [Bytes; 3] {
        let discover = match notice {
            Some(_) => discovery(&self.server_meta, more, self.instructions_after(notice).as_deref(), 0),
            None if more => self.discover_more.clone(),
            None => self.discover.clone(),
        };
        [head(id, b"").into(), discover, Bytes::new()]
    }

    fn instructions_after(&self, notice: Option<&str>) -> Option<Cow<'_, str>> {
        match (notice, self.instructions.as_deref()) {
            (Some(notice), Some(instructions)) => Some(format!("{notice}\n\n{instructions}").into()),
            (Some(notice), None) => Some(notice.to_owned().into()),
            (None, instructions) => instructions.map(Cow::Borrowed),
        }
    }

    /// A result with nothing in it.
    pub(crate) fn empty(&self, id: &str, version: Version) -> [Bytes; 3] {
        let empty = if version.is_modern() { self.empty_modern.clone() } else { Bytes::from_static(b"{}}") };
        [head(id, b"").into(), empty, Bytes::new()]
    }

    /// `notice` comes before the instructions.
    pub(crate) fn initialize(&self, id: &str, version: Version, more: bool, notice: Option<&str>) -> [Bytes; 3] {
        let mut out = head(id, b"{\"protocolVersion\":\"");
        out.extend_from_slice(version.as_str().as_bytes());
        out.extend_from_slice(b"\",");
        out.extend_from_slice(capabilities(more));
        out.extend_from_slice(b",\"serverInfo\":");
        out.extend_from_slice(&self.server_info);
        push_instructions(&mut out, self.instructions_after(notice).as_deref());
        out.extend_from_slice(b"}}");
        [out.into(), Bytes::new(), Bytes::new()]
    }

    /// One page; the page's own bytes are not copied.
    pub(crate) fn list(&self, id: &str, version: Version, kind: Kind, items: Bytes, next: Option<&str>) -> [Bytes; 3] {
        let modern = version.is_modern();
        let open: &[u8] = match (modern, kind) {
            (true, Kind::Tool) => br#"{"resultType":"complete","tools":"#,
            (false, Kind::Tool) => br#"{"tools":"#,
            (true, Kind::Prompt) => br#"{"resultType":"complete","prompts":"#,
            (false, Kind::Prompt) => br#"{"prompts":"#,
            (true, Kind::Resource) => br#"{"resultType":"complete","resources":"#,
            (false, Kind::Resource) => br#"{"resources":"#,
            (true, Kind::Template | Kind::Address) => br#"{"resultType":"complete","resourceTemplates":"#,
            (false, Kind::Template | Kind::Address) => br#"{"resourceTemplates":"#,
        };
        let tail = if modern { self.list_tail.clone() } else { Bytes::from_static(b"}}") };
        let tail = match next {
            None => tail,
            Some(cursor) => {
                // A cursor is base64url: nothing to escape.
                let mut with = Vec::with_capacity(cursor.len() + tail.len() + 20);
                with.extend_from_slice(b",\"nextCursor\":\"");
                with.extend_from_slice(cursor.as_bytes());
                with.push(b'"');
                with.extend_from_slice(&tail);
                with.into()
            }
        };
        [head(id, open).into(), items, tail]
    }

    /// Questions that a client of the newer era answers with its next try.
    pub(crate) fn input_required(&self, id: &str, requests: Option<&str>, state: &str) -> [Bytes; 3] {
        let mut out = head(id, br#"{"resultType":"input_required","#);
        if let Some(requests) = requests {
            out.extend_from_slice(b"\"inputRequests\":");
            out.extend_from_slice(requests.as_bytes());
            out.push(b',');
        }
        out.extend_from_slice(b"\"requestState\":\"");
        out.extend_from_slice(state.as_bytes());
        out.extend_from_slice(b"\",");
        out.extend_from_slice(&self.server_meta);
        out.extend_from_slice(b"}}");
        [out.into(), Bytes::new(), Bytes::new()]
    }

    /// A call's result object, which has no `resultType`; `None` if it is no object. One that clients may keep says for how
    /// long, and is kept for its caller alone.
    pub(crate) fn called(&self, id: &str, version: Version, result: &Bytes, kept: bool) -> Option<[Bytes; 3]> {
        if kept && version.is_modern() {
            return self.called(id, version, &for_one_caller(result)?, false);
        }
        let open = result.iter().position(|byte| !byte.is_ascii_whitespace())?;
        if result.get(open) != Some(&b'{') {
            return None;
        }
        if !version.is_modern() {
            return Some(closed(head(id, b""), result.slice(open..)));
        }
        let members = result.slice(open + 1..);
        let mut out = head(id, br#"{"resultType":"complete""#);
        // A tool that says something in `_meta` keeps it: ours is advisory, and a key twice is wrong.
        if self.own_meta.find(&members).is_none() {
            out.push(b',');
            out.extend_from_slice(&self.server_meta);
        }
        if members.iter().find(|byte| !byte.is_ascii_whitespace()) != Some(&b'}') {
            out.push(b',');
        }
        Some(closed(out, members))
    }
}

/// The end of an answer. A piece of its own costs more to write than a small one to copy.
fn closed(mut head: Vec<u8>, rest: Bytes) -> [Bytes; 3] {
    if rest.len() > SMALL {
        return [head.into(), rest, Bytes::from_static(b"}")];
    }
    head.reserve_exact(rest.len() + 1);
    head.extend_from_slice(&rest);
    head.push(b'}');
    [head.into(), Bytes::new(), Bytes::new()]
}

/// What a gate let through is nobody else's to keep.
fn for_one_caller(result: &Bytes) -> Option<Bytes> {
    let mut members: indexmap::IndexMap<String, Box<RawValue>> = serde_json::from_slice(result).ok()?;
    let raw = |text: &str| RawValue::from_string(text.to_owned()).ok();
    members.insert("cacheScope".to_owned(), raw("\"private\"")?);
    if !members.contains_key("ttlMs") {
        members.insert("ttlMs".to_owned(), raw("0")?);
    }
    serde_json::to_vec(&members).ok().map(Bytes::from)
}

/// The result of `server/discover`, with the end of its answer.
fn discovery(server_meta: &[u8], more: bool, instructions: Option<&str>, ttl_ms: u32) -> Bytes {
    let mut discover = br#"{"resultType":"complete","supportedVersions":"#.to_vec();
    discover.extend_from_slice(era::supported_json().as_bytes());
    discover.push(b',');
    discover.extend_from_slice(capabilities(more));
    push_instructions(&mut discover, instructions);
    discover.extend_from_slice(format!(r#","ttlMs":{ttl_ms},"cacheScope":"private","#).as_bytes());
    discover.extend_from_slice(server_meta);
    discover.extend_from_slice(b"}}");
    discover.into()
}

fn push_instructions(out: &mut Vec<u8>, instructions: Option<&str>) {
    if let Some(instructions) = instructions {
        out.extend_from_slice(b",\"instructions\":");
        text::push_string(out, instructions);
    }
}

/// `{"jsonrpc":"2.0","id":…,"result":…`
fn head(id: &str, open: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(160 + id.len());
    out.extend_from_slice(b"{\"jsonrpc\":\"2.0\",\"id\":");
    out.extend_from_slice(id.as_bytes());
    out.extend_from_slice(b",\"result\":");
    out.extend_from_slice(open);
    out
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};
    use tokio::sync::watch;

    use super::*;

    fn pieces() -> Pieces {
        let (_, shutdown) = watch::channel(false);
        let config = WireConfig {
            instructions: Some("say \"hi\"".into()),
            server_version: "1".into(),
            ..WireConfig::new(vec![], shutdown)
        };
        Pieces::new(&config)
    }

    fn read(parts: [Bytes; 3]) -> Value {
        serde_json::from_slice(&parts.concat()).unwrap()
    }

    fn meta() -> Value {
        json!({"io.modelcontextprotocol/serverInfo": {"name": "toolgate", "version": "1"}})
    }

    #[test]
    fn discovery_and_lists_are_private_and_complete_in_the_modern_era_only() {
        let discover = read(pieces().discover("1", false, None));
        assert_eq!(discover["result"]["resultType"], "complete");
        assert_eq!(discover["result"]["cacheScope"], "private");
        assert_eq!(discover["result"]["ttlMs"], 3_600_000);
        assert_eq!(discover["result"]["capabilities"]["tools"]["listChanged"], true);
        assert_eq!(discover["result"]["capabilities"].get("prompts"), None);
        let more = read(pieces().discover("1", true, None));
        assert_eq!(more["result"]["capabilities"]["resources"], json!({"subscribe": true, "listChanged": true}));
        assert_eq!(discover["result"]["instructions"], "say \"hi\"");
        assert_eq!(discover["result"]["_meta"], meta());
        let tools = Bytes::from_static(br#"[{"name":"a"}]"#);
        let modern = read(pieces().list("\"x\"", Version::V2026_07_28, Kind::Tool, tools.clone(), Some("abc")));
        assert_eq!(
            modern,
            json!({"jsonrpc": "2.0", "id": "x", "result": {"resultType": "complete", "tools": [{"name": "a"}],
            "nextCursor": "abc", "ttlMs": 60000, "cacheScope": "private", "_meta": meta()}})
        );
        let legacy = read(pieces().list("2", Version::V2025_06_18, Kind::Tool, tools, None));
        assert_eq!(legacy, json!({"jsonrpc": "2.0", "id": 2, "result": {"tools": [{"name": "a"}]}}));
    }

    #[test]
    fn a_result_is_spliced_without_being_read() {
        let called = |version, text: &'static str| {
            pieces().called("1", version, &Bytes::from_static(text.as_bytes()), false).map(read)
        };
        let legacy = called(Version::V2025_11_25, r#"{"content":[]}"#).unwrap();
        assert_eq!(legacy["result"], json!({"content": []}));
        let modern = called(Version::V2026_07_28, r#" {"content":[],"isError":true}"#).unwrap();
        assert_eq!(
            modern["result"],
            json!({"resultType": "complete", "_meta": meta(), "content": [], "isError": true})
        );
        let own = called(Version::V2026_07_28, r#"{"_meta":{"a":1}}"#).unwrap();
        assert_eq!(own["result"], json!({"resultType": "complete", "_meta": {"a": 1}}));
        let empty = called(Version::V2026_07_28, "{ }").unwrap();
        assert_eq!(empty["result"], json!({"resultType": "complete", "_meta": meta()}));
        assert_eq!(called(Version::V2026_07_28, "[]"), None);
        let kept = |version, text: &'static str| {
            read(pieces().called("1", version, &text.into(), true).unwrap())["result"].clone()
        };
        let public = r#"{"contents":[],"ttlMs":5,"cacheScope":"public","_meta":{}}"#;
        assert_eq!(
            kept(Version::V2026_07_28, public),
            json!({"resultType": "complete", "contents": [], "ttlMs": 5, "cacheScope": "private", "_meta": {}})
        );
        assert_eq!(kept(Version::V2026_07_28, "{}")["ttlMs"], 0);
        assert_eq!(kept(Version::V2025_11_25, r#"{"contents":[]}"#), json!({"contents": []}));
    }

    #[test]
    fn initialize_answers_the_negotiated_version() {
        let answer = read(pieces().initialize("1", Version::V2025_06_18, false, None));
        assert_eq!(answer["result"]["protocolVersion"], "2025-06-18");
        assert_eq!(answer["result"]["serverInfo"]["name"], "toolgate");
        assert!(answer["result"].get("resultType").is_none());
    }

    #[test]
    fn a_notice_comes_before_the_instructions_and_is_not_kept() {
        let initialized = read(pieces().initialize("1", Version::V2025_06_18, false, Some("first")));
        assert_eq!(initialized["result"]["instructions"], "first\n\nsay \"hi\"");
        let discovered = read(pieces().discover("1", true, Some("first")));
        assert_eq!(discovered["result"]["instructions"], "first\n\nsay \"hi\"");
        assert_eq!(discovered["result"]["ttlMs"], 0);
        assert_eq!(discovered["result"]["_meta"], meta());
    }
}
