//! Credentials are found wherever a client can put them, and never said again.

use serde_json::json;

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
