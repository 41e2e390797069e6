//! Legacy sessions: optional, bound to their caller, ended for good.

use std::time::Duration;

use serde_json::json;
use toolgate_mcp::Challenge;

use crate::{
    house::Site,
    requests::{Ask, Got, legacy},
};

async fn initialize(site: &Site, token: Option<&str>) -> String {
    crate::requests::initialize(site, token, json!({})).await
}

fn list(session: &str) -> Ask {
    legacy("tools/list", json!({})).session(session).header("mcp-protocol-version", "2025-11-25")
}

fn assert_gone(got: &Got) {
    assert_eq!(got.error(), (404, -31404));
    assert!(got.message().contains("initialize again"));
}

#[tokio::test]
async fn a_session_is_its_owners_alone() {
    let site = Site::new();
    let session = initialize(&site, Some("user:alice")).await;
    assert_eq!(list(&session).bearer("user:alice").post(&site).await.status, 200);
    assert_gone(&list(&session).bearer("user:bob").post(&site).await);
    assert_gone(&list(&session).post(&site).await);
    // Alice speaking as an agent too is still Alice.
    let call = legacy("tools/call", json!({"name": "echo", "arguments": {"session_token": "agent:x"}}));
    assert_eq!(call.session(&session).bearer("user:alice").post(&site).await.status, 200);
    let note = Ask::of(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
    assert_eq!(note.session(&session).post(&site).await.status, 202);
}

#[tokio::test]
async fn a_session_opened_by_nobody_is_signed_in_to_once() {
    let site = Site::new();
    let session = initialize(&site, None).await;
    assert_eq!(list(&session).post(&site).await.status, 200);
    assert_eq!(list(&session).bearer("user:alice").post(&site).await.status, 200);
    assert_eq!(list(&session).bearer("user:alice").post(&site).await.status, 200);
    assert_gone(&list(&session).bearer("user:bob").post(&site).await);
    assert_eq!(
        list(&session).post(&site).await.status,
        200,
        "clients without headers send credentials with calls only"
    );
}

#[tokio::test]
async fn ended_expired_and_made_up_sessions_are_gone() {
    let site = Site::new();
    let session = initialize(&site, Some("user:alice")).await;
    assert_gone(&list("made-up").post(&site).await);
    assert_gone(&list(&format!("{session}x")).bearer("user:alice").post(&site).await);
    assert_gone(&list(&session).bearer("user:bob").delete(&site).await);
    let deleted = list(&session).bearer("user:alice").delete(&site).await;
    assert_eq!((deleted.status, deleted.body.as_str()), (204, ""));
    assert_gone(&list(&session).bearer("user:alice").post(&site).await);
    let note = Ask::of(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
    assert_gone(&note.session(&session).post(&site).await);
    let brief = Site::with(|config| config.session_ttl = Duration::ZERO);
    let expired = initialize(&brief, None).await;
    assert_gone(&list(&expired).post(&brief).await);
}

#[tokio::test]
async fn any_replica_reads_a_session_and_none_with_another_key_does() {
    let (first, second) = (Site::new(), Site::new());
    let foreign = Site::with(|config| config.seal_key = b"another key".to_vec());
    let session = initialize(&first, Some("user:alice")).await;
    assert_eq!(list(&session).bearer("user:alice").post(&second).await.status, 200);
    assert_gone(&list(&session).bearer("user:alice").post(&foreign).await);
}

#[tokio::test]
async fn a_session_is_not_needed_and_the_modern_era_ignores_it() {
    let site = Site::new();
    assert_eq!(legacy("tools/list", json!({})).post(&site).await.status, 200);
    let modern = crate::requests::modern("tools/list", json!({})).session("made-up");
    assert_eq!(modern.post(&site).await.status, 200);
    let again = legacy("initialize", json!({"protocolVersion": "2025-11-25"})).session("made-up");
    assert_eq!(again.post(&site).await.status, 200);
}

#[tokio::test]
async fn a_token_that_ran_out_is_renewed_rather_than_the_session() {
    let site = Site::with(|config| {
        config.challenge = Some(Challenge { resource_metadata_url: "https://a/".to_owned(), scopes: vec![] });
    });
    let session = initialize(&site, Some("user:alice")).await;
    site.names.revoked.lock().unwrap().insert("user:alice".to_owned());
    let got = list(&session).bearer("user:alice").post(&site).await;
    assert_eq!(got.status, 401);
    assert!(got.header("www-authenticate").contains("invalid_token"));
}
