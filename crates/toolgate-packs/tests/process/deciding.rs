use serde_json::json;

use crate::{state::Driven, world::World};

on_both! {
    async fn a_decision_is_taken_down_and_the_last_one_counts(world: World) {
        let mut driven = Driven::start(&world, &["analyse"], None).await;
        let pre = driven.begin().await;
        let first = world.good(&pre, "set_process_decision", json!({"decision": "inject", "reasoning": "r", "injected_steps": [{"task_name": "repair"}]})).await;
        let number = first["decision_id"].as_i64().unwrap();
        assert_eq!(first, json!({"status": "ok", "decision": "inject", "task_id": "run_1", "decision_id": number, "effect": "inject"}));
        let second = world.good(&pre, "set_process_decision", json!({"decision": "proceed", "reasoning": "r"})).await;
        assert_eq!((&second["effect"], &second["note"]), (&json!("proceed"), &json!("It takes the place of this task's earlier decision 'inject'.")));
        assert!(second["decision_id"].as_i64().unwrap() > number);
        driven.end(true).await;
        let step = driven.begin().await;
        assert!(!step.task.unwrap().orchestrator, "nothing was injected: the step itself runs");
    }

    async fn injected_steps_run_first_and_at_the_cap_it_is_said_that_the_process_proceeds(world: World) {
        let mut driven = Driven::start(&world, &["analyse"], None).await;
        let pre = driven.begin().await;
        let injected = world.good(&pre, "inject_steps", json!({"steps": [{"task_name": "repair"}, {"task_name": "analyse", "prompt": "again"}]})).await;
        assert_eq!(injected, json!({"status": "ok", "injected_count": 2, "steps": ["repair", "analyse"], "effect": "inject"}));
        driven.end(true).await;
        let pre = driven.begin().await;
        let capped = world.good(&pre, "inject_steps", json!({"steps": [{"task_name": "repair"}]})).await;
        assert_eq!((&capped["injected_count"], &capped["effect"]), (&json!(0), &json!("proceed")));
        assert_eq!(capped["note"], "Steps were injected before this step as often as they may be: the process proceeds.");
    }

    async fn after_a_step_a_decision_is_kept_and_changes_nothing(world: World) {
        let mut driven = Driven::start(&world, &["analyse"], None).await;
        driven.pass().await;
        driven.pass().await;
        let post = driven.begin().await;
        let kept = world.good(&post, "set_process_decision", json!({"decision": "abort", "reasoning": "r"})).await;
        assert_eq!(kept["effect"], "none");
        assert!(kept["note"].as_str().unwrap().contains("pre_step"), "{kept}");
        driven.end(true).await;
        let late = world.bad(&post, "set_process_decision", json!({"decision": "abort", "reasoning": "r"})).await;
        assert_eq!(late, ("Task 'run_3' has ended.".into(), "conflict".into()));
    }

    async fn what_is_no_decision_is_refused_in_words(world: World) {
        let mut driven = Driven::start(&world, &["analyse"], None).await;
        let pre = driven.begin().await;
        let step = json!([{"task_name": "repair"}]);
        for (arguments, error) in [
            (json!({"decision": "stop", "reasoning": "r"}), "Invalid decision 'stop'. Must be one of: abort, inject, proceed"),
            (json!({"decision": "inject", "reasoning": "r"}), "injected_steps is required when decision is 'inject'."),
            (json!({"decision": "abort", "reasoning": "r", "injected_steps": step}), "injected_steps must not be provided when decision is not 'inject'."),
            (json!({"decision": "inject", "reasoning": "r", "injected_steps": []}), "steps must be a non-empty list."),
            (json!({"decision": "inject", "reasoning": "r", "injected_steps": [{}]}), "Each step must have a 'task_name'."),
            (json!({"decision": "inject", "reasoning": "r", "injected_steps": [{"task_name": "dance"}]}), "Unknown task: 'dance'. Check available tasks."),
            (json!({"decision": "abort"}), "Argument 'reasoning' is required."),
        ] {
            assert_eq!(world.bad(&pre, "set_process_decision", arguments.clone()).await, (error.into(), "validation".into()), "{arguments}");
        }
        for (arguments, error) in [
            (json!({}), "steps must be a non-empty list."),
            (json!({"steps": []}), "steps must be a non-empty list."),
            (json!({"steps": "repair"}), "steps must be a non-empty list."),
            (json!({"steps": [{"prompt": "x"}]}), "Each step must have a 'task_name'."),
            (json!({"steps": [{"task_name": ""}]}), "Each step must have a 'task_name'."),
            (json!({"steps": [{"task_name": "repair"}, {"task_name": "orchestrator-pre"}]}), "Unknown task: 'orchestrator-pre'. Check available tasks."),
        ] {
            assert_eq!(world.bad(&pre, "inject_steps", arguments.clone()).await, (error.into(), "validation".into()), "{arguments}");
        }
        let state = world.good(&pre, "get_process_state", json!({})).await;
        assert_eq!(state["orchestrator_decisions"], json!([]), "none of it left a trace");
    }
}
