//! What is to be different of what is said of a tool.

use serde::Deserialize;
use toolgate_store::tenants::{CatalogChange, CatalogRow, Edit, Row};

use super::{
    desk::Desk,
    shown::catalog_words,
    wishes::{given, store},
};
use crate::{failure::Failure, times::now};

#[derive(Deserialize)]
pub(super) struct Saying {
    tool_name: String,
    #[serde(default, deserialize_with = "given")]
    display_name: Option<Option<String>>,
    #[serde(default, deserialize_with = "given")]
    group: Option<Option<String>>,
    #[serde(default, deserialize_with = "given")]
    enabled_by_default: Option<Option<bool>>,
    #[serde(default, deserialize_with = "given")]
    min_plan: Option<Option<String>>,
    reason: Option<String>,
}

/// The four tools over one row of the catalogue.
pub(super) async fn say(desk: &Desk<'_>, tool: &str, asked: Saying) -> Result<Vec<Edit>, Failure> {
    let name = desk.canonical(&asked.tool_name);
    let before = desk.store.catalog().get(&name).await.map_err(store)?;
    if before.is_none() || !matches!(tool, "admin_reset_catalog_tool" | "admin_enable_tool") {
        desk.tool(&asked.tool_name)?;
    }
    let mut says = before.as_ref().map(|row| row.says.clone()).unwrap_or_default();
    match tool {
        "admin_reset_catalog_tool" => says = CatalogChange::default(),
        "admin_disable_tool" => says.disabled = true,
        "admin_enable_tool" if says.disabled => says.disabled = false,
        "admin_enable_tool" => {
            if desk.gate.catalog().find(&name).is_some_and(|tool| tool.facts.disabled) {
                let how = "take it out of disabled_tools, or out of [tools], in the configuration";
                return Err(Failure::conflict(format!("Tool '{name}' is disabled by the configuration; {how}.")));
            }
        }
        _ => set_words(desk, &mut says, &asked)?,
    }
    let wanted = CatalogRow {
        tool: name,
        says,
        changed_by: desk.caller.principal(),
        reason: asked.reason.or_else(|| before.as_ref().and_then(|row| row.reason.clone())),
        changed_at: now(),
    };
    Ok(vec![said(before, wanted)])
}

fn set_words(desk: &Desk<'_>, says: &mut CatalogChange, asked: &Saying) -> Result<(), Failure> {
    let Saying { display_name, group, enabled_by_default, min_plan, .. } = asked;
    if display_name.is_none() && group.is_none() && enabled_by_default.is_none() && min_plan.is_none() {
        let least = "At least one of 'display_name', 'group', 'enabled_by_default' and 'min_plan' is required.";
        return Err(Failure::invalid(least));
    }
    if let Some(Some(plan)) = min_plan {
        desk.plan(plan)?;
    }
    display_name.iter().for_each(|given| says.display_name.clone_from(given));
    group.iter().for_each(|given| says.group.clone_from(given));
    enabled_by_default.iter().for_each(|given| says.enabled_by_default = *given);
    min_plan.iter().for_each(|given| says.min_plan.clone_from(given));
    Ok(())
}

/// A row that says nothing goes; one that says the same stays whose it is.
pub(super) fn said(before: Option<CatalogRow>, wanted: CatalogRow) -> Edit {
    let after = match &before {
        _ if wanted.says == CatalogChange::default() => None,
        Some(row) if catalog_words(row) == catalog_words(&wanted) => before.clone(),
        _ => Some(wanted),
    };
    Edit { before: before.map(Row::Catalog), after: after.map(Row::Catalog) }
}
