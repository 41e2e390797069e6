//! Receipts, as people read them.

use serde_json::{Value, json};
use toolgate_store::{NewReceipt, Undo, UndoKind, UndoRecord};

use super::bed::books::{Books, done, on_both};

const THEN: i64 = 1_767_225_600_000;

fn ids(list: &Value) -> Vec<&str> {
    list.as_array().unwrap().iter().map(|receipt| receipt["id"].as_str().unwrap()).collect()
}

on_both! {
    fn the_list_is_newest_first_and_each_filter_limits_it(books: Books) {
        let first = books.receipt(NewReceipt { flow: Some("f1".into()), ..done("c1", THEN) });
        let second = books.receipt(NewReceipt { tool: "vault.drop".into(), ..done("c2", THEN + 1) });
        let third = books.receipt(NewReceipt { principal: "user:bob".into(), known: false, ..done("c3", THEN + 2) });
        let list = |more: &[&str]| books.home.json(&[&["receipts", "list"], more].concat());
        assert_eq!(ids(&list(&[])), [&third, &second, &first].map(String::as_str));
        assert_eq!(ids(&list(&["--flow", "f1"])), [&first].map(String::as_str));
        assert_eq!(ids(&list(&["--tool", "vault.drop"])), [&second].map(String::as_str));
        assert_eq!(ids(&list(&["--principal", "user:bob"])), [&third].map(String::as_str));
        assert_eq!(ids(&list(&["--state", "unknown"])), [&third].map(String::as_str));
        assert_eq!(ids(&list(&["--state", "undone"])), [""; 0]);
        let text = books.home.run(&["receipts", "list", "--limit", "1"]);
        assert_eq!((text.code, text.out.lines().count()), (Some(0), 2));
        let row = format!("{third}  unknown  2026-01-01 00:00:00Z  vault.move  user:bob  possible  to=/2026");
        assert!(text.out.starts_with("RECEIPT ") && text.out.lines().nth(1) == Some(&row), "{row}: {text:?}");
        assert!(text.err.contains("more than 1"), "{text:?}");
    }

    fn a_receipt_shows_everything_but_what_undo_takes(books: Books) {
        let id = books.receipt(NewReceipt {
            flow: Some("f1".into()),
            approval: Some("appr_1".into()),
            approved_by: Some("operator:kim".into()),
            undo: Undo { kind: UndoKind::Native, why: Some("puts it\nback".into()) },
            undo_record: Some(UndoRecord::new(r#"{"from":"HIDDEN"}"#.into())),
            ..done("c1", THEN)
        });
        let shown = books.home.run(&["receipts", "show", &id]);
        assert_eq!(shown.code, Some(0), "{shown:?}");
        for part in [&id, "done", "vault.move (vault)", "\"to\": \"/2026\"", "moved", "appr_1", "operator:kim", "possible, by the tool itself: puts it\\nback"] {
            assert!(shown.out.contains(part), "{part}: {shown:?}");
        }
        let value = books.home.json(&["receipts", "show", &id]);
        assert_eq!((&value["state"], &value["call"], &value["input"]), (&json!("done"), &json!("c1"), &json!({"to": "/2026"})));
        assert_eq!(value["undo"], json!({"kind": "native", "why": "puts it\nback", "began": null}));
        assert_eq!(value["result_digest"], json!("07".repeat(32)));
        assert!(!shown.out.contains("HIDDEN") && !value.to_string().contains("HIDDEN"));
    }
}

#[test]
fn an_unknown_receipt_is_no_and_an_unknown_state_is_wrong_use() {
    let books = Books::sqlite();
    let ran = books.home.run(&["receipts", "show", "rcpt_unknown"]);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(ran.out.contains("rcpt_unknown") && ran.out.contains("receipts list"), "{ran:?}");
    let ran = books.home.run(&["receipts", "show", "rcpt_unknown", "--json"]);
    assert_eq!((ran.code, ran.json()), (Some(1), json!({"id": "rcpt_unknown", "found": false})));
    let ran = books.home.run(&["receipts", "list", "--state", "open"]);
    assert_eq!((ran.code, ran.out.as_str()), (Some(2), ""));
    assert!(ran.err.contains("done, undoing, undone, unknown"), "{ran:?}");
}
