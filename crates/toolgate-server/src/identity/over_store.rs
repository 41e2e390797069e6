//! Identity's rows, read from the store.

use async_trait::async_trait;
use toolgate_core::caller::UserId;
use toolgate_store::{Store, StoreError, Task};

use super::store::{IdentityStore, KeyRow, RowsUnavailable, TaskRow, TenantRow};

#[async_trait]
impl IdentityStore for Store {
    async fn key(&self, prefix: &str) -> Result<Option<KeyRow>, RowsUnavailable> {
        let key = found(self.keys().find(prefix).await)?;
        Ok(key.map(|key| KeyRow {
            id: key.id,
            hash: key.hash,
            facts_json: key.facts,
            expires_at: key.expires_at,
            revoked_at: key.revoked_at,
        }))
    }

    async fn task_by_key(&self, hash: &[u8; 32]) -> Result<Option<TaskRow>, RowsUnavailable> {
        Ok(found(self.tasks().find_by_key(hash).await)?.map(row))
    }

    async fn task(&self, task_id: &str) -> Result<Option<TaskRow>, RowsUnavailable> {
        Ok(found(self.tasks().find(task_id).await)?.map(row))
    }

    /// The store holds no tenants yet: a credential's word is all there is.
    async fn tenant(&self, _: &str, _: Option<&UserId>) -> Result<Option<TenantRow>, RowsUnavailable> {
        Ok(None)
    }

    /// Nothing that identity remembers depends on rows, so nothing can go stale.
    fn revision(&self) -> u64 {
        0
    }
}

/// A name the store can't hold (too long, a NUL) is a name no row has; it must not look like a store in trouble.
fn found<T>(answer: Result<Option<T>, StoreError>) -> Result<Option<T>, RowsUnavailable> {
    match answer {
        Ok(row) => Ok(row),
        Err(StoreError::Invalid { .. }) => Ok(None),
        Err(error) => Err(RowsUnavailable { reason: error.to_string() }),
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
