//! Lists: the caller's own, in pages that only it can turn.

use serde_json::{Value, json};

use crate::{
    house::{Site, tools},
    requests::{legacy, modern},
};

fn names(result: &Value) -> Vec<&str> {
    result["tools"].as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn each_caller_sees_its_own_list() {
    let site = Site::new();
    let stranger = modern("tools/list", json!({})).post(&site).await.result();
    let alice = modern("tools/list", json!({})).bearer("user:alice").post(&site).await.result();
    assert!(!names(&stranger).contains(&"hidden"));
    assert!(!names(&stranger).contains(&"diary"));
    assert!(names(&alice).contains(&"hidden"));
    let wrong = modern("tools/list", json!({})).bearer("nonsense").post(&site).await.result();
    assert_eq!(wrong, stranger, "an invalid token lists as a stranger");
    let old = legacy("tools/list", json!({})).bearer("user:alice").post(&site).await.result();
    assert_eq!(old["tools"], alice["tools"]);
}

#[tokio::test]
async fn pages_are_turned_by_cursor_until_the_last() {
    let site = Site::new();
    let whole = modern("tools/list", json!({})).post(&site).await.result();
    site.replace(tools(), 3);
    for ask in [modern, legacy] {
        let mut seen = Vec::new();
        let mut cursor = Value::Null;
        loop {
            let page = ask("tools/list", json!({"cursor": cursor})).post(&site).await.result();
            seen.extend(page["tools"].as_array().unwrap().clone());
            cursor = page["nextCursor"].clone();
            if cursor.is_null() {
                break;
            }
        }
        assert_eq!(Value::from(seen), whole["tools"]);
    }
}

#[tokio::test]
async fn a_cursor_is_good_for_its_caller_and_revision_only() {
    let site = Site::new();
    site.replace(tools(), 3);
    let page = modern("tools/list", json!({})).bearer("user:alice").post(&site).await.result();
    let next = modern("tools/list", json!({"cursor": page["nextCursor"]}));
    assert_eq!(next.clone().bearer("user:alice").post(&site).await.status, 200);
    let mut refused = vec![next.clone().bearer("user:bob").post(&site).await, next.clone().post(&site).await];
    for made_up in [json!("abc"), json!(""), json!(7)] {
        refused.push(modern("tools/list", json!({"cursor": made_up})).bearer("user:alice").post(&site).await);
    }
    site.replace(tools(), 3);
    refused.push(next.bearer("user:alice").post(&site).await);
    for got in refused {
        assert_eq!(got.error(), (200, -32602));
        assert!(got.message().contains("list again from the start"));
    }
}
