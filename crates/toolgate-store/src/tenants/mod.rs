//! Tenants with their members and switches, the users they have, and what the operator says of tools.
//!
//! INVARIANT: everything here is changed by [`Edits`], which goes through [`crate::Rights`], so that nobody serves what was
//! before a change.

mod catalog;
mod edits;
mod members;
mod overrides;
mod users;

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use toolgate_core::caller::{Overrides, Role};

pub use catalog::{CatalogChange, CatalogRow, CatalogRows};
pub use edits::{Edit, EditFault, Edits, Moment, Row};
pub use members::{Member, Membership};
pub use overrides::Override;
pub use users::{User, Users};

use crate::{
    Mark, Page, Paging, StoreError,
    engine::{Engine, Touched},
    error::Fault,
    page::Listed,
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

/// A tenant as one of its members meets it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TenantFacts {
    pub plan: String,
    pub overrides: Arc<Overrides>,
}

pub struct Tenants {
    engine: Arc<Engine>,
}

macro_rules! columns {
    () => {
        "id, name, plan, created_at"
    };
}
const GET: &str = concat!("SELECT ", columns!(), " FROM tenants WHERE id = $1");
const IS_REMOVED: &str = "SELECT id FROM removed_tenants WHERE id = $1";
const LIST: &str = concat!(
    "SELECT ",
    columns!(),
    " FROM tenants WHERE (created_at, id) < ($1, $2) ORDER BY created_at DESC, id DESC LIMIT $3"
);

impl Tenants {
    pub(crate) fn new(engine: Arc<Engine>) -> Self {
        Self { engine }
    }

    pub async fn get(&self, id: &str) -> Result<Option<Tenant>, StoreError> {
        self.engine.find("look up a tenant", get(id)).await
    }

    /// Returns true if there was a tenant of this name and it was removed.
    pub async fn is_removed(&self, id: &str) -> Result<bool, StoreError> {
        let found: Option<Touched> =
            self.engine.find("look up a removed tenant", Statement::new(IS_REMOVED, [Value::id(id)])).await?;
        Ok(found.is_some())
    }

    /// Newest first.
    pub async fn list(&self, paging: &Paging) -> Result<Page<Tenant>, StoreError> {
        Ok(paging.page(self.engine.read("list the tenants", Statement::new(LIST, paging.values())).await?))
    }

    /// What its plan and its overrides are; `None` if there is no such tenant.
    pub async fn facts(&self, id: &str) -> Result<Option<TenantFacts>, StoreError> {
        let Some(tenant) = self.get(id).await? else { return Ok(None) };
        let switches = self.overrides(id).await?.into_iter().map(|switched| (switched.tool, switched.enabled));
        let overrides = Arc::new(switches.collect());
        Ok(Some(TenantFacts { plan: tenant.plan, overrides }))
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
