//! Calls: every outcome in its form, and hidden tools that can't be told from unknown ones.

use serde_json::json;
use toolgate_mcp::Challenge;

use crate::{
    house::Site,
    requests::{Ask, legacy, modern},
};

fn call(name: &str) -> Ask {
    modern("tools/call", json!({"name": name, "arguments": {}}))
}

fn with_issuer() -> Site {
    Site::with(|config| {
        config.challenge = Some(Challenge {
            resource_metadata_url: "https://gate.example/.well-known/oauth-protected-resource/mcp".to_owned(),
            scopes: vec!["tools".to_owned()],
        });
    })
}

#[tokio::test]
async fn an_answer_reaches_the_client_as_its_source_wrote_it() {
    let site = Site::new();
    let inner = r#""content":[{"type":"hologram","odd":1.50}],"unheardOf":{"b":1,"a":2},"isError":false}}"#;
    let new = call("raw").post(&site).await;
    assert!(new.body.ends_with(inner), "{}", new.body);
    assert_eq!(new.result()["resultType"], "complete");
    let old = legacy("tools/call", json!({"name": "raw"})).post(&site).await;
    assert_eq!(old.body, format!(r#"{{"jsonrpc":"2.0","id":1,"result":{{{inner}"#));
}

#[tokio::test]
async fn a_denial_is_a_result_that_says_which_rule_and_why() {
    let site = Site::new();
    for ask in [call("diary"), legacy("tools/call", json!({"name": "diary"}))] {
        let got = ask.post(&site).await;
        assert_eq!(got.status, 200);
        let result = got.result();
        assert_eq!(result["isError"], true);
        assert_eq!(result["structuredContent"]["code"], "authentication_required");
        assert_eq!(result["content"][0]["text"], result["structuredContent"]["message"]);
        assert!(result["structuredContent"]["rule"].is_string());
    }
    let asking = call("asking").bearer("user:alice").post(&site).await.result();
    assert_eq!(
        (asking["isError"].clone(), asking["structuredContent"]["code"].clone()),
        (json!(true), json!("approval_required"))
    );
}

#[tokio::test]
async fn denials_speak_the_clients_language() {
    let site = Site::new();
    let text = |got: crate::requests::Got| got.result()["content"][0]["text"].as_str().unwrap().to_owned();
    let english = text(call("diary").post(&site).await);
    let japanese = text(call("diary").header("accept-language", "ja,en;q=0.5").post(&site).await);
    assert_ne!(english, japanese);
    assert!(!japanese.is_ascii());
}

#[tokio::test]
async fn with_an_issuer_a_stranger_is_challenged_where_signing_in_would_help() {
    let site = with_issuer();
    let got = call("diary").post(&site).await;
    assert_eq!(got.error(), (401, -31401));
    assert_eq!(got.json()["error"]["data"]["code"], "authentication_required");
    assert_eq!(
        got.header("www-authenticate"),
        r#"Bearer resource_metadata="https://gate.example/.well-known/oauth-protected-resource/mcp", scope="tools""#
    );
    let expired = call("diary").bearer("expired").post(&site).await;
    assert!(expired.header("www-authenticate").contains(r#"error="invalid_token""#));
    assert_eq!(call("echo").post(&site).await.status, 200);
    assert_eq!(modern("tools/list", json!({})).post(&site).await.status, 200);
    // Asking for progress changes nothing about it.
    let ask = modern("tools/call", json!({"name": "diary", "_meta": {"progressToken": 1}}));
    assert_eq!(ask.post(&site).await.status, 401);
}

#[tokio::test]
async fn with_an_issuer_a_missing_scope_is_a_step_up() {
    let site = with_issuer();
    let got = call("scoped").bearer("user:alice").post(&site).await;
    assert_eq!(got.error(), (403, -31403));
    let challenge = got.header("www-authenticate");
    assert!(
        challenge.contains(r#"error="insufficient_scope""#) && challenge.contains(r#"scope="files:write""#),
        "{challenge}"
    );
    assert_eq!(call("scoped").bearer("user:alice").post(&Site::new()).await.result()["isError"], true);
}

#[tokio::test]
async fn where_everyone_must_sign_in_only_the_way_in_is_open() {
    let site = Site::with(|config| {
        config.challenge_always = true;
        config.challenge = Some(Challenge { resource_metadata_url: "https://a/".to_owned(), scopes: vec![] });
    });
    for ask in [
        modern("tools/list", json!({})),
        call("echo"),
        call("no_such"),
        modern("subscriptions/listen", json!({"notifications": {}})),
        modern("no/such", json!({})),
        legacy("tools/list", json!({})),
    ] {
        let got = ask.post(&site).await;
        assert_eq!(got.error(), (401, -31401));
        assert!(got.header("www-authenticate").starts_with("Bearer resource_metadata="));
    }
    assert_eq!(modern("server/discover", json!({})).post(&site).await.status, 200);
    assert_eq!(legacy("initialize", json!({"protocolVersion": "2025-11-25"})).post(&site).await.status, 200);
    assert_eq!(legacy("ping", json!({})).post(&site).await.status, 200);
    assert_eq!(modern("tools/list", json!({})).bearer("user:alice").post(&site).await.status, 200);
}

#[tokio::test]
async fn a_hidden_tool_answers_byte_for_byte_as_an_unknown_one() {
    for site in [Site::new(), with_issuer()] {
        let changes: [fn(Ask) -> Ask; 5] = [
            |ask| ask,
            |ask| ask.header("mcp-param-region", "us"),
            |ask| ask.header("mcp-param-region", "a").header("mcp-param-region", "b"),
            |ask| ask.bearer("nonsense"),
            |ask| ask.header("mcp-param-other", "é"),
        ];
        for arguments in [json!({}), json!({"region": "us"}), json!({"region": {"deep": [1]}})] {
            for change in changes {
                for ask in [modern, legacy] {
                    let hidden =
                        change(ask("tools/call", json!({"name": "hidden", "arguments": arguments}))).post(&site).await;
                    let unknown =
                        change(ask("tools/call", json!({"name": "hiddem", "arguments": arguments}))).post(&site).await;
                    assert_eq!(hidden.body.replace("hidden", "hiddem"), unknown.body);
                    assert_eq!((hidden.status, &hidden.headers), (unknown.status, &unknown.headers));
                    assert_eq!(unknown.error(), (200, -32602));
                    assert_eq!(unknown.message(), "Unknown tool: hiddem");
                }
            }
        }
    }
}

#[tokio::test]
async fn mirrored_arguments_are_checked_for_tools_on_the_callers_list() {
    let site = Site::new();
    let region = |name: &str| modern("tools/call", json!({"name": name, "arguments": {"region": "us"}}));
    assert_eq!(region("region").post(&site).await.error(), (400, -32020));
    assert_eq!(region("region").header("mcp-param-region", "eu").post(&site).await.error(), (400, -32020));
    assert_eq!(region("region").header("mcp-param-region", "us").post(&site).await.status, 200);
    assert_eq!(region("hidden").bearer("user:alice").post(&site).await.error(), (400, -32020));
    let old = legacy("tools/call", json!({"name": "region", "arguments": {"region": "us"}}));
    assert_eq!(old.post(&site).await.status, 200);
}

#[tokio::test]
async fn what_is_not_the_tools_word_is_a_json_rpc_error() {
    let site = Site::new();
    let bound = call("bound").post(&site).await;
    assert_eq!(bound.error(), (400, -32602));
    assert!(bound.message().contains("'user_id'"), "{}", bound.message());
    let broken = call("broken").post(&site).await;
    assert_eq!(broken.error(), (200, -32603));
    assert!(broken.message().contains("the fixture is broken"));
    site.names.out_of_order.store(true, std::sync::atomic::Ordering::SeqCst);
    let unidentified = call("echo").post(&site).await;
    assert_eq!(unidentified.error(), (503, -32603));
    assert!(!unidentified.message().contains("disk 7"), "a fault's cause is the operator's to know");
}

#[tokio::test]
async fn malformed_parameters_are_named() {
    let site = Site::new();
    for (params, word) in [
        (json!({}), "params.name"),
        (json!({"name": 1}), "params.name"),
        (json!({"name": "echo", "arguments": [1]}), "params.arguments"),
        (json!({"name": "echo", "_meta": {"toolgate/dryRun": "yes"}}), "dryRun"),
        (json!({"name": "echo", "_meta": {"progressToken": {}}}), "progressToken"),
        (json!({"name": "echo", "_meta": {"toolgate/token": 1}}), "toolgate/token"),
        (json!({"name": "echo", "token": []}), "params.token"),
    ] {
        let got = legacy("tools/call", params).post(&site).await;
        assert_eq!(got.error(), (400, -32602));
        assert!(got.message().contains(word), "{}", got.message());
    }
}

#[tokio::test]
async fn a_dry_run_runs_nothing() {
    let site = Site::new();
    let ask = |dry| modern("tools/call", json!({"name": "write", "_meta": {"toolgate/dryRun": dry}}));
    let runs = || site.fixture.runs.load(std::sync::atomic::Ordering::SeqCst);
    assert_eq!(ask(true).post(&site).await.status, 200);
    assert_eq!(runs(), 0);
    assert_eq!(ask(false).post(&site).await.status, 200);
    assert_eq!(runs(), 1);
}
