use serde_json::json;
use toolgate_core::{Caller, caller::UserId};
use toolgate_packs::workspace::WorkspaceConfig;
use toolgate_store::TaskSetting;

use crate::world::World;

const SHARED: [&str; 12] = [
    "get_knowledge",
    "list_artifact_templates",
    "list_artifacts",
    "load_artifact",
    "load_artifact_template",
    "load_result",
    "read_result_summary",
    "search_knowledge",
    "view_knowledge_history",
    "write_artifact",
    "write_knowledge",
    "write_result",
];

on_both! {
    async fn the_twelve_are_for_tasks(world: World) {
        let task = world.task(Some("p"), None, TaskSetting::default()).await;
        let mut listed = world.listed(&task);
        listed.sort();
        assert_eq!(listed, SHARED);
        let user = Caller { user: Some(UserId::own("ann").unwrap()), ..Caller::default() };
        assert_eq!([world.listed(&user), world.listed(&Caller::anonymous())], [vec![""; 0], vec![]]);
        for tool in SHARED {
            assert_eq!(world.denied(&user, tool).await, ("task_required".into(), "Missing X-Toolgate-Task-ID header.".into()), "{tool}");
            assert_eq!(world.denied(&Caller::anonymous(), tool).await.0, "authentication_required", "{tool}");
        }
    }

    async fn opened_they_are_for_everyone_and_what_belongs_to_a_task_still_needs_one(world: World) {
        let open = world.with(&WorkspaceConfig { open: true, ..WorkspaceConfig::default() });
        let task = world.task(Some("p"), Some("a"), TaskSetting::default()).await;
        open.good(&task, "write_result", json!({"result": "of p"})).await;
        let written = open.good(&task, "write_artifact", json!({"title": "t", "content": "c", "format": "text"})).await;
        let stranger = Caller::anonymous();
        let mut listed = open.listed(&stranger);
        listed.sort();
        assert_eq!(listed, SHARED);
        for (tool, arguments) in [
            ("write_result", json!({"result": "x"})),
            ("write_artifact", json!({"title": "t", "content": "c", "format": "text"})),
        ] {
            assert_eq!(open.bad(&stranger, tool, arguments).await, ("Missing X-Toolgate-Task-ID header.".into(), "task_required".into()));
        }
        assert_eq!(open.error(&stranger, "load_result", json!({"task_name": "a"})).await, "No result found for task 'a' in the current process.");
        assert_eq!(open.good(&stranger, "list_artifacts", json!({})).await, json!({"artifacts": []}));
        open.bad(&stranger, "load_artifact", json!({"artifact_id": written["artifact_id"]})).await;
        assert_eq!(open.good(&stranger, "write_knowledge", json!({"key": "k", "content": "c", "reason": "r"})).await["version"], 1);
        assert_eq!(open.good(&stranger, "search_knowledge", json!({"query": "c"})).await["page"], 1);
        for tool in ["get_process_state", "set_process_decision", "get_git_diff", "get_commit_log", "inject_steps"] {
            let user = Caller { user: Some(UserId::own("ann").unwrap()), ..Caller::default() };
            for caller in [&task, &stranger, &user] {
                assert_eq!(open.denied(caller, tool).await, ("orchestrator_required".into(), format!("Tool '{tool}' is not available for this task type.")));
            }
        }
    }
}
