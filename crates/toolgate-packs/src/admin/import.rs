//! Many switches and many words on tools at once: the difference between what is there and what is wanted.

use std::collections::BTreeMap;

use serde::Deserialize;
use toolgate_core::ToolName;
use toolgate_store::tenants::{CatalogChange, CatalogRow, Edit, Override, Row};

use super::{changing::Wanted, desk::Desk, saying::said, shown::same_switch, wishes::store};
use crate::{failure::Failure, times::now};

#[derive(Deserialize)]
pub(super) struct Import {
    #[serde(default)]
    catalog: Vec<Said>,
    #[serde(default)]
    overrides: Vec<Switched>,
}

#[derive(Deserialize)]
struct Said {
    tool_name: String,
    display_name: Option<String>,
    group: Option<String>,
    enabled_by_default: Option<bool>,
    min_plan: Option<String>,
    disabled: Option<bool>,
    reason: Option<String>,
}

#[derive(Deserialize)]
struct Switched {
    tenant: String,
    tool_name: String,
    is_enabled: Option<bool>,
    reason: Option<String>,
}

/// Rows about tools that are not here are named: an export may be of another time or place. Those that only restrict are
/// kept for when the tool is here, so that no import leaves a tool on that the export has off; the others are left out.
pub(super) async fn wanted(desk: &Desk<'_>, asked: Import) -> Result<Wanted, Failure> {
    let mut skipped = Vec::new();
    let mut edits = said_of_tools(desk, asked.catalog, &mut skipped).await?;
    edits.extend(switched(desk, asked.overrides, &mut skipped).await?);
    Ok(Wanted { edits, final_for: None, skipped })
}

async fn said_of_tools(desk: &Desk<'_>, rows: Vec<Said>, skipped: &mut Vec<String>) -> Result<Vec<Edit>, Failure> {
    let stored = desk.store.catalog().list().await.map_err(store)?;
    let mut before: BTreeMap<String, CatalogRow> = stored.into_iter().map(|row| (row.tool.clone(), row)).collect();
    let mut edits = Vec::new();
    let mut seen = BTreeMap::new();
    for (number, row) in rows.into_iter().enumerate() {
        let mut says = CatalogChange {
            display_name: row.display_name,
            group: row.group,
            enabled_by_default: row.enabled_by_default,
            min_plan: row.min_plan.map(|plan| desk.plan(&plan)).transpose().map_err(at("catalog", number))?,
            disabled: row.disabled.unwrap_or_default(),
        };
        let tool = desk.canonical(&row.tool_name);
        if (says != CatalogChange::default() || !before.contains_key(&tool))
            && let Err(gone) = desk.tool(&row.tool_name)
        {
            // what would widen is not kept for a tool that nobody has seen
            says.enabled_by_default = says.enabled_by_default.filter(|on| !on);
            let restricts = says.disabled || says.enabled_by_default.is_some() || says.min_plan.is_some();
            skipped.push(about_absent("catalog", number, &gone, restricts && is_name(&tool)));
            if !restricts || !is_name(&tool) {
                continue;
            }
        }
        once(&mut seen, tool.clone(), "catalog", number)?;
        let (changed_by, changed_at) = (desk.caller.principal(), now());
        let wanted = CatalogRow { tool: tool.clone(), says, changed_by, reason: row.reason, changed_at };
        edits.push(said(before.remove(&tool), wanted));
    }
    Ok(edits)
}

async fn switched(desk: &Desk<'_>, rows: Vec<Switched>, skipped: &mut Vec<String>) -> Result<Vec<Edit>, Failure> {
    let mut before: BTreeMap<(String, String), Override> = BTreeMap::new();
    let mut known: BTreeMap<String, ()> = BTreeMap::new();
    let mut seen = BTreeMap::new();
    let mut edits = Vec::new();
    for (number, row) in rows.into_iter().enumerate() {
        if !known.contains_key(&row.tenant) {
            desk.tenant(Some(&row.tenant)).await.map_err(at("overrides", number))?;
            let own = desk.store.tenants().overrides(&row.tenant).await.map_err(store)?;
            before.extend(own.into_iter().map(|row| ((row.tenant.clone(), row.tool.clone()), row)));
            known.insert(row.tenant.clone(), ());
        }
        let key = (row.tenant, desk.canonical(&row.tool_name));
        if (row.is_enabled.is_some() || !before.contains_key(&key))
            && let Err(gone) = desk.tool(&row.tool_name)
        {
            let is_kept = row.is_enabled == Some(false) && is_name(&key.1);
            skipped.push(about_absent("overrides", number, &gone, is_kept));
            if !is_kept {
                continue;
            }
        }
        once(&mut seen, key.clone(), "overrides", number)?;
        let was = before.remove(&key);
        let (tenant, tool) = key;
        let wanted = row.is_enabled.map(|enabled| {
            let (changed_by, changed_at) = (desk.caller.principal(), now());
            Override { tenant, tool, enabled, changed_by, reason: row.reason, changed_at }
        });
        let is_same = |wanted: &Override| was.as_ref().is_some_and(|was| same_switch(was, wanted));
        let after = if wanted.as_ref().is_some_and(is_same) { was.clone() } else { wanted };
        edits.push(Edit { before: was.map(Row::Override), after: after.map(Row::Override) });
    }
    Ok(edits)
}

/// Two rows about one thing contradict each other, or one is too many.
fn once<K: Ord>(seen: &mut BTreeMap<K, usize>, key: K, list: &str, number: usize) -> Result<(), Failure> {
    match seen.insert(key, number) {
        None => Ok(()),
        Some(first) => {
            let problem = Failure::invalid(format!("It is about the same as row {first}."));
            Err(at(list, number)(problem))
        }
    }
}

/// The warning about a row whose tool is not here.
fn about_absent(list: &str, number: usize, gone: &Failure, is_kept: bool) -> String {
    if is_kept {
        return format!("Row '{list}/{number}' holds once there is a tool of exactly that name: {}", gone.error);
    }
    format!("Row '{list}/{number}' was left out: {}", gone.error)
}

/// Whether there could be a tool of this name.
fn is_name(tool: &str) -> bool {
    ToolName::new(tool).is_ok()
}

/// Says which row it is.
fn at(list: &str, number: usize) -> impl Fn(Failure) -> Failure {
    let place = format!("{list}/{number}");
    move |failure| match failure.code {
        "internal" => failure,
        _ => Failure::invalid(format!("Argument '{place}' is not valid: {}", failure.error)),
    }
}
