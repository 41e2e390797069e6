//! A task session hands what needs talking to the chat session of the same agent; and what an agent is to know.

use serde::Deserialize;
use serde_json::{Value, json};
use toolgate_spine::{Recorded, ToolAnswer};
use toolgate_store::team::{DelegationStatus, NewDelegation, NotificationKind};

use super::{failures::task_not_found, requesting::asked_for, seat::Seat, shown, talking::fits};
use crate::team::{
    TeamPack, arguments,
    failure::{Failure, Text},
    said,
};

#[derive(Deserialize)]
struct Delegate {
    target_agent_id: String,
    purpose: String,
    context: Option<String>,
}

/// Answers at once: whoever starts agents sees that there is something to talk about.
pub(super) async fn delegate_to_chat_session(pack: &TeamPack, call: &Recorded) -> Result<ToolAnswer, Failure> {
    let Delegate { target_agent_id, purpose, context } = arguments(call)?;
    let seat = Seat::of(pack, call)?;
    if target_agent_id == seat.agent {
        return Err(Failure::new(
            "to_yourself",
            "Cannot delegate a conversation with yourself",
            "自分自身との会話は委譲できません",
        ));
    }
    seat.colleague(&target_agent_id).await?;
    let task = match seat.session().await?.and_then(|session| session.task) {
        Some(task) => Some(task),
        None => seat.team().waiting(&seat.agent, &seat.project).await?.task,
    };
    let new = NewDelegation { task, target: target_agent_id, purpose, context };
    let made = seat.delegations().add(&new, seat.now).await?;
    let message = Text::new("Delegated to the chat session", "チャットセッションに委譲しました");
    let go_on = Text::new(
        "Go on with the task; get_task_conversations shows what comes of it.",
        "タスクを続けてください。結果はget_task_conversationsで確認できます。",
    );
    said(&json!({
        "success": true, "delegation_id": made.id, "target_agent_id": made.target, "purpose": made.purpose,
        "message": message.get(call.lang()), "instruction": go_on.get(call.lang()),
    }))
}

#[derive(Deserialize)]
struct Finished {
    delegation_id: String,
    result: Option<String>,
    status: Option<String>,
}

pub(super) async fn report_delegation_completed(pack: &TeamPack, call: &Recorded) -> Result<ToolAnswer, Failure> {
    let Finished { delegation_id, result, status } = arguments(call)?;
    let seat = Seat::of(pack, call)?;
    let to = if status.as_deref() == Some("failed") { DelegationStatus::Failed } else { DelegationStatus::Completed };
    let done = seat.delegations().finish(&delegation_id, to, result.as_deref(), seat.now).await?;
    let next = Text::new("Call get_next_action.", "get_next_actionを呼び出してください。");
    said(&json!({
        "success": true, "delegation_id": done.id, "status": done.status.as_str(), "instruction": next.get(call.lang()),
    }))
}

#[derive(Deserialize)]
struct Notice {
    message: String,
    related_task_id: Option<String>,
}

/// The other way: what somebody said in chat that whoever works on the task should know, where they asked for it.
pub(super) async fn notify_task_session(pack: &TeamPack, call: &Recorded) -> Result<ToolAnswer, Failure> {
    let Notice { message, related_task_id } = arguments(call)?;
    fits(&message)?;
    let seat = Seat::of(pack, call)?;
    asked_for(&seat, "タスク通知").await?;
    if let Some(id) = &related_task_id
        && seat.tasks()?.get(id).await?.is_none()
    {
        return Err(task_not_found(id));
    }
    let words = ("chat_message", message.as_str(), "Take it into account, and go on with the task.");
    let kind = NotificationKind::ChatSession;
    let id = seat.notifications().add(kind, words, related_task_id.as_deref(), seat.now).await?;
    let next = Text::new(
        "The task session sees it with get_notifications. Call get_next_action.",
        "タスクセッションはget_notificationsで確認します。get_next_actionを呼び出してください。",
    );
    said(&json!({"success": true, "notification_id": id, "instruction": next.get(call.lang())}))
}

#[derive(Deserialize)]
struct Look {
    mark_as_read: Option<bool>,
}

pub(super) async fn get_notifications(pack: &TeamPack, call: &Recorded) -> Result<ToolAnswer, Failure> {
    let Look { mark_as_read } = arguments(call)?;
    let notifications = Seat::of(pack, call)?.notifications();
    let told = if mark_as_read.unwrap_or(true) { notifications.see().await? } else { notifications.unseen().await? };
    let shown: Vec<Value> = told.iter().map(shown::notification).collect();
    said(&json!({"success": true, "count": shown.len(), "notifications": shown}))
}
