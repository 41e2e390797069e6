//! Agent sessions (`sess_…`), which `authenticate` issues: whoever keeps them answers for them here.

use async_trait::async_trait;
use toolgate_core::caller::{Agent, UserId};

use super::store::RowsUnavailable;

/// How a session's token begins. The rest is its keeper's business.
pub const SESSION_MARK: &str = "sess_";

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
