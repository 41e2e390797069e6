use serde_json::json;

use crate::world::World;

on_both! {
    async fn a_conversation_from_its_first_word_to_the_end_that_both_know(world: World) {
        let (ann, bob) = (world.in_chat("ann").await, world.in_chat("bob").await);
        let begun = world.good(&ann, "start_conversation", json!({"participant_agent_id": "bob", "initial_message": "Which colour?", "max_turns": 99, "purpose": "colour"})).await;
        let talk = begun["conversation_id"].as_str().unwrap().to_owned();
        assert_eq!((&begun["state"], &begun["max_turns"]), (&json!("pending"), &json!(40)));
        let again = world
            .bad(
                &ann,
                "start_conversation",
                json!({"participant_agent_id": "bob", "initial_message": "?", "max_turns": 5}),
            )
            .await;
        assert_eq!(again, format!("An active or pending conversation already exists with agent 'bob': {talk}"));
        assert_eq!(
            world
                .bad(&bob, "send_message", json!({"target_agent_id": "ann", "content": "x", "conversation_id": talk}))
                .await,
            format!("Conversation is not active: {talk} is pending")
        );
        assert_eq!(world.action(&ann).await, "wait_for_messages");

        let request = world.next(&bob).await;
        assert_eq!(
            (&request["action"], &request["conversation_id"], &request["from_agent_id"], &request["purpose"]),
            (&json!("conversation_request"), &json!(talk), &json!("ann"), &json!("colour"))
        );
        assert_eq!(world.action(&bob).await, "get_pending_messages");
        world.good(&bob, "get_pending_messages", json!({})).await;
        assert_eq!(world.good(&bob, "respond_chat", json!({"content": "Red."})).await["receiver_id"], "ann");
        let sent = world.good(&ann, "send_message", json!({"target_agent_id": "bob", "content": "Sure?"})).await;
        assert_eq!(
            (&sent["conversation_id"], &sent["current_turns"], &sent["max_turns"], &sent["conversation_ended"]),
            (&json!(talk), &json!(3), &json!(40), &json!(false))
        );

        let eve = world.in_chat("eve").await;
        for tool in ["end_conversation"] {
            assert_eq!(
                world.bad(&eve, tool, json!({"conversation_id": talk})).await,
                format!("Conversation not found: {talk}"),
                "of others"
            );
        }
        let stolen = json!({"target_agent_id": "bob", "content": "x", "conversation_id": talk});
        assert_eq!(world.bad(&eve, "send_message", stolen).await, format!("Conversation not found: {talk}"));
        world.good(&ann, "get_pending_messages", json!({})).await;
        assert_eq!(
            world.good(&ann, "end_conversation", json!({"conversation_id": talk, "final_message": "Thanks."})).await["state"],
            "terminating"
        );
        assert_eq!(
            world.action(&ann).await,
            "wait_for_messages",
            "who ended it is not told and does not use up the news"
        );
        let ended = world.next(&bob).await;
        assert_eq!(
            (&ended["action"], &ended["conversation_id"], &ended["ended_by"], &ended["state"]),
            (&json!("conversation_ended"), &json!(talk), &json!("ann"), &json!("conversation_ended"))
        );
        assert_eq!(world.action(&bob).await, "get_pending_messages", "once; then the last word");
        let over = format!("Conversation is not active: {talk} is ended");
        assert_eq!(world.bad(&ann, "end_conversation", json!({"conversation_id": talk})).await, over);
        assert_eq!(
            world
                .bad(&ann, "send_message", json!({"target_agent_id": "bob", "content": "x", "conversation_id": talk}))
                .await,
            over
        );
    }

    async fn turns_run_out_with_a_warning_and_a_reminder_before(world: World) {
        let (ann, bob) = (world.in_chat("ann").await, world.in_chat("bob").await);
        world
            .good(
                &ann,
                "start_conversation",
                json!({"participant_agent_id": "bob", "initial_message": "1", "max_turns": 7}),
            )
            .await;
        world.action(&bob).await;
        let mut said = Vec::new();
        for turn in 2..=7 {
            let (who, to) = if turn % 2 == 0 { (&bob, "ann") } else { (&ann, "bob") };
            said.push(world.good(who, "send_message", json!({"target_agent_id": to, "content": "x"})).await);
        }
        let has = |key: &str| said.iter().map(|sent| sent.get(key).is_some()).collect::<Vec<_>>();
        assert_eq!(has("reminder"), [false, false, false, true, false, false], "every five");
        assert_eq!(has("warning"), [false, false, false, true, true, true], "two left, one left, none");
        assert_eq!(said[5]["conversation_ended"], true);
        assert_eq!(world.action(&ann).await, "get_pending_messages", "who said the last word knows");
        assert_eq!(world.action(&bob).await, "conversation_ended");
    }

    async fn what_nobody_takes_up_expires_and_both_are_told(world: World) {
        let (ann, bob) = (world.in_chat("ann").await, world.in_chat("bob").await);
        world
            .good(
                &ann,
                "start_conversation",
                json!({"participant_agent_id": "bob", "initial_message": "hi", "max_turns": 5}),
            )
            .await;
        world.later(5);
        for who in [&ann, &bob] {
            let told = world.next(who).await;
            assert_eq!(
                (&told["action"], &told["state"]),
                (&json!("conversation_ended"), &json!("conversation_expired"))
            );
        }
        world
            .good(
                &bob,
                "start_conversation",
                json!({"participant_agent_id": "ann", "initial_message": "sorry", "max_turns": 5}),
            )
            .await;
    }

    async fn who_can_not_be_talked_to_is_said(world: World) {
        let ann = world.in_chat("ann").await;
        let start = async |who: &str| {
            world
                .bad(
                    &ann,
                    "start_conversation",
                    json!({"participant_agent_id": who, "initial_message": "hi", "max_turns": 5}),
                )
                .await
        };
        assert_eq!(start("ann").await, "Cannot start a conversation with yourself");
        assert_eq!(start("nobody").await, "Agent not found: nobody");
        assert_eq!(start("far").await, "Target agent 'far' is not assigned to project 'p'");
        assert_eq!(start("hana").await, "Agent 'hana' is a person, who needs no conversation. Call send_message");
        let long = json!({"participant_agent_id": "bob", "initial_message": "x".repeat(4001), "max_turns": 5});
        assert_eq!(world.bad(&ann, "start_conversation", long).await, "Content too long: 4001 characters (max 4000)");
        assert_eq!(
            world.bad(&ann, "end_conversation", json!({"conversation_id": "conv_0"})).await,
            "Conversation not found: conv_0"
        );
    }
}
