//! Agent sessions (`sess_…`), which `authenticate` issues: whoever keeps them answers for them here.

use async_trait::async_trait;
use toolgate_core::caller::{Agent, UserId};

use super::store::RowsUnavailable;

/// How a session's token begins. The rest is its keeper's business.
pub const SESSION_MARK: &str = "sess_";

/// Whether the text can be a session's token: 128 random bits, which nobody guesses. One that is not known is over.
pub(super) fn is_token(text: &str) -> bool {
    text.strip_prefix(SESSION_MARK)
        .is_some_and(|bits| bits.len() == 32 && bits.bytes().all(|byte| byte.is_ascii_hexdigit()))
}

/// A live session's facts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentSession {
    pub agent: Agent,
    /// The user the agent works for; without one the session combines with no user's credential.
    pub owner: Option<UserId>,
    /// The public id of the task the session is about, if any; counts only while that task is live.
    pub task: Option<String>,
}

#[async_trait]
pub trait AgentSessions: Send + Sync {
    /// Asked on every request, so that a session ends when it ends. `None`: unknown or over, and so invalid.
    async fn session(&self, token: &str) -> Result<Option<AgentSession>, RowsUnavailable>;
}

/// No keeper of sessions is loaded: every session token is invalid.
pub(super) struct NoSessions;

#[async_trait]
impl AgentSessions for NoSessions {
    async fn session(&self, _: &str) -> Result<Option<AgentSession>, RowsUnavailable> {
        Ok(None)
    }
}
