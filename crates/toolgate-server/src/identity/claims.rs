//! The facts a credential of Toolgate's own carries: an own token's claims, an API key's facts.

use std::{collections::BTreeSet, str::FromStr};

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use toolgate_core::{
    Caller,
    caller::{Agent, AgentKind, BadFact, Flow, Purpose, Role, Runtime, Tenant, UserId},
};

use super::{error::IdentityError, standing::Standing};

/// Every fact of `toolgate token mint`, in the words it is asked with.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Claims {
    #[serde(rename = "sub", skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tenant: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub role: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub plan: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub purpose: Option<String>,
    /// A task's public id. What the task may do comes from its row.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flow: Option<String>,
    /// The flow's allowlist. Absent: no limit. Empty: nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub allow: Option<BTreeSet<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub runtime: Option<String>,
    #[serde(rename = "scope", with = "spaced", skip_serializing_if = "BTreeSet::is_empty")]
    pub scopes: BTreeSet<String>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub operator: bool,
}

impl Claims {
    /// What someone who mints must be told: a role that is not a role would quietly become the lowest.
    pub(super) fn check(&self) -> Result<(), IdentityError> {
        if let Some(role) = &self.role {
            Role::from_str(role)?;
        }
        self.standing().map(drop)
    }

    /// Settles the words into facts. An unknown role is the lowest; any other unknown word is refused.
    pub(super) fn standing(&self) -> Result<Standing, IdentityError> {
        let caller = Caller {
            user: self.user.as_deref().map(UserId::own).transpose()?,
            tenant: self.tenant()?,
            agent: self.agent()?,
            task: None,
            flow: self.flow()?,
            runtime: word(self.runtime.as_deref())?.unwrap_or(Runtime::Server),
            scopes: self.scopes.clone(),
            operator: self.operator,
            unknown_task: false,
            session: None,
        };
        let claimed_task = self.task.as_deref().map(|id| named("task", id)).transpose()?;
        Ok(Standing::new(caller, claimed_task))
    }

    fn tenant(&self) -> Result<Option<Tenant>, IdentityError> {
        let Some(id) = &self.tenant else {
            needs("role", &self.role, "tenant")?;
            needs("plan", &self.plan, "tenant")?;
            return Ok(None);
        };
        let role = self.role.as_deref().map(Role::from_claim).unwrap_or_default();
        Ok(Some(Tenant { id: named("tenant", id)?, role, plan: self.plan.clone(), overrides: Default::default() }))
    }

    fn agent(&self) -> Result<Option<Agent>, IdentityError> {
        let Some(id) = &self.agent else {
            needs("kind", &self.kind, "agent")?;
            needs("project", &self.project, "agent")?;
            needs("purpose", &self.purpose, "agent")?;
            return Ok(None);
        };
        let kind = word::<AgentKind>(self.kind.as_deref())?;
        let kind = kind.ok_or(IdentityError::Lonely { fact: "agent", needs: "kind" })?;
        let purpose = word::<Purpose>(self.purpose.as_deref())?;
        Ok(Some(Agent { id: named("agent", id)?, kind, project: self.project.clone(), purpose, session: None }))
    }

    fn flow(&self) -> Result<Option<Flow>, IdentityError> {
        let Some(id) = &self.flow else {
            needs("allow", &self.allow, "flow")?;
            return Ok(None);
        };
        Ok(Some(Flow { id: named("flow", id)?, allowlist: self.allow.clone() }))
    }
}

fn word<T: FromStr<Err = BadFact>>(word: Option<&str>) -> Result<Option<T>, BadFact> {
    word.map(T::from_str).transpose()
}

fn named(fact: &'static str, name: &str) -> Result<String, BadFact> {
    if name.is_empty() || name.chars().any(char::is_control) {
        return Err(BadFact::new(fact, name, "a name without control characters"));
    }
    Ok(name.to_owned())
}

fn needs<T>(fact: &'static str, value: &Option<T>, needs: &'static str) -> Result<(), IdentityError> {
    if value.is_some() { Err(IdentityError::Lonely { fact, needs }) } else { Ok(()) }
}

/// OAuth writes scopes as one string with spaces.
mod spaced {
    use super::*;

    pub(super) fn serialize<S: Serializer>(scopes: &BTreeSet<String>, out: S) -> Result<S::Ok, S::Error> {
        out.serialize_str(&scopes.iter().map(String::as_str).collect::<Vec<_>>().join(" "))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<BTreeSet<String>, D::Error> {
        let text = Option::<String>::deserialize(from)?.unwrap_or_default();
        Ok(text.split_ascii_whitespace().map(str::to_owned).collect())
    }
}
