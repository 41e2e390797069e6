//! Who may use what: every tool of the team against every kind of caller, as the contract's table has it, worked out here
//! by hand. A list shows exactly what a call would pass.

use toolgate_core::{
    Caller, Lang,
    caller::{AgentKind, Purpose, UserId},
};
use toolgate_packs::team::{TeamConfig, offered};
use toolgate_spine::Outcome;

use crate::world::{World, agent, coordinator};

const TABLE: &[(&str, &[&str])] = &[
    ("unauthenticated", &["authenticate", "help"]),
    (
        "coordinator_only",
        &[
            "health_check",
            "list_managed_agents",
            "list_active_projects_with_agents",
            "get_agent_action",
            "report_process_exit",
            "report_agent_error",
        ],
    ),
    (
        "manager_only",
        &[
            "assign_task",
            "list_subordinates",
            "get_subordinate_profile",
            "select_action",
            "approve_task_request",
            "reject_task_request",
        ],
    ),
    (
        "authenticated",
        &[
            "logout",
            "get_session_guide",
            "get_my_profile",
            "report_model",
            "get_my_task",
            "get_next_action",
            "report_completed",
            "get_my_task_progress",
            "get_notifications",
            "request_task",
            "get_project",
            "get_task",
            "list_team_tasks",
        ],
    ),
    (
        "chat_only",
        &[
            "get_pending_messages",
            "respond_chat",
            "send_message",
            "start_conversation",
            "end_conversation",
            "report_delegation_completed",
            "start_task_from_chat",
            "update_task_from_chat",
            "notify_task_session",
        ],
    ),
    (
        "task_only",
        &[
            "delegate_to_chat_session",
            "create_task",
            "create_tasks_batch",
            "split_task",
            "update_task_status",
            "get_task_conversations",
            "get_conversation_messages",
        ],
    ),
];

fn callers() -> Vec<(&'static str, Caller)> {
    use {
        AgentKind::{Manager, Worker},
        Purpose::{Chat, Task},
    };
    vec![
        ("stranger", Caller::anonymous()),
        ("coordinator", coordinator()),
        ("manager task", agent("boss", Manager, Some(Task))),
        ("manager chat", agent("boss", Manager, Some(Chat))),
        ("worker task", agent("ann", Worker, Some(Task))),
        ("worker chat", agent("ann", Worker, Some(Chat))),
        ("user", Caller { user: Some(UserId::own("ulf").unwrap()), ..Caller::default() }),
    ]
}

/// What a caller is told who may not.
fn denial(permission: &str, tool: &str, who: &str) -> Option<String> {
    let (kind, purpose) = who.split_once(' ').unwrap_or((who, ""));
    let in_session = matches!(kind, "manager" | "worker");
    let sign_in = || format!("Tool '{tool}' requires authentication. Call authenticate first.");
    let privilege = |name: &str| format!("Tool '{tool}' requires {name} privilege");
    let session =
        |wanted: &str| format!("Tool '{tool}' requires a {wanted} session. Current session purpose is '{purpose}'.");
    match (permission, kind) {
        ("unauthenticated", _) => None,
        (permission, "stranger") if permission != "coordinator_only" => Some(sign_in()),
        ("coordinator_only", kind) => (kind != "coordinator").then(|| privilege("Coordinator")),
        ("manager_only", kind) => (kind != "manager").then(|| privilege("Manager")),
        (_, _) if !in_session => Some(sign_in()),
        ("chat_only", _) => (purpose != "chat").then(|| session("chat")),
        ("task_only", _) => (purpose != "task").then(|| session("task")),
        _ => None,
    }
}

fn permission_of(tool: &str) -> &'static str {
    let row = TABLE.iter().find(|(_, tools)| tools.contains(&tool));
    row.unwrap_or_else(|| panic!("'{tool}' is in no row of the table: who may use it?")).0
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn list_and_call_agree_with_the_table_for_every_tool_and_caller() {
    World::on_sqlite(|world| async move {
        let tools: Vec<String> = world.spine.gate().catalog().tools().map(|tool| tool.name.to_string()).collect();
        for (who, caller) in callers() {
            let gate = world.spine.gate();
            let view = gate.view(&caller).unwrap();
            let overview = serde_json::to_value(gate.help(&view, &caller, Lang::En)).unwrap();
            let listing = gate.listing(&caller).unwrap();
            for tool in &tools {
                let expected = denial(permission_of(tool), tool, who);
                // a dry run is decided like a call and runs nothing
                let denied = match world.dry_run(&caller, tool).await {
                    Outcome::Denied { denial, .. } => Some(denial.message),
                    Outcome::Unknown => panic!("{who} {tool}: hidden"),
                    _ => None,
                };
                assert_eq!(denied, expected, "{who} {tool}");
                assert_eq!(listing.definition(tool).is_some(), expected.is_none(), "{who} {tool}: list");
                let helps = overview["available_tools"].as_array().unwrap().iter().any(|line| line["name"] == **tool);
                assert_eq!(helps, expected.is_none(), "{who} {tool}: help");
            }
        }
    })
    .await;
}

#[test]
fn every_tool_has_its_row_its_schema_its_example_and_its_japanese() {
    for offer in offered(TeamConfig::default()).unwrap() {
        let name = &offer.name;
        assert_eq!(offer.facts.permission.as_str(), permission_of(name), "{name}");
        let definition: serde_json::Value = serde_json::from_str(offer.definition.get()).unwrap();
        for part in ["description", "inputSchema", "outputSchema", "annotations"] {
            assert!(!definition[part].is_null(), "{name} has no {part}");
        }
        let declared = &definition["inputSchema"]["properties"];
        let place = match permission_of(name) {
            "unauthenticated" => None,
            "coordinator_only" => Some("coordinator_token"),
            _ => Some("session_token"),
        };
        assert!(place.is_none_or(|place| declared[place].is_object()), "{name} declares where its credential goes");
        let example: serde_json::Value = serde_json::from_str(&offer.facts.example.unwrap().0).unwrap();
        let schema = jsonschema::validator_for(&definition["inputSchema"]).unwrap();
        assert!(schema.is_valid(&example), "{name}: {example}");
        assert!(offer.facts.descriptions.get("ja").is_some_and(|text| !text.is_empty()), "{name}");
    }
}

#[test]
fn advertised_tools_are_shown_to_strangers_and_otherwise_not() {
    let shown = |advertise| offered(TeamConfig { advertise }).unwrap().iter().all(|offer| offer.facts.advertised);
    assert!(shown(true) && !shown(false));
}
