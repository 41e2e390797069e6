//! Who may not, what can't be, and what does not exist.

use serde_json::{Value, json};
use toolgate_core::Caller;
use toolgate_spine::Outcome;

use crate::world::{World, ann, user};

fn one(tool: &str) -> Value {
    json!({"calls": [{"tool": "stage.get"}, {"tool": tool}]})
}

on_both! {
    async fn a_call_the_caller_may_not_make_is_refused_with_its_place(world: World) {
        let refused = world.bad(&ann(), "plan.propose", one("stage.admin")).await;
        let Outcome::Denied { denial, .. } = world.outcome(&ann(), "stage.admin", json!({})).await else { panic!() };
        assert_eq!((&refused["step"], &refused["code"], &refused["rule"]), (&json!(2), &json!(denial.code), &json!(denial.rule)));
        assert_eq!(refused["error"], format!("step 2: {}", denial.message));
    }

    async fn a_hidden_tool_is_as_unknown_as_one_that_is_not_there(world: World) {
        let hidden = world.result(&ann(), "plan.propose", one("stage.secret")).await;
        let never = world.result(&ann(), "plan.propose", one("stage.nevers")).await;
        assert_eq!(hidden.to_string().replace("stage.secret", "X"), never.to_string().replace("stage.nevers", "X"));
        assert_eq!(hidden["structuredContent"]["error"], "step 2: Unknown tool: stage.secret");
    }

    async fn what_is_about_the_path_itself_is_no_step(world: World) {
        for tool in ["plan.propose", "plan.preview", "plan.execute", "plan.show", "flow.open", "flow.close", "undo"] {
            let refused = world.bad(&ann(), "plan.propose", one(tool)).await;
            assert_eq!((&refused["step"], &refused["code"]), (&json!(2), &json!("not_plannable")), "{tool}: {refused}");
        }
    }

    async fn a_stranger_uses_no_plans(world: World) {
        for (tool, arguments) in [
            ("plan.propose", one("stage.get")),
            ("plan.preview", json!({"plan": "p"})),
            ("plan.execute", json!({"plan": "p"})),
            ("plan.show", json!({"plan": "p"})),
        ] {
            let outcome = world.outcome(&Caller::default(), tool, arguments).await;
            assert!(matches!(outcome, Outcome::Denied { needs_identity: true, .. }), "{tool}: {outcome:?}");
        }
    }

    async fn anothers_plan_does_not_exist(world: World) {
        let plan = world.propose(json!([{"tool": "stage.put", "arguments": {"key": "a", "value": 1}}])).await;
        let never = format!("plan_{}", "0".repeat(plan.len() - 5));
        for tool in ["plan.preview", "plan.execute", "plan.show"] {
            let anothers = world.result(&user("bob"), tool, json!({ "plan": plan })).await;
            let nobodys = world.result(&user("bob"), tool, json!({ "plan": never })).await;
            assert_eq!(anothers["isError"], true);
            assert_eq!(anothers.to_string().replace(&plan, "X"), nobodys.to_string().replace(&never, "X"), "{tool}");
        }
        assert_eq!(world.stage.runs(), []);
    }

    async fn a_plan_has_bounds(world: World) {
        let many = |count: usize| json!({"calls": vec![json!({"tool": "stage.get"}); count]});
        world.good(&ann(), "plan.propose", many(64)).await;
        for arguments in [many(65), many(0)] {
            assert_eq!(world.bad(&ann(), "plan.propose", arguments).await["code"], "invalid_arguments");
        }
        let large = json!({"calls": [{"tool": "stage.put", "arguments": {"key": "a", "value": "x".repeat(300 << 10)}}]});
        let refused = world.bad(&ann(), "plan.propose", large).await;
        assert!(refused["error"].as_str().unwrap().contains("larger than"), "{refused}");
        for (id, why) in [("1st", "is not a letter"), ("a b", "is not a letter"), ("", "is not a letter"), ("same", "already")] {
            let calls = json!({"calls": [{"id": "same", "tool": "stage.get"}, {"id": id, "tool": "stage.get"}]});
            let refused = world.bad(&ann(), "plan.propose", calls).await;
            assert!(refused["step"] == 2 && refused["error"].as_str().unwrap().contains(why), "{id}: {refused}");
        }
    }

    async fn a_right_that_is_gone_since_stops_the_plan_before_it_starts(world: World) {
        let plan = world.propose(json!([
            {"tool": "stage.put", "arguments": {"key": "a", "value": 1}},
            {"tool": "stage.pay", "arguments": {"cents": 5}},
        ])).await;
        world.change(r#"@id("closed") @message("Closed.") @hides("no")
            forbid (principal, action in Action::"call", resource == Tool::"stage.pay");"#, |_| {});
        let refused = world.bad(&ann(), "plan.execute", json!({ "plan": plan })).await;
        assert_eq!(refused["error"], "step 2: Closed.");
        assert_eq!((world.stage.runs().len(), &world.show(&plan).await["state"]), (0, &json!("proposed")));
    }
}
