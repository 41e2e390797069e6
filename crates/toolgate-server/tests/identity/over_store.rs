//! Identity on the real store.

use std::{sync::Arc, time::Duration};

use toolgate_server::identity::{ApiKey, Claims, Credentials, Identify, Identity, IdentityConfig, StoredRows};
use toolgate_store::{Location, NewKey, NewTask, Store};

use crate::world::{own_key, user};

async fn gate(dir: &tempfile::TempDir, trust_task_ids: bool) -> (Store, Identity) {
    let store = Store::open(&Location::Sqlite(dir.path().join("gate.db"))).await.unwrap();
    let config = IdentityConfig { trust_task_ids, ..IdentityConfig::default() };
    let identity = Identity::new(config, own_key(), Arc::new(StoredRows::new(store.clone(), 10))).unwrap();
    (store, identity)
}

async fn who(identity: &Identity, credentials: Credentials<'_>) -> (String, bool) {
    let identified = identity.identify(credentials).await.unwrap();
    (identified.caller.principal(), identified.rejected.is_some())
}

fn bearer(token: &str) -> Credentials<'_> {
    Credentials { bearer: Some(token), ..Credentials::default() }
}

fn task(id: &str, key: &str, parent: Option<&str>) -> NewTask {
    let hash = aws_lc_rs::digest::digest(&aws_lc_rs::digest::SHA256, key.as_bytes());
    NewTask {
        task_id: id.into(),
        key_hash: hash.as_ref().try_into().unwrap(),
        owner: Some("ada".into()),
        process: Some("p".into()),
        name: None,
        parent: parent.map(Into::into),
        is_orchestrator: parent.is_none(),
        created_at: 1,
        ..NewTask::default()
    }
}

#[tokio::test]
async fn an_api_key_in_the_store_holds_until_it_is_revoked() {
    let dir = tempfile::tempdir().unwrap();
    let (store, identity) = gate(&dir, false).await;
    let (record, key) = ApiKey::generate(&user("ada"), None).unwrap();
    let row = NewKey {
        id: "k".into(),
        prefix: record.prefix,
        hash: record.hash,
        name: "ci".into(),
        facts: record.facts_json,
        created_at: 1,
        expires_at: record.expires_at,
    };
    store.keys().insert(row).await.unwrap();
    assert_eq!(who(&identity, bearer(key.expose())).await, ("user:ada".into(), false));
    assert!(store.keys().revoke("k", 2).await.unwrap());
    assert_eq!(who(&identity, bearer(key.expose())).await, ("anonymous".into(), true));
}

#[tokio::test]
async fn a_tasks_rights_end_with_its_parent() {
    let dir = tempfile::tempdir().unwrap();
    let (store, identity) = gate(&dir, false).await;
    store.tasks().start(task("parent", "parent-key", None)).await.unwrap();
    store.tasks().start(task("child", "child-key", Some("parent"))).await.unwrap();
    let token = identity.mint(&Claims { task: Some("child".into()), ..user("ada") }, Duration::from_secs(60)).unwrap();
    let header = || Credentials { task_keys: &["child-key"], ..Credentials::default() };
    assert_eq!(who(&identity, header()).await, ("task:child".into(), false));
    assert_eq!(who(&identity, bearer(token.expose())).await, ("user:ada task:child".into(), false));
    store.tasks().finish("parent", 2).await.unwrap();
    assert_eq!(who(&identity, header()).await, ("anonymous".into(), false));
    assert_eq!(who(&identity, bearer(token.expose())).await, ("anonymous".into(), false));
}

#[tokio::test]
async fn a_name_the_store_can_not_hold_is_simply_unknown() {
    let dir = tempfile::tempdir().unwrap();
    let (_store, identity) = gate(&dir, true).await;
    for name in ["a\0b".to_owned(), "x".repeat(100_000)] {
        let shown = Credentials { task_keys: &[&name], ..Credentials::default() };
        assert_eq!(who(&identity, shown).await, ("anonymous".into(), false));
    }
}

#[tokio::test]
async fn a_closed_store_is_no_verdict() {
    let dir = tempfile::tempdir().unwrap();
    let (store, identity) = gate(&dir, false).await;
    store.close().await;
    assert!(identity.identify(Credentials { task_keys: &["k"], ..Credentials::default() }).await.is_err());
}
