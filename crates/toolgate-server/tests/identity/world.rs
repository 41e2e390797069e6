//! An identity on rows in memory, and short words for what tests show it.

use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering},
    },
    time::Duration,
};

use async_trait::async_trait;
use toolgate_core::{Caller, caller::UserId};
use toolgate_server::identity::{
    ApiKey, Claims, Credentials, Identified, Identify, Identity, IdentityConfig, IdentityStore, KeyRow, OwnAlgorithm,
    OwnKey, Revocations, RowsUnavailable, Secret, TaskRow, TenantRow,
};

pub const HOUR: Duration = Duration::from_secs(3600);

#[derive(Default)]
pub struct Rows {
    pub keys: Mutex<HashMap<String, KeyRow>>,
    /// By hash of the task's key.
    pub tasks: Mutex<HashMap<[u8; 32], TaskRow>>,
    pub tenants: Mutex<HashMap<(String, Option<String>), TenantRow>>,
    /// Whether an agent works, by agent and project.
    pub agents: Mutex<HashMap<(String, Option<String>), bool>>,
    pub revocations: Mutex<Revocations>,
    pub revision: AtomicU64,
    pub down: AtomicBool,
    pub reads: AtomicUsize,
}

impl Rows {
    fn answer<T>(&self, row: Option<T>) -> Result<Option<T>, RowsUnavailable> {
        self.reads.fetch_add(1, Ordering::SeqCst);
        match self.down.load(Ordering::SeqCst) {
            true => Err(RowsUnavailable { reason: "the rows are out".into() }),
            false => Ok(row),
        }
    }
}

#[async_trait]
impl IdentityStore for Rows {
    async fn key(&self, prefix: &str) -> Result<Option<KeyRow>, RowsUnavailable> {
        self.answer(self.keys.lock().unwrap().get(prefix).cloned())
    }

    async fn task_by_key(&self, hash: &[u8; 32]) -> Result<Option<TaskRow>, RowsUnavailable> {
        self.answer(self.tasks.lock().unwrap().get(hash).cloned())
    }

    async fn task(&self, id: &str) -> Result<Option<TaskRow>, RowsUnavailable> {
        self.answer(self.tasks.lock().unwrap().values().find(|row| row.task_id == id).cloned())
    }

    async fn tenant(&self, tenant: &str, user: Option<&UserId>) -> Result<Option<TenantRow>, RowsUnavailable> {
        let tenants = self.tenants.lock().unwrap();
        let managed = tenants.keys().any(|(name, _)| name == tenant);
        let member = tenants.get(&(tenant.to_owned(), user.map(|user| user.to_string()))).cloned();
        let stranger = TenantRow { plan: None, role: None, overrides: Default::default() };
        self.answer(managed.then(|| member.unwrap_or(stranger)))
    }

    async fn first_tenant(&self, user: &UserId) -> Result<Option<String>, RowsUnavailable> {
        let tenants = self.tenants.lock().unwrap();
        let of_user = |(_, member): &&(String, Option<String>)| member.as_deref() == Some(user.as_str());
        self.answer(tenants.keys().filter(of_user).map(|(tenant, _)| tenant.clone()).min())
    }

    async fn agent_at_work(&self, agent: &str, project: Option<&str>) -> Result<Option<bool>, RowsUnavailable> {
        let agents = self.agents.lock().unwrap();
        self.answer(agents.get(&(agent.to_owned(), project.map(str::to_owned))).copied())
    }

    async fn revocations(&self) -> Result<Arc<Revocations>, RowsUnavailable> {
        Ok(Arc::new(self.revocations.lock().unwrap().clone()))
    }

    fn token_revision(&self) -> u64 {
        self.revision.load(Ordering::SeqCst)
    }

    fn is_current(&self) -> bool {
        !self.down.load(Ordering::SeqCst)
    }

    async fn catch_up(&self) -> Result<(), RowsUnavailable> {
        if self.is_current() { Ok(()) } else { Err(RowsUnavailable { reason: "the rows are out".into() }) }
    }

