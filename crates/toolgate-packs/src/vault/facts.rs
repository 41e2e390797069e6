//! What the gate is told of each tool.

use toolgate_core::{
    Facts,
    caller::Runtime,
    tool::{Approval, Effect, Example, Limits, WhenDenied},
};

pub(super) fn facts(tool: &str) -> Facts {
    let (effect, example, description) = match tool {
        "vault.list" => (Effect::Read, r#"{"limit":20}"#, "フォルダー内の文書とフォルダーを一覧表示します"),
        "vault.search" => {
            (Effect::Read, r#"{"query":"invoice","kinds":["pdf"]}"#, "名前、パス、本文から文書を検索します")
        }
        "vault.get" => (
            Effect::Read,
            r#"{"id":"doc_0f3c9a61b7d24e58a1c06b9e7d3f5a42","includeContent":true}"#,
            "文書またはフォルダーの情報と、必要に応じて本文を取得します",
        ),
        "vault.suggest_name" => (
            Effect::Read,
            r#"{"originalName":"scan_0001.pdf","context":{"hints":["Acme invoice","2026-03-14"]}}"#,
            "内容とヒントから文書の名前を提案します（変更は行いません）",
        ),
        "vault.move" => (
            Effect::Write,
            r#"{"id":"doc_0f3c9a61b7d24e58a1c06b9e7d3f5a42","toFolderId":"root","dryRun":true}"#,
            "文書またはフォルダーを別のフォルダーへ移動します",
        ),
        "vault.rename" => (
            Effect::Write,
            r#"{"id":"doc_0f3c9a61b7d24e58a1c06b9e7d3f5a42","newName":"2026-03-14 Acme Invoice.pdf"}"#,
            "文書またはフォルダーの名前を変更します",
        ),
        "vault.copy" => (
            Effect::Write,
            r#"{"id":"doc_0f3c9a61b7d24e58a1c06b9e7d3f5a42","newName":"Copy of contract.docx"}"#,
            "文書を複製します",
        ),
        "rag.retrieve" => {
            (Effect::Read, r#"{"query":"notice period","topK":5}"#, "質問に関連する文書の抜粋を関連度順に取得します")
        }
        "db.query" => (
            Effect::Read,
            r#"{"sql":"SELECT id, total FROM orders WHERE customer = $1","params":["acme"]}"#,
            "設定されたデータベースに読み取り専用の問い合わせを行います",
        ),
        "events.log" => (
            Effect::Log,
            r#"{"name":"rename.proposed","payload":{"documents":3}}"#,
            "イベントをログに追記します（認証情報は伏せられます）",
        ),
        _ => (
            Effect::Read,
            r#"{"tool":"vault.move","input":{"id":"doc_0f3c9a61b7d24e58a1c06b9e7d3f5a42","toFolderId":"root"}}"#,
            "ツールを実行せずに、その呼び出しが許可されるかを調べます",
        ),
    };
    let sensitive = matches!(tool, "vault.move" | "vault.rename" | "vault.copy" | "db.query");
    let runtimes: &[Runtime] = if sensitive { &[Runtime::Server] } else { Runtime::ALL };
    Facts {
        effect,
        approval: if sensitive { Approval::Required } else { Approval::None },
        runtimes: runtimes.iter().copied().collect(),
        when_denied: WhenDenied::Explained,
        help_names: true,
        group: Some("vault".to_owned()),
        // each question is a connection of its own
        limits: Limits { concurrency: (tool == "db.query").then_some(8), ..Limits::default() },
        example: Some(Example(example.to_owned())),
        descriptions: [("ja".to_owned(), description.to_owned())].into(),
        ..Facts::default()
    }
}
