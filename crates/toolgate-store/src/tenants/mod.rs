//! Tenants with their members and switches, the users they have, and what the operator says of tools.
//!
//! INVARIANT: every change here goes through [`crate::Rights`], so that nobody serves what was before it.

mod catalog;
mod edits;
mod members;
mod overrides;
mod users;

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use toolgate_core::caller::{Overrides, Role};

pub use catalog::{CatalogChange, CatalogRow, CatalogRows};
pub use edits::{Edit, Edits, Moment, Row};
pub use members::{Member, MemberFault, Membership};
pub use overrides::{Override, Switch};
pub use users::{User, UserChange, Users};

use crate::{
    Mark, Page, Paging, Rights, StoreError,
    engine::Engine,
    error::Fault,
    ids,
    page::Listed,
    rights::Subject,
    statement::{FromRow, Row as Cells, Statement, Value},
};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tenant {
    pub id: String,
    pub name: String,
    /// A plan's name; whether there is such a plan, the gate's order of plans says.
    pub plan: String,
    pub created_at: i64,
}

/// What is to be different; what is absent stays.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TenantChange {
    pub name: Option<String>,
    pub plan: Option<String>,
}

/// A tenant as one of its members meets it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TenantFacts {
    pub plan: String,
    pub overrides: Arc<Overrides>,
}

pub struct Tenants {
    engine: Arc<Engine>,
    rights: Rights,
}

macro_rules! columns {
    () => {
        "id, name, plan, created_at"
    };
}
const ADD: &str =
    concat!("INSERT INTO tenants (id, name, plan, created_at) VALUES ($1, $2, $3, $4) RETURNING ", columns!());
const GET: &str = concat!("SELECT ", columns!(), " FROM tenants WHERE id = $1");
const LIST: &str = concat!(
    "SELECT ",
    columns!(),
    " FROM tenants WHERE (created_at, id) < ($1, $2) ORDER BY created_at DESC, id DESC LIMIT $3"
);
const CHANGE: &str = concat!(
    "UPDATE tenants SET name = coalesce($2, name), plan = coalesce($3, plan) WHERE id = $1 RETURNING ",
    columns!()
);
const REMOVE: &str = concat!("DELETE FROM tenants WHERE id = $1 RETURNING ", columns!());

impl Tenants {
    pub(crate) fn new(engine: Arc<Engine>, rights: Rights) -> Self {
        Self { engine, rights }
    }

    /// A tenant that exists already is a [`StoreError::Duplicate`].
    pub async fn add(&self, tenant: Tenant) -> Result<Tenant, StoreError> {
        let operation = "add a tenant";
        ids::check(operation, &tenant.id)?;
        let about = Subject::Tenant(tenant.id.clone());
        let values =
            [Value::Id(tenant.id), Value::Id(tenant.name), Value::Id(tenant.plan), Value::int(tenant.created_at)];
        let added = self.rights.change(operation, [about], vec![Statement::new(ADD, values)]).await?;
        added.into_iter().next().ok_or_else(|| Fault::Other("the tenant was not stored".to_owned()).during(operation))
    }

    pub async fn get(&self, id: &str) -> Result<Option<Tenant>, StoreError> {
        self.engine.find("look up a tenant", get(id)).await
    }

    /// Newest first.
    pub async fn list(&self, paging: &Paging) -> Result<Page<Tenant>, StoreError> {
        Ok(paging.page(self.engine.read("list the tenants", Statement::new(LIST, paging.values())).await?))
    }

    /// `None` if there is no such tenant.
    pub async fn change(&self, id: &str, change: TenantChange) -> Result<Option<Tenant>, StoreError> {
        let values = [
            Value::id(id),
            change.name.map_or(Value::Text(None), Value::Id),
            change.plan.map_or(Value::Text(None), Value::Id),
        ];
        let about = Subject::Tenant(id.to_owned());
        let changed = self.rights.change("change a tenant", [about], vec![Statement::new(CHANGE, values)]).await?;
        Ok(changed.into_iter().next())
    }

    /// With its members and its overrides. `None` if there is no such tenant.
    pub async fn remove(&self, id: &str) -> Result<Option<Tenant>, StoreError> {
        let remove = Statement::new(REMOVE, [Value::id(id)]);
        // whoever was a member has another first tenant now
        let removed = self.rights.change("remove a tenant", [Subject::Everybody], vec![remove]).await?;
        Ok(removed.into_iter().next())
    }

    /// What its plan and its overrides are; `None` if there is no such tenant.
    pub async fn facts(&self, id: &str) -> Result<Option<TenantFacts>, StoreError> {
        let Some(tenant) = self.get(id).await? else { return Ok(None) };
        let switches = self.overrides(id).await?.into_iter().map(|switched| (switched.tool, switched.enabled));
        let overrides = Arc::new(switches.collect());
        Ok(Some(TenantFacts { plan: tenant.plan, overrides }))
    }

    fn edits(&self) -> Edits {
        Edits::new(self.engine.clone(), self.rights.clone())
    }

    async fn must_exist(&self, tenant: &str) -> Result<(), MemberFault> {
        match self.get(tenant).await? {
            Some(_) => Ok(()),
            None => Err(MemberFault::UnknownTenant { tenant: tenant.chars().take(100).collect() }),
        }
    }
}

fn get(id: &str) -> Statement {
    Statement::new(GET, [Value::id(id)])
}

impl Listed for Tenant {
    fn mark(&self) -> Mark {
        Mark { at: self.created_at, id: self.id.clone() }
    }
}

impl FromRow for Tenant {
    fn from_row(row: &mut Cells) -> Result<Self, Fault> {
        Ok(Tenant { id: row.text()?, name: row.text()?, plan: row.text()?, created_at: row.int()? })
    }
}

fn role(row: &mut Cells) -> Result<Role, Fault> {
    let word = row.text()?;
    word.parse()
        .map_err(|_| Fault::Other(format!("a stored role is '{word}', which is none; the database was changed")))
}
