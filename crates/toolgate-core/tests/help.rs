//! `help` as people and agents read it: for each kind of caller, in both languages, over the tools of the agent seed.
//!
//! Snapshots are in `snapshots/`; `INSTA_UPDATE=no` makes a changed text a failure.

use std::{collections::BTreeMap, sync::Arc};

use serde_json::{Value, json};
use toolgate_core::{
    Caller, Facts, Gate, Lang, Tool,
    caller::{AgentKind, Purpose},
    tool::{Example, Permission},
};

use crate::fixtures::{agent, defined, explained, gate, task, user};

/// Name, permission, description and its Japanese, properties, required.
type Row = (&'static str, Permission, &'static str, &'static str, &'static str, &'static str);

const SESSION: &str = r#""session_token":{"type":"string","description":"認証セッショントークン"}"#;
const RESULT: &str = r#","result":{"type":"string","enum":["success","failed","blocked"],
    "description":"完了結果: success=成功, failed=失敗, blocked=外部要因でブロック"},
    "summary":{"type":"string","description":"完了サマリー（任意）"}"#;

const TOOLS: &[Row] = &[
    (
        "help",
        Permission::Unauthenticated,
        "Lists the tools you can use.",
        "利用可能なMCPツールの一覧と詳細を表示します。",
        r#""tool_name":{"type":"string"}"#,
        "",
    ),
    ("authenticate", Permission::Unauthenticated, "Opens a session.", "認証してセッションを開きます", "", ""),
    ("health_check", Permission::CoordinatorOnly, "Says how the server is.", "サーバーの状態を確認します", "", ""),
    ("list_managed_agents", Permission::CoordinatorOnly, "Lists agents.", "管理対象エージェントの一覧", "", ""),
    (
        "get_agent_action",
        Permission::CoordinatorOnly,
        "Says what an agent should do.",
        "エージェントの次の動作",
        "",
        "",
    ),
    ("assign_task", Permission::ManagerOnly, "Assigns a task.", "タスクを割り当てます", "", ""),
    ("start_work", Permission::WorkerOnly, "Starts the work.", "作業を開始します", "", ""),
    ("get_my_task", Permission::Authenticated, "Your task.", "自分に割り当てられた実行中のタスクを取得します", "", ""),
    ("get_next_action", Permission::Authenticated, "What next.", "次に実行すべきアクションの指示を取得します", "", ""),
    (
        "report_completed",
        Permission::Authenticated,
        "Reports a task as done.",
        "タスクの完了を報告します。result引数で完了状態を指定します。",
        RESULT,
        r#""result""#,
    ),
    ("get_pending_messages", Permission::ChatOnly, "Unread messages.", "未読メッセージを取得します", "", ""),
    ("respond_chat", Permission::ChatOnly, "Answers a chat message.", "チャットメッセージに応答します", "", ""),
    ("start_conversation", Permission::ChatOnly, "Starts a conversation.", "会話を開始します", "", ""),
    ("end_conversation", Permission::ChatOnly, "Ends a conversation.", "会話を終了します", "", ""),
    ("send_message", Permission::ChatOnly, "Sends a message.", "メッセージを送信します", "", ""),
    (
        "delegate_to_chat_session",
        Permission::TaskOnly,
        "Delegates to a chat.",
        "チャットセッションに委譲します",
        "",
        "",
    ),
];

fn team() -> Arc<Gate> {
    gate(TOOLS.iter().map(tool_of).collect())
}

fn tool_of((name, permission, english, japanese, properties, required): &Row) -> Tool {
    let session = if *permission == Permission::Unauthenticated { "" } else { SESSION };
    let definition = format!(
        r#"{{"name":"{name}","description":"{english}","inputSchema":{{"type":"object",
            "properties":{{{session}{properties}}},"required":[{required}]}}}}"#
    );
    let example = (*name == "report_completed").then(|| {
        Example(
            r#"{"session_token":"sess_xxx","result":"success","summary":"全てのサブタスクを完了しました"}"#.to_owned(),
        )
    });
    let descriptions = BTreeMap::from([("ja".to_owned(), (*japanese).to_owned())]);
    defined(name, &definition, Facts { example, descriptions, ..explained(*permission) })
}

