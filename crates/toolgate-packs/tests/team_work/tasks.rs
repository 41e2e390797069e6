use serde_json::json;

use crate::world::World;

on_both! {
    async fn a_task_of_others_can_be_seen_and_not_touched(world: World) {
        let theirs = world.begun("eve", None).await;
        let ann = world.at_task("ann", &world.begun("ann", None).await).await;
        let seen = world.good(&ann, "get_task", json!({"task_id": theirs})).await;
        assert_eq!(seen["task"]["assignee_id"], "eve");
        for status in ["done", "blocked", "cancelled"] {
            let refused = world.bad(&ann, "update_task_status", json!({"task_id": theirs, "status": status})).await;
            assert!(refused.starts_with("Access denied: "), "{refused}");
        }
        let unknown = format!("Task not found: {theirs}");
        assert_eq!(
            world.bad(&ann, "create_task", json!({"title": "x", "description": "", "parent_task_id": theirs})).await,
            unknown
        );
        assert_eq!(world.bad(&ann, "split_task", json!({"task_id": theirs, "tasks": [{"title": "a", "description": ""}, {"title": "b", "description": ""}]})).await, unknown);
        let boss = world.at_task("boss", &world.begun("boss", None).await).await;
        let given = world
            .bad(&boss, "assign_task", json!({"task_id": world.begun("hana", None).await, "assignee_id": "ann"}))
            .await;
        assert!(given.starts_with("Validation error: "), "made by boss, in progress with hana: {given}");
    }

    async fn another_projects_task_answers_as_one_that_never_was(world: World) {
        let team = world.store.team();
        let there = team.tasks("q").unwrap();
        let new = toolgate_store::team::NewTeamTask {
            id: toolgate_store::team::TeamTasks::new_id().unwrap(),
            title: "secret".into(),
            description: String::new(),
            status: toolgate_store::team::TaskStatus::Todo,
            priority: toolgate_store::team::TaskPriority::Low,
            assignee: Some("ann".into()),
            created_by: "ann".into(),
            parent: None,
            needs: vec![],
            requester: None,
            approval: toolgate_store::team::TaskApproval::Approved,
        };
        let secret = there.create(&[new], None, 1).await.unwrap().remove(0).id;
        let ann = world.at_task("ann", &world.begun("ann", None).await).await;
        let boss = world.at_task("boss", &world.begun("boss", None).await).await;
        for id in [secret.as_str(), "ttask_0", "'; DROP TABLE team_tasks; --"] {
            let unknown = format!("Task not found: {id}");
            for (tool, arguments) in [
                ("get_task", json!({"task_id": id})),
                ("update_task_status", json!({"task_id": id, "status": "done"})),
                ("create_task", json!({"title": "x", "description": "", "parent_task_id": id})),
                ("create_task", json!({"title": "x", "description": "", "dependencies": [id]})),
                (
                    "create_tasks_batch",
                    json!({"parent_task_id": id, "tasks": [{"local_id": "a", "title": "a", "description": ""}]}),
                ),
                (
                    "split_task",
                    json!({"task_id": id, "tasks": [{"title": "a", "description": ""}, {"title": "b", "description": ""}]}),
                ),
                ("request_task", json!({"title": "x", "parent_task_id": id})),
            ] {
                assert_eq!(world.bad(&ann, tool, arguments).await, unknown, "{tool}");
            }
            for tool in ["assign_task", "approve_task_request", "reject_task_request"] {
                assert_eq!(world.bad(&boss, tool, json!({"task_id": id})).await, unknown, "{tool}");
            }
        }
        assert!(!world.good(&ann, "list_team_tasks", json!({})).await.to_string().contains("secret"));
    }

    async fn what_is_wrong_with_a_change_is_said(world: World) {
        let mine = world.begun("ann", None).await;
        let ann = world.at_task("ann", &mine).await;
        let change = async |id: &str, status: &str| {
            world.bad(&ann, "update_task_status", json!({"task_id": id, "status": status})).await
        };
        assert_eq!(change(&mine, "todo").await, "Invalid status transition from in_progress to todo");
        assert_eq!(change(&mine, "in_progress").await, "Invalid status transition from in_progress to in_progress");
        assert_eq!(
            change(&mine, "finished").await,
            "Invalid status: finished. Use one of: backlog, todo, in_progress, blocked, done, cancelled"
        );
        let part = world
            .good(&ann, "create_task", json!({"title": "x", "description": "", "parent_task_id": mine}))
            .await["task"]["task_id"]
            .as_str()
            .unwrap()
            .to_owned();
        assert_eq!(
            change(&mine, "done").await,
            format!("Validation error: task {mine} has unfinished subtasks: {part}")
        );
        let after = world
            .good(
                &ann,
                "create_task",
                json!({"title": "y", "description": "", "parent_task_id": mine, "dependencies": [part]}),
            )
            .await["task"]["task_id"]
            .as_str()
            .unwrap()
            .to_owned();
        assert_eq!(
            change(&after, "in_progress").await,
            format!("Validation error: task {after} depends on tasks that are not done: {part}")
        );
        let other = world.add(Some("ann"), None).await;
        assert_eq!(
            change(&other, "in_progress").await,
            "Validation error: agent 'ann' has 1 task(s) in progress, which is as many as it may have"
        );
        assert!(
            world
                .bad(&ann, "create_task", json!({"title": "", "description": ""}))
                .await
                .starts_with("Invalid arguments: 'title'")
        );
        assert!(world.bad(&ann, "create_task", json!({"title": "x"})).await.contains("'description' is missing"));
    }

    async fn a_batch_that_makes_no_sense_makes_nothing(world: World) {
        let mine = world.begun("ann", None).await;
        let ann = world.at_task("ann", &mine).await;
        let line =
            |id: &str, needs: &[&str]| json!({"local_id": id, "title": id, "description": "", "dependencies": needs});
        for (tasks, refused) in [
            (json!([line("a", &["z"])]), "Unknown dependency local_id: z"),
            (json!([line("a", &[]), line("a", &[])]), "Validation error: local_id 'a' is there twice"),
            (json!([line("a", &["a"])]), "Validation error: task 'a' would depend on itself"),
        ] {
            assert_eq!(
                world.bad(&ann, "create_tasks_batch", json!({"parent_task_id": mine, "tasks": tasks})).await,
                refused
            );
        }
        let circle = world
            .bad(
                &ann,
                "create_tasks_batch",
                json!({"parent_task_id": mine, "tasks": [line("a", &["b"]), line("b", &["a"])]}),
            )
            .await;
        assert!(circle.ends_with("would depend on itself"), "{circle}");
        assert_eq!(world.good(&ann, "get_task", json!({"task_id": mine})).await["subtasks"], json!([]));
    }

    async fn a_task_that_is_split_hands_its_place_to_its_parts(world: World) {
        let mine = world.begun("ann", None).await;
        let ann = world.at_task("ann", &mine).await;
        let whole = world
            .good(
                &ann,
                "create_task",
                json!({"title": "both", "description": "", "priority": "urgent", "parent_task_id": mine}),
            )
            .await["task"]["task_id"]
            .clone();
        let parts =
            json!([{"title": "one", "description": ""}, {"title": "two", "description": "", "priority": "low"}]);
        let made = world.good(&ann, "split_task", json!({"task_id": whole, "tasks": parts})).await;
        assert_eq!((&made["tasks"][0]["priority"], &made["tasks"][1]["priority"]), (&json!("urgent"), &json!("low")));
        assert_eq!(
            (&made["tasks"][0]["parent_task_id"], &made["tasks"][0]["assignee_id"]),
            (&json!(mine), &json!("ann"))
        );
        assert_eq!(world.good(&ann, "get_task", json!({"task_id": whole})).await["task"]["status"], "cancelled");
        let again = world.bad(&ann, "split_task", json!({"task_id": whole, "tasks": parts})).await;
        assert!(again.ends_with("only a task in todo or backlog can be split"), "{again}");
    }

    async fn a_manager_that_takes_a_task_apart_has_it(world: World) {
        let boss = world.at_task("boss", &world.begun("boss", None).await).await;
        let free = world.add(None, None).await;
        let made =
            world.good(&boss, "create_task", json!({"title": "x", "description": "", "parent_task_id": free})).await;
        assert_eq!(made["parent_task_reassigned"], true);
        assert_eq!(world.task(&free).await.assignee.as_deref(), Some("boss"));
        let at_work = world.begun("ann", None).await;
        let made =
            world.good(&boss, "create_task", json!({"title": "x", "description": "", "parent_task_id": at_work})).await;
        assert_eq!(made["parent_task_reassigned"], false, "not out of the hands of who is at work on it");
    }

    async fn who_is_not_directly_below_not_here_or_not_active_gets_no_task(world: World) {
        let boss = world.at_task("boss", &world.begun("boss", None).await).await;
        let task = world.add(None, None).await;
        for (to, refused) in [
            ("nobody", "Agent not found: nobody"),
            ("eve", "Agent 'eve' is not a subordinate of 'boss'"),
            ("hana", "Agent 'hana' is not a subordinate of 'boss'"),
        ] {
            assert_eq!(world.bad(&boss, "assign_task", json!({"task_id": task, "assignee_id": to})).await, refused);
        }
        world.good(&boss, "assign_task", json!({"task_id": task, "assignee_id": "bob"})).await;
        let taken = world.good(&boss, "assign_task", json!({"task_id": task})).await;
        assert_eq!((&taken["message"], &taken["previous_assignee_id"]), (&json!("Task unassigned"), &json!("bob")));
        assert!(taken.get("assignee_id").is_none());
    }

    async fn a_list_goes_on_where_it_stopped(world: World) {
        for _ in 0..5 {
            world.add(Some("bob"), None).await;
        }
        let ann = world.at_task("ann", &world.begun("ann", None).await).await;
        let mut seen = Vec::new();
        let mut arguments = json!({"assignee_id": "bob", "status": "todo", "limit": 2});
        loop {
            let page = world.good(&ann, "list_team_tasks", arguments.clone()).await;
            seen.extend(
                page["tasks"].as_array().unwrap().iter().map(|task| task["task_id"].as_str().unwrap().to_owned()),
            );
            match page.get("next_cursor") {
                Some(cursor) => arguments["cursor"] = cursor.clone(),
                None => break,
            }
        }
        seen.sort();
        seen.dedup();
        assert_eq!(seen.len(), 5);
        assert!(world.bad(&ann, "list_team_tasks", json!({"cursor": "elsewhere"})).await.contains("'cursor'"));
    }
}
