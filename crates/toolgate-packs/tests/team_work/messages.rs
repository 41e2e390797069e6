use serde_json::{Value, json};
use toolgate_store::team::NewMessage;

use crate::world::World;

async fn says(world: &World, from: &str, to: &str, content: &str) {
    let new = NewMessage { to: Some(to.into()), content: content.into(), task: None, conversation: None };
    world.store.team().conversations("p", from).send(&new, world.now()).await.unwrap();
}

fn contents(messages: &Value) -> Vec<&str> {
    messages.as_array().unwrap().iter().map(|message| message["content"].as_str().unwrap()).collect()
}

on_both! {
    async fn messages_are_read_ten_at_a_time_with_what_was_said_before(world: World) {
        let ann = world.in_chat("ann").await;
        let empty = world.good(&ann, "get_pending_messages", json!({})).await;
        assert_eq!(
            (&empty["pending_messages"], &empty["total_history_count"], &empty["context_truncated"]),
            (&json!([]), &json!(0), &json!(false))
        );
        for n in 0..12 {
            says(&world, "hana", "ann", &format!("m{n}")).await;
        }
        assert_eq!(world.action(&ann).await, "get_pending_messages");
        let first = world.good(&ann, "get_pending_messages", json!({})).await;
        assert_eq!(contents(&first["pending_messages"]), (0..10).map(|n| format!("m{n}")).collect::<Vec<_>>());
        assert_eq!((&first["total_history_count"], contents(&first["context_messages"]).len()), (&json!(12), 0));
        assert_eq!(world.action(&ann).await, "get_pending_messages", "there is more");
        let second = world.good(&ann, "get_pending_messages", json!({})).await;
        assert_eq!(contents(&second["pending_messages"]), ["m10", "m11"]);
        assert_eq!(contents(&second["context_messages"]).len(), 10);
        let message = &second["pending_messages"][0];
        assert_eq!((&message["sender_id"], &message["receiver_id"]), (&json!("hana"), &json!("ann")));
        assert_eq!(world.action(&ann).await, "wait_for_messages");
        for n in 0..15 {
            says(&world, "ann", "hana", &format!("a{n}")).await;
        }
        let third = world.good(&ann, "get_pending_messages", json!({})).await;
        assert_eq!((contents(&third["context_messages"]).len(), &third["context_truncated"]), (20, &json!(true)));
        let bob = world.in_chat("bob").await;
        assert_eq!(
            world.good(&bob, "get_pending_messages", json!({})).await["total_history_count"],
            0,
            "another's desk"
        );
    }

    async fn an_answer_goes_to_the_sender_of_the_newest_message_read_or_not(world: World) {
        let ann = world.in_chat("ann").await;
        let alone = world.good(&ann, "respond_chat", json!({"content": "hello?"})).await;
        assert_eq!(alone["receiver_id"], Value::Null, "nobody wrote: it is only on record");
        says(&world, "hana", "ann", "first").await;
        assert_eq!(world.good(&ann, "respond_chat", json!({"content": "unread"})).await["receiver_id"], "hana");
        assert_eq!(
            world.good(&ann, "respond_chat", json!({"content": "again"})).await["receiver_id"],
            "hana",
            "it is still unread"
        );
        world.good(&ann, "get_pending_messages", json!({})).await;
        assert_eq!(
            world.good(&ann, "respond_chat", json!({"content": "more"})).await["receiver_id"],
            Value::Null,
            "answered and read"
        );
        says(&world, "hana", "ann", "second").await;
        world.good(&ann, "get_pending_messages", json!({})).await;
        assert_eq!(
            world.good(&ann, "respond_chat", json!({"content": "now"})).await["receiver_id"],
            "hana",
            "read and not answered"
        );
        let hana = world.in_chat("hana").await;
        let got = world.good(&hana, "get_pending_messages", json!({})).await;
        assert_eq!(contents(&got["pending_messages"]), ["unread", "again", "now"]);
    }

    async fn what_can_not_be_sent_is_refused_in_its_own_words(world: World) {
        let ann = world.in_chat("ann").await;
        let send = async |to: &str, content: &str| {
            world.bad(&ann, "send_message", json!({"target_agent_id": to, "content": content})).await
        };
        assert_eq!(send("hana", &"é".repeat(4001)).await, "Content too long: 4001 characters (max 4000)");
        assert_eq!(send("ann", "me").await, "Cannot send message to yourself");
        assert_eq!(send("nobody", "hi").await, "Agent not found: nobody");
        assert_eq!(send("far", "hi").await, "Target agent 'far' is not assigned to project 'p'");
        assert_eq!(
            send("bob", "hi").await,
            "There is no active conversation with agent 'bob'. Call start_conversation first"
        );
        let related = json!({"target_agent_id": "hana", "content": "hi", "related_task_id": "ttask_0"});
        assert_eq!(world.bad(&ann, "send_message", related).await, "Task not found: ttask_0");
        let within = json!({"target_agent_id": "hana", "content": "hi", "conversation_id": "conv_0"});
        assert_eq!(world.bad(&ann, "send_message", within).await, "Conversation not found: conv_0");
        assert_eq!(
            world.bad(&ann, "respond_chat", json!({"content": "x".repeat(4001)})).await,
            "Content too long: 4001 characters (max 4000)"
        );
        let sent =
            world.good(&ann, "send_message", json!({"target_agent_id": "hana", "content": "é".repeat(4000)})).await;
        assert!(sent.get("conversation_id").is_none(), "a person needs none");
        assert_eq!(
            world.store.team().desk("p", "hana").state().await.unwrap().received,
            1,
            "what was refused reached nobody"
        );
    }
}
