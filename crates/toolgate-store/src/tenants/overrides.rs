//! A tenant's own switches: a tool on or off, by whom and why.

use serde::{Deserialize, Serialize};

use super::{MemberFault, Tenants};
use crate::{
    StoreError,
    error::Fault,
    rights::Subject,
    statement::{FromRow, Row, Statement, Value},
};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Override {
    pub tenant: String,
    /// The canonical name.
    pub tool: String,
    pub enabled: bool,
    /// The principal that switched it.
    pub changed_by: String,
    pub reason: Option<String>,
    pub changed_at: i64,
}

/// One of many switches to set. Without `enabled` the override is taken away.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Switch {
    pub tenant: String,
    pub tool: String,
    pub enabled: Option<bool>,
    pub reason: Option<String>,
}

macro_rules! columns {
    () => {
        "tenant, tool, enabled, changed_by, reason, changed_at"
    };
}
const SET: &str = concat!(
    "INSERT INTO overrides (tenant, tool, enabled, changed_by, reason, changed_at) VALUES ($1, $2, $3, $4, $5, $6)
    ON CONFLICT (tenant, tool) DO UPDATE SET enabled = excluded.enabled, changed_by = excluded.changed_by,
        reason = excluded.reason, changed_at = excluded.changed_at
    RETURNING ",
    columns!()
);
const REMOVE: &str = concat!("DELETE FROM overrides WHERE tenant = $1 AND tool = $2 RETURNING ", columns!());
const GET: &str = concat!("SELECT ", columns!(), " FROM overrides WHERE tenant = $1 AND tool = $2");
const OF_TENANT: &str = concat!("SELECT ", columns!(), " FROM overrides WHERE tenant = $1 ORDER BY tool");
const AFTER: &str =
    concat!("SELECT ", columns!(), " FROM overrides WHERE (tenant, tool) > ($1, $2) ORDER BY tenant, tool LIMIT $3");

impl Tenants {
    pub async fn set_override(&self, switched: Override) -> Result<Override, MemberFault> {
        let operation = "set an override";
        self.must_exist(&switched.tenant).await?;
        let about = Subject::Tenant(switched.tenant.clone());
        let set = self.rights.change(operation, [about], vec![set(switched)]).await?;
        let missing = || Fault::Other("the override was not stored".to_owned()).during(operation);
        Ok(set.into_iter().next().ok_or_else(missing)?)
    }

    /// The override there was; `None` if there was none.
    pub async fn remove_override(&self, tenant: &str, tool: &str) -> Result<Option<Override>, StoreError> {
        let about = Subject::Tenant(tenant.to_owned());
        let removed = self.rights.change("remove an override", [about], vec![remove(tenant, tool)]).await?;
        Ok(removed.into_iter().next())
    }

    pub async fn get_override(&self, tenant: &str, tool: &str) -> Result<Option<Override>, StoreError> {
        self.engine.find("look up an override", get(tenant, tool)).await
    }

    /// All of one tenant, by tool.
    pub async fn overrides(&self, tenant: &str) -> Result<Vec<Override>, StoreError> {
        self.engine.read("list the overrides", Statement::new(OF_TENANT, [Value::id(tenant)])).await
    }

    /// Those of all tenants after a tenant and a tool, `limit` at most: for taking all of them out, page by page.
    pub async fn overrides_after(&self, (tenant, tool): (&str, &str), limit: u32) -> Result<Vec<Override>, StoreError> {
        let values = [Value::text(tenant), Value::text(tool), Value::int(i64::from(limit))];
        self.engine.read("list all overrides", Statement::new(AFTER, values)).await
    }

    /// All of these or none. A tenant that does not exist fails them all.
    pub async fn set_overrides(&self, switches: Vec<Switch>, by: &str, now: i64) -> Result<(), MemberFault> {
        let mut tenants: Vec<&str> = switches.iter().map(|switch| switch.tenant.as_str()).collect();
        tenants.sort_unstable();
        tenants.dedup();
        for tenant in &tenants {
            self.must_exist(tenant).await?;
        }
        let about: Vec<Subject> = tenants.into_iter().map(|tenant| Subject::Tenant(tenant.to_owned())).collect();
        let changed_by = by.to_owned();
        let statement = |Switch { tenant, tool, enabled, reason }| match enabled {
            None => remove(&tenant, &tool),
            Some(enabled) => {
                set(Override { tenant, tool, enabled, changed_by: changed_by.clone(), reason, changed_at: now })
            }
        };
        let statements = switches.into_iter().map(statement).collect();
        self.rights.change::<Override>("set overrides", about, statements).await?;
        Ok(())
    }
}

pub(super) fn get(tenant: &str, tool: &str) -> Statement {
    Statement::new(GET, [Value::id(tenant), Value::id(tool)])
}

pub(super) fn set(switched: Override) -> Statement {
    let values = [
        Value::Id(switched.tenant),
        Value::Id(switched.tool),
        Value::Bool(switched.enabled),
        Value::Id(switched.changed_by),
        Value::Text(switched.reason),
        Value::int(switched.changed_at),
    ];
    Statement::new(SET, values)
}

pub(super) fn remove(tenant: &str, tool: &str) -> Statement {
    Statement::new(REMOVE, [Value::id(tenant), Value::id(tool)])
}

impl FromRow for Override {
    fn from_row(row: &mut Row) -> Result<Self, Fault> {
        Ok(Override {
            tenant: row.text()?,
            tool: row.text()?,
            enabled: row.bool()?,
            changed_by: row.text()?,
            reason: row.maybe_text()?,
            changed_at: row.int()?,
        })
    }
}
