//! What the gate is told of each tool.

use toolgate_core::{
    Facts,
    tool::{Effect, Example, Limits, Permission, Scope, WhenDenied},
};

/// For tasks alone, unless the operator opens them to everyone.
pub(super) fn facts(tool: &str, open: bool) -> Facts {
    let (effect, example, description) = match tool {
        "write_result" => (
            Effect::Write,
            r#"{"result":"The parser is slow because it copies. See src/scan.rs:42.","key_files":["src/scan.rs"]}"#,
            "このタスクの結果を書き込みます（以前の結果は置き換えられます）",
        ),
        "load_result" => (Effect::Read, r#"{"task_name":"analyse"}"#, "同じプロセスのタスクの結果を読み込みます"),
        "read_result_summary" => {
            (Effect::Read, r#"{"task_name":"analyse"}"#, "同じプロセスのタスクの結果の要約を読み込みます")
        }
        "write_artifact" => (
            Effect::Write,
            r##"{"title":"Change","content":"# Faster parser","format":"markdown","template_name":"pr_description"}"##,
            "成果物（文書）を作成します",
        ),
        "load_artifact" => (
            Effect::Read,
            r#"{"artifact_id":"art_0f3c9a61b7d24e58a1c06b9e7d3f5a42"}"#,
            "同じプロセスの成果物を読み込みます",
        ),
        "list_artifacts" => (Effect::Read, "{}", "同じプロセスの成果物を一覧表示します"),
        "list_artifact_templates" => (Effect::Read, "{}", "成果物のテンプレートを一覧表示します"),
        "load_artifact_template" => {
            (Effect::Read, r#"{"template_name":"pr_description"}"#, "成果物のテンプレートを読み込みます")
        }
        "write_knowledge" => (
            Effect::Write,
            r#"{"key":"build","content":"Run make all.","reason":"found in the README"}"#,
            "知識の新しい版を書き込みます",
        ),
        "get_knowledge" => (Effect::Read, r#"{"key":"build"}"#, "知識を取得します（既定は最新版）"),
        "view_knowledge_history" => (Effect::Read, r#"{"key":"build"}"#, "知識の版の履歴を表示します"),
        _ => (Effect::Read, r#"{"query":"slow parser","page":1}"#, "知識、結果、成果物を関連度順に検索します"),
    };
    Facts {
        permission: if open { Permission::Unauthenticated } else { Permission::SignedIn },
        scope: if open { Scope::Shared } else { Scope::Task },
        effect,
        when_denied: WhenDenied::Explained,
        help_names: true,
        group: Some("workspace".to_owned()),
        // a summary may take a program's time
        limits: Limits { timeout_ms: (tool == "write_result").then_some(40_000), ..Limits::default() },
        example: Some(Example(example.to_owned())),
        descriptions: [("ja".to_owned(), description.to_owned())].into(),
        ..Facts::default()
    }
}
