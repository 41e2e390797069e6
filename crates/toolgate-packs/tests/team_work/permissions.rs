use toolgate_core::{
    Caller,
    caller::{Agent, AgentKind, Purpose},
};

use crate::world::{World, caller};

const EVERYONE: &[&str] = &[
    "get_my_task",
    "get_next_action",
    "get_my_task_progress",
    "get_task",
    "list_team_tasks",
    "get_notifications",
    "report_completed",
    "request_task",
];
const MANAGERS: &[&str] = &["assign_task", "select_action", "approve_task_request", "reject_task_request"];
const TASKS: &[&str] = &[
    "create_task",
    "create_tasks_batch",
    "split_task",
    "update_task_status",
    "delegate_to_chat_session",
    "get_task_conversations",
    "get_conversation_messages",
];
const CHATS: &[&str] = &[
    "get_pending_messages",
    "respond_chat",
    "send_message",
    "start_conversation",
    "end_conversation",
    "report_delegation_completed",
];

on_both! {
    async fn who_may_not_is_told_so_and_nothing_else(world: World) {
        let coordinator = Caller {
            agent: Some(Agent { id: "c".into(), kind: AgentKind::Coordinator, project: None, purpose: None }),
            ..Caller::default()
        };
        for tool in EVERYONE.iter().chain(TASKS).chain(CHATS) {
            for who in [&Caller::anonymous(), &coordinator] {
                assert!(
                    world.denied(who, tool).await.starts_with(&format!("Tool '{tool}' requires authentication.")),
                    "{tool}"
                );
            }
        }
        for tool in MANAGERS {
            for who in [&coordinator, &caller("ann", Purpose::Task), &caller("ann", Purpose::Chat)] {
                assert_eq!(world.denied(who, tool).await, format!("Tool '{tool}' requires Manager privilege"));
            }
        }
        for agent in ["ann", "boss"] {
            for tool in CHATS {
                assert_eq!(
                    world.denied(&caller(agent, Purpose::Task), tool).await,
                    format!("Tool '{tool}' requires a chat session. Current session purpose is 'task'.")
                );
            }
            for tool in TASKS {
                assert_eq!(
                    world.denied(&caller(agent, Purpose::Chat), tool).await,
                    format!("Tool '{tool}' requires a task session. Current session purpose is 'chat'.")
                );
            }
        }
    }

    async fn every_tool_is_in_one_of_the_rows(world: World) {
        let rows: Vec<&&str> = EVERYONE.iter().chain(MANAGERS).chain(TASKS).chain(CHATS).collect();
        let json = include_str!("../../src/team/work.json");
        let tools: Vec<serde_json::Value> = serde_json::from_str(json).unwrap();
        for tool in &tools {
            assert!(rows.iter().any(|row| ***row == *tool["name"].as_str().unwrap()), "{}", tool["name"]);
        }
        assert_eq!(rows.len(), tools.len());
        drop(world);
    }
}
