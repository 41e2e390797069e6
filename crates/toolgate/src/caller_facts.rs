//! A caller described in words: for `explain --as`, for policy tests, and for minting.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use serde::Deserialize;
use toolgate_core::{
    Caller,
    caller::{Agent, Flow, Task, Tenant, UserId},
};
use toolgate_server::identity::Claims;
use toolgate_store::{Store, StoreError};

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
            let (key, value) = pair.split_once('=').ok_or_else(|| format!("'--as {pair}' is not KEY=VALUE"))?;
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

    /// The tenant a user acts for who says nothing of one, with role, plan and switches: as the store has it.
    pub async fn tenant_of_store(&self, store: &Store) -> Result<Option<Tenant>, StoreError> {
        let (Some(user), None) = (&self.user, &self.tenant) else { return Ok(None) };
        let Some(first) = store.tenants().first_of_user(user).await? else { return Ok(None) };
        let facts = store.tenants().facts(&first.tenant).await?;
        Ok(facts.map(|facts| Tenant {
            id: first.tenant,
            role: first.role,
            plan: Some(facts.plan),
            overrides: facts.overrides,
        }))
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
