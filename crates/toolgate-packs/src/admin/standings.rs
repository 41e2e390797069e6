//! Whether a tenant's tools are on: the gate's own decision for its members, prepared once for each tenant of a call.

use std::{
    collections::{BTreeMap, HashMap},
    sync::Arc,
};

use toolgate_core::{
    caller::{Overrides, Role, Tenant},
    explain::{Standing, TenantStanding},
};
use toolgate_store::tenants::{Edit, Override, Row, TenantFacts};

use super::{desk::Desk, wishes::store};
use crate::failure::Failure;

/// Warnings of one kind that one answer has room for.
const MOST_WARNINGS: usize = 100;

/// The decisions about a tenant's tools, as they are once some edits are made.
pub(super) async fn tenant_standing(desk: &Desk<'_>, id: &str, edits: &[Edit]) -> Result<TenantStanding, Failure> {
    let facts = desk.store.tenants().facts(id).await.map_err(store)?;
    let facts =
        facts.unwrap_or_else(|| TenantFacts { plan: desk.lowest_plan(), overrides: Arc::new(Overrides::default()) });
    let mut switches: BTreeMap<String, bool> = (**facts.overrides).clone();
    for edit in edits {
        match (&edit.before, &edit.after) {
            (_, Some(Row::Override(on))) if on.tenant == id => switches.insert(on.tool.clone(), on.enabled),
            (Some(Row::Override(gone)), None) if gone.tenant == id => switches.remove(&gone.tool),
            _ => continue,
        };
    }
    // the standing is that of members, whatever role is given here
    let (role, overrides) = (Role::Member, Arc::new(switches.into()));
    let tenant = Tenant { id: id.to_owned(), role, plan: Some(facts.plan), overrides };
    let undecided = || Failure::internal("The gate can't decide for a member of this tenant.");
    desk.gate.tenant_standing(&tenant).ok_or_else(undecided)
}

/// What a person should know of a change: rows that were left out, and overrides that are on and lift nothing.
pub(super) async fn warnings(desk: &Desk<'_>, edits: &[Edit], skipped: Vec<String>) -> Vec<String> {
    let mut warnings = bounded(skipped, "rows of this import");
    match powerless(desk, edits).await {
        Ok(powerless) => warnings.extend(bounded(powerless, "overrides that lift nothing")),
        // the change itself does not depend on it
        Err(failure) => warnings.push(format!("Whether the tools are on now is not known: {}", failure.error)),
    }
    warnings
}

async fn powerless(desk: &Desk<'_>, edits: &[Edit]) -> Result<Vec<String>, Failure> {
    let mut prepared: HashMap<&str, TenantStanding> = HashMap::new();
    let mut found = Vec::new();
    for edit in edits {
        let Some(Row::Override(switched)) = edit.after.as_ref() else { continue };
        if !switched.enabled {
            continue;
        }
        let tenant = switched.tenant.as_str();
        if !prepared.contains_key(tenant) {
            prepared.insert(tenant, tenant_standing(desk, tenant, edits).await?);
        }
        let standing = prepared.get(tenant).and_then(|of| desk.gate.standing(of, &switched.tool));
        found
            .extend(standing.filter(|standing| !standing.enabled).map(|standing| stays_off(desk, switched, &standing)));
    }
    Ok(found)
}

fn stays_off(desk: &Desk<'_>, Override { tenant, tool, .. }: &Override, standing: &Standing) -> String {
    let no_lift = "and an override does not lift that";
    let least = desk.gate.catalog().find(tool).and_then(|tool| tool.facts.min_plan.clone()).unwrap_or_default();
    match standing.source.as_str() {
        "global_disabled" => format!("Tool '{tool}' stays off: it is disabled for everybody, {no_lift}."),
        "plan_restriction" => {
            format!("Tool '{tool}' stays off for tenant '{tenant}': it needs the plan '{least}', {no_lift}.")
        }
        _ => format!("Tool '{tool}' stays off for tenant '{tenant}': a rule keeps it from members, {no_lift}."),
    }
}

/// The first of some warnings, and how many there are besides.
fn bounded(mut warnings: Vec<String>, what: &str) -> Vec<String> {
    let more = warnings.len().saturating_sub(MOST_WARNINGS);
    warnings.truncate(MOST_WARNINGS);
    if more > 0 {
        warnings.push(format!("There are {more} more {what} to warn of."));
    }
    warnings
}
