//! What each tool wants to be different, as rows before and after. Nothing is changed here.

use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;
use toolgate_core::caller::Role;
use toolgate_store::{
    Paging, StoreError,
    tenants::{CatalogChange, CatalogRow, Edit, Member, Override, Row, Tenant, User},
};

use super::{
    arguments,
    changing::Wanted,
    desk::Desk,
    import,
    shown::{catalog_words, same_switch},
};
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
        "admin_set_member" => set_member(desk, arguments(given)?).await?.into(),
        "admin_remove_member" => remove_member(desk, arguments(given)?).await?.into(),
        "admin_create_tenant" => create_tenant(desk, arguments(given)?).await?.into(),
        "admin_change_tenant" => change_tenant(desk, arguments(given)?).await?.into(),
        "admin_remove_tenant" => remove_tenant(desk, arguments(given)?).await?,
        "admin_add_user" => add_user(desk, arguments(given)?).await?.into(),
        "admin_change_user" => change_user(desk, arguments(given)?).await?.into(),
        "admin_remove_user" => remove_user(desk, arguments(given)?).await?.into(),
        "admin_import" => import::wanted(desk, arguments(given)?).await?.into(),
        _ => say(desk, tool, arguments(given)?).await?.into(),
    })
}

fn store(fault: StoreError) -> Failure {
    Failure::store(&fault)
}

/// A member that is there, if only as null.
fn given<'de, T: Deserialize<'de>, D: Deserializer<'de>>(from: D) -> Result<Option<Option<T>>, D::Error> {
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
struct SetMember {
    tenant: Option<String>,
    user: String,
    role: Role,
}

async fn set_member(desk: &Desk<'_>, asked: SetMember) -> Result<Vec<Edit>, Failure> {
    let tenant = desk.tenant(asked.tenant.as_deref()).await?.id;
    let user = desk.user(&asked.user)?;
    seated(desk, &tenant, &user, asked.role).await
}

/// A member's row, and the user's where nobody knew it before.
async fn seated(desk: &Desk<'_>, tenant: &str, user: &str, role: Role) -> Result<Vec<Edit>, Failure> {
    let before = desk.store.tenants().member(tenant, user).await.map_err(store)?;
    let since = before.as_ref().map_or_else(now, |member| member.since);
    let after = Member { user: user.to_owned(), role, since };
    let row = |member| Row::Member { tenant: tenant.to_owned(), member };
    let mut edits = vec![Edit { before: before.map(row), after: Some(row(after)) }];
    if desk.store.users().get(user).await.map_err(store)?.is_none() {
        let user = User { id: user.to_owned(), name: None, email: None, created_at: now() };
        edits.push(Edit { before: None, after: Some(Row::User(user)) });
    }
    Ok(edits)
}

#[derive(Deserialize)]
struct RemoveMember {
    tenant: Option<String>,
    user: String,
}

async fn remove_member(desk: &Desk<'_>, asked: RemoveMember) -> Result<Vec<Edit>, Failure> {
    let tenant = desk.tenant(asked.tenant.as_deref()).await?.id;
    let user = desk.user(&asked.user)?;
    let Some(member) = desk.store.tenants().member(&tenant, &user).await.map_err(store)? else {
        return Err(Failure::not_found(format!("'{}' is no member of tenant '{tenant}'.", short(&user))));
    };
    Ok(vec![Edit { before: Some(Row::Member { tenant, member }), after: None }])
}

#[derive(Deserialize)]
struct CreateTenant {
    id: String,
    name: Option<String>,
    plan: Option<String>,
    owner: Option<String>,
}

async fn create_tenant(desk: &Desk<'_>, asked: CreateTenant) -> Result<Vec<Edit>, Failure> {
    let plan = asked.plan.map_or_else(|| Ok(desk.lowest_plan()), |plan| desk.plan(&plan))?;
    if desk.store.tenants().get(&asked.id).await.map_err(store)?.is_some() {
        return Err(Failure::conflict(format!("There is a tenant '{}' already.", short(&asked.id))));
    }
    let name = asked.name.unwrap_or_else(|| asked.id.clone());
    let tenant = Tenant { id: asked.id.clone(), name, plan, created_at: now() };
    let mut edits = vec![Edit { before: None, after: Some(Row::Tenant(tenant)) }];
    if let Some(owner) = asked.owner {
        edits.extend(seated(desk, &asked.id, &desk.user(&owner)?, Role::Owner).await?);
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
    Ok(Wanted { edits, final_for })
}

#[derive(Deserialize)]
struct AddUser {
    user: String,
    name: Option<String>,
    email: Option<String>,
}

async fn add_user(desk: &Desk<'_>, asked: AddUser) -> Result<Vec<Edit>, Failure> {
    let id = desk.user(&asked.user)?;
    if desk.store.users().get(&id).await.map_err(store)?.is_some() {
        return Err(Failure::conflict(format!("There is a user '{}' already.", short(&id))));
    }
    let user = User { id, name: asked.name, email: asked.email, created_at: now() };
    Ok(vec![Edit { before: None, after: Some(Row::User(user)) }])
}

#[derive(Deserialize)]
struct ChangeUser {
    user: String,
    #[serde(default, deserialize_with = "given")]
    name: Option<Option<String>>,
    #[serde(default, deserialize_with = "given")]
    email: Option<Option<String>>,
}

async fn change_user(desk: &Desk<'_>, asked: ChangeUser) -> Result<Vec<Edit>, Failure> {
    if asked.name.is_none() && asked.email.is_none() {
        return Err(Failure::invalid("At least 'name' or 'email' is required."));
    }
    let before = known(desk, &asked.user).await?;
    let name = asked.name.unwrap_or_else(|| before.name.clone());
    let email = asked.email.unwrap_or_else(|| before.email.clone());
    let after = User { name, email, ..before.clone() };
    Ok(vec![Edit { before: Some(Row::User(before)), after: Some(Row::User(after)) }])
}

#[derive(Deserialize)]
struct NamedUser {
    user: String,
}

async fn remove_user(desk: &Desk<'_>, asked: NamedUser) -> Result<Vec<Edit>, Failure> {
    let user = known(desk, &asked.user).await?;
    let memberships = desk.store.tenants().of_user(&user.id).await.map_err(store)?;
    let member = |role, since| Member { user: user.id.clone(), role, since };
    let rows = memberships.into_iter().map(|of| Row::Member { tenant: of.tenant, member: member(of.role, of.since) });
    let mut edits: Vec<Edit> = rows.map(|row| Edit { before: Some(row), after: None }).collect();
    edits.push(Edit { before: Some(Row::User(user)), after: None });
    Ok(edits)
}

/// A user there is.
pub(super) async fn known(desk: &Desk<'_>, user: &str) -> Result<User, Failure> {
    let found = desk.store.users().get(user).await.map_err(store)?;
    found.ok_or_else(|| Failure::not_found(format!("There is no user '{}'.", short(user))))
}

#[derive(Deserialize)]
struct Saying {
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
async fn say(desk: &Desk<'_>, tool: &str, asked: Saying) -> Result<Vec<Edit>, Failure> {
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
