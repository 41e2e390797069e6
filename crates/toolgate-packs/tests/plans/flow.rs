//! A plan that was proposed in a flow belongs to it; and what its approver is shown.

use serde_json::{Value, json};
use toolgate_core::{Caller, caller::Flow};
use toolgate_store::ledger::Filter;

use crate::world::{World, ann, states};

fn put(key: &str) -> Value {
    json!({"tool": "stage.put", "arguments": {"key": key, "value": 1}})
}

/// Ann within a flow that she opened, and the flow's id.
async fn in_flow(world: &World) -> (Caller, String) {
    let opened = world.good(&ann(), "flow.open", json!({"name": "f"})).await;
    let id = opened["flow"].as_str().unwrap().to_owned();
    (Caller { flow: Some(Flow { id: id.clone(), allowlist: None }), ..ann() }, id)
}

on_both! {
    async fn a_plan_runs_in_the_flow_it_was_proposed_in(world: World) {
        let (within, flow) = in_flow(&world).await;
        let plan = world.good(&within, "plan.propose", json!({"calls": [put("a"), put("b")]})).await["plan"].clone();
        let done = world.good(&ann(), "plan.execute", json!({ "plan": plan })).await;
        assert_eq!((&done["state"], &done["flow"]), (&json!("done"), &json!(flow)));
        for receipt in world.receipts(plan.as_str().unwrap()).await {
            assert_eq!(receipt.flow.as_deref(), Some(flow.as_str()));
        }
        let ledger = world.store.ledger_reader().await.unwrap().unwrap();
        let records = ledger.page(&Filter::default(), i64::MIN, 100).await.unwrap();
        for record in records.iter().filter(|record| record.tool.starts_with("stage.")) {
            assert_eq!(serde_json::from_str::<Value>(&record.text).unwrap()["flow"], json!(flow));
        }
        let undone = world.good(&ann(), "undo", json!({ "flow": flow })).await;
        assert_eq!(undone["undone"].as_array().unwrap().len(), 2);
        assert_eq!(world.stage.values(), json!({}));
    }

    async fn a_plan_does_not_run_once_its_flow_is_closed(world: World) {
        let (within, flow) = in_flow(&world).await;
        let plan = world.good(&within, "plan.propose", json!({"calls": [put("a")]})).await["plan"].clone();
        world.good(&ann(), "flow.close", json!({ "flow": flow })).await;
        for tool in ["plan.preview", "plan.execute"] {
            let refused = world.bad(&ann(), tool, json!({ "plan": plan })).await;
            assert_eq!(refused["code"], "invalid_plan");
            assert!(refused["error"].as_str().unwrap().contains("not open any more"), "{refused}");
        }
        assert_eq!(world.stage.runs(), []);
    }

    async fn a_plan_that_ran_when_its_flow_was_closed_comes_to_an_end(world: World) {
        for (on_failure, state, left) in [("stop", "failed", json!({"a": 1})), ("undo", "undone", json!({}))] {
            let (within, flow) = in_flow(&world).await;
            let calls = json!({"calls": [put("a"), {"tool": "stage.sign", "arguments": {"key": "b", "value": {"$from": 1, "path": "/key"}}}]});
            let plan = world.good(&within, "plan.propose", calls).await["plan"].as_str().unwrap().to_owned();
            let asked = world.asked(&plan).await;
            world.grant(&asked).await;
            // the first step runs; the second waits for an approval of its own
            world.asked(&plan).await;
            assert_eq!(states(&world.show(&plan).await), ["done", "waiting"]);
            world.good(&ann(), "flow.close", json!({ "flow": flow })).await;
            let ended = world.execute(&plan, on_failure).await;
            assert_eq!((&ended["state"], &ended["steps"][1]["reason"]["code"]), (&json!(state), &json!("flow_over")), "{ended}");
            assert_eq!(world.stage.values(), left);
            assert!(world.stage.runs().iter().all(|(tool, _)| tool != "stage.sign"), "nothing more ran");
            if on_failure == "stop" {
                let undone = world.good(&ann(), "undo", json!({ "plan": plan })).await;
                assert_eq!(undone["undone"].as_array().unwrap().len(), 1);
            }
        }
    }

    async fn previews_that_are_too_large_are_left_out_before_a_plan_is_refused(world: World) {
        let puts = (0..60).map(|n| put(&format!("{n}{}", "k".repeat(3_500))));
        let sign = json!({"tool": "stage.sign", "arguments": {"key": "a", "value": 1}});
        let plan = world.propose(puts.chain([sign]).collect()).await;
        world.asked(&plan).await;
        let shown: Value = serde_json::from_str(&world.approvals().await[0].shown).unwrap();
        let calls = shown["arguments"]["calls"].as_array().unwrap();
        assert!(calls.len() == 61 && calls.iter().all(|call| call["preview"].is_null()));
        assert!(shown["arguments"]["previews"].as_str().unwrap().contains("left out"), "and it is said");
    }

    async fn an_approver_sees_what_each_step_would_do(world: World) {
        let sign = json!({"id": "sign", "tool": "stage.sign", "arguments": {"key": "a", "value": 1}});
        let later = json!({"tool": "stage.put", "arguments": {"key": {"$from": "sign", "path": "/key"}, "value": 2}});
        let plan = world.propose(json!([put("b"), sign, later])).await;
        let asked = world.asked(&plan).await;
        assert_eq!(world.asked(&plan).await, asked);
        let approvals = world.approvals().await;
        let shown: Value = serde_json::from_str(&approvals[0].shown).unwrap();
        let previews: Vec<&Value> = shown["arguments"]["calls"].as_array().unwrap().iter().map(|call| &call["preview"]).collect();
        assert_eq!(previews[0], &json!({"kind": "native", "result": {"would_put": "b"}}));
        assert_eq!(previews[1], &json!({"kind": "static"}));
        assert_eq!(previews[2], &json!({"kind": "not_yet_known", "waits_for": [2]}));
        assert_eq!((approvals.len(), world.stage.runs()), (1, vec![]));
    }
}
