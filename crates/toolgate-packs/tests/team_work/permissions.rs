use serde_json::{Value, json};
use toolgate_core::{
    Caller, Lang,
    caller::{Agent, AgentKind, Purpose},
};
use toolgate_spine::Outcome;

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
    "notify_task_session",
];

on_both! {
    async fn who_may_not_is_told_so_and_nothing_else(world: World) {
        let coordinator = Caller {
            agent: Some(Agent { id: "c".into(), kind: AgentKind::Coordinator, project: None, purpose: None, session: None }),
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

    async fn words_follow_the_language_and_codes_do_not(world: World) {
        let ann = world.at_task("ann", &world.begun("ann", None).await).await;
        let mut said = Vec::new();
        for lang in [Lang::En, Lang::Ja] {
            for (tool, arguments) in [
                ("get_task", json!({"task_id": "ttask_0"})),
                ("report_completed", json!({"result": "great"})),
                ("report_completed", json!({"result": "success"})),
                ("delegate_to_chat_session", json!({"target_agent_id": "ann", "purpose": "x"})),
            ] {
                let answer = match world.call_in(lang, &ann, tool, arguments).await {
                    Outcome::Answered(bytes) => bytes,
                    Outcome::Refused { answer, .. } => answer.into_bytes(),
                    other => panic!("{other:?}"),
                };
                let answer: Value = serde_json::from_slice(&answer).unwrap();
                said.push(answer["structuredContent"].clone());
            }
        }
        let (english, japanese) = said.split_at(4);
        for (one, other) in english.iter().zip(japanese) {
            assert_eq!(one["code"], other["code"]);
            assert!(one["error"].as_str().unwrap().is_ascii(), "{one}");
            assert!(!other["error"].as_str().unwrap().is_ascii(), "{other}");
        }
    }
}
