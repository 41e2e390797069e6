//! Credentials are found wherever a client can put them, and never said again.

use serde_json::json;
use toolgate_mcp::{AnonymousLimits, Peer};

use crate::{
    house::Site,
    requests::{Ask, legacy, modern},
};

#[tokio::test]
async fn every_place_is_looked_at_and_nothing_is_chosen_here() {
    let site = Site::new();
    let params = json!({
        "name": "echo", "token": "user:c", "_meta": {"toolgate/token": "user:b"},
        "arguments": {"session_token": "agent:d", "coordinator_token": "agent:e", "deeper": {"session_token": "agent:no"}},
    });
    let ask = modern("tools/call", params)
        .bearer("user:a")
        .header("x-wiggy-task-id", "task-2")
        .header("x-toolgate-task-id", "task-1")
        .header("origin", "https://app.example");
    assert_eq!(ask.post(&site).await.status, 200);
    assert_eq!(
        *site.names.seen.lock().unwrap(),
        [
            "bearer=user:a",
            "meta=user:b",
            "params=user:c",
            "session=agent:d",
            "coordinator=agent:e",
            "task=task-1",
            "browser"
        ]
    );
}

#[tokio::test]
async fn no_error_repeats_a_token() {
    let site = Site::with(|config| config.limits.string_bytes = 500);
    let secret = "s3cret-token-value";
    let asks: Vec<Ask> = vec![
        modern("tools/call", json!({"name": "hidden"})).bearer(secret),
        modern("tools/call", json!({"name": "diary", "token": secret})),
        modern("tools/call", json!({"name": "diary", "_meta": {"toolgate/token": secret}})),
        legacy("tools/call", json!({"name": "bound", "arguments": {"session_token": secret}})),
        legacy("tools/list", json!({"cursor": secret})).bearer(secret),
        legacy("tools/list", json!({})).session(secret),
        legacy("tools/list", json!({})).query(&format!("token={secret}")),
        legacy("tools/list", json!({})).bearer(secret).header("authorization", &format!("Bearer {secret}")),
        Ask::of(format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"ping","params":{{"token":"{secret}","token":"{secret}"}}}}"#
        )),
        Ask::of(format!(r#"{{"jsonrpc":"2.0","id":1,"method":"ping","params":{{"token":"{secret}"#)),
        Ask::of(format!(r#"{{"jsonrpc":"2.0","id":1,"method":"ping","params":{{"token":"{}"}}}}"#, secret.repeat(100))),
        modern("tools/call", json!({"name": "region", "arguments": {"region": secret}})),
        modern("tools/call", json!({"name": "region", "arguments": {"region": "x"}}))
            .header("mcp-param-region", secret),
    ];
    for ask in asks {
        let got = ask.post(&site).await;
        assert!(!got.body.contains(secret), "{}", got.body);
        for value in got.headers.values() {
            assert!(!value.to_str().unwrap().contains(secret));
        }
    }
}

#[tokio::test]
async fn anonymous_calls_have_a_rate_for_each_address_and_in_all() {
    let limits = AnonymousLimits { per_minute: Some(2), total_per_minute: Some(3) };
    let site = Site::with(|config| config.anonymous = limits);
    let from = |last: u8| Peer { address: Some([192, 0, 2, last].into()), place: None };
    let call = || legacy("tools/call", json!({"name": "echo"}));
    let status = async |ask: Ask, last: u8| ask.post_from(&site, &from(last)).await.status;
    for _ in 0..2 {
        assert_eq!(status(call(), 1).await, 200);
    }
    assert_eq!(status(call(), 1).await, 429, "the address has had its calls");
    assert_eq!(status(call(), 2).await, 200);
    assert_eq!(status(call(), 3).await, 429, "all addresses have had theirs");
    assert_eq!(status(legacy("tools/list", json!({})), 3).await, 200, "a list leaves no record");
    assert_eq!(status(call().bearer("user:alice"), 1).await, 200, "a signed-in caller is not counted");
}