fn callers() -> Vec<(&'static str, Caller)> {
    vec![
        ("unauthenticated", Caller::anonymous()),
        ("coordinator", agent(AgentKind::Coordinator, None)),
        ("manager_task", agent(AgentKind::Manager, Some(Purpose::Task))),
        ("manager_chat", agent(AgentKind::Manager, Some(Purpose::Chat))),
        ("worker_task", agent(AgentKind::Worker, Some(Purpose::Task))),
        ("worker_chat", agent(AgentKind::Worker, Some(Purpose::Chat))),
        ("user", user("ann")),
        ("task", Caller { task: Some(task(true)), ..Caller::default() }),
    ]
}

/// Overview, then details of an available tool, of unavailable ones, and of one that does not exist.
fn everything(gate: &Arc<Gate>, caller: &Caller, lang: Lang) -> Value {
    let view = gate.view(caller).unwrap();
    let on = |name: &str| serde_json::to_value(gate.help_on(&view, caller, name, lang)).unwrap();
    let details =
        ["help", "report_completed", "respond_chat", "delegate_to_chat_session", "assign_task", "health_check"];
    json!({
        "overview": serde_json::to_value(gate.help(&view, caller, lang)).unwrap(),
        "details": details.map(on),
        "unknown": on("no_such_tool"),
    })
}

#[test]
fn what_each_kind_of_caller_reads() {
    let gate = team();
    for (name, caller) in callers() {
        for lang in [Lang::En, Lang::Ja] {
            insta::assert_json_snapshot!(format!("{name}_{}", lang.as_str()), everything(&gate, &caller, lang));
        }
    }
}

fn overview(gate: &Arc<Gate>, caller: &Caller, lang: Lang) -> Value {
    serde_json::to_value(gate.help(&gate.view(caller).unwrap(), caller, lang)).unwrap()
}

