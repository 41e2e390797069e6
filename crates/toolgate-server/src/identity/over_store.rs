//! Identity's rows, read from the store. What a tenant bought and switched is shared by all who act for it.

use std::sync::Arc;

use arc_swap::ArcSwapOption;
use async_trait::async_trait;
use quick_cache::sync::Cache;
use toolgate_core::caller::UserId;
use toolgate_store::{RevocationKind, RevokedTokens, Rights, Store, StoreError, Task, tenants::TenantFacts};

use super::{
    revocation::Revocations,
    store::{IdentityStore, KeyRow, RowsUnavailable, TaskRow, TenantRow},
};

/// The store's rows, with a bounded memory of tenants that never outlives a change of them.
pub struct StoredRows {
    store: Store,
    rights: Rights,
    tenants: Cache<String, Arc<KnownTenant>>,
    revoked: ArcSwapOption<KnownRevocations>,
}

struct KnownRevocations {
    revision: u64,
    revocations: Arc<Revocations>,
}

struct KnownTenant {
    revision: u64,
    facts: TenantFacts,
}

impl StoredRows {
    /// `kept`: how many tenants are remembered.
    pub fn new(store: Store, kept: usize) -> Self {
        Self { rights: store.rights(), store, tenants: Cache::new(kept.max(1)), revoked: ArcSwapOption::empty() }
    }

    async fn facts(&self, tenant: &str) -> Result<Option<TenantFacts>, RowsUnavailable> {
        // Taken before reading: a change meanwhile makes what is remembered old at once.
        let revision = self.rights.revision(Some(tenant), None);
        if let Some(known) = self.tenants.get(tenant).filter(|known| known.revision == revision) {
            return Ok(Some(known.facts.clone()));
        }
        let facts = found(self.store.tenants().facts(tenant).await)?;
        if let Some(facts) = &facts {
            self.tenants.insert(tenant.to_owned(), Arc::new(KnownTenant { revision, facts: facts.clone() }));
        }
        Ok(facts)
    }
}

#[async_trait]
impl IdentityStore for StoredRows {
    async fn key(&self, prefix: &str) -> Result<Option<KeyRow>, RowsUnavailable> {
        let key = found(self.store.keys().find(prefix).await)?;
        Ok(key.map(|key| KeyRow {
            id: key.id,
            hash: key.hash,
            facts_json: key.facts,
            expires_at: key.expires_at,
            revoked_at: key.revoked_at,
        }))
    }

    async fn task_by_key(&self, hash: &[u8; 32]) -> Result<Option<TaskRow>, RowsUnavailable> {
        Ok(found(self.store.tasks().find_by_key(hash).await)?.map(row))
    }

    async fn task(&self, task_id: &str) -> Result<Option<TaskRow>, RowsUnavailable> {
        Ok(found(self.store.tasks().find(task_id).await)?.map(row))
    }

    async fn tenant(&self, tenant: &str, user: Option<&UserId>) -> Result<Option<TenantRow>, RowsUnavailable> {
        let Some(TenantFacts { plan, overrides }) = self.facts(tenant).await? else {
            // nobody is a member of a tenant that was removed: what a credential says of it counts no more
            let removed = TenantRow { plan: None, role: None, overrides: Arc::default() };
            let is_removed = found(self.store.tenants().is_removed(tenant).await.map(Some))?.unwrap_or(false);
            return Ok(is_removed.then_some(removed));
        };
        let member = match user {
            Some(user) => found(self.store.tenants().member(tenant, user.as_str()).await)?,
            None => None,
        };
        Ok(Some(TenantRow { plan: Some(plan), role: member.map(|member| member.role), overrides }))
    }

    async fn first_tenant(&self, user: &UserId) -> Result<Option<String>, RowsUnavailable> {
        let first = found(self.store.tenants().first_of_user(user.as_str()).await)?;
        Ok(first.map(|membership| membership.tenant))
    }

    async fn agent_at_work(&self, agent: &str, project: Option<&str>) -> Result<Option<bool>, RowsUnavailable> {
        found(self.store.team().agents().is_at_work(agent, project).await)
    }

    async fn revocations(&self) -> Result<Arc<Revocations>, RowsUnavailable> {
        let revision = self.rights.token_revision();
        if let Some(known) = self.revoked.load_full().filter(|known| known.revision == revision) {
            return Ok(Arc::clone(&known.revocations));
        }
        let rows = self.store.token_revocations().list().await;
        let rows = rows.map_err(|error| RowsUnavailable { reason: error.to_string() })?;
        let revocations = Arc::new(revocations(rows));
        self.revoked.store(Some(Arc::new(KnownRevocations { revision, revocations: Arc::clone(&revocations) })));
        Ok(revocations)
    }

    fn token_revision(&self) -> u64 {
        self.rights.token_revision()
    }

    fn is_current(&self) -> bool {
        self.rights.is_current()
    }

    async fn catch_up(&self) -> Result<(), RowsUnavailable> {
        self.rights.catch_up().await.map_err(|error| RowsUnavailable { reason: error.to_string() })
    }

    fn revision(&self, tenant: Option<&str>, user: Option<&UserId>) -> u64 {
        self.rights.revision(tenant, user.map(UserId::as_str))
    }
}

fn revocations(rows: Vec<RevokedTokens>) -> Revocations {
    let mut all = Revocations::default();
    for row in rows {
        let until = u64::try_from(row.issued_until).unwrap_or_default();
        match row.kind {
            RevocationKind::Token => drop(all.tokens.insert(row.name)),
            RevocationKind::Subject => drop(all.subjects.insert(row.name, until)),
            RevocationKind::Everyone => all.everyone = Some(until),
        }
    }
    all
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
