//! Plans that stop in the middle.

use serde_json::{Value, json};

use toolgate_store::{ReceiptState, Scope, ledger::Filter};

use crate::{
    stage::UndoFault,
    world::{World, ann, states},
};

fn put(key: &str) -> Value {
    json!({"tool": "stage.put", "arguments": {"key": key, "value": 1}})
}

/// The ledger's word for the end of the tool's newest call.
async fn outcome_of(world: &World, tool: &str) -> String {
    let ledger = world.store.ledger_reader().await.unwrap().unwrap();
    let filter = Filter { tool: Some(tool.to_owned()), ..Filter::default() };
    let records = ledger.page(&filter, i64::MIN, 100).await.unwrap();
    let mut records = records.iter().map(|record| serde_json::from_str::<Value>(&record.text).unwrap());
    let ended = records.rfind(|record| record["kind"] == "outcome").unwrap();
    ended["outcome"].as_str().unwrap().to_owned()
}

on_both! {
    async fn it_stops_at_the_first_failure_and_what_is_done_stays(world: World) {
        let plan = world.propose(json!([put("a"), {"tool": "stage.fail"}, put("b")])).await;
        let failed = world.execute(&plan, "stop").await;
        assert_eq!((&failed["state"], states(&failed)), (&json!("failed"), ["done", "failed", "waiting"].map(str::to_owned).to_vec()));
        assert_eq!(failed["steps"][1]["reason"], json!({"code": "tool_failed", "message": "no such thing"}));
        assert_eq!(world.stage.values(), json!({"a": 1}));
        assert_eq!(world.show(&plan).await["steps"][1]["reason"]["message"], "no such thing", "and is told later too");
    }

    async fn what_was_done_is_taken_back_newest_first(world: World) {
        world.good(&ann(), "stage.put", json!({"key": "a", "value": 0})).await;
        let plan = world.propose(json!([put("a"), {"tool": "stage.get"}, put("b"), {"tool": "stage.fail"}])).await;
        let undone = world.execute(&plan, "undo").await;
        assert_eq!((&undone["state"], states(&undone)), (&json!("undone"), ["undone", "done", "undone", "failed"].map(str::to_owned).to_vec()));
        assert_eq!(world.stage.values(), json!({"a": 0}), "as it was");
        let undos: Vec<_> = world.stage.runs().into_iter().filter(|(tool, _)| tool == "undo").collect();
        assert_eq!(undos, [("undo".to_owned(), json!({"key": "b"})), ("undo".to_owned(), json!({"key": "a"}))]);
        assert_eq!(world.receipts(&plan).await.len(), 4, "two calls and their undos");
    }

    async fn it_stops_taking_back_at_what_is_final(world: World) {
        let plan = world.propose(json!([put("a"), {"tool": "stage.final"}, put("b"), {"tool": "stage.fail"}])).await;
        let left = world.execute(&plan, "undo").await;
        assert_eq!((&left["state"], states(&left)), (&json!("failed"), ["done", "done", "undone", "failed"].map(str::to_owned).to_vec()));
        assert_eq!(left["undo_stopped"]["step"], 2);
        assert!(left["undo_stopped"]["reason"].as_str().unwrap().contains("what is said is said"), "{left}");
        assert_eq!(world.stage.values(), json!({"a": 1}));
    }

    async fn an_end_nobody_knows_is_unknown_and_never_tried_again(world: World) {
        let plan = world.propose(json!([put("a"), {"tool": "stage.lost"}, put("b")])).await;
        let unknown = world.execute(&plan, "undo").await;
        assert_eq!((&unknown["state"], states(&unknown)), (&json!("unknown"), ["undone", "unknown", "waiting"].map(str::to_owned).to_vec()));
        assert!(unknown["steps"][1]["receipt"].is_string(), "the receipt says that nobody knows: {unknown}");
        assert_eq!(world.stage.values(), json!({}), "what is known is taken back");
        let again = world.bad(&ann(), "plan.execute", json!({ "plan": plan })).await;
        assert_eq!(again["code"], "plan_over");
        let lost = world.stage.runs().iter().filter(|(tool, _)| tool == "stage.lost").count();
        assert_eq!(lost, 1);
    }

    async fn a_step_that_may_have_taken_effect_is_unknown_to_plan_receipt_and_ledger_alike(world: World) {
        for tool in ["stage.panic", "stage.reject", "stage.lost"] {
            let plan = world.propose(json!([put("a"), {"tool": tool, "arguments": {"key": "b"}}, put("c")])).await;
            let unknown = world.execute(&plan, "undo").await;
            assert_eq!((&unknown["state"], states(&unknown)), (&json!("unknown"), ["undone", "unknown", "waiting"].map(str::to_owned).to_vec()), "{tool}");
            let receipt = unknown["steps"][1]["receipt"].as_str().unwrap_or_else(|| panic!("{tool}: {unknown}"));
            let kept = world.store.receipts().get(&Scope::Everything, receipt).await.unwrap().unwrap();
            assert_eq!(kept.state, ReceiptState::Unknown, "{tool}");
            assert_eq!(outcome_of(&world, tool).await, "unknown", "{tool}");
        }
    }

    async fn a_call_that_provably_did_not_run_is_not_unknown(world: World) {
        *world.stage.undo_fault.lock().unwrap() = Some(UndoFault::Before);
        let plan = world.propose(json!([put("a"), {"tool": "stage.drop", "arguments": {"key": "b"}}])).await;
        let failed = world.execute(&plan, "stop").await;
        assert_eq!((&failed["state"], states(&failed)), (&json!("failed"), ["done", "failed"].map(str::to_owned).to_vec()));
        assert_eq!(outcome_of(&world, "stage.drop").await, "failed");
        assert_eq!(world.receipts(&plan).await.len(), 1, "the first step's alone");
    }

    async fn a_right_lost_on_the_way_stops_it(world: World) {
        let plan = world.propose(json!([put("a"), {"tool": "stage.wait"}, {"tool": "stage.pay", "arguments": {"cents": 1}}])).await;
        let running = tokio::spawn({
            let (world, plan) = (world.clone(), plan.clone());
            async move { world.execute(&plan, "undo").await }
        });
        world.stage.begun.acquire().await.unwrap().forget();
        world.change(r#"@id("closed") @message("Closed.") @hides("no")
            forbid (principal, action in Action::"call", resource == Tool::"stage.pay");"#, |_| {});
        world.stage.let_through.add_permits(1);
        let undone = running.await.unwrap();
        assert_eq!((&undone["state"], &undone["steps"][2]["reason"]["rule"]), (&json!("undone"), &json!("closed")));
        assert_eq!(world.stage.values(), json!({}));
    }
}
