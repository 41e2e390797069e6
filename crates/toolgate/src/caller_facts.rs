//! A caller described in words: for `explain --as`, for policy tests, and for minting.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use serde::Deserialize;
use toolgate_core::{
    Caller,
    caller::{Agent, Flow, Role, Task, Tenant, UserId},
};
use toolgate_server::identity::Claims;
use toolgate_store::{Store, StoreError, tenants::TenantFacts};

use crate::{Misuse, cli::FactArgs};

/// The facts by the names that `token mint` has for them, and those only the store knows.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct CallerFacts {
    user: Option<String>,
    tenant: Option<String>,
    role: Option<String>,
    plan: Option<String>,
    overrides: BTreeMap<String, bool>,
    agent: Option<String>,
    kind: Option<String>,
    project: Option<String>,
    purpose: Option<String>,
    task: Option<String>,
    process: Option<String>,
    orchestrator: bool,
    flow: Option<String>,
    allow: Option<BTreeSet<String>>,
    runtime: Option<String>,
    scopes: BTreeSet<String>,
    operator: bool,
}

impl CallerFacts {
    /// From `key=value` pairs; `scope`, `allow` and `override` may come again.
    pub fn from_pairs(pairs: &[String]) -> Result<Self, Misuse> {
        let mut table = toml::Table::new();
        for pair in pairs {
            let (key, value) = pair
                .split_once('=')
                .ok_or_else(|| format!("'--as {pair}' is not KEY=VALUE; for a user write --as user={pair}"))?;
            let text = || toml::Value::String(value.to_owned());
            match key {
                "scope" => push(&mut table, "scopes", text()),
                "allow" if value.is_empty() => {
                    table.insert("allow".to_owned(), toml::Value::Array(Vec::new()));
                }
                "allow" => push(&mut table, "allow", text()),
                "orchestrator" | "operator" => {
                    let flag = value.parse().map_err(|_| format!("'--as {pair}' is neither true nor false"))?;
                    table.insert(key.to_owned(), toml::Value::Boolean(flag));
                }
                "override" => {
                    let (tool, state) = value.split_once(':').ok_or("write --as override=TOOL:on or TOOL:off")?;
                    let entry = table.entry("overrides").or_insert_with(|| toml::Value::Table(toml::Table::new()));
                    if let Some(overrides) = entry.as_table_mut() {
                        overrides.insert(tool.to_owned(), toml::Value::Boolean(state == "on"));
                    }
                }
                _ => {
                    table.insert(key.to_owned(), text());
                }
            }
        }
        table.try_into().map_err(|fault: toml::de::Error| format!("--as: {}", fault.message()).into())
    }

    /// The tenant that the caller acts for, as a call would find it in the store: the one that is named or the user's first,
    /// with the stored role, plan and overrides. A task or an agent without a user acts within its owner's. Facts that are
    /// named count in the place of the stored ones. `None` where the store says nothing.
    pub async fn tenant_of_store(&self, store: &Store) -> Result<Option<Tenant>, StoreError> {
        let owner = if self.user.is_none() { self.owner_of_store(store).await? } else { None };
        let (id, first_role) = match (&self.tenant, self.user.as_ref().or(owner.as_ref())) {
            (Some(id), _) => (id.clone(), None),
            (None, Some(user)) => match store.tenants().first_of_user(user).await? {
                // the owner's role stays the owner's
                Some(first) => (first.tenant, Some(if self.user.is_some() { first.role } else { Role::default() })),
                None => return Ok(None),
            },
            (None, None) => return Ok(None),
        };
        let Some(TenantFacts { plan, overrides }) = store.tenants().facts(&id).await? else {
            let is_removed = store.tenants().is_removed(&id).await?;
            return if is_removed { Err(not_a_member(self.user.as_deref(), &id)) } else { Ok(None) };
        };
        let named_role = self.role.as_deref().map(str::parse::<Role>).transpose();
        let named_role = named_role.map_err(|reason| invalid(reason.to_string()))?;
        let role = match (named_role.or(first_role), &self.user) {
            (Some(role), _) => role,
            (None, Some(user)) => {
                let member = store.tenants().member(&id, user).await?;
                member.ok_or_else(|| not_a_member(Some(user), &id))?.role
            }
            (None, None) => return Err(not_a_member(None, &id)),
        };
        let overrides = if self.overrides.is_empty() {
            overrides
        } else {
            let named = self.overrides.iter().map(|(tool, on)| (tool.clone(), *on));
            Arc::new(overrides.iter().map(|(tool, on)| (tool.clone(), *on)).chain(named).collect())
        };
        Ok(Some(Tenant { id, role, plan: self.plan.clone().or(Some(plan)), overrides }))
    }

