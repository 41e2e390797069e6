use serde_json::{Value, json};
use toolgate_store::team::{AgentChange, AgentStatus, NewProject, ProjectChange, ProjectStatus, Purpose};

use crate::world::{World, coordinator};

async fn action(world: &World, agent: &str) -> Value {
    world.good(&coordinator(), "get_agent_action", json!({"agent_id": agent, "project_id": "p"})).await
}

fn hold(reason: &str) -> Value {
    json!({"success": true, "action": "hold", "reason": reason})
}

async fn exited(world: &World, agent: &str, remaining: u32) -> Value {
    let arguments = json!({"agent_id": agent, "project_id": "p", "remaining_processes": remaining});
    world.good(&coordinator(), "report_process_exit", arguments).await
}

on_both! {
    async fn a_coordinator_sees_who_and_where_but_no_details(world: World) {
        let health = world.good(&coordinator(), "health_check", json!({})).await;
        assert_eq!(health, json!({"success": true, "status": "ok", "agent_count": 3, "project_count": 1}));
        let managed = world.good(&coordinator(), "list_managed_agents", json!({})).await;
        assert_eq!(managed, json!({"success": true, "agent_ids": ["ann", "bob", "boss"]}));
        let other = NewProject { id: "q".into(), name: "Q".into(), working_directory: None, created_at: 1 };
        world.store.team().projects().add(other).await.unwrap();
        world.store.team().assignments().assign("bob", "q", 1).await.unwrap();
        let projects = world.good(&coordinator(), "list_active_projects_with_agents", json!({})).await;
        assert_eq!(projects, json!({"success": true, "projects": [
            {"project_id": "p", "project_name": "Project p", "working_directory": "/srv/p", "agents": ["ann", "bob", "boss"]},
            {"project_id": "q", "project_name": "Q", "working_directory": null, "agents": ["bob"]},
        ]}));
        let of_ann = world.good(&coordinator(), "list_active_projects_with_agents", json!({"agent_id": "ann"})).await;
        assert_eq!(of_ann["projects"][0]["agents"], json!(["ann"]));
        assert_eq!(of_ann["projects"].as_array().unwrap().len(), 1);
        let nobody = world.bad(&coordinator(), "list_active_projects_with_agents", json!({"agent_id": "x"})).await;
        assert_eq!(nobody["error"], "Agent not found: x");
    }

    async fn a_process_is_started_once_for_work_that_nobody_is_at(world: World) {
        assert_eq!(action(&world, "ann").await, hold("no_work"));
        let task = world.give_task("ann").await;
        assert_eq!(action(&world, "ann").await, json!({
            "success": true, "action": "start", "reason": "has_task_work", "task_id": task,
            "provider": "anthropic", "model": "m-1",
        }));
        assert_eq!(action(&world, "ann").await, hold("spawn_in_progress"));
        world.pass(120_000);
        assert_eq!(action(&world, "ann").await["action"], "start", "the process never came");
        world.sign_in("ann").await;
        assert_eq!(action(&world, "ann").await, hold("no_work"));
        world.write_to("ann").await;
        let chat = action(&world, "ann").await;
        assert_eq!((&chat["reason"], chat.get("task_id")), (&json!("has_chat_work"), None));
    }

    async fn a_manager_waits_while_somebody_under_it_works(world: World) {
        world.give_task("boss").await;
        world.give_task("ann").await;
        world.sign_in("ann").await;
        assert_eq!(action(&world, "boss").await, hold("waiting_for_workers"));
        exited(&world, "ann", 0).await;
        assert_eq!(action(&world, "boss").await["reason"], "has_task_work");
    }

    async fn nothing_is_started_where_nobody_should_work(world: World) {
        world.give_task("ann").await;
        let status = |status| AgentChange { status: Some(status), ..AgentChange::default() };
        world.store.team().agents().change("ann", status(AgentStatus::Inactive)).await.unwrap();
        assert_eq!(action(&world, "ann").await, hold("agent_inactive"));
        world.store.team().agents().change("ann", status(AgentStatus::Active)).await.unwrap();
        let pause = ProjectChange { status: Some(ProjectStatus::Paused), ..ProjectChange::default() };
        world.store.team().projects().change("p", pause).await.unwrap();
        assert_eq!(action(&world, "ann").await, hold("project_paused"));
        world.store.team().assignments().unassign("ann", "p", world.now()).await.unwrap();
        assert_eq!(action(&world, "ann").await, hold("agent_not_assigned"));
        for (agent, project, error) in [("x", "p", "Agent not found: x"), ("ann", "x", "Project not found: x")] {
            for tool in ["get_agent_action", "report_process_exit"] {
                let arguments = json!({"agent_id": agent, "project_id": project, "remaining_processes": 0});
                assert_eq!(world.bad(&coordinator(), tool, arguments).await["error"], error);
            }
        }
    }

    async fn the_end_of_the_last_process_ends_its_sessions(world: World) {
        world.give_task("ann").await;
        world.write_to("ann").await;
        let (task, chat) = (world.sign_in("ann").await, world.sign_in("ann").await);
        assert_ne!(task, chat);
        let answer = exited(&world, "ann", 0).await;
        assert_eq!(answer, json!({"success": true, "action": "invalidated_all", "ended_sessions": 2}));
        for purpose in [Purpose::Task, Purpose::Chat] {
            assert_eq!(world.session("ann", purpose).await, None);
        }
        assert_eq!(exited(&world, "ann", 0).await["ended_sessions"], 0);
    }

    async fn a_failed_process_is_told_to_its_agent_and_its_manager(world: World) {
        let arguments = json!({"agent_id": "ann", "project_id": "p", "error_message": "exit code 1"});
        let answer = world.good(&coordinator(), "report_agent_error", arguments).await;
        assert_eq!(answer, json!({"success": true, "told": ["ann", "boss"]}));
        for (agent, told) in [("ann", 1), ("boss", 1), ("bob", 0)] {
            let notes = world.store.team().notifications("p", agent).unseen().await.unwrap();
            assert_eq!(notes.len(), told, "{agent}");
            assert!(notes.iter().all(|note| note.message == "A process of 'ann' failed: exit code 1"));
        }
        let nobody = json!({"agent_id": "x", "project_id": "p", "error_message": "exit code 1"});
        assert_eq!(world.bad(&coordinator(), "report_agent_error", nobody).await["error"], "Agent not found: x");
    }

    async fn the_end_of_one_of_two_ends_the_session_with_less_reason(world: World) {
        world.give_task("ann").await;
        world.write_to("ann").await;
        world.sign_in("ann").await;
        assert_eq!(exited(&world, "ann", 1).await, json!({"success": true, "action": "none"}), "one session is no orphan");
        world.sign_in("ann").await;
        let answer = exited(&world, "ann", 1).await;
        assert_eq!(answer, json!({"success": true, "action": "deleted_orphan", "orphan_purpose": "chat"}));
        assert!(world.session("ann", Purpose::Task).await.is_some());
        assert_eq!(world.session("ann", Purpose::Chat).await, None);
    }
}
