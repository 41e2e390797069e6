//! A conversation of two agents, and why nothing came of one.

use super::conversation_state::{ACTIVE_MS, ConversationState, PENDING_MS};
use crate::{
    StoreError,
    error::Fault,
    statement::{FromRow, Row},
};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Conversation {
    pub id: String,
    pub initiator: String,
    pub participant: String,
    pub purpose: Option<String>,
    pub task: Option<String>,
    /// As it is stored: ask [`Conversation::state_at`].
    pub state: ConversationState,
    pub turns: i64,
    pub max_turns: i64,
    pub created_at: i64,
    pub last_at: i64,
    pub ended_by: Option<String>,
}

impl Conversation {
    pub fn state_at(&self, now: i64) -> ConversationState {
        // what is said before it is taken up does not make it wait longer
        let since = if self.state == ConversationState::Pending { self.created_at } else { self.last_at };
        self.state.at(since, now)
    }

    /// When it is over if nobody does anything; absent where it is over.
    pub fn expires_at(&self) -> Option<i64> {
        match self.state {
            ConversationState::Pending => Some(self.created_at.saturating_add(PENDING_MS)),
            ConversationState::Active => Some(self.last_at.saturating_add(ACTIVE_MS)),
            _ => None,
        }
    }

    /// The other of the two.
    pub fn partner(&self, agent: &str) -> &str {
        if self.initiator == agent { &self.participant } else { &self.initiator }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewConversation {
    pub participant: String,
    pub purpose: Option<String>,
    pub task: Option<String>,
    pub max_turns: i64,
    pub first: String,
}

/// Why nothing was said, begun or ended.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TalkFault {
    #[error("Conversation not found: {id}")]
    Unknown { id: String },
    #[error("Conversation is not active: {id} is {state}")]
    NotOpen { id: String, state: ConversationState },
    #[error("An active or pending conversation already exists with agent '{partner}': {id}")]
    Exists { id: String, partner: String },
    #[error("the message was not stored")]
    Unsaid,
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl TalkFault {
    pub(super) fn unknown(id: &str) -> Self {
        Self::Unknown { id: id.chars().take(100).collect() }
    }
}

macro_rules! conversation_columns {
    () => {
        "id, initiator, participant, purpose, task, state, turns, max_turns, created_at, last_at, ended_by"
    };
}
pub(super) use conversation_columns;

impl FromRow for Conversation {
    fn from_row(row: &mut Row) -> Result<Self, Fault> {
        let (id, initiator, participant) = (row.text()?, row.text()?, row.text()?);
        let (purpose, task, state) = (row.maybe_text()?, row.maybe_text()?, ConversationState::from_cell(row)?);
        let (turns, max_turns, created_at, last_at) = (row.int()?, row.int()?, row.int()?, row.int()?);
        let ended_by = row.maybe_text()?;
        let talk = Conversation {
            id,
            initiator,
            participant,
            purpose,
            task,
            state,
            turns,
            max_turns,
            created_at,
            last_at,
            ended_by,
        };
        Ok(talk)
    }
}
