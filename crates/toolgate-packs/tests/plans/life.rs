//! The whole life of a plan that goes well.

use serde_json::{Value, json};
use toolgate_store::ledger::{Filter, Record};

use crate::world::{World, ann, states, within_flow};

on_both! {
    async fn a_plan_is_proposed_shown_and_run_with_its_receipts_linked(world: World) {
        let plan = world.propose(json!([
            {"id": "first", "tool": "stage.put", "arguments": {"key": "a", "value": 1}},
            {"tool": "stage_get", "arguments": {"key": "a"}},
            {"tool": "stage.put", "arguments": {"key": "b", "value": {"$from": 2, "path": "/value"}}},
        ])).await;
        assert_eq!(world.stage.runs(), [], "to propose is to do nothing");
        let shown = world.show(&plan).await;
        assert_eq!(states(&shown), ["waiting", "waiting", "waiting"]);
        assert_eq!((&shown["steps"][1]["tool"], &shown["steps"][0]["id"]), (&json!("stage.get"), &json!("first")));

        let done = world.execute(&plan, "stop").await;
        assert_eq!((&done["state"], states(&done)), (&json!("done"), vec!["done".to_owned(); 3]));
        assert_eq!(done["steps"][1]["result"], json!({"value": 1}));
        assert_eq!(world.stage.values(), json!({"a": 1, "b": 1}));
        let receipts = world.receipts(&plan).await;
        let linked: Vec<_> = receipts.iter().rev().map(|receipt| json!(receipt.id)).collect();
        assert_eq!([&done["steps"][0]["receipt"], &done["steps"][2]["receipt"]], [&linked[0], &linked[1]]);
        assert!(done["steps"][1].get("receipt").is_none(), "a read leaves none");

        // a step is taken back as any call is
        let receipt = &done["steps"][2]["receipt"];
        world.good(&ann(), "undo", json!({ "receipt": receipt })).await;
        assert_eq!(world.stage.values(), json!({"a": 1}));
        assert_eq!(world.receipts(&plan).await.len(), 3, "the undo's receipt belongs to the plan too");
    }

    async fn a_plan_that_is_over_is_not_run_again(world: World) {
        let plan = world.propose(json!([{"tool": "stage.put", "arguments": {"key": "a", "value": 1}}])).await;
        world.execute(&plan, "stop").await;
        let again = world.bad(&ann(), "plan.execute", json!({ "plan": plan })).await;
        assert_eq!(again["code"], "plan_over");
        assert!(again["error"].as_str().unwrap().contains("is done"), "{again}");
        assert_eq!(world.stage.runs().len(), 1);
    }

    async fn a_plan_runs_in_its_callers_flow(world: World) {
        let tools = ["plan.propose", "plan.execute", "stage.put"];
        let flow = world.good(&ann(), "flow.open", json!({"name": "f", "allowlist": tools})).await["flow"].clone();
        let (inside, narrower) = (within_flow(flow.as_str().unwrap(), &tools), within_flow("g", &["plan.execute"]));
        let calls = json!([{"tool": "stage.put", "arguments": {"key": "a", "value": 1}}]);
        let plan = world.good(&inside, "plan.propose", json!({ "calls": calls })).await;
        let outside = json!([{"tool": "stage.get", "arguments": {}}]);
        let refused = world.bad(&inside, "plan.propose", json!({ "calls": outside })).await;
        assert!(refused["error"].as_str().unwrap().contains("allowlist"), "{refused}");
        let refused = world.bad(&narrower, "plan.execute", json!({ "plan": plan["plan"] })).await;
        assert!(refused["error"].as_str().unwrap().contains("allowlist"), "{refused}");
        assert_eq!(world.stage.runs(), []);
        world.good(&inside, "plan.execute", json!({ "plan": plan["plan"] })).await;
        assert_eq!(world.receipts(plan["plan"].as_str().unwrap()).await[0].flow.as_deref(), flow.as_str());
    }

    async fn what_a_tool_takes_out_of_records_stays_out_of_the_plans_records_too(world: World) {
        let signed = |pin: Value| json!([{"tool": "stage.sign", "arguments": {"key": "a", "value": 1, "pin": pin}}]);
        let plan = world.propose(signed(json!("47110815"))).await;
        let refused = world.bad(&ann(), "plan.propose", json!({"calls": signed(json!(47110815))})).await;
        assert_eq!(refused["code"], "invalid_arguments");
        world.good(&ann(), "plan.preview", json!({ "plan": plan })).await;
        let asked = world.asked(&plan).await;
        world.grant(&asked).await;
        world.execute(&plan, "stop").await;
        assert_eq!(world.stage.runs()[0].1["pin"], "47110815", "the tool itself gets it");
        let shown = world.show(&plan).await;
        assert_eq!(shown["steps"][0]["arguments"]["pin"], "[redacted]");
        let reader = world.store.ledger_reader().await.unwrap().unwrap();
        let records = reader.latest(&Filter::default(), 100).await.unwrap();
        let lines: Vec<String> = records.iter().map(Record::to_line).collect();
        assert!(lines.iter().all(|line| !line.contains("47110815")), "{lines:#?}");
        let of_step = records.iter().filter(|record| record.tool == "stage.sign" && record.kind == "intent");
        assert_eq!(of_step.count(), 1);
    }
}
