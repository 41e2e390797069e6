//! Conversations: begun, ended, looked at.

use serde::Deserialize;
use serde_json::{Value, json};
use toolgate_spine::{Recorded, ToolAnswer};
use toolgate_store::team::{AgentType, ConversationState, DelegationStatus, NewConversation, NewMessage, TalkFault};

use super::{failures::no_task, seat::Seat, shown, talking::fits};
use crate::team::{
    TeamPack, arguments,
    failure::{Failure, Text},
    said,
};

#[derive(Deserialize)]
struct Start {
    participant_agent_id: String,
    initial_message: String,
    max_turns: i64,
    purpose: Option<String>,
}

pub(super) async fn start_conversation(pack: &TeamPack, call: &Recorded) -> Result<ToolAnswer, Failure> {
    let Start { participant_agent_id, initial_message, max_turns, purpose } = arguments(call)?;
    fits(&initial_message)?;
    let seat = Seat::of(pack, call)?;
    if participant_agent_id == seat.agent {
        return Err(Failure::new(
            "with_yourself",
            "Cannot start a conversation with yourself",
            "自分自身との会話は始められません",
        ));
    }
    if seat.colleague(&participant_agent_id).await? == AgentType::Human {
        return Err(Failure::new(
            "with_a_person",
            format!("Agent '{participant_agent_id}' is a person, who needs no conversation. Call send_message"),
            format!("エージェント'{participant_agent_id}'は人間です。send_messageを使用してください"),
        ));
    }
    let delegated = seat.delegations().open().await?.into_iter();
    let task = delegated
        .filter(|open| open.status == DelegationStatus::Processing && open.target == participant_agent_id)
        .find_map(|open| open.task);
    let new = NewConversation {
        participant: participant_agent_id,
        purpose,
        task,
        max_turns: max_turns.clamp(2, 40),
        first: initial_message,
    };
    let (talk, message) = seat.conversations().start(&new, seat.now).await?;
    let wait = Text::new(
        "Call get_next_action and wait until it is taken up and answered.",
        "get_next_actionを呼び出し、相手の応答を待ってください。",
    );
    said(&json!({
        "success": true, "conversation_id": talk.id, "state": "pending", "participant_agent_id": talk.participant,
        "max_turns": talk.max_turns, "message_id": message.id, "instruction": wait.get(call.lang()),
    }))
}

#[derive(Deserialize)]
struct End {
    conversation_id: String,
    final_message: Option<String>,
}

/// The other is told when it next looks; whoever ends it is not asked again.
pub(super) async fn end_conversation(pack: &TeamPack, call: &Recorded) -> Result<ToolAnswer, Failure> {
    let End { conversation_id, final_message } = arguments(call)?;
    let seat = Seat::of(pack, call)?;
    let talks = seat.conversations();
    let unknown = || TalkFault::Unknown { id: conversation_id.chars().take(100).collect() };
    let talk = talks.get(&conversation_id).await?.ok_or_else(unknown)?;
    let state = talk.state_at(seat.now);
    if state != ConversationState::Active {
        return Err(TalkFault::NotOpen { id: talk.id, state }.into());
    }
    let mut last_turn = false;
    if let Some(content) = final_message {
        fits(&content)?;
        let to = Some(talk.partner(&seat.agent).to_owned());
        let new = NewMessage { to, content, task: None, conversation: Some(talk.id.clone()) };
        let message = talks.send(&new, seat.now).await?;
        last_turn = message.turn.is_some_and(|turn| turn >= talk.max_turns);
    }
    if !last_turn {
        talks.end(&talk.id, seat.now).await?;
    }
    let next = Text::new(
        "The other is told. Call get_next_action.",
        "相手に通知されます。get_next_actionを呼び出してください。",
    );
    said(&json!({
        "success": true, "conversation_id": talk.id, "state": "terminating", "instruction": next.get(call.lang()),
    }))
}

/// Of the session's task and of the one that it is part of.
pub(super) async fn get_task_conversations(pack: &TeamPack, call: &Recorded) -> Result<ToolAnswer, Failure> {
    let seat = Seat::of(pack, call)?;
    let session = seat.session().await?;
    let current = match session.and_then(|session| session.task) {
        Some(task) => Some(task),
        None => seat.team().waiting(&seat.agent, &seat.project).await?.task,
    };
    let task = match current {
        Some(id) => seat.tasks()?.get(&id).await?,
        None => None,
    };
    let task = task.ok_or_else(no_task)?;
    let talks = seat.conversations();
    let mut found = talks.of_task(&task.id).await?;
    if let Some(parent) = &task.parent {
        found.extend(talks.of_task(parent).await?);
    }
    let active = found.iter().filter(|talk| talk.state_at(seat.now).is_open()).count();
    said(&json!({
        "success": true, "task_id": task.id, "total_count": found.len(), "active_count": active,
        "conversations": found.iter().map(|talk| shown::conversation(talk, seat.now)).collect::<Vec<Value>>(),
    }))
}

#[derive(Deserialize)]
struct Reading {
    conversation_id: String,
    limit: Option<u32>,
}

pub(super) async fn get_conversation_messages(pack: &TeamPack, call: &Recorded) -> Result<ToolAnswer, Failure> {
    let Reading { conversation_id, limit } = arguments(call)?;
    let seat = Seat::of(pack, call)?;
    let unknown = || TalkFault::Unknown { id: conversation_id.chars().take(100).collect() };
    let talks = seat.conversations();
    let talk = talks.get(&conversation_id).await?.ok_or_else(unknown)?;
    let messages = talks.messages(&talk.id, limit.unwrap_or(50).clamp(1, 100)).await?.ok_or_else(unknown)?;
    said(&json!({
        "success": true, "conversation": shown::conversation(&talk, seat.now), "count": messages.len(),
        "messages": messages.iter().map(shown::message).collect::<Vec<Value>>(),
    }))
}
