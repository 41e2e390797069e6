//! One yes to exactly one plan.

use std::{sync::Arc, time::Duration};

use serde_json::{Value, json};
use toolgate_core::Lang;
use toolgate_spine::{Client, Execution, OnFailure, Outcome};
use toolgate_store::{Answer, AnswerFault, Approval, ApprovalState, Scope};

use crate::world::{World, ann, now, states, user, within_flow};

fn sign(key: &str, value: Value) -> Value {
    json!({"tool": "stage.sign", "arguments": {"key": key, "value": value, "pin": "1234"}})
}

on_both! {
    async fn one_approval_runs_the_whole_plan_once_and_covers_taking_it_back(world: World) {
        let put = json!({"tool": "stage.put", "arguments": {"key": "b", "value": {"$from": 1, "path": "/key"}}});
        let plan = world.propose(json!([sign("a", json!(1)), put, {"tool": "stage.fail"}])).await;
        let asked = world.asked(&plan).await;
        assert_eq!(world.asked(&plan).await, asked, "who asks again meets the same question");
        assert_eq!(world.stage.runs(), []);

        let approvals = world.approvals().await;
        assert_eq!(approvals.len(), 1);
        let shown: Value = serde_json::from_str(&approvals[0].shown).unwrap();
        let calls = shown["arguments"]["calls"].as_array().unwrap();
        assert_eq!((shown["arguments"]["plan"].as_str(), calls.len()), (Some(plan.as_str()), 3));
        assert_eq!(calls[1]["arguments"]["value"], json!({"$from": 1, "path": "/key"}));
        assert!(shown["why"].as_str().unwrap().contains("step 1"), "{shown}");
        assert!(!approvals[0].shown.contains("1234") && approvals[0].shown.contains("[redacted:"), "{shown}");

        world.grant(&asked).await;
        let undone = world.execute(&plan, "undo").await;
        assert_eq!((&undone["state"], &undone["approval"], &undone["approved_by"]), (&json!("undone"), &json!(asked), &json!("operator:bo")));
        assert_eq!(world.stage.values(), json!({}));
        let receipts = world.receipts(&plan).await;
        let first = receipts.last().unwrap();
        assert_eq!((first.approval.as_deref(), first.approved_by.as_deref()), (Some(asked.as_str()), Some("operator:bo")));
        let approvals = world.approvals().await;
        assert_eq!((approvals.len(), approvals[0].state), (1, ApprovalState::Spent), "and nobody was asked again");
    }

    async fn another_plan_is_not_covered_however_alike(world: World) {
        let plan = world.propose(json!([sign("a", json!(1))])).await;
        let asked = world.asked(&plan).await;
        world.grant(&asked).await;
        for other in [json!([sign("a", json!(2))]), json!([sign("a", json!(1))]), json!([sign("a", json!(1)), sign("b", json!(1))])] {
            let other = world.propose(other).await;
            assert_ne!(world.asked(&other).await, asked);
        }
        // nor is one of its calls by itself
        let call = world.outcome(&ann(), "stage.sign", sign("a", json!(1))["arguments"].clone()).await;
        assert!(matches!(call, Outcome::NeedsApproval { .. }), "{call:?}");
        assert_eq!(world.stage.runs(), []);
        assert_eq!(world.execute(&plan, "stop").await["state"], "done");
    }

    async fn other_rules_another_definition_and_another_flow_ask_anew(world: World) {
        let plan = world.propose(json!([sign("a", json!(1))])).await;
        let asked = world.asked(&plan).await;
        world.grant(&asked).await;
        world.change(r#"@id("other") @message("Other.") forbid (principal, action in Action::"call", resource == Tool::"stage.pay");"#, |_| {});
        assert_ne!(world.asked(&plan).await, asked);
        world.change("", |offer| {
            if offer.name == "stage.sign" {
                let changed = offer.definition.get().replace(r#""pin":{"#, r#""note":{"type":"string"},"pin":{"#);
                offer.definition = serde_json::value::RawValue::from_string(changed).unwrap();
            }
        });
        assert_ne!(world.asked(&plan).await, asked);
        world.change("", |_| {});
        let flow = within_flow("f", &["plan.execute", "stage.sign"]);
        match world.outcome(&flow, "plan.execute", json!({ "plan": plan })).await {
            Outcome::NeedsApproval { approval, .. } => assert_ne!(approval.unwrap().id, asked),
            other => panic!("{other:?}"),
        }
        assert_eq!(world.stage.runs(), []);
        assert_eq!(world.execute(&plan, "stop").await["state"], "done", "as it was approved, it runs");
    }

    async fn rules_that_change_on_the_way_end_the_cover(world: World) {
        let plan = world.propose(json!([{"tool": "stage.wait"}, sign("a", json!(1))])).await;
        let asked = world.asked(&plan).await;
        world.grant(&asked).await;
        let running = tokio::spawn({
            let (world, plan) = (world.clone(), plan.clone());
            async move { world.execute(&plan, "stop").await }
        });
        world.stage.begun.acquire().await.unwrap().forget();
        world.change(r#"@id("other") @message("Other.") forbid (principal, action in Action::"call", resource == Tool::"stage.pay");"#, |_| {});
        world.stage.let_through.add_permits(1);
        let failed = running.await.unwrap();
        assert_eq!((&failed["state"], states(&failed)), (&json!("failed"), vec!["done".to_owned(), "failed".to_owned()]));
        assert_eq!(failed["steps"][1]["reason"]["code"], "approval_required");
        assert!(world.stage.runs().iter().all(|(tool, _)| tool != "stage.sign"));
    }

    async fn a_no_is_told_and_four_eyes_hold_for_the_whole_plan(world: World) {
        let sealed = json!({"tool": "stage.seal", "arguments": {"key": "a", "value": 1}});
        let plan = world.propose(json!([sign("b", json!(1)), sealed])).await;
        let asked = world.asked(&plan).await;
        let own = Answer::Grant { by: "user:ann".into(), uses: 1, until: now() + 60_000 };
        let refused = world.store.approvals().answer(&Scope::Everything, &asked, own, now()).await;
        assert!(matches!(refused, Err(AnswerFault::FourEyes { .. })), "{refused:?}");
        world.answer(&asked, Answer::Deny { by: "operator:bo".into(), reason: Some("not today".into()) }).await;
        assert_ne!(world.asked(&plan).await, asked, "to execute again is to ask again");
        assert_eq!(world.stage.runs(), []);
    }

    async fn a_rule_over_arguments_that_are_not_known_yet_asks_beforehand(world: World) {
        world.change(r#"@id("large") @obligation("approval") @message("Large.") @hides("no")
            forbid (principal, action == Action::"call:stage.pay", resource) when { context.arguments.cents > 100 };"#, |_| {});
        let plan = |cents: i64| json!([
            {"tool": "stage.put", "arguments": {"key": "a", "value": cents}},
            {"tool": "stage.get", "arguments": {"key": "a"}},
            {"tool": "stage.pay", "arguments": {"cents": {"$from": 2, "path": "/value"}}},
        ]);
        let large = world.propose(plan(500)).await;
        let asked = world.asked(&large).await;
        world.grant(&asked).await;
        // who approved of the plan did not know the value: it is asked about once it is known, and not before
        let own = world.asked(&large).await;
        assert_ne!(own, asked);
        assert_eq!(world.asked(&large).await, own);
        let question = world.approvals().await.into_iter().find(|approval| approval.id == own).unwrap();
        let shown: Value = serde_json::from_str(&question.shown).unwrap();
        assert_eq!((&shown["tool"], &shown["arguments"]), (&json!("stage.pay"), &json!({"cents": 500})));
        let paid = || world.stage.runs().iter().filter(|(tool, _)| tool == "stage.pay").count();
        assert_eq!(paid(), 0);
        world.grant(&own).await;
        assert_eq!(world.execute(&large, "stop").await["state"], "done");
        assert_eq!((paid(), world.stage.runs().len()), (1, 3), "each step once");
        let small = world.propose(plan(50)).await;
        let asked = world.asked(&small).await;
        world.grant(&asked).await;
        assert_eq!(world.execute(&small, "stop").await["state"], "done", "a value that no rule asks about asks for nothing");
        let known = world.propose(json!([{"tool": "stage.pay", "arguments": {"cents": 5}}])).await;
        assert_eq!(world.execute(&known, "stop").await["state"], "done", "what is known to need none asks for none");
    }

    async fn a_no_to_a_value_that_was_filled_in_ends_the_step(world: World) {
        let plan = world.propose(json!([sign("a", json!(1)), sign("b", json!({"$from": 1, "path": "/key"}))])).await;
        let asked = world.asked(&plan).await;
        world.grant(&asked).await;
        let waiting = tokio::spawn({
            let (spine, plan) = (Arc::clone(&world.spine), plan.clone());
            let wait = Some(Duration::from_secs(60));
            let how = Execution { on_failure: OnFailure::Stop, wait, client: Client::default(), lang: Lang::En };
            async move { spine.execute_plan(&Arc::new(ann()), &plan, how).await }
        });
        let own = loop {
            let pending = |approval: &Approval| approval.state == ApprovalState::Pending;
            match world.approvals().await.into_iter().find(pending) {
                Some(approval) => break approval.id,
                None => tokio::task::yield_now().await,
            }
        };
        assert_ne!(own, asked);
        world.answer(&own, Answer::Deny { by: "operator:bo".into(), reason: Some("not that one".into()) }).await;
        let failed = serde_json::to_value(waiting.await.unwrap().unwrap()).unwrap();
        assert_eq!(states(&failed), ["done", "failed"], "{failed}");
        assert_eq!(failed["steps"][1]["reason"]["code"], "approval_denied");
        assert_eq!(world.stage.values(), json!({"a": 1}));
    }

    async fn an_approval_is_of_no_use_to_anybody_else(world: World) {
        let plan = world.propose(json!([sign("a", json!(1))])).await;
        let asked = world.asked(&plan).await;
        world.grant(&asked).await;
        let refused = world.bad(&user("bob"), "plan.execute", json!({ "plan": plan })).await;
        assert_eq!(refused["code"], "unknown_plan");
        let call = world.outcome(&user("bob"), "stage.sign", sign("a", json!(1))["arguments"].clone()).await;
        assert!(matches!(call, Outcome::NeedsApproval { .. }), "{call:?}");
        assert_eq!(world.stage.runs(), []);
    }

    async fn who_waits_goes_on_with_a_yes_and_hears_of_a_no(world: World) {
        for yes in [true, false] {
            let plan = world.propose(json!([sign("a", json!(yes))])).await;
            let waiting = tokio::spawn({
                let (spine, plan) = (Arc::clone(&world.spine), plan.clone());
                let how = Execution {
                    on_failure: OnFailure::Stop,
                    wait: Some(Duration::from_secs(60)),
                    client: Client::default(),
                    lang: Lang::En,
                };
                async move { spine.execute_plan(&Arc::new(ann()), &plan, how).await }
            });
            let pending = loop {
                let pending = |approval: &Approval| approval.state == ApprovalState::Pending;
                match world.approvals().await.into_iter().find(pending) {
                    Some(approval) => break approval.id,
                    None => tokio::task::yield_now().await,
                }
            };
            if yes {
                world.grant(&pending).await;
                assert!(waiting.await.unwrap().unwrap().is_done());
            } else {
                world.answer(&pending, Answer::Deny { by: "operator:bo".into(), reason: Some("no".into()) }).await;
                let problem = waiting.await.unwrap().unwrap_err();
                assert_eq!((problem.code(), problem.to_string()), ("approval_denied", format!("Plan '{plan}' was not approved: no")));
            }
        }
        assert_eq!(world.stage.runs().len(), 1);
    }
}
