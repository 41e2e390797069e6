use serde_json::json;
use toolgate_store::team::NewMessage;

use crate::world::World;

on_both! {
    async fn a_task_asked_for_by_an_agent_itself_waits_for_who_stands_above(world: World) {
        let ann = world.at_task("ann", &world.begun("ann", None).await).await;
        let asked = world.good(&ann, "request_task", json!({"title": "Oil the hinges"})).await;
        assert_eq!(
            (&asked["approval_status"], &asked["approvers"]),
            (&json!("pending_approval"), &json!(["boss", "hana"]))
        );
        let task = asked["task_id"].as_str().unwrap().to_owned();
        assert_eq!(world.store.team().desk("p", "hana").state().await.unwrap().received, 1, "people are told");
        let boss = world.at_task("boss", &world.begun("boss", None).await).await;
        let eve = world.at_task("eve", &world.begun("eve", None).await).await;
        assert_eq!(
            world.bad(&eve, "approve_task_request", json!({"task_id": task})).await,
            format!("Task not found: {task}"),
            "not above ann"
        );
        world.good(&ann, "update_task_status", json!({"task_id": task, "status": "todo"})).await;
        let approved = world.good(&boss, "approve_task_request", json!({"task_id": task})).await;
        assert_eq!(approved["approval_status"], "approved");
        assert_eq!(
            world.bad(&boss, "reject_task_request", json!({"task_id": task})).await,
            format!("Validation error: task {task} is not pending approval")
        );
        let other = world.good(&ann, "request_task", json!({"title": "Buy a house"})).await["task_id"].clone();
        let rejected = world.good(&boss, "reject_task_request", json!({"task_id": other, "reason": "no"})).await;
        assert_eq!(
            (&rejected["approval_status"], &rejected["task"]["status"]),
            (&json!("rejected"), &json!("cancelled"))
        );
    }

    async fn in_chat_a_task_is_made_of_what_somebody_asked_for_in_so_many_words(world: World) {
        let ann = world.in_chat("ann").await;
        let says = async |content: &str| {
            let new = NewMessage { to: Some("ann".into()), content: content.into(), task: None, conversation: None };
            world.store.team().conversations("p", "hana").send(&new, world.now()).await.unwrap();
        };
        says("please").await;
        assert!(world.bad(&ann, "request_task", json!({"title": "x"})).await.starts_with("Nobody asked for it"));
        says("＠＠タスク作成 oil the hinges").await;
        let made = world.good(&ann, "request_task", json!({"title": "Oil the hinges"})).await;
        assert_eq!(made["approval_status"], "approved", "hana stands above ann");
    }

    async fn what_is_asked_for_in_chat_reaches_the_task_session(world: World) {
        let at_task = world.at_task("ann", &world.begun("ann", None).await).await;
        let ann = world.in_chat("ann").await;
        let notice = json!({"message": "green after all"});
        let refused = world.bad(&ann, "notify_task_session", notice.clone()).await;
        assert_eq!(refused, "Nobody asked for it: the last message does not hold '@@タスク通知'");
        let content = "@@タスク通知 green after all".to_owned();
        let new = NewMessage { to: Some("ann".into()), content, task: None, conversation: None };
        world.store.team().conversations("p", "hana").send(&new, world.now()).await.unwrap();
        let unknown = json!({"message": "x", "related_task_id": "ttask_0"});
        assert_eq!(world.bad(&ann, "notify_task_session", unknown).await, "Task not found: ttask_0");
        let long = json!({"message": "x".repeat(4001)});
        let refused = world.bad(&ann, "notify_task_session", long).await;
        assert_eq!(refused, "Content too long: 4001 characters (max 4000)");
        world.good(&ann, "notify_task_session", notice).await;
        let told = world.good(&at_task, "get_notifications", json!({})).await;
        let last = told["notifications"].as_array().unwrap().last().unwrap();
        assert_eq!((&last["type"], &last["message"]), (&json!("chat_session_notification"), &json!("green after all")));
    }
}
