//! Values from earlier steps.

use serde_json::{Value, json};

use crate::world::{World, ann, states};

on_both! {
    async fn a_result_is_filled_in_wherever_it_is_referred_to(world: World) {
        let plan = world.propose(json!([
            {"id": "made", "tool": "stage.put", "arguments": {"key": "a", "value": 1}},
            {"tool": "stage.put", "arguments": {"key": {"$from": "made", "path": "/items/0/id"}, "value": [{"deep": {"$from": "1"}}]}},
        ])).await;
        let done = world.execute(&plan, "stop").await;
        assert_eq!(done["state"], "done", "{done}");
        let made = json!({"key": "a", "items": [{"id": "id-of-a"}]});
        assert_eq!(world.stage.values()["id-of-a"], json!([{ "deep": made }]));
        assert_eq!(done["steps"][1]["arguments"]["key"], json!({"$from": "made", "path": "/items/0/id"}));
    }

    async fn what_leads_nowhere_is_refused_when_proposed(world: World) {
        let step = |value: Value| json!({"tool": "stage.put", "arguments": {"key": "a", "value": value}});
        for (calls, step, why) in [
            (json!([step(json!({"$from": 2})), step(json!(1))]), 1, "no earlier step"),
            (json!([step(json!(1)), step(json!({"$from": 2}))]), 2, "no earlier step"),
            (json!([step(json!(1)), step(json!({"$from": "nobody"}))]), 2, "'nobody'"),
            (json!([step(json!(1)), step(json!({"$from": 1, "path": "x"}))]), 2, "JSON pointer"),
            (json!([step(json!(1)), step(json!({"$from": 1, "else": "x"}))]), 2, "'else'"),
        ] {
            let refused = world.bad(&ann(), "plan.propose", json!({ "calls": calls })).await;
            assert_eq!((&refused["step"], &refused["code"]), (&json!(step), &json!("invalid_reference")), "{refused}");
            assert!(refused["error"].as_str().unwrap().contains(why), "{refused}");
        }
    }

    async fn what_turns_out_not_to_be_there_fails_the_step(world: World) {
        let plan = world.propose(json!([
            {"tool": "stage.put", "arguments": {"key": "a", "value": 1}},
            {"tool": "stage.put", "arguments": {"key": "b", "value": {"$from": 1, "path": "/items/7/id"}}},
        ])).await;
        let failed = world.execute(&plan, "stop").await;
        assert_eq!((&failed["state"], states(&failed)), (&json!("failed"), vec!["done".to_owned(), "failed".to_owned()]));
        assert!(failed["steps"][1]["reason"]["message"].as_str().unwrap().contains("nothing at '/items/7/id'"));
        assert_eq!(world.stage.runs().len(), 1);
    }

    async fn what_is_filled_in_is_checked_as_any_argument(world: World) {
        world.change(
            r#"@id("small") @message("Too much.") @hides("no")
            forbid (principal, action == Action::"call:stage.pay", resource) when { context.arguments.cents > 100 };"#,
            |_| {},
        );
        for (value, code) in [(json!("much"), "invalid_arguments"), (json!(500), "small"), (json!(0), "invalid_arguments")] {
            let plan = world.propose(json!([
                {"tool": "stage.put", "arguments": {"key": "a", "value": value}},
                {"tool": "stage.get", "arguments": {"key": "a"}},
                {"tool": "stage.pay", "arguments": {"cents": {"$from": 2, "path": "/value"}}},
            ])).await;
            let failed = world.execute(&plan, "stop").await;
            assert_eq!(states(&failed), ["done", "done", "failed"], "{failed}");
            let reason = &failed["steps"][2]["reason"];
            assert!(reason["code"] == code || reason["rule"] == code, "{failed}");
        }
        assert!(world.stage.runs().iter().all(|(tool, _)| tool != "stage.pay"));
    }

    async fn what_is_known_is_checked_when_proposed(world: World) {
        let with = |arguments: Value| json!({"calls": [{"tool": "stage.get"}, {"tool": "stage.put", "arguments": arguments}]});
        let known = json!({"$from": 1, "path": "/value"});
        for arguments in [
            json!({"value": known}),
            json!({"key": 5, "value": known}),
            json!({"key": "a", "value": known, "extra": 1}),
        ] {
            let refused = world.bad(&ann(), "plan.propose", with(arguments.clone())).await;
            assert_eq!((&refused["step"], &refused["code"]), (&json!(2), &json!("invalid_arguments")), "{arguments}");
        }
        world.good(&ann(), "plan.propose", with(json!({"key": known, "value": known}))).await;
    }

    async fn what_depends_on_a_value_to_come_is_left_to_the_step(world: World) {
        let either = |value: Value| json!([
            {"tool": "stage.put", "arguments": {"key": "a", "value": value}},
            {"tool": "stage.get", "arguments": {"key": "a"}},
            {"tool": "stage.either", "arguments": {"kind": {"$from": 2, "path": "/value"}}},
        ]);
        for (kind, state) in [("plain", "done"), ("full", "failed"), ("other", "failed")] {
            let plan = world.propose(either(json!(kind))).await;
            assert_eq!(world.execute(&plan, "stop").await["state"], state, "{kind}");
        }
        let known = json!({"calls": [{"tool": "stage.either", "arguments": {"kind": "full"}}]});
        assert_eq!(world.bad(&ann(), "plan.propose", known).await["code"], "invalid_arguments");
    }
}
