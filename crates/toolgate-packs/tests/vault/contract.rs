//! What clients and operators are promised: names, fields, facts.

use std::{collections::BTreeMap, sync::Arc};

use serde_json::{Value, json, value::to_raw_value};
use toolgate_core::{Kind, Lang};
use toolgate_packs::vault::offered;
use toolgate_spine::{Call, Outcome};

use crate::world::{World, question, user_named};

type Names = &'static [&'static str];

/// Name, effect, approval, runtimes, required and optional arguments, what a success must have.
const PROMISED: [(&str, &str, &str, &str, Names, Names, Names); 11] = [
    ("vault.list", "read", "none", "server client", &[], &["folderId", "limit", "cursor"], &["items"]),
    ("vault.search", "read", "none", "server client", &["query"], &["limit", "cursor", "kinds", "sources"], &["items"]),
    ("vault.get", "read", "none", "server client", &["id"], &["includeContent"], &["item"]),
    ("vault.suggest_name", "read", "none", "server client", &["originalName"], &["context"], &["suggestedName"]),
    ("vault.move", "write", "required", "server", &["id", "toFolderId"], &["dryRun"], &["moved", "dryRun"]),
    (
        "vault.rename",
        "write",
        "required",
        "server",
        &["id", "newName"],
        &["dryRun"],
        &["renamed", "dryRun", "previousName"],
    ),
    ("vault.copy", "write", "required", "server", &["id"], &["toFolderId", "newName", "dryRun"], &["copied", "dryRun"]),
    ("rag.retrieve", "read", "none", "server client", &["query"], &["topK", "scope"], &["chunks"]),
    ("db.query", "read", "required", "server", &["sql"], &["params", "limit", "database"], &["rows"]),
    ("events.log", "log", "none", "server client", &["name"], &["payload"], &["ok"]),
    (
        "policy.evaluate",
        "read",
        "none",
        "server client",
        &["tool"],
        &["input", "actor"],
        &["effect", "reasons", "obligations"],
    ),
];

#[test]
fn the_tools_are_as_promised() {
    let offers: BTreeMap<String, _> = offered().unwrap().into_iter().map(|offer| (offer.name.clone(), offer)).collect();
    assert_eq!(offers.len(), PROMISED.len());
    for (name, effect, approval, runtimes, required, optional, success) in PROMISED {
        let offer = &offers[name];
        let facts = &offer.facts;
        let words: Vec<&str> = facts.runtimes.iter().map(|runtime| runtime.as_str()).collect();
        assert_eq!(
            (facts.effect.as_str(), facts.approval.as_str(), words.join(" ").as_str()),
            (effect, approval, runtimes),
            "{name}"
        );
        assert_eq!((facts.when_denied.as_str(), facts.group.as_deref()), ("explained", Some("vault")), "{name}");
        assert!(facts.help_names && facts.descriptions.contains_key("ja"), "{name}");
        let definition: Value = serde_json::from_str(offer.definition.get()).unwrap();
        let input = &definition["inputSchema"];
        assert_eq!(input["required"], json!(required), "{name}");
        let properties: Vec<&str> = input["properties"].as_object().unwrap().keys().map(String::as_str).collect();
        assert_eq!(properties, [required, optional].concat(), "{name}");
        assert_eq!(definition["outputSchema"]["anyOf"][0]["required"], json!(success), "{name}");
        assert_eq!(definition["annotations"]["readOnlyHint"], effect == "read", "{name}");
        let example: Value = serde_json::from_str(&facts.example.as_ref().unwrap().0).unwrap();
        assert!(jsonschema::validator_for(input).unwrap().is_valid(&example), "{name}: {example}");
        for refusal in [json!({"error": "e", "code": "c"}), json!({"code": "c", "message": "m", "rule": "r"})] {
            assert!(jsonschema::validator_for(&definition["outputSchema"]).unwrap().is_valid(&refusal), "{name}");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_needs_approval_can_be_tried_dry_and_not_run_without() {
    World::on_sqlite(|world| async move {
        world.write("a.txt", "a");
        let id = world.id("a.txt").await;
        let spine = world.guarded(vec![]);
        let before = world.disk();
        for (tool, arguments) in [
            ("vault.move", json!({"id": id, "toFolderId": "root"})),
            ("vault.rename", json!({"id": id, "newName": "b.txt"})),
            ("vault.copy", json!({"id": id, "newName": "b.txt"})),
            ("db.query", json!({"sql": question("one")})),
        ] {
            let arguments = to_raw_value(&arguments).unwrap();
            let ann = Arc::new(user_named("ann"));
            let outcome = spine.call(&ann, Call::of(Kind::Tool, tool, Some(&arguments), Lang::En)).await;
            assert!(matches!(outcome, Outcome::NeedsApproval { .. }), "{tool}: {outcome:?}");
            let dry = Call { dry_run: true, ..Call::of(Kind::Tool, tool, Some(&arguments), Lang::En) };
            assert!(matches!(spine.call(&ann, dry).await, Outcome::Answered(_)), "{tool}");
        }
        assert_eq!(world.disk(), before);
    })
    .await;
}
