//! Rows as answers show them.

use serde_json::{Map, Value, json};
use toolgate_store::team::{Conversation, Message, Notification, TeamTask};

use crate::times::iso;

pub(super) fn task(task: &TeamTask) -> Value {
    let mut shown = Map::new();
    let mut put = |key: &str, value: Value| {
        if !value.is_null() {
            shown.insert(key.to_owned(), value);
        }
    };
    put("task_id", task.id.as_str().into());
    put("title", task.title.as_str().into());
    put("description", task.description.as_str().into());
    put("status", task.status.as_str().into());
    put("priority", task.priority.as_str().into());
    put("assignee_id", task.assignee.clone().into());
    put("created_by", task.created_by.as_str().into());
    put("parent_task_id", task.parent.clone().into());
    put("completion_result", task.result.map(|result| result.as_str()).into());
    put("completion_summary", task.summary.clone().into());
    put("next_steps", task.next_steps.clone().into());
    put("status_changed_by", task.changed_by.as_str().into());
    put("status_changed_at", iso(task.changed_at).into());
    put("blocked_reason", task.blocked_reason.clone().into());
    put("requester_id", task.requester.clone().into());
    put("approval_status", task.approval.as_str().into());
    put("created_at", iso(task.created_at).into());
    Value::Object(shown)
}

/// Enough to choose one of several.
pub(super) fn brief(task: &TeamTask) -> Value {
    let mut shown = json!({"task_id": task.id, "title": task.title, "status": task.status.as_str()});
    for (key, value) in [("assignee_id", &task.assignee), ("blocked_reason", &task.blocked_reason)] {
        if let (Some(value), Value::Object(shown)) = (value, &mut shown) {
            shown.insert(key.to_owned(), value.clone().into());
        }
    }
    shown
}

pub(super) fn message(message: &Message) -> Value {
    let mut shown = json!({"id": message.id, "sender_id": message.sender});
    if let Value::Object(shown) = &mut shown {
        let texts = [
            ("receiver_id", &message.receiver),
            ("conversation_id", &message.conversation),
            ("related_task_id", &message.task),
        ];
        for (key, value) in texts {
            if let Some(value) = value {
                shown.insert(key.to_owned(), value.clone().into());
            }
        }
        shown.insert("content".to_owned(), message.content.clone().into());
        shown.insert("created_at".to_owned(), iso(message.at).into());
    }
    shown
}

pub(super) fn conversation(talk: &Conversation, now: i64) -> Value {
    let mut shown = json!({
        "conversation_id": talk.id, "initiator_id": talk.initiator, "participant_id": talk.participant,
        "state": talk.state_at(now).as_str(), "current_turns": talk.turns, "max_turns": talk.max_turns,
        "created_at": iso(talk.created_at),
    });
    for (key, value) in [("purpose", &talk.purpose), ("task_id", &talk.task)] {
        if let (Some(value), Value::Object(shown)) = (value, &mut shown) {
            shown.insert(key.to_owned(), value.clone().into());
        }
    }
    shown
}

pub(super) fn notification(note: &Notification) -> Value {
    let mut shown = json!({
        "id": note.id, "type": note.kind.as_str(), "action": note.action, "message": note.message,
        "instruction": note.instruction, "created_at": iso(note.at),
    });
    if let (Some(task), Value::Object(shown)) = (&note.task, &mut shown) {
        shown.insert("task_id".to_owned(), task.clone().into());
    }
    shown
}
