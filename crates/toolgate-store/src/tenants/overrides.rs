//! A tenant's own switches: a tool on or off, by whom and why.

use serde::{Deserialize, Serialize};

use super::Tenants;
use crate::{
    StoreError,
    error::Fault,
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

macro_rules! columns {
    () => {
        "tenant, tool, enabled, changed_by, reason, changed_at"
    };
}
const SET: &str = "INSERT INTO overrides (tenant, tool, enabled, changed_by, reason, changed_at)
    VALUES ($1, $2, $3, $4, $5, $6)
    ON CONFLICT (tenant, tool) DO UPDATE SET enabled = excluded.enabled, changed_by = excluded.changed_by,
        reason = excluded.reason, changed_at = excluded.changed_at";
const REMOVE: &str = "DELETE FROM overrides WHERE tenant = $1 AND tool = $2";
const GET: &str = concat!("SELECT ", columns!(), " FROM overrides WHERE tenant = $1 AND tool = $2");
const OF_TENANT: &str = concat!("SELECT ", columns!(), " FROM overrides WHERE tenant = $1 ORDER BY tool");
const AFTER: &str =
    concat!("SELECT ", columns!(), " FROM overrides WHERE (tenant, tool) > ($1, $2) ORDER BY tenant, tool LIMIT $3");

impl Tenants {
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
