//! Messages: what came in, and what is said.

use serde::Deserialize;
use serde_json::{Map, Value, json};
use toolgate_spine::{Recorded, ToolAnswer};
use toolgate_store::team::{AgentType, Conversation, ConversationState, Message, NewMessage, TalkFault};

use super::{
    failures::{task_not_found, too_long},
    seat::Seat,
    shown,
};
use crate::team::{
    TeamPack, arguments,
    failure::{Failure, Text},
    said,
};

/// The longest message, in characters.
const LONGEST: usize = 4000;
const CONTEXT: u32 = 20;
const PENDING: u32 = 10;

/// The oldest that were not read, which are read from then on, and what was said before.
pub(super) async fn get_pending_messages(pack: &TeamPack, call: &Recorded) -> Result<ToolAnswer, Failure> {
    let seat = Seat::of(pack, call)?;
    let desk = seat.desk();
    let state = desk.state().await?;
    let pending = desk.pending(state.read, PENDING).await?;
    let context = desk.history(state.read, CONTEXT).await?;
    let last = pending.last().and_then(|message| message.number);
    if let Some(last) = last {
        desk.read_up_to(last).await?;
    }
    let before = state.read.saturating_add(state.sent);
    let more = last.is_some_and(|last| last < state.received);
    let instruction = match (pending.is_empty(), more) {
        (true, _) => Text::new(
            "Nothing new came in. Call get_next_action.",
            "新しいメッセージはありません。get_next_actionを呼び出してください。",
        ),
        (false, true) => Text::new(
            "Answer with respond_chat or send_message, then call get_pending_messages again: more came in.",
            "respond_chatまたはsend_messageで返信し、続きがあるため再度get_pending_messagesを呼び出してください。",
        ),
        (false, false) => Text::new(
            "Answer with respond_chat or send_message, then call get_next_action.",
            "respond_chatまたはsend_messageで返信し、get_next_actionを呼び出してください。",
        ),
    };
    said(&json!({
        "success": true,
        "context_messages": context.iter().map(shown::message).collect::<Vec<Value>>(),
        "pending_messages": pending.iter().map(shown::message).collect::<Vec<Value>>(),
        "total_history_count": state.received.saturating_add(state.sent),
        "context_truncated": usize::try_from(before).is_ok_and(|before| before > context.len()),
        "instruction": instruction.get(call.lang()),
    }))
}

#[derive(Deserialize)]
struct Reply {
    content: String,
}

/// To the sender of the newest message that waits for an answer; where none does, it is only on record.
pub(super) async fn respond_chat(pack: &TeamPack, call: &Recorded) -> Result<ToolAnswer, Failure> {
    let Reply { content } = arguments(call)?;
    let seat = Seat::of(pack, call)?;
    let (message, _) = match seat.desk().unanswered().await? {
        Some(newest) => deliver(&seat, &newest.sender, content, None, newest.conversation.as_deref()).await?,
        None => {
            fits(&content)?;
            let note = NewMessage { to: None, content, task: None, conversation: None };
            (seat.conversations().send(&note, seat.now).await?, None)
        }
    };
    let next = Text::new("Call get_next_action.", "get_next_actionを呼び出してください。");
    said(&json!({
        "success": true, "message_id": message.id, "receiver_id": message.receiver, "instruction": next.get(call.lang()),
    }))
}

#[derive(Deserialize)]
struct Sent {
    target_agent_id: String,
    content: String,
    related_task_id: Option<String>,
    conversation_id: Option<String>,
}

