//! The store: opens a database and hands out one room per kind of record.

use std::sync::Arc;

use tokio::sync::broadcast;

use aws_lc_rs::rand;

use crate::{
    Approvals, ArtifactRepository, Change, Changes, CutResults, Events, FitnessRepository, Flows, Keys,
    KnowledgeRepository, Location, Notices, Plans, Processes, Receipts, RestoredDatabase, ResultRepository, Retention,
    Rights, Secrets, Sessions, StoreError, Tasks, TodoRepository, TokenRevocations, UsageOf, VaultRepository,
    engine::Engine,
    error::Fault,
    ledger::{CheckpointKey, Ledger, LedgerReader, LedgerSettings},
    migration::SchemaPolicy,
    rights::Memory,
    team::Team,
    tenants::{CatalogRows, Edits, Tenants, Users},
};

/// An open database. Clones share its connections.
#[derive(Clone)]
pub struct Store {
    pub(crate) engine: Arc<Engine>,
    subscriptions: broadcast::WeakSender<Change>,
    rights: Arc<Memory>,
}

impl Store {
    /// Opens the database, creating and migrating it where needed. Must be called within a Tokio
    /// runtime.
    pub async fn open(location: &Location) -> Result<Self, StoreError> {
        Self::open_with(location, SchemaPolicy::Migrate).await
    }

    /// Opens the database without migrating it: one that needs that is refused. A new one is made.
    pub async fn open_unmigrated(location: &Location) -> Result<Self, StoreError> {
        Self::open_with(location, SchemaPolicy::Keep).await
    }

    /// Brings the database up to date, the tables of the ledger with it.
    pub async fn migrate(location: &Location) -> Result<(), StoreError> {
        let store = Self::open(location).await?;
        let migrated = match &*store.engine {
            Engine::Sqlite(_) => Ok(()),
            Engine::Postgres(engine) => engine.migrate_ledger().await,
        };
        store.close().await;
        migrated
    }

    async fn open_with(location: &Location, policy: SchemaPolicy) -> Result<Self, StoreError> {
        let (engine, subscriptions) = Engine::open(location, policy).await?;
        Ok(Self { engine: Arc::new(engine), subscriptions, rights: Arc::default() })
    }

    pub fn keys(&self) -> Keys {
        Keys::new(self.engine.clone())
    }

    pub fn tasks(&self) -> Tasks {
        Tasks::new(self.engine.clone())
    }

    pub fn sessions(&self) -> Sessions {
        Sessions::new(self.engine.clone())
    }

    pub fn secrets(&self) -> Secrets {
        Secrets::new(self.engine.clone())
    }

    /// What one user has open.
    pub fn usage(&self) -> UsageOf {
        UsageOf::new(self.engine.clone())
    }

    /// What removes rows that are over.
    pub fn retention(&self) -> Retention {
        Retention::new(self.engine.clone())
    }

    pub fn flows(&self) -> Flows {
        Flows::new(self.engine.clone())
    }

    pub fn approvals(&self) -> Approvals {
        Approvals::new(self.engine.clone())
    }

    /// What people are to be told of approvals.
    pub fn notices(&self) -> Notices {
        Notices::new(self.engine.clone())
    }

    pub fn receipts(&self) -> Receipts {
        Receipts::new(self.engine.clone())
    }

    /// What was too large for the call it answers.
    pub fn cut_results(&self) -> CutResults {
        CutResults::new(self.engine.clone())
    }

    pub fn plans(&self) -> Plans {
        Plans::new(self.engine.clone())
    }

    pub fn processes(&self) -> Processes {
        Processes::new(self.engine.clone())
    }

    /// Results of the tasks of exactly one process; `tenant` is whose searches find them.
    pub fn results(&self, process: &str, tenant: Option<&str>) -> Result<ResultRepository, StoreError> {
        ResultRepository::new(self.engine.clone(), process, tenant)
    }

    /// Artifacts of the tasks of exactly one process; `tenant` is whose searches find them.
    pub fn artifacts(&self, process: &str, tenant: Option<&str>) -> Result<ArtifactRepository, StoreError> {
        ArtifactRepository::new(self.engine.clone(), process, tenant)
    }

    /// The knowledge of exactly one tenant, or of no tenant, and the search over all that its tasks wrote.
    pub fn knowledge(&self, tenant: Option<&str>) -> Result<KnowledgeRepository, StoreError> {
        KnowledgeRepository::new(self.engine.clone(), tenant)
    }