    /// The task that is named, as the store has it, where nothing else is said of it.
    pub async fn task_of_store(&self, store: &Store) -> Result<Option<Task>, StoreError> {
        let Some(task) = self.task.as_ref().filter(|_| self.process.is_none() && !self.orchestrator) else {
            return Ok(None);
        };
        let row = store.tasks().find(task).await?;
        Ok(row.map(|row| Task { id: row.task_id, process: row.process, orchestrator: row.is_orchestrator }))
    }

    /// The user to whom the task or the agent belongs.
    async fn owner_of_store(&self, store: &Store) -> Result<Option<String>, StoreError> {
        if let Some(task) = &self.task {
            return Ok(store.tasks().find(task).await?.and_then(|task| task.owner));
        }
        match &self.agent {
            Some(agent) => Ok(store.team().agents().get(agent).await?.and_then(|agent| agent.owner)),
            None => Ok(None),
        }
    }

    pub fn caller(&self) -> Result<Caller, Misuse> {
        let lonely = |fact: &str, given: bool, of: &str| -> Result<(), Misuse> {
            if given { Err(format!("the fact '{fact}' means nothing without '{of}'").into()) } else { Ok(()) }
        };
        if self.tenant.is_none() {
            lonely("role", self.role.is_some(), "tenant")?;
            lonely("plan", self.plan.is_some(), "tenant")?;
            lonely("override", !self.overrides.is_empty(), "tenant")?;
        }
        if self.agent.is_none() {
            lonely("kind", self.kind.is_some(), "agent")?;
            lonely("project", self.project.is_some(), "agent")?;
            lonely("purpose", self.purpose.is_some(), "agent")?;
        }
        if self.task.is_none() {
            lonely("orchestrator", self.orchestrator, "task")?;
            lonely("process", self.process.is_some(), "task")?;
        }
        lonely("allow", self.flow.is_none() && self.allow.is_some(), "flow")?;
        Ok(Caller {
            user: self.user.as_deref().map(UserId::own).transpose()?,
            tenant: match &self.tenant {
                Some(id) => Some(Tenant {
                    id: id.clone(),
                    role: self.role.as_deref().map(str::parse).transpose()?.unwrap_or_default(),
                    plan: self.plan.clone(),
                    overrides: Arc::new(self.overrides.clone().into()),
                }),
                None => None,
            },
            agent: match &self.agent {
                Some(id) => Some(Agent {
                    id: id.clone(),
                    kind: self
                        .kind
                        .as_deref()
                        .ok_or("an agent needs 'kind': coordinator, manager or worker")?
                        .parse()?,
                    project: self.project.clone(),
                    purpose: self.purpose.as_deref().map(str::parse).transpose()?,
                    session: None,
                }),
                None => None,
            },
            task: self.task.clone().map(|id| Task {
                id,
                process: self.process.clone(),
                orchestrator: self.orchestrator,
            }),
            flow: self.flow.clone().map(|id| Flow { id, allowlist: self.allow.clone() }),
            runtime: self.runtime.as_deref().map(str::parse).transpose()?.unwrap_or_default(),
            scopes: self.scopes.clone(),
            operator: self.operator,
            unknown_task: false,
            session: None,
        })
    }
}

fn invalid(reason: String) -> StoreError {
    StoreError::Invalid { operation: "look up the caller", reason }
}

/// A credential that says so is refused, so that there is no such caller.
fn not_a_member(user: Option<&str>, tenant: &str) -> StoreError {
    let user = user.map_or_else(|| "a caller without a user".to_owned(), |user| format!("the user '{user}'"));
    invalid(format!(
        "{user} is not a member of the tenant '{tenant}', and a credential that says so is refused; name the role to ask what \
         would be: --as role=member"
    ))
}

fn push(table: &mut toml::Table, key: &str, value: toml::Value) {
    let entry = table.entry(key).or_insert_with(|| toml::Value::Array(Vec::new()));
    if let Some(items) = entry.as_array_mut() {
        items.push(value);
    }
}

impl From<FactArgs> for Claims {
    fn from(args: FactArgs) -> Self {
        Self {
            user: args.user,
            tenant: args.tenant,
            role: args.role,
            plan: args.plan,
            agent: args.agent,
            kind: args.kind,
            project: args.project,
            purpose: args.purpose,
            task: args.task,
            flow: args.flow,
            // `--allow ""` is the empty list: nothing
            allow: (!args.allow.is_empty()).then(|| args.allow.into_iter().filter(|tool| !tool.is_empty()).collect()),
            runtime: args.runtime,
            scopes: args.scopes.into_iter().collect(),
            operator: args.operator,
        }
    }
}