pub(super) async fn send_message(pack: &TeamPack, call: &Recorded) -> Result<ToolAnswer, Failure> {
    let Sent { target_agent_id, content, related_task_id, conversation_id } = arguments(call)?;
    let seat = Seat::of(pack, call)?;
    if let Some(id) = &related_task_id
        && seat.tasks()?.get(id).await?.is_none()
    {
        return Err(task_not_found(id));
    }
    let sent = deliver(&seat, &target_agent_id, content, related_task_id, conversation_id.as_deref()).await?;
    let (message, conversation) = sent;
    let mut answer = Map::new();
    answer.insert("success".to_owned(), true.into());
    answer.insert("message_id".to_owned(), message.id.clone().into());
    answer.insert("target_agent_id".to_owned(), target_agent_id.into());
    if let (Some(talk), Some(turn)) = (conversation, message.turn) {
        answer.insert("conversation_id".to_owned(), talk.id.into());
        answer.insert("current_turns".to_owned(), turn.into());
        answer.insert("max_turns".to_owned(), talk.max_turns.into());
        answer.insert("conversation_ended".to_owned(), (turn >= talk.max_turns).into());
        let (warning, reminder) = remarks(turn, talk.max_turns);
        for (key, text) in [("warning", warning), ("reminder", reminder)] {
            if let Some(text) = text {
                answer.insert(key.to_owned(), text.get(call.lang()).into());
            }
        }
    }
    said(&Value::Object(answer))
}

/// Says it to somebody of the project. Two agents that are not people need a conversation, which it is then a turn of.
pub(super) async fn deliver(
    seat: &Seat,
    to: &str,
    content: String,
    task: Option<String>,
    conversation: Option<&str>,
) -> Result<(Message, Option<Conversation>), Failure> {
    fits(&content)?;
    if to == seat.agent {
        return Err(Failure::new(
            "to_yourself",
            "Cannot send message to yourself",
            "自分自身にはメッセージを送れません",
        ));
    }
    let other = seat.colleague(to).await?;
    let talks = seat.conversations();
    let named = match conversation {
        Some(id) => {
            let talk = talks.get(id).await?.filter(|talk| talk.partner(&seat.agent) == to);
            Some(talk.ok_or_else(|| TalkFault::Unknown { id: id.chars().take(100).collect() })?)
        }
        None => talks.with(to, seat.now).await?.filter(|talk| may_speak(talk, seat)),
    };
    // what is over is not gone on with, but people can be written to all the same
    let open = named.as_ref().is_some_and(|talk| may_speak(talk, seat));
    let talk = match (named, open) {
        (Some(talk), true) => Some(talk),
        (Some(talk), false) if conversation.is_some() && other == AgentType::Ai => {
            return Err(TalkFault::NotOpen { state: talk.state_at(seat.now), id: talk.id }.into());
        }
        _ => None,
    };
    if talk.is_none() && other == AgentType::Ai && seat.own_type().await? == AgentType::Ai {
        return Err(Failure::new(
            "no_conversation",
            format!("There is no active conversation with agent '{to}'. Call start_conversation first"),
            format!("エージェント'{to}'との有効な会話がありません。先にstart_conversationを呼び出してください"),
        ));
    }
    let conversation = talk.as_ref().map(|talk| talk.id.clone());
    let new = NewMessage { to: Some(to.to_owned()), content, task, conversation };
    Ok((talks.send(&new, seat.now).await?, talk))
}

/// In an active conversation either does, in a pending one who began it.
fn may_speak(talk: &Conversation, seat: &Seat) -> bool {
    match talk.state_at(seat.now) {
        ConversationState::Active => true,
        ConversationState::Pending => talk.initiator == seat.agent,
        _ => false,
    }
}

pub(super) fn fits(content: &str) -> Result<(), Failure> {
    let length = content.chars().count();
    if length > LONGEST { Err(too_long(length)) } else { Ok(()) }
}

/// A warning where the end is near, a reminder every five turns.
fn remarks(turn: i64, most: i64) -> (Option<Text>, Option<Text>) {
    let left = most.saturating_sub(turn);
    let warning = match left {
        0 => Some(Text::new(
            "That was the last turn: the conversation has ended.",
            "最後の発言でした。会話は終了しました。",
        )),
        1 | 2 => Some(Text::new(
            format!("{left} turn(s) left; come to an end."),
            format!("残り{left}回です。会話をまとめてください。"),
        )),
        _ => None,
    };
    let reminder = (turn % 5 == 0 && left > 0).then(|| {
        Text::new(
            "Is the purpose reached? If so, call end_conversation.",
            "目的を果たしたら、end_conversationを呼び出してください。",
        )
    });
    (warning, reminder)
}