    /// The todo list of exactly one user.
    pub fn todo(&self, user: &str) -> Result<TodoRepository, StoreError> {
        TodoRepository::new(self.engine.clone(), user)
    }

    /// What exactly one user trains, eats and wants.
    pub fn fitness(&self, user: &str) -> Result<FitnessRepository, StoreError> {
        FitnessRepository::new(self.engine.clone(), user)
    }

    /// Opens the ledger as a new writer: once for a process.
    pub async fn ledger(&self, settings: LedgerSettings) -> Result<Ledger, StoreError> {
        Ledger::open(self.engine.clone(), settings).await
    }

    /// The ledger to be read: nothing is written to it or created for it. `None` if no process has ever opened it here.
    pub async fn ledger_reader(&self) -> Result<Option<LedgerReader>, StoreError> {
        LedgerReader::open(self.engine.clone()).await
    }

    /// The key that signs the ledger's checkpoints, shared by all replicas; made when it is first asked for.
    pub async fn ledger_key(&self) -> Result<CheckpointKey, StoreError> {
        let failed = |reason: &str| Fault::Other(reason.to_owned()).during("get the ledger's key");
        let mut seed = [0; 32];
        rand::fill(&mut seed).map_err(|_| failed("the system has no random numbers"))?;
        let seed = self.secrets().get_or_create("ledger-key", || seed.to_vec()).await?;
        CheckpointKey::from_seed(&seed).map_err(|bad| failed(&bad.to_string()))
    }

    /// What is remembered of exactly one vault.
    pub fn vault(&self, name: &str) -> Result<VaultRepository, StoreError> {
        VaultRepository::new(self.engine.clone(), name)
    }

    /// Agents, their projects and their sessions.
    pub fn team(&self) -> Team {
        Team::new(self.engine.clone())
    }

    pub fn tenants(&self) -> Tenants {
        Tenants::new(self.engine.clone())
    }

    pub fn users(&self) -> Users {
        Users::new(self.engine.clone())
    }

    /// What the operator says of tools.
    pub fn catalog(&self) -> CatalogRows {
        CatalogRows::new(self.engine.clone())
    }

    /// Changes of tenants, users and the catalogue.
    pub fn edits(&self) -> Edits {
        Edits::new(self.engine.clone(), self.rights())
    }

    /// What this process may remember of tenants, users and the catalogue.
    pub fn rights(&self) -> Rights {
        Rights::new(self.engine.clone(), self.rights.clone())
    }

    /// Own tokens that were revoked before they expired.
    pub fn token_revocations(&self) -> TokenRevocations {
        TokenRevocations::new(self.engine.clone(), self.rights())
    }

    /// What one principal noted.
    pub fn events(&self, principal: &str) -> Events {
        Events::new(self.engine.clone(), principal)
    }

    /// Changes committed from now on, by this process and, as far as the engine can tell, by
    /// others: PostgreSQL names each change to every replica; SQLite names its own and says
    /// `Resync` when another process wrote.
    pub fn changes(&self) -> Changes {
        let closed = || broadcast::channel(1).1;
        Changes::new(self.subscriptions.upgrade().map_or_else(closed, |announcer| announcer.subscribe()))
    }

    /// What is missing, where the database is an older copy of itself: nothing is written to it until it is accepted.
    /// With PostgreSQL the ledger goes back together with the rest, and only checkpoints kept elsewhere tell.
    pub fn restored(&self) -> Option<RestoredDatabase> {
        match &*self.engine {
            Engine::Sqlite(engine) => engine.restored(),
            Engine::Postgres(_) => None,
        }
    }

    /// Lets an older copy of the database count as the newest.
    pub async fn accept_restore(&self) -> Result<(), StoreError> {
        match &*self.engine {
            Engine::Sqlite(engine) => engine.accept_restore().await,
            Engine::Postgres(_) => Ok(()),
        }
    }

    /// How many steps SQLite's machine has taken for what was asked here so far: what a question costs, whatever else its
    /// computer does. PostgreSQL does not say.
    pub fn steps(&self) -> Option<u64> {
        match &*self.engine {
            Engine::Sqlite(engine) => Some(engine.steps()),
            Engine::Postgres(_) => None,
        }
    }

    /// Whether the database takes writes now.
    pub async fn ping(&self) -> Result<(), StoreError> {
        self.engine.ping().await
    }

    /// Finishes what is under way and lets go of the database; every later call, by any clone,
    /// fails.
    pub async fn close(&self) {
        self.engine.close().await;
    }
}
