//! `policy.evaluate`: what a call would get, from the same decision.

use std::sync::Arc;

use serde_json::{Value, json, value::to_raw_value};
use toolgate_core::{Caller, Kind, Lang, RuleFile, caller::Runtime};
use toolgate_spine::{Call, Outcome, Spine};

use crate::world::{World, assert_fits, user_named};

const RULES: &str = r#"
    @id("not_to_archive")
    @message("Nothing is moved to the archive.")
    forbid (principal, action == Action::"call:vault.move", resource)
    when { context.arguments.toFolderId == "archive" };

    @id("no_notes")
    @message("Notes are off.")
    @hides("no")
    forbid (principal, action in Action::"call", resource == Tool::"events.log");
"#;

async fn ask(spine: &Arc<Spine>, caller: &Caller, arguments: Value) -> Value {
    let arguments = to_raw_value(&arguments).unwrap();
    let call = Call::of(Kind::Tool, "policy.evaluate", Some(&arguments), Lang::En);
    let result: Value = match spine.call(&Arc::new(caller.clone()), call).await {
        Outcome::Answered(bytes) => serde_json::from_slice(&bytes).unwrap(),
        Outcome::Refused { answer, .. } => serde_json::from_slice(&answer.into_bytes()).unwrap(),
        other => panic!("{other:?}"),
    };
    assert_fits("policy.evaluate", &result["structuredContent"]);
    result["structuredContent"].clone()
}

on_both! {
    async fn the_answer_is_what_the_call_itself_would_get(world: World) {
        let spine = world.guarded(vec![RuleFile { name: "test.cedar".into(), text: RULES.into() }]);
        let ann = user_named("ann");
        let allow = json!({"effect": "allow", "reasons": [], "obligations": []});
        assert_eq!(ask(&spine, &ann, json!({"tool": "vault.list"})).await, allow);
        assert_eq!(ask(&spine, &ann, json!({"tool": "vault_list", "input": {"limit": 5}})).await, allow, "by either name");

        let needs = ask(&spine, &ann, json!({"tool": "vault.move", "input": {"id": "x", "toFolderId": "root"}})).await;
        assert_eq!((&needs["effect"], &needs["obligations"]), (&json!("needs_approval"), &json!(["approval"])));
        assert_eq!(needs["reasons"][0]["code"], "approval_required");
        let dry = ask(&spine, &ann, json!({"tool": "vault.move", "input": {"id": "x", "toFolderId": "root", "dryRun": true}})).await;
        assert_eq!(dry, allow, "a dry run needs no approval");
        let archive = ask(&spine, &ann, json!({"tool": "vault.move", "input": {"id": "x", "toFolderId": "archive", "dryRun": true}})).await;
        assert_eq!((&archive["effect"], &archive["reasons"][0]["rule"]), (&json!("deny"), &json!("not_to_archive")));
        assert_eq!(archive["reasons"][0]["message"], "Nothing is moved to the archive.");
        let off = ask(&spine, &ann, json!({"tool": "events.log"})).await;
        assert_eq!((&off["effect"], &off["reasons"][0]["rule"]), (&json!("deny"), &json!("no_notes")));

        // and the calls agree, where there is a document: nobody is asked about one that is not there
        world.write("a.txt", "a");
        world.folder("sub");
        let (document, folder) = (world.id("a.txt").await, world.id("sub").await);
        let arguments = to_raw_value(&json!({"id": document, "toFolderId": folder})).unwrap();
        let call = Call::of(Kind::Tool, "vault.move", Some(&arguments), Lang::En);
        assert!(matches!(spine.call(&Arc::new(ann), call).await, Outcome::NeedsApproval { .. }));
    }

    async fn arguments_that_do_not_fit_are_refused_as_the_call_is(world: World) {
        let spine = world.guarded(vec![]);
        let ann = user_named("ann");
        for input in [json!({}), json!({"id": 5, "toFolderId": "root"}), json!({"id": "x"})] {
            let answer = ask(&spine, &ann, json!({"tool": "vault.move", "input": input})).await;
            assert_eq!((&answer["effect"], &answer["obligations"]), (&json!("deny"), &json!([])), "{answer}");
            let arguments = to_raw_value(&input).unwrap();
            let call = Call::of(Kind::Tool, "vault.move", Some(&arguments), Lang::En);
            let Outcome::Refused { code, .. } = spine.call(&Arc::new(ann.clone()), call).await else { panic!("{input}") };
            assert_eq!(answer["reasons"][0]["code"], json!(code));
            assert!(!answer["reasons"][0]["message"].as_str().unwrap().is_empty());
        }
        let without = ask(&spine, &ann, json!({"tool": "vault.move"})).await;
        assert_eq!(without["effect"], "needs_approval", "what can be said before the arguments are known");
    }

    async fn a_browser_and_a_flow_are_told_their_own(world: World) {
        let spine = world.guarded(vec![]);
        let client = Caller { runtime: Runtime::Client, ..user_named("ann") };
        let answer = ask(&spine, &client, json!({"tool": "db.query"})).await;
        assert_eq!(answer["effect"], "deny", "{answer}");
        assert_eq!(ask(&spine, &client, json!({"tool": "vault.get"})).await["effect"], "allow");
    }

    async fn an_unknown_tool_is_not_found_and_others_are_not_asked_about(world: World) {
        let spine = world.guarded(vec![]);
        let ann = user_named("ann");
        assert_eq!(ask(&spine, &ann, json!({"tool": "nobody"})).await["code"], "NOT_FOUND");
        assert_eq!(ask(&spine, &ann, json!({"tool": "vault.list", "actor": {"userId": "bob"}})).await["code"], "NOT_ALLOWED");
        assert_eq!(ask(&spine, &ann, json!({"tool": "vault.list", "actor": {"userId": "ann"}})).await["effect"], "allow");
        assert_eq!(ask(&spine, &ann, json!({"tool": "vault.list", "actor": {}})).await["effect"], "allow");
        for arguments in [json!({}), json!({"tool": ""}), json!({"tool": 5}), json!({"tool": "vault.list", "input": "x"})] {
            assert_eq!(ask(&spine, &ann, arguments).await["code"], "INVALID_INPUT");
        }
    }
}

/// A rule that hides makes a tool as unknown here as it is to a call.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_hidden_tool_answers_as_an_unknown_one() {
    World::on_sqlite(|world| async move {
        let gate = |hidden: bool| {
            let mut tools: Vec<_> = crate::world::gate(toolgate_core::tool::Approval::Required, vec![])
                .catalog()
                .all()
                .map(|tool| (**tool).clone())
                .collect();
            for tool in tools.iter_mut().filter(|tool| hidden && tool.name.as_str() == "db.query") {
                tool.facts.when_denied = toolgate_core::tool::WhenDenied::Hidden;
                tool.facts.permission = toolgate_core::tool::Permission::AdminOnly;
            }
            toolgate_core::Gate::new(toolgate_core::Blueprint { tools, ..toolgate_core::Blueprint::default() }).unwrap()
        };
        let spine = world.behind(gate(true));
        let answer = ask(&spine, &user_named("ann"), json!({"tool": "db.query"})).await;
        let unknown = ask(&spine, &user_named("ann"), json!({"tool": "db.qwery"})).await;
        assert_eq!(answer["error"].as_str().unwrap().replace("query", "qwery"), unknown["error"].as_str().unwrap());
        assert_eq!(answer["code"], unknown["code"]);
    })
    .await;
}
