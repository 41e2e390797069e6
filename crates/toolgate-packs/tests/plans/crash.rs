//! A process that is gone in the middle, and several at once.

use std::sync::Arc;

use serde_json::{Value, json};
use toolgate_core::Lang;
use toolgate_spine::{Client, Execution, OnFailure, PlanProblem};

use crate::world::{World, ann, states};

fn put(key: &str) -> Value {
    json!({"tool": "stage.put", "arguments": {"key": key, "value": 1}})
}

fn how() -> Execution {
    Execution { on_failure: OnFailure::Stop, wait: None, client: Client::default(), lang: Lang::En }
}

/// Executes until the step that waits has begun, and is gone then.
async fn crash_in_the_middle(world: &World, plan: &str) {
    let (spine, id) = (Arc::clone(&world.spine), plan.to_owned());
    let executing = tokio::spawn(async move { spine.execute_plan(&Arc::new(ann()), &id, how()).await });
    world.stage.begun.acquire().await.unwrap().forget();
    executing.abort();
    assert!(executing.await.unwrap_err().is_cancelled());
    assert_eq!(states(&world.show(plan).await), ["done", "running", "waiting"]);
}

on_both! {
    async fn another_process_takes_it_up_and_what_was_begun_is_unknown(world: World) {
        let plan = world.propose(json!([put("a"), {"tool": "stage.wait"}, put("b")])).await;
        crash_in_the_middle(&world, &plan).await;
        let other = world.again().await;
        let unknown = other.execute(&plan, "stop").await;
        assert_eq!((&unknown["state"], states(&unknown)), (&json!("unknown"), ["done", "unknown", "waiting"].map(str::to_owned).to_vec()));
        assert!(unknown["steps"][1]["reason"]["message"].as_str().unwrap().contains("look before"), "{unknown}");
        let runs: Vec<_> = world.stage.runs().into_iter().map(|(tool, _)| tool).collect();
        assert_eq!(runs, ["stage.put", "stage.wait"], "nothing ran again");
        other.store.close().await;
    }

    async fn taken_up_with_undo_it_takes_back_what_is_known(world: World) {
        let plan = world.propose(json!([put("a"), {"tool": "stage.wait"}, put("b")])).await;
        crash_in_the_middle(&world, &plan).await;
        // the same process knows that it is not at it any more
        let unknown = world.execute(&plan, "undo").await;
        assert_eq!((&unknown["state"], states(&unknown)), (&json!("unknown"), ["undone", "unknown", "waiting"].map(str::to_owned).to_vec()));
        assert_eq!(world.stage.values(), json!({}));
    }

    async fn between_two_steps_it_goes_on_with_what_was_kept(world: World) {
        let plan = world.propose(json!([
            {"tool": "stage.sign", "arguments": {"key": "a", "value": 1}},
            {"tool": "stage.sign", "arguments": {"key": "b", "value": {"$from": 1, "path": "/items/0/id"}}},
        ])).await;
        let asked = world.asked(&plan).await;
        world.grant(&asked).await;
        // as a process leaves it that ends right after its first step
        let taken = {
            let approval = world.approvals().await.remove(0);
            world.store.approvals().take(&approval.binding, crate::world::now()).await.unwrap().unwrap()
        };
        let (plans, everything) = (world.store.plans(), toolgate_store::Scope::Everything);
        plans.approve(&everything, &plan, Some(&taken.approval().id)).await.unwrap();
        plans.start(&everything, &plan, "gone/0").await.unwrap();
        plans.begin_step(&plan, "gone/0", 0).await.unwrap();
        let result = Some(r#"{"values":{"/items/0/id":"kept"}}"#.to_owned());
        plans.end_step(&plan, 0, toolgate_store::StepEnd::Done { receipt: None, result }).await.unwrap();

        // the plan's approval does not cover a value that nobody knew
        let own = world.asked(&plan).await;
        assert_ne!(own, asked);
        world.grant(&own).await;
        let done = world.execute(&plan, "stop").await;
        assert_eq!(done["state"], "done", "{done}");
        assert_eq!(world.stage.values(), json!({"b": "kept"}), "the second step alone");
        assert_eq!(world.approvals().await.len(), 2);
    }

    async fn approved_but_never_started_it_runs_only_on_a_yes_that_still_fits(world: World) {
        let plan = world.propose(json!([{"tool": "stage.sign", "arguments": {"key": "a", "value": 1}}])).await;
        let asked = world.asked(&plan).await;
        let approval = world.grant(&asked).await;
        world.store.approvals().take(&approval.binding, crate::world::now()).await.unwrap().unwrap();
        world.store.plans().approve(&toolgate_store::Scope::Everything, &plan, Some(&asked)).await.unwrap();
        world.change(r#"@id("other") @message("Other.") forbid (principal, action in Action::"call", resource == Tool::"stage.pay");"#, |_| {});
        let refused = world.bad(&ann(), "plan.execute", json!({ "plan": plan })).await;
        assert!(refused["error"].as_str().unwrap().contains("propose the plan again"), "{refused}");
        assert_eq!(world.stage.runs(), []);
        world.change("", |_| {});
        assert_eq!(world.execute(&plan, "stop").await["state"], "done");
    }

    async fn several_at_once_run_each_step_once(world: World) {
        let other = world.again().await;
        let signed = json!({"tool": "stage.sign", "arguments": {"key": "s", "value": 1}});
        let plan = world.propose(json!([signed, put("a"), put("b"), put("c"), put("d")])).await;
        let asked = world.asked(&plan).await;
        world.grant(&asked).await;
        let race = |world: &World| {
            let (world, plan) = (world.clone(), plan.clone());
            tokio::spawn(async move { world.spine.execute_plan(&Arc::new(ann()), &plan, how()).await })
        };
        let racers: Vec<_> = (0..8).map(|number| race(if number % 2 == 0 { &world } else { &other })).collect();
        let mut ran = 0;
        for racer in racers {
            match racer.await.unwrap() {
                Ok(shown) => {
                    assert!(shown.is_done(), "{shown:?}");
                    ran += 1;
                }
                Err(PlanProblem::Busy(_) | PlanProblem::Over { .. }) => {}
                Err(problem) => panic!("{problem:?}"),
            }
        }
        assert_eq!(ran, 1);
        let mut runs: Vec<_> = world.stage.runs().into_iter().map(|(_, arguments)| arguments["key"].clone()).collect();
        runs.sort_by_key(Value::to_string);
        assert_eq!(runs, ["a", "b", "c", "d", "s"]);
        let pending = world.approvals().await.into_iter().filter(|approval| approval.state.as_str() == "pending");
        assert_eq!(pending.count(), 0, "nobody is asked for what is done already");
        other.store.close().await;
    }

    async fn a_process_that_lives_is_left_alone(world: World) {
        let plan = world.propose(json!([put("a"), {"tool": "stage.wait"}, put("b")])).await;
        let other = world.again().await;
        let running = tokio::spawn({
            let (world, plan) = (world.clone(), plan.clone());
            async move { world.execute(&plan, "stop").await }
        });
        world.stage.begun.acquire().await.unwrap().forget();
        for process in [&world, &other] {
            let busy = process.bad(&ann(), "plan.execute", json!({ "plan": plan })).await;
            assert_eq!(busy["code"], "plan_busy", "{busy}");
        }
        world.stage.let_through.add_permits(1);
        assert_eq!(running.await.unwrap()["state"], "done");
        other.store.close().await;
    }
}
