use serde_json::json;
use toolgate_store::team::{Purpose, TaskStatus};

use crate::world::World;

on_both! {
    /// A task is taken apart, given out, done and reported, each step told by `get_next_action`.
    async fn a_manager_and_a_worker_bring_a_task_to_its_end(world: World) {
        let whole = world.begun("boss", None).await;
        let boss = world.at_task("boss", &whole).await;
        assert_eq!(world.action(&boss).await, "get_task");
        let task = world.good(&boss, "get_my_task", json!({})).await;
        assert_eq!(
            (&task["has_task"], &task["task"]["task_id"], &task["task"]["title"]),
            (&json!(true), &json!(whole), &json!("paint"))
        );
        assert_eq!(world.action(&boss).await, "create_subtasks");
        let batch = json!({"parent_task_id": whole, "tasks": [
            {"local_id": "sand", "title": "Sand", "description": "the door"},
            {"local_id": "paint", "title": "Paint", "description": "red", "priority": "high", "dependencies": ["sand"]},
        ]});
        let made = world.good(&boss, "create_tasks_batch", batch).await;
        let (sand, paint) = (made["local_id_to_real_id"]["sand"].clone(), made["local_id_to_real_id"]["paint"].clone());
        assert_eq!(made["task_count"], 2);
        assert_eq!(made["tasks"][1]["priority"], "high");
        assert!(made["tasks"][0].get("assignee_id").is_none(), "a manager's tasks are for others");

        let aware = world.next(&boss).await;
        assert_eq!((&aware["action"], &aware["to_dispatch"][0]["task_id"]), (&json!("situational_awareness"), &sand));
        assert_eq!(
            world.bad(&boss, "select_action", json!({"action": "wait"})).await,
            "Validation error: nobody is at work on a subtask, and none is assigned; dispatch one first"
        );
        world.good(&boss, "select_action", json!({"action": "dispatch_task"})).await;
        for (part, to) in [(&sand, "ann"), (&paint, "bob")] {
            let given = world.good(&boss, "assign_task", json!({"task_id": part, "assignee_id": to})).await;
            assert_eq!(
                (&given["assignee_id"], &given["assignee_name"], &given["previous_assignee_id"]),
                (&json!(to), &json!(to.to_uppercase()), &json!(null))
            );
        }
        world.good(&boss, "update_task_status", json!({"task_id": sand, "status": "in_progress"})).await;
        let gone = world.good(&boss, "select_action", json!({"action": "wait"})).await;
        assert_eq!(gone["action"], "exit");
        assert!(world.live("boss", Purpose::Task).await.is_none(), "the session ends with the wait");

        let ann = world.at_task("ann", sand.as_str().unwrap()).await;
        assert!(world.next(&ann).await.get("notification").is_some());
        let told = world.good(&ann, "get_notifications", json!({"mark_as_read": false})).await;
        assert_eq!(told["count"], 2, "assigned, then started: {told}");
        assert_eq!(world.good(&ann, "get_notifications", json!({})).await["count"], 2);
        assert_eq!(world.good(&ann, "get_notifications", json!({})).await["count"], 0);
        assert!(world.next(&ann).await.get("notification").is_none());
        world.good(&ann, "get_my_task", json!({})).await;
        assert_eq!(world.action(&ann).await, "create_subtasks", "given by somebody else");
        let own = world
            .good(&ann, "create_task", json!({"title": "Fetch paper", "description": "", "parent_task_id": sand}))
            .await;
        assert_eq!((&own["task"]["assignee_id"], &own["parent_task_reassigned"]), (&json!("ann"), &json!(false)));
        let own = own["task"]["task_id"].clone();
        assert_eq!(world.next(&ann).await["subtask"]["task_id"], own);
        assert_eq!(world.action(&ann).await, "start_subtask");
        world.good(&ann, "update_task_status", json!({"task_id": own, "status": "in_progress"})).await;
        assert_eq!(world.action(&ann).await, "execute_subtask");
        let changed = world.good(&ann, "update_task_status", json!({"task_id": own, "status": "done"})).await;
        assert_eq!(
            (&changed["previous_status"], &changed["task"]["status_changed_by"]),
            (&json!("in_progress"), &json!("ann")),
            "the agent, not a user"
        );
        assert_eq!(world.action(&ann).await, "report_completion");
        let done = world.good(&ann, "report_completed", json!({"result": "success", "summary": "smooth"})).await;
        assert_eq!(done["action"], "exit");
        assert!(world.live("ann", Purpose::Task).await.is_none());

        let boss = world.at_task("boss", &whole).await;
        assert_eq!(world.action(&boss).await, "get_task", "a new session does not know the task");
        world.good(&boss, "get_my_task", json!({})).await;
        world.good(&boss, "update_task_status", json!({"task_id": paint, "status": "in_progress"})).await;
        let bob = world.at_task("bob", paint.as_str().unwrap()).await;
        let handed = world.good(&bob, "get_my_task", json!({})).await;
        assert_eq!(handed["task"]["handoff"][0]["completion_summary"], "smooth", "what was done before is handed over");
        world.good(&bob, "report_completed", json!({"result": "blocked", "summary": "no paint"})).await;

        let stuck = world.next(&boss).await;
        assert_eq!(
            (&stuck["action"], &stuck["blocked_subtasks"][0]["blocked_reason"]),
            (&json!("review_and_resolve_blocks"), &json!("no paint"))
        );
        world.good(&boss, "update_task_status", json!({"task_id": paint, "status": "in_progress"})).await;
        let bob = world.at_task("bob", paint.as_str().unwrap()).await;
        world.good(&bob, "report_completed", json!({"result": "success"})).await;
        assert_eq!(world.action(&boss).await, "completion_check");
        let progress = world.good(&boss, "get_my_task_progress", json!({})).await;
        assert_eq!(progress["tasks"][0]["task_id"], progress["tasks"][0]["id"], "one name for a task at every depth");
        assert_eq!(progress["tasks"][0]["subtasks"].as_array().unwrap().len(), 2);
        world.good(&boss, "report_completed", json!({"result": "success", "summary": "red"})).await;
        assert_eq!(world.task(&whole).await.status, TaskStatus::Done);
    }

    async fn without_anybody_to_give_it_to_a_manager_is_told_so(world: World) {
        let whole = world.begun("eve", None).await;
        let eve = world.at_task("eve", &whole).await;
        world.good(&eve, "get_my_task", json!({})).await;
        world.good(&eve, "create_task", json!({"title": "Sand", "description": "", "parent_task_id": whole})).await;
        assert_eq!(world.action(&eve).await, "block_subtask");
    }

    async fn a_look_from_the_chat_session_does_not_set_the_task_session_back(world: World) {
        let whole = world.begun("ann", None).await;
        let ann = world.at_task("ann", &whole).await;
        world.good(&ann, "get_my_task", json!({})).await;
        let next = world.action(&ann).await;
        assert_ne!(next, "get_task");
        let chat = world.in_chat("ann").await;
        assert_eq!(world.good(&chat, "get_my_task", json!({})).await["has_task"], true);
        assert_eq!(world.action(&ann).await, next);
    }

    async fn an_agent_without_a_task_is_sent_home(world: World) {
        let whole = world.begun("ann", None).await;
        let ann = world.at_task("ann", &whole).await;
        let boss = world.at_task("boss", &world.begun("boss", None).await).await;
        assert_eq!(
            world.bad(&boss, "update_task_status", json!({"task_id": whole, "status": "blocked"})).await,
            format!("Access denied: task {whole} is neither assigned to you nor part of a task that is")
        );
        world.good(&ann, "update_task_status", json!({"task_id": whole, "status": "blocked", "reason": "rain"})).await;
        assert_eq!(world.action(&ann).await, "exit");
        assert_eq!(world.good(&ann, "get_my_task", json!({})).await["has_task"], false);
    }
}
