//! What identity asks of the store: the rows that beat a credential's own word.

use std::sync::Arc;

use async_trait::async_trait;
use toolgate_core::caller::{Overrides, Role, UserId};

use super::revocation::Revocations;

/// The rows could not be read. Says nothing about whether they are there.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("identity's rows can't be read: {reason}")]
pub struct RowsUnavailable {
    pub reason: String,
}

/// An API key's row. The key itself is stored nowhere.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyRow {
    pub id: String,
    /// SHA-256 of the whole key.
    pub hash: [u8; 32],
    /// The same fields as an own token's claims.
    pub facts_json: String,
    /// Unix milliseconds.
    pub expires_at: Option<i64>,
    pub revoked_at: Option<i64>,
}

/// A task's row, with the facts that no credential may state for itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskRow {
    /// The public id.
    pub task_id: String,
    /// A user, written as [`UserId`] writes it.
    pub owner: Option<String>,
    pub process: Option<String>,
    pub is_orchestrator: bool,
    /// Neither this task nor any of its ancestors has finished.
    pub live: bool,
}

/// A tenant the store manages, as one user sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TenantRow {
    pub plan: Option<String>,
    /// The user's role there. Absent: not a member.
    pub role: Option<Role>,
    pub overrides: Arc<Overrides>,
}

#[async_trait]
pub trait IdentityStore: Send + Sync {
    async fn key(&self, prefix: &str) -> Result<Option<KeyRow>, RowsUnavailable>;

    /// By SHA-256 of the task's secret key.
    async fn task_by_key(&self, hash: &[u8; 32]) -> Result<Option<TaskRow>, RowsUnavailable>;

    /// By public id.
    async fn task(&self, task_id: &str) -> Result<Option<TaskRow>, RowsUnavailable>;

    /// `None`: the store has never managed this tenant, and a credential's word is all there is. One that was removed has
    /// no members.
    async fn tenant(&self, tenant: &str, user: Option<&UserId>) -> Result<Option<TenantRow>, RowsUnavailable>;

    /// The tenant a user acts for whose credential names none; `None` where the store knows of none.
    async fn first_tenant(&self, user: &UserId) -> Result<Option<String>, RowsUnavailable>;

    /// Whether an agent may work, in the project where one is named; `None`: the store does not know the agent, and a
    /// credential's word is all there is.
    async fn agent_at_work(&self, agent: &str, project: Option<&str>) -> Result<Option<bool>, RowsUnavailable>;

    /// Every revocation of own tokens.
    async fn revocations(&self) -> Result<Arc<Revocations>, RowsUnavailable>;

    /// Another number after every revocation.
    fn token_revision(&self) -> u64;

    /// Whether every change of tenants and members has been heard of, so that revisions can be relied on. Does not wait.
    fn is_current(&self) -> bool;

    /// Hears of what was missed.
    async fn catch_up(&self) -> Result<(), RowsUnavailable>;

    /// Another number after every change of this tenant or this user.
    fn revision(&self, tenant: Option<&str>, user: Option<&UserId>) -> u64;
}
