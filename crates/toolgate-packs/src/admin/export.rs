//! All that was set, as an import takes it.

use serde_json::{Value, json};
use toolgate_store::{
    Store, StoreError,
    tenants::{CatalogRow, Override},
};

const PAGE: u32 = 1_000;

pub(super) async fn export(store: &Store) -> Result<Value, StoreError> {
    let catalog: Vec<Value> = store.catalog().list().await?.iter().map(said).collect();
    let mut overrides: Vec<Override> = Vec::new();
    loop {
        let last = overrides.last().map(|last| (last.tenant.clone(), last.tool.clone())).unwrap_or_default();
        let page = store.tenants().overrides_after((&last.0, &last.1), PAGE).await?;
        if page.is_empty() {
            break;
        }
        overrides.extend(page);
    }
    let overrides: Vec<Value> = overrides.iter().map(switched).collect();
    Ok(json!({ "catalog": catalog, "overrides": overrides }))
}

fn said(row: &CatalogRow) -> Value {
    let says = &row.says;
    json!({
        "tool_name": row.tool, "display_name": says.display_name, "group": says.group,
        "enabled_by_default": says.enabled_by_default, "min_plan": says.min_plan, "disabled": says.disabled,
        "reason": row.reason,
    })
}

fn switched(row: &Override) -> Value {
    json!({ "tenant": row.tenant, "tool_name": row.tool, "is_enabled": row.enabled, "reason": row.reason })
}
