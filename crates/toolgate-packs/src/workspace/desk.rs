//! Where a caller works: its task, the process it may see, and the tenant whose knowledge it shares.

use toolgate_core::{Caller, caller::Task};
use toolgate_spine::Recorded;
use toolgate_store::{ArtifactRepository, KnowledgeRepository, ResultRepository, Store};

use crate::failure::Failure;

pub(crate) struct Desk<'c> {
    store: &'c Store,
    caller: &'c Caller,
    /// The header that carries a task's key.
    task_header: &'c str,
}

impl<'c> Desk<'c> {
    pub(crate) fn of(store: &'c Store, call: &'c Recorded) -> Self {
        Self { store, caller: call.caller(), task_header: call.gate().rulebook().task_header() }
    }

    pub(crate) fn task(&self) -> Result<&'c Task, Failure> {
        self.caller.task.as_ref().ok_or_else(|| match self.caller.unknown_task {
            true => Failure::task_gone(),
            false => Failure::no_task(self.task_header),
        })
    }

    /// A task of no process is a process of its own; without a task there is none.
    fn process(&self) -> Option<&'c str> {
        self.caller.task.as_ref().map(|task| task.process.as_deref().unwrap_or(&task.id))
    }

    /// The process's own, whoever else the caller is; for a process the store does not know, the caller's.
    async fn tenant(&self) -> Result<Option<String>, Failure> {
        let own = || self.caller.tenant.as_ref().map(|tenant| tenant.id.clone());
        let Some(process) = self.process() else { return Ok(own()) };
        let known = self.store.processes().tenant(process).await.map_err(|fault| Failure::store(&fault))?;
        Ok(known.unwrap_or_else(own))
    }

    pub(super) async fn results(&self) -> Result<Option<ResultRepository>, Failure> {
        let Some(process) = self.process() else { return Ok(None) };
        let tenant = self.tenant().await?;
        self.store.results(process, tenant.as_deref()).map(Some).map_err(|fault| Failure::store(&fault))
    }

    pub(super) async fn artifacts(&self) -> Result<Option<ArtifactRepository>, Failure> {
        let Some(process) = self.process() else { return Ok(None) };
        let tenant = self.tenant().await?;
        self.store.artifacts(process, tenant.as_deref()).map(Some).map_err(|fault| Failure::store(&fault))
    }

    pub(super) async fn knowledge(&self) -> Result<KnowledgeRepository, Failure> {
        let tenant = self.tenant().await?;
        self.store.knowledge(tenant.as_deref()).map_err(|fault| Failure::store(&fault))
    }
}
