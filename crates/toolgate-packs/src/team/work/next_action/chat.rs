//! What an agent in a chat session does next: a function of what waits for it, and of nothing else.

use toolgate_store::team::{Conversation, ConversationState, Delegation, DelegationStatus};

use super::action::{Action, Standing, first_of_all};

/// What waits for an agent that talks.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct ChatSituation {
    pub(super) standing: Standing,
    pub(super) agent: String,
    /// Open, or over without the agent knowing.
    pub(super) conversations: Vec<Conversation>,
    /// Not finished.
    pub(super) delegations: Vec<Delegation>,
    pub(super) unread: bool,
    /// Nothing happened for so long that the session is about to end.
    pub(super) idle: bool,
    pub(super) now: i64,
}

/// What comes of it. What is handed out is marked so, and only then told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Choice {
    Say(Action),
    Accept(Conversation),
    Tell(Conversation),
    Take(Delegation),
    /// Nothing: whoever can wait, waits.
    Wait(Action),
}

pub(super) fn decide(situation: &ChatSituation) -> Choice {
    let ChatSituation { agent, now, .. } = situation;
    if let Some(action) = first_of_all(situation.standing) {
        return Choice::Say(action);
    }
    let state = |talk: &Conversation| talk.state_at(*now);
    let requested = |talk: &&Conversation| state(talk) == ConversationState::Pending && talk.participant == *agent;
    if let Some(talk) = situation.conversations.iter().find(requested) {
        return Choice::Accept(talk.clone());
    }
    if let Some(talk) = situation.conversations.iter().find(|talk| !state(talk).is_open()) {
        return Choice::Tell(talk.clone());
    }
    if let Some(pending) = situation.delegations.iter().find(|open| open.status == DelegationStatus::Pending) {
        return Choice::Take(pending.clone());
    }
    if situation.unread {
        return Choice::Say(Action::new(
            "get_pending_messages",
            "has_messages",
            "Call get_pending_messages, then answer.",
            "get_pending_messagesを呼び出し、返信してください。",
        ));
    }
    let talks_with = |target: &str| situation.conversations.iter().any(|talk| talk.partner(agent) == target);
    if let Some(open) = situation.delegations.iter().find(|open| !talks_with(&open.target)) {
        return Choice::Say(finish(open));
    }
    if situation.idle {
        return Choice::Say(Action::new(
            "logout",
            "idle",
            "Nothing happened for a while. Call logout and exit.",
            "しばらく動きがありません。logoutを呼び出し、プロセスを終了してください。",
        ));
    }
    Choice::Wait(Action::new(
        "wait_for_messages",
        "waiting",
        "Nothing waits for you. Call get_next_action again.",
        "待機中です。再度get_next_actionを呼び出してください。",
    ))
}

pub(super) fn accepted(talk: &Conversation) -> Action {
    Action::new(
        "conversation_request",
        "conversation_active",
        format!(
            "Agent '{}' began a conversation, which you are now in. Call get_pending_messages and answer.",
            talk.initiator
        ),
        format!(
            "エージェント'{}'との会話が始まりました。get_pending_messagesを呼び出して返信してください。",
            talk.initiator
        ),
    )
    .with("conversation_id", talk.id.as_str())
    .with("from_agent_id", talk.initiator.as_str())
    .with("purpose", talk.purpose.clone())
    .with("max_turns", talk.max_turns)
}

pub(super) fn told(talk: &Conversation, agent: &str) -> Action {
    let partner = talk.partner(agent);
    let (en, ja) = if talk.state == ConversationState::Expired {
        (
            format!("The conversation with '{partner}' has expired."),
            format!("'{partner}'との会話は期限切れになりました。"),
        )
    } else {
        (format!("The conversation with '{partner}' has ended."), format!("'{partner}'との会話は終了しました。"))
    };
    let state = if talk.state == ConversationState::Expired { "conversation_expired" } else { "conversation_ended" };
    Action::new(
        "conversation_ended",
        state,
        format!("{en} Call get_next_action."),
        format!("{ja}get_next_actionを呼び出してください。"),
    )
    .with("conversation_id", talk.id.as_str())
    .with("with_agent_id", partner)
    .with("ended_by", talk.ended_by.clone())
}

pub(super) fn taken(delegation: &Delegation) -> Action {
    let target = &delegation.target;
    Action::new(
        "start_conversation",
        "has_delegation",
        format!("Your task session asks you to talk to '{target}'. Call start_conversation, or send_message to a person; then report_delegation_completed."),
        format!("タスクセッションから'{target}'との会話を依頼されました。start_conversation（人間にはsend_message）で連絡し、終わったらreport_delegation_completedを呼び出してください。"),
    )
    .with("delegation_id", delegation.id.as_str())
    .with("target_agent_id", target.as_str())
    .with("purpose", delegation.purpose.as_str())
    .with("context", delegation.context.clone())
    .with("task_id", delegation.task.clone())
}

fn finish(delegation: &Delegation) -> Action {
    let target = &delegation.target;
    Action::new(
        "report_delegation_completed",
        "has_delegation",
        format!("You were asked to talk to '{target}' and are in no conversation with it. If that is done, call report_delegation_completed; else begin it with start_conversation."),
        format!("'{target}'との会話を依頼されています。済んでいればreport_delegation_completedを、まだであればstart_conversationを呼び出してください。"),
    )
    .with("delegation_id", delegation.id.as_str())
    .with("target_agent_id", target.as_str())
    .with("purpose", delegation.purpose.as_str())
}
