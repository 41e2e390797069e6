//! What the gate is told of each tool: for orchestrators alone, and not even named to others.

use toolgate_core::{
    Facts,
    tool::{Effect, Example, Limits, Scope, WhenDenied},
};

pub(super) fn facts(tool: &str) -> Facts {
    let (effect, example, description) = match tool {
        "get_process_state" => (Effect::Read, "{}", "プロセスの進み具合と決定を表示します"),
        "set_process_decision" => (
            Effect::Write,
            r#"{"decision":"proceed","reasoning":"the analysis is complete"}"#,
            "プロセスの進め方を決定します（続行、ステップの追加、中止）",
        ),
        "get_git_diff" => (Effect::Read, r#"{"since_commit":"main"}"#, "作業ツリーの変更内容を表示します"),
        "get_commit_log" => (Effect::Read, "{}", "作業ツリーのコミットを一覧表示します"),
        _ => (
            Effect::Write,
            r#"{"steps":[{"task_name":"research","prompt":"Compare the two parsers."}]}"#,
            "現在のステップの前にステップを追加します",
        ),
    };
    // the pack's own limits of a worktree come first
    let reads_git = matches!(tool, "get_git_diff" | "get_commit_log");
    Facts {
        scope: Scope::Orchestrator,
        effect,
        when_denied: WhenDenied::Explained,
        help_names: false,
        group: Some("process".to_owned()),
        limits: Limits {
            timeout_ms: reads_git.then_some(40_000),
            concurrency: reads_git.then_some(16),
            ..Limits::default()
        },
        example: Some(Example(example.to_owned())),
        descriptions: [("ja".to_owned(), description.to_owned())].into(),
        ..Facts::default()
    }
}