fn available(gate: &Arc<Gate>, caller: &Caller) -> Vec<String> {
    let overview = overview(gate, caller, Lang::En);
    let names = overview["available_tools"].as_array().unwrap().iter();
    names.map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn each_kind_of_caller_has_the_tools_of_the_seeds_table() {
    let gate = team();
    let of = |permissions: &[Permission]| {
        let mut names: Vec<_> =
            TOOLS.iter().filter(|row| permissions.contains(&row.1)).map(|row| row.0.to_owned()).collect();
        names.sort();
        names
    };
    let open = Permission::Unauthenticated;
    let table: [(&str, Vec<Permission>); 8] = [
        ("unauthenticated", vec![open]),
        ("coordinator", vec![open, Permission::CoordinatorOnly]),
        ("manager_task", vec![open, Permission::ManagerOnly, Permission::Authenticated, Permission::TaskOnly]),
        ("manager_chat", vec![open, Permission::ManagerOnly, Permission::Authenticated, Permission::ChatOnly]),
        ("worker_task", vec![open, Permission::WorkerOnly, Permission::Authenticated, Permission::TaskOnly]),
        ("worker_chat", vec![open, Permission::WorkerOnly, Permission::Authenticated, Permission::ChatOnly]),
        ("user", vec![open]),
        ("task", vec![open]),
    ];
    for ((name, caller), (row, permissions)) in callers().iter().zip(table) {
        assert_eq!(*name, row);
        assert_eq!(available(&gate, caller), of(&permissions), "{name}");
    }
    assert_eq!(available(&gate, &Caller::anonymous()), ["authenticate", "help"]);
}

#[test]
fn the_overview_has_the_seeds_shape() {
    let gate = team();
    let overview = overview(&gate, &agent(AgentKind::Worker, Some(Purpose::Task)), Lang::Ja);
    let keys = |value: &Value| value.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    assert_eq!(keys(&overview), ["context", "available_tools", "unavailable_info", "total_available"]);
    assert_eq!(
        serde_json::to_string(&overview["context"]).unwrap(),
        r#"{"caller_type":"worker","session_purpose":"task","agent_id":"agent-001","project_id":"proj-001"}"#
    );
    assert_eq!(
        serde_json::to_string(
            overview["available_tools"].as_array().unwrap().iter().find(|tool| tool["name"] == "get_my_task").unwrap()
        )
        .unwrap(),
        r#"{"name":"get_my_task","description":"自分に割り当てられた実行中のタスクを取得します","category":"authenticated"}"#
    );
    assert_eq!(overview["total_available"], overview["available_tools"].as_array().unwrap().len());
    let info = &overview["unavailable_info"];
    assert_eq!(keys(info), ["chat_tools", "coordinator_tools", "manager_tools"]);
    assert_eq!(
        info["chat_tools"],
        "チャットツール（end_conversation, get_pending_messages, respond_chat, send_message, start_conversation）はpurpose=chatのセッションでのみ利用可能です"
    );
    assert_eq!(info["manager_tools"], "Manager専用ツール（assign_task）はManager権限が必要です");
}

#[test]
fn an_available_tools_detail_is_the_seeds_byte_for_byte_but_for_its_category() {
    let gate = team();
    let worker = agent(AgentKind::Worker, Some(Purpose::Task));
    let detail = gate.help_on(&gate.view(&worker).unwrap(), &worker, "report_completed", Lang::Ja);
    // the seed's example, with the permission's name as category and session_token optional, as decided
    let seed = json!({
        "name": "report_completed",
        "description": "タスクの完了を報告します。result引数で完了状態を指定します。",
        "category": "authenticated",
        "available": true,
        "parameters": [
            {"name": "session_token", "type": "string", "required": false, "description": "認証セッショントークン"},
            {"name": "result", "type": "string", "required": true, "enum": ["success", "failed", "blocked"],
             "description": "完了結果: success=成功, failed=失敗, blocked=外部要因でブロック"},
            {"name": "summary", "type": "string", "required": false, "description": "完了サマリー（任意）"}
        ],
        "example": {"session_token": "sess_xxx", "result": "success", "summary": "全てのサブタスクを完了しました"}
    });
    assert_eq!(serde_json::to_string(&detail).unwrap(), seed.to_string());
}

#[test]
fn an_unavailable_tools_detail_is_the_seeds_byte_for_byte() {
    let gate = team();
    let worker = agent(AgentKind::Worker, Some(Purpose::Task));
    let detail = gate.help_on(&gate.view(&worker).unwrap(), &worker, "respond_chat", Lang::Ja);
    let seed = json!({
        "name": "respond_chat",
        "description": "チャットメッセージに応答します",
        "category": "chat_only",
        "available": false,
        "reason": "このツールはpurpose=chatのセッションでのみ利用可能です。現在のセッションはpurpose=taskです。"
    });
    assert_eq!(serde_json::to_string(&detail).unwrap(), seed.to_string());
}

#[test]
fn a_tool_help_may_not_name_is_absent_from_the_overview_too() {
    let quiet = Facts { help_names: false, ..explained(Permission::ChatOnly) };
    let gate = gate(vec![defined("whisper", r#"{"name":"whisper","inputSchema":{}}"#, quiet)]);
    let worker = agent(AgentKind::Worker, Some(Purpose::Task));
    let text = overview(&gate, &worker, Lang::En).to_string();
    assert!(!text.contains("whisper") && !text.contains("chat_tools"), "{text}");
    assert_eq!(gate.help_on(&gate.view(&worker).unwrap(), &worker, "whisper", Lang::En).available(), None);
}

#[test]
fn a_description_without_a_translation_is_the_definitions_own() {
    let gate = gate(vec![defined(
        "x",
        r#"{"name":"x","description":"Plain.","inputSchema":{}}"#,
        explained(Permission::Unauthenticated),
    )]);
    let overview = overview(&gate, &Caller::anonymous(), Lang::Ja);
    assert_eq!(overview["available_tools"][0]["description"], "Plain.");
}