    fn revision(&self, _: Option<&str>, _: Option<&UserId>) -> u64 {
        self.revision.load(Ordering::SeqCst)
    }
}

pub struct World {
    pub identity: Identity,
    pub rows: Arc<Rows>,
}

pub fn own_key() -> OwnKey {
    OwnKey::from_secret(&Secret::new([42; 32]), OwnAlgorithm::Hs256).unwrap()
}

pub fn world() -> World {
    world_of(IdentityConfig::default())
}

pub fn world_of(config: IdentityConfig) -> World {
    world_with(own_key(), config)
}

pub fn world_with(key: OwnKey, config: IdentityConfig) -> World {
    let rows = Arc::new(Rows::default());
    let identity = Identity::new(config, key, Arc::clone(&rows) as _).unwrap();
    World { identity, rows }
}

impl World {
    pub fn mint(&self, claims: Claims) -> String {
        self.identity.mint(&claims, HOUR).unwrap().expose().to_owned()
    }

    pub fn user(&self, name: &str) -> String {
        self.mint(user(name))
    }

    pub fn agent(&self, name: &str, owner: Option<&str>) -> String {
        self.mint(agent(name, owner))
    }

    pub fn api_key(&self, facts: Claims) -> String {
        let (record, key) = ApiKey::generate(&facts, None).unwrap();
        let row = KeyRow {
            id: "k1".into(),
            hash: record.hash,
            facts_json: record.facts_json,
            expires_at: record.expires_at,
            revoked_at: None,
        };
        self.rows.keys.lock().unwrap().insert(record.prefix, row);
        key.expose().to_owned()
    }

    /// Starts a task; its secret key is the return value.
    pub fn task(&self, id: &str, owner: Option<&str>) -> String {
        let key = format!("secret-of-{id}");
        let hash = aws_lc_rs::digest::digest(&aws_lc_rs::digest::SHA256, key.as_bytes());
        let row = TaskRow {
            task_id: id.into(),
            owner: owner.map(Into::into),
            process: Some("p1".into()),
            is_orchestrator: false,
            live: true,
        };
        self.rows.tasks.lock().unwrap().insert(hash.as_ref().try_into().unwrap(), row);
        key
    }

    pub fn change_task(&self, id: &str, change: impl Fn(&mut TaskRow)) {
        self.rows.tasks.lock().unwrap().values_mut().filter(|row| row.task_id == id).for_each(change);
    }

    pub async fn ask(&self, credentials: Credentials<'_>) -> Identified {
        self.identity.identify(credentials).await.unwrap()
    }

    pub async fn bearer(&self, token: &str) -> Identified {
        self.ask(Credentials { bearer: Some(token), ..Credentials::default() }).await
    }

    pub async fn task_header(&self, key: &str) -> Identified {
        self.ask(Credentials { task_keys: &[key], ..Credentials::default() }).await
    }

    pub async fn holds(&self, token: &str) -> bool {
        let identified = self.bearer(token).await;
        assert_eq!(identified.rejected.is_some(), !identified.caller.is_signed_in());
        identified.caller.is_signed_in()
    }
}

pub fn user(name: &str) -> Claims {
    Claims { user: Some(name.into()), ..Claims::default() }
}

pub fn agent(name: &str, owner: Option<&str>) -> Claims {
    Claims {
        user: owner.map(Into::into),
        agent: Some(name.into()),
        kind: Some("worker".into()),
        project: Some("site".into()),
        purpose: Some("task".into()),
        ..Claims::default()
    }
}

/// Anonymous because of a credential.
pub fn assert_rejected(identified: &Identified) {
    assert!(identified.rejected.is_some());
    assert_eq!(*identified.caller, Caller::anonymous());
}

/// Anonymous, and nobody's fault. A task that is named in vain is remembered for the message alone.
pub fn assert_anonymous(identified: &Identified) {
    assert!(identified.rejected.is_none());
    let caller = Caller { unknown_task: false, ..(*identified.caller).clone() };
    assert_eq!(caller, Caller::anonymous());
}
