//! Identity's questions, answered by the store.

use async_trait::async_trait;
use toolgate_core::caller::UserId;
use toolgate_store::{Store, StoreError, Task};

use super::{
    contract::IdentityUnavailable,
    store::{IdentityStore, KeyRow, TaskRow, TenantRow},
};

pub struct StoreRows {
    store: Store,
}

impl StoreRows {
    pub fn new(store: Store) -> Self {
        Self { store }
    }
}

#[async_trait]
impl IdentityStore for StoreRows {
    async fn key(&self, prefix: &str) -> Result<Option<KeyRow>, IdentityUnavailable> {
        let key = self.store.keys().find(prefix).await.map_err(|fault| unavailable(&fault))?;
        Ok(key.map(|key| KeyRow {
            id: key.id,
            hash: key.hash,
            facts_json: key.facts,
            expires_at: key.expires_at,
            revoked_at: key.revoked_at,
        }))
    }

    async fn task_by_key(&self, hash: &[u8; 32]) -> Result<Option<TaskRow>, IdentityUnavailable> {
        self.store.tasks().find_by_key(hash).await.map(|task| task.map(row)).map_err(|fault| unavailable(&fault))
    }

    async fn task(&self, task_id: &str) -> Result<Option<TaskRow>, IdentityUnavailable> {
        self.store.tasks().find(task_id).await.map(|task| task.map(row)).map_err(|fault| unavailable(&fault))
    }

    /// No tenant is kept in the store yet: a credential's word is all there is.
    async fn tenant(&self, _tenant: &str, _user: Option<&UserId>) -> Result<Option<TenantRow>, IdentityUnavailable> {
        Ok(None)
    }

    fn revision(&self) -> u64 {
        0
    }
}

fn row(task: Task) -> TaskRow {
    TaskRow {
        task_id: task.task_id,
        owner: task.owner,
        process: task.process,
        is_orchestrator: task.is_orchestrator,
        live: task.live,
    }
}

/// The store's own words are for the log; the caller hears that it may try again.
fn unavailable(fault: &StoreError) -> IdentityUnavailable {
    tracing::error!(%fault, "identity could not ask the store");
    IdentityUnavailable { reason: "the store does not answer".to_owned() }
}
