use serde_json::json;

use crate::world::World;

on_both! {
    async fn a_task_session_has_its_chat_session_talk_and_sees_what_came_of_it(world: World) {
        let whole = world.begun("boss", None).await;
        let mine = world.begun("ann", Some(&whole)).await;
        let at_task = world.at_task("ann", &mine).await;
        let made = world
            .good(
                &at_task,
                "delegate_to_chat_session",
                json!({"target_agent_id": "bob", "purpose": "colour", "context": "the door"}),
            )
            .await;
        let delegation = made["delegation_id"].clone();
        assert!(world.store.team().waiting("ann", "p").await.unwrap().chat(), "there is something to talk about");
        let (ann, bob) = (world.in_chat("ann").await, world.in_chat("bob").await);
        let asked = world.next(&ann).await;
        assert_eq!(
            (
                &asked["action"],
                &asked["delegation_id"],
                &asked["target_agent_id"],
                &asked["purpose"],
                &asked["context"],
                &asked["task_id"]
            ),
            (
                &json!("start_conversation"),
                &delegation,
                &json!("bob"),
                &json!("colour"),
                &json!("the door"),
                &json!(mine)
            )
        );
        assert_eq!(world.action(&ann).await, "report_delegation_completed", "handed out once, and not forgotten");
        let talk = world
            .good(
                &ann,
                "start_conversation",
                json!({"participant_agent_id": "bob", "initial_message": "Colour?", "max_turns": 4}),
            )
            .await["conversation_id"]
            .clone();
        assert_eq!(world.action(&ann).await, "wait_for_messages");
        world.action(&bob).await;
        world.good(&bob, "send_message", json!({"target_agent_id": "ann", "content": "Red"})).await;
        world.good(&ann, "get_pending_messages", json!({})).await;
        world.good(&ann, "end_conversation", json!({"conversation_id": talk})).await;
        assert_eq!(world.action(&ann).await, "report_delegation_completed");

        assert_eq!(
            world.bad(&bob, "report_delegation_completed", json!({"delegation_id": delegation})).await,
            format!("Delegation not found: {}", delegation.as_str().unwrap()),
            "of others"
        );
        let done = world
            .good(&ann, "report_delegation_completed", json!({"delegation_id": delegation, "result": "red"}))
            .await;
        assert_eq!(done["status"], "completed");
        assert_eq!(
            world
                .bad(&ann, "report_delegation_completed", json!({"delegation_id": delegation, "status": "failed"}))
                .await,
            "Invalid delegation status transition from completed to failed"
        );
        assert_eq!(world.action(&ann).await, "wait_for_messages");

        let talks = world.good(&at_task, "get_task_conversations", json!({})).await;
        assert_eq!(
            (
                &talks["total_count"],
                &talks["conversations"][0]["conversation_id"],
                &talks["conversations"][0]["task_id"]
            ),
            (&json!(1), &talk, &json!(mine))
        );
        let said = world.good(&at_task, "get_conversation_messages", json!({"conversation_id": talk})).await;
        assert_eq!(
            said["messages"]
                .as_array()
                .unwrap()
                .iter()
                .map(|message| message["content"].as_str().unwrap())
                .collect::<Vec<_>>(),
            ["Colour?", "Red"]
        );
        let boss = world.at_task("boss", &whole).await;
        assert_eq!(
            world.good(&boss, "get_task_conversations", json!({})).await["total_count"],
            0,
            "about a part, not about the whole"
        );
        assert_eq!(
            world.bad(&boss, "get_conversation_messages", json!({"conversation_id": talk})).await,
            format!("Conversation not found: {}", talk.as_str().unwrap()),
            "of others"
        );
    }

    async fn who_can_not_be_delegated_to_is_said(world: World) {
        let ann = world.at_task("ann", &world.begun("ann", None).await).await;
        for (who, refused) in [
            ("ann", "Cannot delegate a conversation with yourself"),
            ("nobody", "Agent not found: nobody"),
            ("far", "Target agent 'far' is not assigned to project 'p'"),
        ] {
            assert_eq!(
                world.bad(&ann, "delegate_to_chat_session", json!({"target_agent_id": who, "purpose": "x"})).await,
                refused
            );
        }
        assert!(!world.store.team().waiting("ann", "p").await.unwrap().delegation);
        let bob = world.at_task("bob", &world.add(Some("bob"), None).await).await;
        world.good(&bob, "delegate_to_chat_session", json!({"target_agent_id": "hana", "purpose": "x"})).await;
    }
}
