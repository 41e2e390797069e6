use serde_json::json;
use toolgate_store::team::{Purpose, TaskStatus};

use crate::world::{World, caller};

on_both! {
    async fn a_result_that_is_none_is_refused_in_its_own_words(world: World) {
        let ann = world.at_task("ann", &world.begun("ann", None).await).await;
        let refused = world.bad(&ann, "report_completed", json!({"result": "great"})).await;
        assert_eq!(refused, "Invalid result value. Use 'success', 'failed', or 'blocked'");
        assert!(world.bad(&ann, "report_completed", json!({})).await.contains("'result' is missing"));
    }

    async fn a_task_at_the_top_is_done_by_its_parts(world: World) {
        let whole = world.begun("ann", None).await;
        let ann = world.at_task("ann", &whole).await;
        let refused = world.bad(&ann, "report_completed", json!({"result": "success"})).await;
        assert!(refused.starts_with("The task has no subtasks."), "{refused}");
        let part =
            world.good(&ann, "create_task", json!({"title": "Sand", "description": "", "parent_task_id": whole})).await;
        let refused = world.bad(&ann, "report_completed", json!({"result": "success"})).await;
        assert_eq!(refused, "The task has unfinished subtasks: 'Sand' (todo)");
        assert_eq!(world.task(&whole).await.status, TaskStatus::InProgress);
        assert!(world.live("ann", Purpose::Task).await.is_some(), "what is refused ends nothing");
        world.good(&ann, "report_completed", json!({"result": "failed", "summary": "cannot"})).await;
        let after = world.task(&whole).await;
        assert_eq!(
            (after.status, after.blocked_reason.as_deref(), after.changed_by.as_str()),
            (TaskStatus::Blocked, Some("cannot"), "ann")
        );
        let part = world.task(part["task"]["task_id"].as_str().unwrap()).await;
        assert_eq!(part.status, TaskStatus::Todo, "what was not begun stays as it was");
    }

    async fn only_the_sessions_own_task_is_reported(world: World) {
        let (mine, whole) = (world.begun("ann", None).await, world.begun("boss", None).await);
        let other = world.add(Some("ann"), Some(&whole)).await;
        let ann = world.at_task("ann", &mine).await;
        world.good(&ann, "report_completed", json!({"result": "blocked", "next_steps": "wait"})).await;
        assert_eq!(
            [world.task(&mine).await.status, world.task(&other).await.status],
            [TaskStatus::Blocked, TaskStatus::Todo],
            "not the agent's other tasks"
        );

        let none = "No in_progress task found for this agent";
        let chatting = world.in_chat("ann").await;
        assert_eq!(
            world.bad(&chatting, "report_completed", json!({"result": "success"})).await,
            none,
            "chat is about no task"
        );
        let unseated = caller("bob", toolgate_core::caller::Purpose::Task);
        assert_eq!(
            world.bad(&unseated, "report_completed", json!({"result": "success"})).await,
            none,
            "nor is a token without a session"
        );
        let bob = world.at_task("bob", &whole).await;
        assert_eq!(
            world.bad(&bob, "report_completed", json!({"result": "blocked"})).await,
            none,
            "somebody else's task"
        );
        assert_eq!(world.task(&whole).await.status, TaskStatus::InProgress);
    }

    async fn a_task_is_reported_once_even_by_two_at_once(world: World) {
        let whole = world.begun("boss", None).await;
        let part = world.begun("ann", Some(&whole)).await;
        let ann = world.at_task("ann", &part).await;
        let report = |result: &'static str| {
            let (world, ann) = (world.clone(), ann.clone());
            tokio::spawn(async move {
                let outcome = world.call(&ann, "report_completed", json!({"result": result})).await;
                let toolgate_spine::Outcome::Answered(bytes) = outcome else { panic!("{outcome:?}") };
                serde_json::from_slice::<serde_json::Value>(&bytes).unwrap()["isError"] == false
            })
        };
        let (one, two) = (report("success"), report("failed"));
        assert!(one.await.unwrap() != two.await.unwrap(), "one of the two");
    }
}
