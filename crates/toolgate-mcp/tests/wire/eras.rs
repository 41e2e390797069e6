//! Which era a request is in, what each demands, and what each answers.

use serde_json::{Value, json};

use crate::{
    house::Site,
    requests::{Ask, MODERN, legacy, meta, modern},
};

#[tokio::test]
async fn a_modern_client_discovers_and_lists_without_a_handshake() {
    let site = Site::of_tools();
    let discover = modern("server/discover", json!({})).post(&site).await;
    assert_eq!(discover.status, 200);
    assert_eq!(discover.header("content-type"), "application/json");
    let result = discover.result();
    assert_eq!(result["supportedVersions"], json!(["2026-07-28", "2025-11-25", "2025-06-18"]));
    assert_eq!(result["capabilities"], json!({"tools": {"listChanged": true}}));
    let list = modern("tools/list", json!({})).post(&site).await.result();
    for result in [&result, &list] {
        assert_eq!(result["resultType"], "complete");
        assert_eq!(result["cacheScope"], "private");
        assert!(result["ttlMs"].is_u64());
        assert_eq!(result["_meta"]["io.modelcontextprotocol/serverInfo"]["name"], "toolgate");
    }
    assert!(discover.headers.get("mcp-session-id").is_none());
}

#[tokio::test]
async fn a_legacy_client_gets_the_version_it_asked_for_or_our_newest() {
    let site = Site::of_tools();
    for (asked, agreed) in [
        ("2025-11-25", "2025-11-25"),
        ("2025-06-18", "2025-06-18"),
        ("2024-11-05", "2025-11-25"),
        ("2026-07-28", "2025-11-25"),
        ("1900-01-01", "2025-11-25"),
    ] {
        let params = json!({"protocolVersion": asked, "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}});
        let got = legacy("initialize", params).post(&site).await;
        let result = got.result();
        assert_eq!(result["protocolVersion"], agreed);
        assert_eq!(result["capabilities"], json!({"tools": {"listChanged": true}}));
        for modern_only in ["resultType", "ttlMs", "cacheScope", "_meta"] {
            assert!(result.get(modern_only).is_none(), "{modern_only}");
        }
        assert!(!got.header("mcp-session-id").is_empty());
    }
    let list = legacy("tools/list", json!({})).set("mcp-protocol-version", "2025-06-18").post(&site).await.result();
    assert_eq!(list.as_object().unwrap().keys().collect::<Vec<_>>(), ["tools"]);
    assert_eq!(legacy("ping", json!({})).post(&site).await.result(), json!({}));
}

#[tokio::test]
async fn modern_requests_must_carry_their_meta() {
    let site = Site::of_tools();
    for missing in ["io.modelcontextprotocol/protocolVersion", "io.modelcontextprotocol/clientCapabilities"] {
        let mut meta = meta();
        meta.as_object_mut().unwrap().remove(missing);
        let mut ask = modern("tools/list", json!({}));
        ask.body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": meta}}).to_string();
        let got = ask.post(&site).await;
        assert_eq!(got.error(), (400, -32602));
        assert!(got.message().contains(missing));
    }
    let bare = Ask::of(r#"{"jsonrpc":"2.0","id":1,"method":"server/discover"}"#).post(&site).await;
    assert_eq!(bare.error(), (400, -32602));
}

#[tokio::test]
async fn an_unsupported_version_is_refused_with_the_supported_ones() {
    let site = Site::of_tools();
    let mut ask = modern("tools/list", json!({})).set("mcp-protocol-version", "1900-01-01");
    ask.body = ask.body.replace(MODERN, "1900-01-01");
    for ask in [ask, legacy("tools/list", json!({})).set("mcp-protocol-version", "1900-01-01")] {
        let got = ask.post(&site).await;
        assert_eq!(got.error(), (400, -32022));
        assert_eq!(got.json()["error"]["data"]["requested"], "1900-01-01");
        assert_eq!(got.json()["error"]["data"]["supported"][0], MODERN);
    }
}

#[tokio::test]
async fn mirrored_headers_must_be_there_and_match() {
    let site = Site::of_tools();
    let call = || modern("tools/call", json!({"name": "echo"}));
    let wrong = [
        call().without("mcp-protocol-version"),
        call().set("mcp-protocol-version", "2025-11-25"),
        call().set("mcp-protocol-version", "=?base64?MjAyNi0wNy0yOA==?="),
        call().without("mcp-method"),
        call().set("mcp-method", "tools/list"),
        call().without("mcp-name"),
        call().set("mcp-name", "other"),
        call().header("mcp-name", "echo"),
    ];
    for ask in wrong {
        assert_eq!(ask.post(&site).await.error(), (400, -32020));
    }
    assert_eq!(call().set("mcp-name", "=?base64?ZWNobw==?=").post(&site).await.status, 200);
    assert_eq!(legacy("tools/call", json!({"name": "echo"})).header("mcp-name", "other").post(&site).await.status, 200);
}

#[tokio::test]
async fn an_unknown_method_is_not_found() {
    let site = Site::of_tools();
    for method in ["prompts/list", "initialize", "ping", "logging/setLevel", "no/such"] {
        assert_eq!(modern(method, json!({})).post(&site).await.error(), (404, -32601), "{method}");
    }
    for method in ["prompts/list", "logging/setLevel"] {
        assert_eq!(legacy(method, json!({})).post(&site).await.error(), (200, -32601), "{method}");
    }
}

#[tokio::test]
async fn notifications_are_accepted_and_answers_only_from_older_clients() {
    let site = Site::of_tools();
    for body in [
        r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#,
        r#"{"jsonrpc":"2.0","method":"tools/call","params":{"name":"write"}}"#,
        r#"{"jsonrpc":"2.0","id":1,"result":{}}"#,
    ] {
        let got = Ask::of(body).post(&site).await;
        assert_eq!((got.status, got.body.as_str()), (202, ""), "{body}");
    }
    let modern = |body: &str| Ask::of(body).header("mcp-protocol-version", MODERN);
    assert_eq!(
        modern(r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#)
            .post(&site)
            .await
            .status,
        202
    );
    assert_eq!(modern(r#"{"jsonrpc":"2.0","id":1,"result":{}}"#).post(&site).await.error(), (400, -32600));
    assert_eq!(site.fixture.runs.load(std::sync::atomic::Ordering::SeqCst), 0, "a notification runs nothing");
}

#[tokio::test]
async fn what_http_forbids_is_refused_as_a_json_rpc_error() {
    let site = Site::with(|config| config.limits.body_bytes = 2000);
    let list = || modern("tools/list", json!({}));
    let cases = [
        (list().set("accept", "text/html"), 406, -32600),
        (list().set("accept", "application/json"), 406, -32600),
        (legacy("tools/list", json!({})).set("accept", "text/event-stream"), 406, -32600),
        (list().set("content-type", "text/plain"), 415, -32600),
        (list().without("content-type"), 415, -32600),
        (Ask::of(" ".repeat(2001)), 413, -32600),
        (list().query("token=abc"), 400, -32600),
        (Ask::of("{\"a\":"), 400, -32700),
        (Ask::of("[]"), 400, -32600),
        (Ask::of(r#"{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":1,"a":1}}"#), 400, -32600),
    ];
    for (ask, status, code) in cases {
        let got = ask.post(&site).await;
        assert_eq!(got.error(), (status, code), "{}", got.body);
        assert_eq!(got.header("content-type"), "application/json");
        assert_eq!(got.json()["jsonrpc"], "2.0");
    }
    assert_eq!(legacy("tools/list", json!({})).set("accept", "application/json").post(&site).await.status, 200);
}

#[tokio::test]
async fn the_id_comes_back_byte_for_byte() {
    let site = Site::of_tools();
    for id in ["0", "-12", "123456789012345678901234567890", r#""a\u0062\/c""#, "\"\""] {
        for method in ["ping", "no/such"] {
            let got = Ask::of(format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}"}}"#)).post(&site).await;
            assert!(got.body.starts_with(&format!(r#"{{"jsonrpc":"2.0","id":{id},"#)), "{}", got.body);
        }
    }
}

#[tokio::test]
async fn there_is_nothing_to_get_or_delete_without_a_session() {
    let site = Site::of_tools();
    let ask = Ask::of("").without("content-type").set("accept", "text/event-stream");
    let got = crate::requests::Got::of(ask.get(&site).await).await;
    assert_eq!((got.status, got.header("allow")), (405, "POST"));
    assert_eq!(got.json().get("id"), None::<&Value>);
    assert_eq!(ask.delete(&site).await.status, 405);
}
