//! What the operator says of tools: over what their source and the configuration say, for everybody, at once.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::{
    StoreError,
    engine::Engine,
    error::Fault,
    statement::{FromRow, Row, Statement, Value},
};

/// What is absent is as the tool's source and the configuration say.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CatalogChange {
    pub display_name: Option<String>,
    pub group: Option<String>,
    pub enabled_by_default: Option<bool>,
    /// The lowest plan that has the tool.
    pub min_plan: Option<String>,
    /// Off for everybody.
    pub disabled: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CatalogRow {
    /// The canonical name.
    pub tool: String,
    pub says: CatalogChange,
    /// The principal that said so.
    pub changed_by: String,
    pub reason: Option<String>,
    pub changed_at: i64,
}

pub struct CatalogRows {
    engine: Arc<Engine>,
}

macro_rules! columns {
    () => {
        "tool, display_name, tool_group, enabled_by_default, min_plan, disabled, changed_by, reason, changed_at"
    };
}
const SET: &str = concat!(
    "INSERT INTO catalog (",
    columns!(),
    ") VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
    ON CONFLICT (tool) DO UPDATE SET display_name = excluded.display_name, tool_group = excluded.tool_group,
        enabled_by_default = excluded.enabled_by_default, min_plan = excluded.min_plan, disabled = excluded.disabled,
        changed_by = excluded.changed_by, reason = excluded.reason, changed_at = excluded.changed_at"
);
const REMOVE: &str = "DELETE FROM catalog WHERE tool = $1";
const GET: &str = concat!("SELECT ", columns!(), " FROM catalog WHERE tool = $1");
const LIST: &str = concat!("SELECT ", columns!(), " FROM catalog ORDER BY tool");

impl CatalogRows {
    pub(crate) fn new(engine: Arc<Engine>) -> Self {
        Self { engine }
    }

    pub async fn get(&self, tool: &str) -> Result<Option<CatalogRow>, StoreError> {
        self.engine.find("look up a tool in the catalogue", get(tool)).await
    }

    /// By tool. Tools of which nothing is said have no row.
    pub async fn list(&self) -> Result<Vec<CatalogRow>, StoreError> {
        self.engine.read("read the catalogue", Statement::new(LIST, [])).await
    }
}

pub(super) fn get(tool: &str) -> Statement {
    Statement::new(GET, [Value::id(tool)])
}

pub(super) fn set(row: CatalogRow) -> Statement {
    let values = [
        Value::Id(row.tool),
        Value::Text(row.says.display_name),
        Value::Text(row.says.group),
        Value::MaybeBool(row.says.enabled_by_default),
        Value::Text(row.says.min_plan),
        Value::Bool(row.says.disabled),
        Value::Id(row.changed_by),
        Value::Text(row.reason),
        Value::int(row.changed_at),
    ];
    Statement::new(SET, values)
}

pub(super) fn remove(tool: &str) -> Statement {
    Statement::new(REMOVE, [Value::id(tool)])
}

impl FromRow for CatalogRow {
    fn from_row(row: &mut Row) -> Result<Self, Fault> {
        Ok(CatalogRow {
            tool: row.text()?,
            says: CatalogChange {
                display_name: row.maybe_text()?,
                group: row.maybe_text()?,
                enabled_by_default: row.maybe_bool()?,
                min_plan: row.maybe_text()?,
                disabled: row.bool()?,
            },
            changed_by: row.text()?,
            reason: row.maybe_text()?,
            changed_at: row.int()?,
        })
    }
}
