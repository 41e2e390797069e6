//! Signing in, profiles, and what a coordinator asks.

mod coordinating;
mod passkeys;
mod processes;
mod profiles;
mod sessions;
mod signing_in;

use toolgate_core::{
    Facts,
    tool::{Effect, Limits, Permission},
};
use toolgate_spine::{Recorded, ToolAnswer};

use super::{TeamPack, facts::fact, failure::Failure};

pub(super) use passkeys::Passkeys;

pub(super) fn facts(tool: &str) -> Facts {
    use {
        Effect::{Read, Write},
        Permission::{Authenticated, CoordinatorOnly, ManagerOnly, Unauthenticated},
    };
    match tool {
        "authenticate" => Facts {
            // each waits for its turn: beyond this many it is better to be told so
            limits: Limits { concurrency: Some(64), ..Limits::default() },
            ..fact(
                Unauthenticated,
                Write,
                r#"{"agent_id":"agent-001","passkey":"…","project_id":"proj-001"}"#,
                "エージェントとしてプロジェクトにサインインします。セッションの用途（タスクまたはチャット）は仕事の有無によって決まります",
            )
        },
        "logout" => fact(Authenticated, Write, "{}", "セッションを終了します"),
        "get_session_guide" => fact(Authenticated, Read, "{}", "このセッションの用途と進め方を表示します"),
        "get_my_profile" => fact(Authenticated, Read, "{}", "自分のプロフィールを取得します"),
        "report_model" => fact(
            Authenticated,
            Write,
            r#"{"provider":"anthropic","model_id":"claude-opus-4"}"#,
            "使用中のプロバイダーとモデルを報告します",
        ),
        "list_subordinates" => fact(ManagerOnly, Read, "{}", "直属の部下の一覧を取得します"),
        "get_subordinate_profile" => {
            fact(ManagerOnly, Read, r#"{"agent_id":"agent-002"}"#, "直属の部下の詳細なプロフィールを取得します")
        }
        "health_check" => {
            fact(CoordinatorOnly, Read, "{}", "記録の状態と、エージェントおよびプロジェクトの数を確認します")
        }
        "list_managed_agents" => fact(CoordinatorOnly, Read, "{}", "起動できるAIエージェントのIDを一覧表示します"),
        "list_active_projects_with_agents" => {
            fact(CoordinatorOnly, Read, "{}", "有効なプロジェクトと、そこで働くAIエージェントを一覧表示します")
        }
        "report_process_exit" => fact(
            CoordinatorOnly,
            Write,
            r#"{"agent_id":"agent-001","project_id":"proj-001","remaining_processes":0}"#,
            "エージェントのプロセスの終了を報告します。使う者のいないセッションは終了します",
        ),
        "report_agent_error" => fact(
            CoordinatorOnly,
            Write,
            r#"{"agent_id":"agent-001","project_id":"proj-001","error_message":"exit code 1"}"#,
            "エージェントのプロセスの失敗を報告します。エージェントとそのManagerに通知されます",
        ),
        _ => fact(
            CoordinatorOnly,
            Write,
            r#"{"agent_id":"agent-001","project_id":"proj-001"}"#,
            "プロジェクトでエージェントのプロセスを起動すべきかを判断します",
        ),
    }
}

/// `None` for a tool that is not one of these.
pub(super) async fn run(pack: &TeamPack, call: &Recorded) -> Option<Result<ToolAnswer, Failure>> {
    Some(match call.tool().own_name.as_str() {
        "authenticate" => signing_in::authenticate(pack, call).await,
        "logout" => sessions::logout(pack, call).await,
        "get_session_guide" => sessions::get_session_guide(pack, call).await,
        "report_model" => sessions::report_model(pack, call).await,
        "get_my_profile" => profiles::get_my_profile(pack, call).await,
        "list_subordinates" => profiles::list_subordinates(pack, call).await,
        "get_subordinate_profile" => profiles::get_subordinate_profile(pack, call).await,
        "health_check" => coordinating::health_check(pack).await,
        "list_managed_agents" => coordinating::list_managed_agents(pack).await,
        "list_active_projects_with_agents" => coordinating::list_active_projects(pack, call).await,
        "get_agent_action" => processes::get_agent_action(pack, call).await,
        "report_process_exit" => processes::report_process_exit(pack, call).await,
        "report_agent_error" => processes::report_agent_error(pack, call).await,
        _ => return None,
    })
}
