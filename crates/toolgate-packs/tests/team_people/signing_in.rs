use serde_json::{Value, json};
use toolgate_core::{Caller, Lang, caller};
use toolgate_store::team::{AgentChange, AgentStatus, NewProject, ProjectChange, ProjectStatus, Purpose};

use crate::world::{PASSKEY, World};

fn exit(error: &str, code: &str) -> Value {
    json!({
        "success": false, "error": error, "code": code, "action": "exit",
        "instruction": "Signing in failed. End this process.",
    })
}

on_both! {
    async fn an_agent_with_a_task_gets_a_task_session(world: World) {
        let task = world.give_task("ann").await;
        world.write_to("ann").await;
        let mut answer = world.authenticate("ann", PASSKEY).await;
        let token = answer["session_token"].take();
        let token = token.as_str().unwrap();
        assert!(token.starts_with("sess_") && token.len() == 37, "{token}");
        assert_eq!(answer, json!({
            "success": true, "session_token": null, "expires_in": 3600, "agent_name": "ANN",
            "instruction": "You are signed in. Call get_next_action to learn what to do.",
            "working_directory": "/srv/p", "system_prompt": "Be brief.",
        }));
        let session = world.session("ann", Purpose::Task).await.unwrap();
        assert_eq!(session.task.as_deref(), Some(task.as_str()));
        let caller = world.caller(token).await.unwrap();
        assert_eq!(caller.agent.unwrap().purpose, Some(caller::Purpose::Task));

        // while that session lives, what is left is chat; then nothing
        let chat = world.sign_in("ann").await;
        assert_eq!(chat.agent.unwrap().purpose, Some(caller::Purpose::Chat));
        let third = world.authenticate("ann", PASSKEY).await;
        assert_eq!(third, exit("No valid purpose for authentication", "no_purpose"));
    }

    async fn without_work_there_is_no_purpose(world: World) {
        let refused = exit("No valid purpose for authentication", "no_purpose");
        assert_eq!(world.authenticate("ann", PASSKEY).await, refused);
        world.give_task("ann").await;
        let pause = |status| ProjectChange { status: Some(status), ..ProjectChange::default() };
        world.store.team().projects().change("p", pause(ProjectStatus::Paused)).await.unwrap();
        assert_eq!(world.authenticate("ann", PASSKEY).await, refused, "nothing is begun in a paused project");
        world.store.team().projects().change("p", pause(ProjectStatus::Active)).await.unwrap();
        world.sign_in("ann").await;
    }

    async fn a_wish_is_granted_only_where_there_is_such_work(world: World) {
        world.give_task("ann").await;
        let ask = async |purpose: &str| {
            let arguments = json!({"agent_id": "ann", "passkey": PASSKEY, "project_id": "p", "purpose": purpose});
            world.content(&Caller::anonymous(), "authenticate", arguments).await
        };
        assert_eq!(ask("chat").await["code"], "no_purpose");
        world.write_to("ann").await;
        assert_eq!(ask("chat").await["success"], true);
        assert_eq!(ask("chat").await["code"], "no_purpose");
        assert_eq!(ask("task").await["success"], true);
        assert_eq!(ask("play").await["code"], "invalid_arguments");
    }

    async fn who_does_not_know_the_passkey_learns_nothing_else(world: World) {
        let refused = exit("Invalid agent_id or passkey", "invalid_credentials");
        let ask = async |agent: &str, passkey: &str, project: &str| {
            let arguments = json!({"agent_id": agent, "passkey": passkey, "project_id": project});
            world.content(&Caller::anonymous(), "authenticate", arguments).await
        };
        for (agent, project) in [("ann", "p"), ("nobody", "p"), ("ann", "nowhere"), ("nobody", "nowhere")] {
            assert_eq!(ask(agent, "wrong passkey", project).await, refused, "{agent} {project}");
        }
        let status = |status| AgentChange { status: Some(status), ..AgentChange::default() };
        world.store.team().agents().change("bob", status(AgentStatus::Suspended)).await.unwrap();
        assert_eq!(ask("bob", PASSKEY, "p").await, refused, "who was stopped is nobody");
        assert_eq!(ask("a\0b", PASSKEY, "p").await["success"], false);
    }

    async fn who_knows_it_learns_what_is_wrong(world: World) {
        let ask = async |project: &str| {
            let arguments = json!({"agent_id": "ann", "passkey": PASSKEY, "project_id": project});
            world.content(&Caller::anonymous(), "authenticate", arguments).await
        };
        assert_eq!(ask("nowhere").await, exit("Project not found", "project_not_found"));
        let other = NewProject { id: "q".into(), name: "q".into(), working_directory: None, created_at: 1 };
        world.store.team().projects().add(other).await.unwrap();
        assert_eq!(ask("q").await, exit("Agent not assigned to project", "agent_not_assigned"));
        let used = world.store.team().credentials().get("ann").await.unwrap().unwrap().last_used_at;
        assert_eq!(used, Some(world.now()));
    }

    async fn signing_in_ends_the_mark_of_a_starting_process_but_guessing_does_not(world: World) {
        let assignments = world.store.team().assignments();
        assert_eq!(assignments.start_spawn("ann", "p", world.now()).await, Ok(true));
        world.authenticate("ann", "wrong passkey").await;
        assert!(assignments.get("ann", "p").await.unwrap().unwrap().is_spawning(world.now()));
        world.authenticate("ann", PASSKEY).await;
        assert!(!assignments.get("ann", "p").await.unwrap().unwrap().is_spawning(world.now()));
    }

    async fn of_many_processes_one_gets_the_task(world: World) {
        world.give_task("ann").await;
        let tries: Vec<_> = (0..5)
            .map(|_| {
                let world = world.clone();
                tokio::spawn(async move { world.authenticate("ann", PASSKEY).await["success"].as_bool().unwrap() })
            })
            .collect();
        let mut signed_in = 0;
        for attempt in tries {
            signed_in += usize::from(attempt.await.unwrap());
        }
        assert_eq!(signed_in, 1);
    }

    async fn texts_follow_the_language_and_codes_do_not(world: World) {
        let refused = world.speaking(Lang::Ja).authenticate("ann", "wrong passkey").await;
        assert_eq!(refused["error"], "agent_idまたはpasskeyが正しくありません");
        assert_eq!(refused["code"], "invalid_credentials");
        let missing = world.speaking(Lang::Ja).content(&Caller::anonymous(), "authenticate", json!({})).await;
        assert!(missing["error"].as_str().unwrap().starts_with("引数が正しくありません"), "{missing}");
    }
}
