//! What the gate is told of these tools.

use toolgate_core::{
    Facts,
    tool::{
        Effect::{Read, Write},
        Permission::{Authenticated, ChatOnly, ManagerOnly, TaskOnly},
        Undoing,
    },
};

use super::next_action::LONGEST_WAIT;
use crate::team::facts::fact;

pub(in crate::team) fn facts(tool: &str) -> Facts {
    let mut facts = told(tool);
    if let "respond_chat" | "send_message" | "start_conversation" | "end_conversation" = tool {
        facts.undo = Some(Undoing::Never("What was said was heard.".to_owned()));
    }
    facts
}

/// What is looked at is marked as seen; that takes no record of its own, and a look ends when whoever looks goes away.
fn told(tool: &str) -> Facts {
    match tool {
        "get_next_action" => {
            let mut facts = fact(
                Authenticated,
                Read,
                r#"{"timeout_seconds":45}"#,
                "次に実行すべきアクションの指示を取得します。チャットセッションでは何かが起こるまで待ちます",
            );
            let limit = LONGEST_WAIT.as_millis().saturating_add(10_000);
            facts.limits.timeout_ms = u64::try_from(limit).ok();
            facts
        }
        "get_my_task" => fact(Authenticated, Read, "{}", "自分に割り当てられた実行中のタスクを取得します"),
        "get_my_task_progress" => fact(Authenticated, Read, "{}", "自分のタスクとサブタスクの進捗を取得します"),
        "get_task" => fact(Authenticated, Read, r#"{"task_id":"ttask_…"}"#, "プロジェクトのタスクの詳細を取得します"),
        "list_team_tasks" => {
            fact(Authenticated, Read, r#"{"status":"todo"}"#, "プロジェクトのタスクを新しい順に一覧表示します")
        }
        "get_notifications" => fact(Authenticated, Read, "{}", "自分宛ての通知を取得します"),
        "report_completed" => fact(
            Authenticated,
            Write,
            r#"{"result":"success","summary":"All subtasks are finished"}"#,
            "タスクの完了を報告します。result引数で完了状態を指定します",
        ),
        "request_task" => {
            fact(Authenticated, Write, r#"{"title":"Write the release notes"}"#, "自分のタスクの作成を依頼します")
        }
        "assign_task" => fact(
            ManagerOnly,
            Write,
            r#"{"task_id":"ttask_…","assignee_id":"agent-002"}"#,
            "タスクを直属の部下に割り当てます。assignee_idを省略すると割り当てを解除します",
        ),
        "select_action" => {
            fact(ManagerOnly, Write, r#"{"action":"dispatch_task"}"#, "状況を確認したうえで次の行動を選択します")
        }
        "approve_task_request" => {
            fact(ManagerOnly, Write, r#"{"task_id":"ttask_…"}"#, "部下が依頼したタスクを承認します")
        }
        "reject_task_request" => fact(
            ManagerOnly,
            Write,
            r#"{"task_id":"ttask_…","reason":"Not this quarter"}"#,
            "部下が依頼したタスクを却下します",
        ),
        "create_task" => fact(
            TaskOnly,
            Write,
            r#"{"title":"Paint the door","description":"Red, two coats","parent_task_id":"ttask_…"}"#,
            "タスクまたはサブタスクを作成します",
        ),
        "create_tasks_batch" => fact(
            TaskOnly,
            Write,
            r#"{"parent_task_id":"ttask_…","tasks":[{"local_id":"a","title":"Sand","description":"The door"},{"local_id":"b","title":"Paint","description":"The door","dependencies":["a"]}]}"#,
            "依存関係のある複数のサブタスクを一度に作成します",
        ),
        "split_task" => fact(
            TaskOnly,
            Write,
            r#"{"task_id":"ttask_…","tasks":[{"title":"Sand","description":"The door"},{"title":"Paint","description":"The door"}]}"#,
            "自分が作成した未着手のタスクを複数のタスクに分割します",
        ),
        "update_task_status" => fact(
            TaskOnly,
            Write,
            r#"{"task_id":"ttask_…","status":"in_progress"}"#,
            "自分のタスク、またはそのサブタスクのステータスを変更します",
        ),
        "delegate_to_chat_session" => fact(
            TaskOnly,
            Write,
            r#"{"target_agent_id":"agent-002","purpose":"Ask which colour the door is to be"}"#,
            "他のエージェントとの会話を自分のチャットセッションに委譲します",
        ),
        "get_task_conversations" => fact(TaskOnly, Read, "{}", "タスクとその親タスクに関する会話を取得します"),
        "get_conversation_messages" => {
            fact(TaskOnly, Read, r#"{"conversation_id":"conv_…"}"#, "自分が参加した会話のメッセージを取得します")
        }
        "get_pending_messages" => fact(ChatOnly, Read, "{}", "未読のメッセージとそれまでのやり取りを取得します"),
        "respond_chat" => fact(ChatOnly, Write, r#"{"content":"Red, two coats"}"#, "チャットメッセージに応答します"),
        "send_message" => fact(
            ChatOnly,
            Write,
            r#"{"target_agent_id":"agent-002","content":"Red, two coats"}"#,
            "プロジェクトの他のエージェントにメッセージを送ります",
        ),
        "start_conversation" => fact(
            ChatOnly,
            Write,
            r#"{"participant_agent_id":"agent-002","initial_message":"Which colour?","max_turns":10}"#,
            "他のエージェントとの会話を開始します",
        ),
        "notify_task_session" => fact(
            ChatOnly,
            Write,
            r#"{"message":"The colour is green after all"}"#,
            "チャットでの依頼を自分のタスクセッションに通知します",
        ),
        "end_conversation" => fact(ChatOnly, Write, r#"{"conversation_id":"conv_…"}"#, "会話を終了します"),
        _ => fact(
            ChatOnly,
            Write,
            r#"{"delegation_id":"dlg_…","result":"Red, two coats"}"#,
            "委譲された会話の完了を報告します",
        ),
    }
}
