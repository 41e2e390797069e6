//! What each tool wants to be different, as rows before and after. Nothing is changed here.

use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;
use toolgate_core::caller::Role;
use toolgate_store::{
    Paging, StoreError,
    tenants::{Edit, Override, Row, Tenant},
};

use super::{arguments, changing::Wanted, desk::Desk, import, people, saying, shown::same_switch};
use crate::{
    failure::{Failure, short},
    times::now,
};

/// A tenant with more members than this is removed for good: nobody keeps that much to put it back.
const MOST_PUT_BACK: usize = 5_000;

pub(super) async fn wanted(desk: &Desk<'_>, tool: &str, given: &RawValue) -> Result<Wanted, Failure> {
    Ok(match tool {
        "admin_set_override" => set_override(desk, arguments(given)?).await?.into(),
        "admin_remove_override" => remove_override(desk, arguments(given)?).await?.into(),
        "admin_set_member" => people::set_member(desk, arguments(given)?).await?.into(),
        "admin_remove_member" => people::remove_member(desk, arguments(given)?).await?.into(),
        "admin_create_tenant" => create_tenant(desk, arguments(given)?).await?.into(),
        "admin_change_tenant" => change_tenant(desk, arguments(given)?).await?.into(),
        "admin_remove_tenant" => remove_tenant(desk, arguments(given)?).await?,
        "admin_add_user" => people::add_user(desk, arguments(given)?).await?.into(),
        "admin_change_user" => people::change_user(desk, arguments(given)?).await?.into(),
        "admin_remove_user" => people::remove_user(desk, arguments(given)?).await?.into(),
        "admin_import" => import::wanted(desk, arguments(given)?).await?,
        _ => saying::say(desk, tool, arguments(given)?).await?.into(),
    })
}

pub(super) fn store(fault: StoreError) -> Failure {
    Failure::store(&fault)
}

/// A member that is there, if only as null.
pub(super) fn given<'de, T: Deserialize<'de>, D: Deserializer<'de>>(from: D) -> Result<Option<Option<T>>, D::Error> {
    Option::deserialize(from).map(Some)
}

#[derive(Deserialize)]
struct SetOverride {
    tenant: Option<String>,
    tool_name: String,
    is_enabled: bool,
    reason: Option<String>,
}

async fn set_override(desk: &Desk<'_>, asked: SetOverride) -> Result<Vec<Edit>, Failure> {
    let tenant = desk.tenant(asked.tenant.as_deref()).await?.id;
    let tool = desk.tool(&asked.tool_name)?.name.to_string();
    let before = desk.store.tenants().get_override(&tenant, &tool).await.map_err(store)?;
    let wanted = Override {
        tenant,
        tool,
        enabled: asked.is_enabled,
        changed_by: desk.caller.principal(),
        reason: asked.reason,
        changed_at: now(),
    };
    let after = before.clone().filter(|before| same_switch(before, &wanted)).unwrap_or(wanted);
    Ok(vec![Edit { before: before.map(Row::Override), after: Some(Row::Override(after)) }])
}

#[derive(Deserialize)]
struct RemoveOverride {
    tenant: Option<String>,
    tool_name: String,
}

async fn remove_override(desk: &Desk<'_>, asked: RemoveOverride) -> Result<Vec<Edit>, Failure> {
    let tenant = desk.tenant(asked.tenant.as_deref()).await?.id;
    let tool = desk.canonical(&asked.tool_name);
    let Some(before) = desk.store.tenants().get_override(&tenant, &tool).await.map_err(store)? else {
        desk.tool(&asked.tool_name)?;
        return Err(Failure::not_found(format!("Tenant '{tenant}' has no override of '{}'.", short(&tool))));
    };
    Ok(vec![Edit { before: Some(Row::Override(before)), after: None }])
}

#[derive(Deserialize)]
struct CreateTenant {
    id: String,
    name: Option<String>,
    plan: Option<String>,
    owner: Option<String>,
}

async fn create_tenant(desk: &Desk<'_>, asked: CreateTenant) -> Result<Vec<Edit>, Failure> {
    if !asked.id.chars().any(|c| c.is_ascii_alphanumeric()) {
        return Err(Failure::invalid("Argument 'id' is not valid: it has no letter and no digit."));
    }
    let plan = asked.plan.map_or_else(|| Ok(desk.lowest_plan()), |plan| desk.plan(&plan))?;
    if desk.store.tenants().get(&asked.id).await.map_err(store)?.is_some() {
        return Err(Failure::conflict(format!("There is a tenant '{}' already.", short(&asked.id))));
    }
    let name = asked.name.unwrap_or_else(|| asked.id.clone());
    let tenant = Tenant { id: asked.id.clone(), name, plan, created_at: now() };
    let mut edits = vec![Edit { before: None, after: Some(Row::Tenant(tenant)) }];
    if let Some(owner) = asked.owner {
        edits.extend(people::seated(desk, &asked.id, &desk.user(&owner)?, Role::Owner).await?);
    }
    Ok(edits)
}

#[derive(Deserialize)]
struct ChangeTenant {
    tenant: String,
    name: Option<String>,
    plan: Option<String>,
}

async fn change_tenant(desk: &Desk<'_>, asked: ChangeTenant) -> Result<Vec<Edit>, Failure> {
    if asked.name.is_none() && asked.plan.is_none() {
        return Err(Failure::invalid("At least 'name' or 'plan' is required."));
    }
    let before = desk.tenant(Some(&asked.tenant)).await?;
    let plan = asked.plan.map_or_else(|| Ok(before.plan.clone()), |plan| desk.plan(&plan))?;
    let name = asked.name.unwrap_or_else(|| before.name.clone());
    let after = Tenant { name, plan, ..before.clone() };
    Ok(vec![Edit { before: Some(Row::Tenant(before)), after: Some(Row::Tenant(after)) }])
}

#[derive(Deserialize)]
struct NamedTenant {
    tenant: String,
}

async fn remove_tenant(desk: &Desk<'_>, asked: NamedTenant) -> Result<Wanted, Failure> {
    let tenant = desk.tenant(Some(&asked.tenant)).await?;
    let gone = |row| Edit { before: Some(row), after: None };
    let mut edits = Vec::new();
    let mut paging = Paging { limit: 1_000, after: None };
    loop {
        let page = desk.store.tenants().members(&tenant.id, &paging).await.map_err(store)?;
        let row = |member| Row::Member { tenant: tenant.id.clone(), member };
        edits.extend(page.items.into_iter().map(row).map(gone));
        paging.after = page.next;
        if paging.after.is_none() || edits.len() > MOST_PUT_BACK {
            break;
        }
    }
    let switches = desk.store.tenants().overrides(&tenant.id).await.map_err(store)?;
    edits.extend(switches.into_iter().map(Row::Override).map(gone));
    let final_for = (edits.len() > MOST_PUT_BACK).then_some("It had too many members and overrides to be kept.");
    if final_for.is_some() {
        edits.clear();
    }
    edits.push(gone(Row::Tenant(tenant)));
    Ok(Wanted { edits, final_for, skipped: Vec::new() })
}
