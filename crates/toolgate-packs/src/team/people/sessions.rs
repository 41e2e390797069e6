//! What an agent says and asks about its own session.

use serde::Deserialize;
use serde_json::json;
use toolgate_core::Lang;
use toolgate_spine::{Recorded, ToolAnswer};
use toolgate_store::team::{Hierarchy, Purpose};

use crate::team::{
    TeamPack, arguments,
    failure::{Failure, Text},
    said,
};

pub(super) async fn logout(pack: &TeamPack, call: &Recorded) -> Result<ToolAnswer, Failure> {
    let session = pack.session(call).await?;
    pack.store.team().sessions().end(&session.id, pack.now()).await?;
    let message = Text::new("The session has ended.", "セッションを終了しました。");
    let next = Text::new("End this process.", "このプロセスを終了してください。");
    let lang = call.lang();
    let answer = said(&json!({"success": true, "message": message.get(lang), "instruction": next.get(lang)}))?;
    Ok(answer.never_undone("Sign in again for a new session."))
}

#[derive(Deserialize)]
struct Reported {
    provider: String,
    model_id: String,
}

/// Another model than the agent is meant to run on is noted, not refused.
pub(super) async fn report_model(pack: &TeamPack, call: &Recorded) -> Result<ToolAnswer, Failure> {
    let Reported { provider, model_id } = arguments(call)?;
    let (agent, session) = (pack.me(call).await?, pack.session(call).await?);
    let is = |meant: &Option<String>, said: &str| meant.as_ref().is_none_or(|meant| meant.eq_ignore_ascii_case(said));
    let verified = is(&agent.provider, &provider) && is(&agent.model_id, &model_id);
    if !pack.store.team().sessions().report_model(&session.id, &provider, &model_id, verified).await? {
        return Err(Failure::no_session());
    }
    let message = if verified {
        Text::new("The model is the one this agent runs on.", "モデルはエージェントの設定と一致しています。")
    } else {
        Text::new(
            "The model is not the one this agent is meant to run on. It was noted.",
            "モデルはエージェントの設定と一致しません。記録しました。",
        )
    };
    let next = Text::new("Call get_next_action.", "get_next_actionを呼び出してください。");
    let lang = call.lang();
    said(&json!({
        "success": true, "verified": verified, "message": message.get(lang), "instruction": next.get(lang),
    }))
}

pub(super) async fn get_session_guide(pack: &TeamPack, call: &Recorded) -> Result<ToolAnswer, Failure> {
    let (agent, session) = (pack.me(call).await?, pack.session(call).await?);
    said(&json!({
        "success": true,
        "session_purpose": session.purpose.as_str(),
        "agent_name": agent.name,
        "hierarchy_type": agent.hierarchy.as_str(),
        "guide": guide(session.purpose, agent.hierarchy, call.lang()),
    }))
}

fn guide(purpose: Purpose, hierarchy: Hierarchy, lang: Lang) -> String {
    let text = match (purpose, hierarchy) {
        (Purpose::Task, Hierarchy::Manager) => Text::new(
            "This session is for a task. Call get_next_action and do what it says: split the task with create_task, give \
             the parts to your subordinates with assign_task, and report the whole with report_completed. To talk to \
             somebody, use delegate_to_chat_session.",
            "このセッションはタスク用です。get_next_actionを呼び出し、指示に従ってください。create_taskでタスクを分割し、\
             assign_taskで部下に割り当て、全体が完了したらreport_completedで報告します。会話が必要な場合は\
             delegate_to_chat_sessionを使ってください。",
        ),
        (Purpose::Task, Hierarchy::Worker) => Text::new(
            "This session is for a task. Call get_next_action and do what it says: read the task with get_my_task, work \
             on it, and report it with report_completed. To talk to somebody, use delegate_to_chat_session.",
            "このセッションはタスク用です。get_next_actionを呼び出し、指示に従ってください。get_my_taskでタスクを確認して\
             作業し、report_completedで報告します。会話が必要な場合はdelegate_to_chat_sessionを使ってください。",
        ),
        (Purpose::Chat, _) => Text::new(
            "This session is for chat. Call get_next_action and do what it says: read with get_pending_messages, answer \
             with respond_chat or send_message, and talk to another agent with start_conversation. Ten minutes without \
             anything to do end it.",
            "このセッションはチャット用です。get_next_actionを呼び出し、指示に従ってください。get_pending_messagesで読み、\
             respond_chatまたはsend_messageで返信し、他のエージェントとはstart_conversationで会話します。\
             10分間何もなければ終了します。",
        ),
    };
    text.get(lang).to_owned()
}
