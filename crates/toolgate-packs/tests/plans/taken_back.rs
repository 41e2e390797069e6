//! Taking back a whole plan once it is over, and what the ledger says of its steps.

use serde_json::{Value, json};
use toolgate_store::ledger::Filter;

use crate::world::{World, ann, states, user};

fn put(key: &str) -> Value {
    json!({"tool": "stage.put", "arguments": {"key": key, "value": 1}})
}

on_both! {
    async fn what_a_plan_did_is_taken_back_newest_first(world: World) {
        let plan = world.propose(json!([put("a"), {"tool": "stage.get", "arguments": {"key": "a"}}, put("b")])).await;
        let done = world.execute(&plan, "stop").await;
        let undone = world.good(&ann(), "undo", json!({ "plan": plan })).await;
        let receipts = json!([done["steps"][2]["receipt"], done["steps"][0]["receipt"]]);
        assert_eq!((&undone["undone"], &undone["failed"]), (&receipts, &json!([])));
        assert_eq!(undone["receipts"].as_array().unwrap().len(), 2, "of the undos themselves");
        assert_eq!(world.stage.values(), json!({}));
        let shown = world.show(&plan).await;
        assert_eq!((&shown["state"], states(&shown)), (&json!("undone"), ["undone", "done", "undone"].map(str::to_owned).to_vec()));
        let again = world.bad(&ann(), "undo", json!({ "plan": plan })).await;
        assert!(again["error"].as_str().unwrap().contains("can be taken back"), "{again}");
    }

    async fn what_read_or_logged_is_not_said_to_be_undone(world: World) {
        let plan = world.propose(json!([{"tool": "stage.log"}, put("a"), {"tool": "stage.get"}, {"tool": "stage.fail"}])).await;
        let undone = world.execute(&plan, "undo").await;
        assert_eq!((&undone["state"], states(&undone)), (&json!("undone"), ["done", "undone", "done", "failed"].map(str::to_owned).to_vec()));
        assert_eq!(world.stage.values(), json!({}));
    }

    async fn it_stops_at_what_can_not_be_taken_back(world: World) {
        let plan = world.propose(json!([put("a"), {"tool": "stage.final"}, put("b")])).await;
        let done = world.execute(&plan, "stop").await;
        let stopped = world.bad(&ann(), "undo", json!({ "plan": plan })).await;
        assert_eq!(stopped["undone"], json!([done["steps"][2]["receipt"]]));
        assert_eq!(stopped["failed"][0]["receipt"], done["steps"][1]["receipt"]);
        assert_eq!(world.stage.values(), json!({"a": 1}));
        let shown = world.show(&plan).await;
        assert_eq!((&shown["state"], states(&shown)), (&json!("done"), ["done", "done", "undone"].map(str::to_owned).to_vec()));
    }

    async fn nobody_takes_back_anothers_plan_or_one_that_did_nothing(world: World) {
        let plan = world.propose(json!([put("a")])).await;
        let nothing = world.bad(&ann(), "undo", json!({ "plan": plan })).await;
        assert!(nothing["error"].as_str().unwrap().contains("can be taken back"), "{nothing}");
        world.execute(&plan, "stop").await;
        let others = world.bad(&user("bob"), "undo", json!({ "plan": plan })).await;
        let never = world.bad(&user("bob"), "undo", json!({"plan": "plan_never"})).await;
        assert_eq!(others["error"].as_str().unwrap().replace(&plan, "plan_never"), never["error"].as_str().unwrap());
        assert_eq!(world.stage.values(), json!({"a": 1}));
    }

    async fn the_ledger_names_the_plan_of_every_step_and_of_its_undo(world: World) {
        let plan = world.propose(json!([put("a"), {"tool": "stage.get", "arguments": {"key": "a"}}])).await;
        world.execute(&plan, "stop").await;
        world.good(&ann(), "undo", json!({ "plan": plan })).await;
        let ledger = world.store.ledger_reader().await.unwrap().unwrap();
        let records = ledger.page(&Filter::default(), i64::MIN, 100).await.unwrap();
        let mut told = Vec::new();
        for record in records.iter().filter(|record| record.tool.starts_with("stage.")) {
            let whole: Value = serde_json::from_str(&record.text).unwrap();
            assert_eq!(whole["plan"], json!(plan), "{whole}");
            told.push(format!("{} {} {}", record.tool, record.kind, record.outcome));
        }
        assert_eq!(told, [
            "stage.put intent allowed", "stage.put outcome answered", "stage.get read answered",
            "stage.put intent allowed", "stage.put outcome undone",
        ]);
        let alone = world.outcome(&ann(), "stage.get", json!({})).await;
        assert!(matches!(alone, toolgate_spine::Outcome::Answered(_)));
        let newest = ledger.latest(&Filter::default(), 1).await.unwrap();
        assert!(!newest[0].text.contains("\"plan\""), "a call of no plan names none");
    }
}
