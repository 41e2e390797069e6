//! What the gate is told of each tool.

use toolgate_core::{
    Facts,
    tool::{Effect, Example, Limits, Permission, WhenDenied},
};

const MIB: u64 = 1 << 20;

/// Whether a tool changes anything.
pub(super) fn changes(tool: &str) -> bool {
    !tool.starts_with("admin_list_") && !tool.starts_with("admin_get_") && tool != "admin_export"
}

pub(super) fn facts(tool: &str) -> Facts {
    let (permission, example, description) = told(tool);
    Facts {
        permission,
        effect: if changes(tool) { Effect::Write } else { Effect::Read },
        when_denied: WhenDenied::Hidden,
        help_names: false,
        group: Some("admin".to_owned()),
        limits: Limits {
            argument_bytes: (tool == "admin_import").then_some(16 * MIB),
            result_bytes: matches!(tool, "admin_import" | "admin_export").then_some(64 * MIB),
            timeout_ms: (tool == "admin_import").then_some(120_000),
            ..Limits::default()
        },
        example: Some(Example(example.to_owned())),
        descriptions: [("ja".to_owned(), description.to_owned())].into(),
        ..Facts::default()
    }
}

fn told(tool: &str) -> (Permission, &'static str, &'static str) {
    use Permission::{AdminOnly, OperatorOnly};
    match tool {
        "admin_list_tools" => {
            (AdminOnly, "{}", "テナントのメンバーにとって各ツールが有効かどうかと、その理由を表示します")
        }
        "admin_get_summary" => (AdminOnly, "{}", "テナントのツールの数を、全体とカテゴリーごとに表示します"),
        "admin_list_overrides" => (AdminOnly, "{}", "テナントが有効または無効にしたツールを一覧表示します"),
        "admin_set_override" => (
            AdminOnly,
            r#"{"tool_name":"add_task","is_enabled":false,"reason":"not used here"}"#,
            "テナントのためにツールを有効または無効にします",
        ),
        "admin_remove_override" => {
            (AdminOnly, r#"{"tool_name":"add_task"}"#, "テナントの切り替えを取り除き、ツールを既定に戻します")
        }
        "admin_list_members" => (AdminOnly, r#"{"limit":20}"#, "テナントのメンバーを新しい順に一覧表示します"),
        "admin_set_member" => {
            (AdminOnly, r#"{"user":"ada","role":"admin"}"#, "ユーザーをテナントに加えるか、メンバーの役割を変えます")
        }
        "admin_remove_member" => (AdminOnly, r#"{"user":"ada"}"#, "ユーザーをテナントから外します"),
        "admin_get_tenant" => (AdminOnly, "{}", "テナントの名前とプランを表示します"),
        "admin_list_catalog" => (AdminOnly, "{}", "登録されたすべてのツールを一覧表示します"),
        "admin_get_catalog_tool" => (AdminOnly, r#"{"tool_name":"add_task"}"#, "登録されたツールを一つ表示します"),
        "admin_list_disabled_tools" => (AdminOnly, "{}", "全員に対して無効になっているツールを一覧表示します"),
        "admin_set_catalog_tool" => (
            OperatorOnly,
            r#"{"tool_name":"add_task","group":"planning","min_plan":"professional"}"#,
            "ツールの表示名、グループ、既定、最低プランを全員のために設定します",
        ),
        "admin_reset_catalog_tool" => {
            (OperatorOnly, r#"{"tool_name":"add_task"}"#, "ツールについて設定されたことをすべて取り消します")
        }
        "admin_disable_tool" => {
            (OperatorOnly, r#"{"tool_name":"add_task","reason":"under repair"}"#, "ツールを全員に対して無効にします")
        }
        "admin_enable_tool" => (OperatorOnly, r#"{"tool_name":"add_task"}"#, "無効にしたツールを再び有効にします"),
        "admin_list_tenants" => (OperatorOnly, r#"{"limit":20}"#, "テナントを新しい順に一覧表示します"),
        "admin_create_tenant" => {
            (OperatorOnly, r#"{"id":"acme","plan":"starter","owner":"ada"}"#, "テナントを作成します")
        }
        "admin_change_tenant" => {
            (OperatorOnly, r#"{"tenant":"acme","plan":"professional"}"#, "テナントの名前またはプランを変えます")
        }
        "admin_remove_tenant" => (OperatorOnly, r#"{"tenant":"acme"}"#, "テナントをメンバーと切り替えごと削除します"),
        "admin_list_users" => (OperatorOnly, r#"{"limit":20}"#, "ユーザーを新しい順に一覧表示します"),
        "admin_get_user" => (OperatorOnly, r#"{"user":"ada"}"#, "ユーザーと、属するテナントを表示します"),
        "admin_add_user" => (OperatorOnly, r#"{"user":"ada","name":"Ada"}"#, "ユーザーを登録します"),
        "admin_change_user" => {
            (OperatorOnly, r#"{"user":"ada","email":"ada@acme.example"}"#, "ユーザーの名前またはアドレスを変えます")
        }
        "admin_remove_user" => (OperatorOnly, r#"{"user":"ada"}"#, "ユーザーをすべてのテナントから外し、削除します"),
        "admin_import" => (
            OperatorOnly,
            r#"{"overrides":[{"tenant":"acme","tool_name":"add_task","is_enabled":false}]}"#,
            "カタログと切り替えをまとめて設定し、差分を返します",
        ),
        _ => (OperatorOnly, "{}", "設定されたカタログと切り替えをすべて取り出します"),
    }
}
