//! How many plans of a caller wait to run. One that can't run any more takes no room from others.

use std::{sync::Arc, time::Duration};

use serde_json::{Value, json, value::to_raw_value};
use toolgate_core::{Caller, Kind, Lang, caller::Flow};
use toolgate_spine::{BookLimits, Breadth, Call, Outcome};
use toolgate_store::Answer;

use crate::world::{World, ann};

fn calls(tool: &str) -> Value {
    json!({"calls": [{"tool": tool, "arguments": {"key": "a", "value": 1}}]})
}

async fn proposed(world: &World, caller: &Caller, tool: &str) -> String {
    world.good(caller, "plan.propose", calls(tool)).await["plan"].as_str().unwrap().to_owned()
}

async fn is_forgotten(world: &World, plan: &str) -> bool {
    world.result(&ann(), "plan.show", json!({ "plan": plan })).await["structuredContent"]["code"] == "unknown_plan"
}

fn deny() -> Answer {
    Answer::Deny { by: "operator:bo".into(), reason: None }
}

on_both! {
    async fn a_plan_that_can_not_run_any_more_makes_room_for_the_next(world: World) {
        let world = world.with_limits(BookLimits { open_plans: Some(2), ..BookLimits::default() }).await;
        let flow = world.good(&ann(), "flow.open", json!({"name": "f"})).await["flow"].as_str().unwrap().to_owned();
        let within = Caller { flow: Some(Flow { id: flow.clone(), allowlist: None }), ..ann() };
        let runnable = proposed(&world, &ann(), "stage.put").await;
        let in_flow = proposed(&world, &within, "stage.put").await;
        let full = world.bad(&ann(), "plan.propose", calls("stage.put")).await;
        assert!(full["error"].as_str().unwrap().contains("have not run"), "{full}");

        world.good(&ann(), "flow.close", json!({ "flow": flow })).await;
        let denied = proposed(&world, &ann(), "stage.sign").await;
        assert!(is_forgotten(&world, &in_flow).await, "its flow is over");

        world.bad(&ann(), "plan.propose", calls("stage.put")).await;
        let asked = world.asked(&denied).await;
        world.bad(&ann(), "plan.propose", calls("stage.put")).await;
        world.answer(&asked, deny()).await;
        let approved = proposed(&world, &ann(), "stage.sign").await;
        assert!(is_forgotten(&world, &denied).await);

        // approved, and then the rules are others
        let asked = world.asked(&approved).await;
        let granted = world.grant(&asked).await;
        let scope = toolgate_store::Scope::Everything;
        world.store.plans().approve_with(&scope, &approved, &granted.binding, crate::world::now()).await.unwrap().unwrap();
        world.bad(&ann(), "plan.propose", calls("stage.put")).await;
        world.change(r#"@id("other") @message("Other.") forbid (principal, action in Action::"call", resource == Tool::"stage.pay");"#, |_| {});
        proposed(&world, &ann(), "stage.put").await;
        assert!(is_forgotten(&world, &approved).await && !is_forgotten(&world, &runnable).await);
        assert_eq!(world.execute(&runnable, "stop").await["state"], "done");
        world.store.close().await;
    }

    async fn a_denied_call_is_not_asked_for_again_as_one_of_many(world: World) {
        let world = world.with_limits(BookLimits { deny_cooldown: Duration::from_secs(3600), ..BookLimits::default() }).await;
        let flow = world.good(&ann(), "flow.open", json!({"name": "f"})).await["flow"].as_str().unwrap().to_owned();
        let within = Arc::new(Caller { flow: Some(Flow { id: flow, allowlist: None }), ..ann() });
        let call = async |key: &str, uses: Option<u32>| {
            let arguments = to_raw_value(&json!({"key": key, "value": 1})).unwrap();
            let breadth = uses.map(|uses| Breadth { uses, lasts: Duration::from_secs(60) });
            let call = Call { breadth, ..Call::of(Kind::Tool, "stage.sign", Some(&arguments), Lang::En) };
            match world.spine.call(&within, call).await {
                Outcome::NeedsApproval { approval, .. } => Ok(approval.unwrap().id),
                Outcome::Denied { denial, .. } => Err(denial.code),
                other => panic!("{other:?}"),
            }
        };
        let denied = || Err("approval_denied".to_owned());
        let wide = call("a", Some(3)).await.unwrap();
        world.answer(&wide, deny()).await;
        assert_eq!(call("a", Some(3)).await, denied());
        assert_eq!(call("b", Some(5)).await, denied(), "any arguments were asked for");
        let one = call("b", None).await.unwrap();
        world.answer(&one, deny()).await;
        assert_eq!(call("b", None).await, denied());
        assert_eq!(world.approvals().await.len(), 2);
        world.store.close().await;
    }

    async fn a_plan_that_was_denied_gets_the_same_denial_for_a_while(world: World) {
        let world = world.with_limits(BookLimits { deny_cooldown: Duration::from_secs(3600), ..BookLimits::default() }).await;
        let plan = proposed(&world, &ann(), "stage.sign").await;
        let asked = world.asked(&plan).await;
        world.answer(&asked, deny()).await;
        let again = world.bad(&ann(), "plan.execute", json!({ "plan": plan })).await;
        assert_eq!(again["code"], "approval_denied");
        assert_eq!(world.approvals().await.len(), 1, "nobody is asked again");
        world.store.close().await;
    }
}
