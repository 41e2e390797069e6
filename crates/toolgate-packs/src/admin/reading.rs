//! What administrators look at. Whether a tool is on for a tenant is the gate's own decision for a member of it.

use std::{collections::BTreeMap, sync::Arc};

use serde::Deserialize;
use serde_json::{Value, json, value::RawValue};
use toolgate_core::{Tool, explain::Standing};
use toolgate_store::{
    Mark, Page, Paging,
    tenants::{CatalogRow, Tenant},
};

use super::{arguments, desk::Desk, export::export, people::known, shown, standings::tenant_standing, wishes::store};
use crate::{failure::Failure, times::iso};

const PAGE: u32 = 50;

#[derive(Deserialize)]
struct Asked {
    tenant: Option<String>,
    tool_name: Option<String>,
    user: Option<String>,
    limit: Option<u32>,
    after: Option<String>,
}

pub(super) async fn read(desk: &Desk<'_>, tool: &str, given: &RawValue) -> Result<Value, Failure> {
    let asked: Asked = arguments(given)?;
    let (tenants, users) = (desk.store.tenants(), desk.store.users());
    Ok(match tool {
        "admin_list_catalog" => catalog(desk).await?,
        "admin_get_catalog_tool" => catalog_tool(desk, &asked.tool_name.unwrap_or_default()).await?,
        "admin_list_disabled_tools" => disabled(desk).await?,
        "admin_list_tenants" => page("tenants", &tenants.list(&asked.paging()?).await.map_err(store)?, shown::tenant),
        "admin_list_users" => page("users", &users.list(&asked.paging()?).await.map_err(store)?, shown::user),
        "admin_get_user" => user(desk, &asked.user.unwrap_or_default()).await?,
        "admin_export" => export(desk.store).await.map_err(store)?,
        _ => {
            let tenant = desk.tenant(asked.tenant.as_deref()).await?;
            match tool {
                "admin_list_tools" => tools(desk, &tenant).await?,
                "admin_get_summary" => summary(desk, &tenant).await?,
                "admin_list_overrides" => {
                    let rows = tenants.overrides(&tenant.id).await.map_err(store)?;
                    let rows: Vec<Value> = rows.iter().map(shown::switched).collect();
                    json!({ "tenant": tenant.id, "count": rows.len(), "overrides": rows })
                }
                "admin_list_members" => {
                    let found = tenants.members(&tenant.id, &asked.paging()?).await.map_err(store)?;
                    let mut listed = page("members", &found, shown::member);
                    if let Some(listed) = listed.as_object_mut() {
                        listed.insert("tenant".to_owned(), tenant.id.into());
                    }
                    listed
                }
                _ => json!({ "tenant": shown::tenant(&tenant) }),
            }
        }
    })
}

impl Asked {
    fn paging(&self) -> Result<Paging, Failure> {
        let after = self.after.as_deref().map(|text| {
            let mark = text.split_once('.').and_then(|(at, id)| Some(Mark { at: at.parse().ok()?, id: id.to_owned() }));
            mark.ok_or_else(|| Failure::invalid("Argument 'after' is not valid: take the 'next' of the page before."))
        });
        Ok(Paging { limit: self.limit.unwrap_or(PAGE), after: after.transpose()? })
    }
}

fn page<T>(name: &str, page: &Page<T>, item: impl Fn(&T) -> Value) -> Value {
    let next = page.next.as_ref().map(|mark| format!("{}.{}", mark.at, mark.id));
    json!({ name: page.items.iter().map(item).collect::<Vec<_>>(), "next": next })
}

/// Every tool with what the gate makes of it for a member of the tenant.
async fn standings<'a>(desk: &Desk<'a>, tenant: &Tenant) -> Result<Vec<(&'a Tool, Standing)>, Failure> {
    let of = tenant_standing(desk, &tenant.id, &[]).await?;
    let undecided = || Failure::internal("The gate can't decide for a member of this tenant.");
    let standing = |tool: &'a Arc<Tool>| {
        let standing = desk.gate.standing(&of, tool.name.as_str()).ok_or_else(undecided)?;
        Ok((&**tool, standing))
    };
    desk.gate.catalog().tools().map(standing).collect()
}

async fn tools(desk: &Desk<'_>, tenant: &Tenant) -> Result<Value, Failure> {
    let rows = said(desk).await?;
    let standings = standings(desk, tenant).await?;
    let tools = standings.into_iter().map(|(tool, standing)| {
        let words = Words::of(tool, rows.get(tool.name.as_str()));
        json!({
            "tool_name": tool.name, "display_name": words.display_name, "description": words.description,
            "category": tool.facts.group, "is_enabled": standing.enabled, "source": standing.source,
            "min_plan": min_plan(desk, tool),
        })
    });
    let tools: Vec<Value> = tools.collect();
    Ok(json!({ "tenant": tenant.id, "count": tools.len(), "tools": tools }))
}

async fn summary(desk: &Desk<'_>, tenant: &Tenant) -> Result<Value, Failure> {
    let standings = standings(desk, tenant).await?;
    let mut groups: BTreeMap<Option<&str>, (usize, usize)> = BTreeMap::new();
    for (tool, standing) in &standings {
        let (total, enabled) = groups.entry(tool.facts.group.as_deref()).or_default();
        *total += 1;
        *enabled += usize::from(standing.enabled);
    }
    let decided_by = |source: &str| standings.iter().filter(|(_, standing)| standing.source == source).count();
    let group = |(category, (total, enabled)): (Option<&str>, (usize, usize))| json!({ "category": category, "total": total, "enabled": enabled });
    Ok(json!({
        "tenant": tenant.id,
        "total_tools": standings.len(),
        "enabled_tools": standings.iter().filter(|(_, standing)| standing.enabled).count(),
        "plan_restricted_tools": decided_by("plan_restriction"),
        "overridden_tools": decided_by("tenant_override"),
        "by_category": groups.into_iter().map(group).collect::<Vec<_>>(),
    }))
}

async fn said(desk: &Desk<'_>) -> Result<BTreeMap<String, CatalogRow>, Failure> {
    let rows = desk.store.catalog().list().await.map_err(store)?;
    Ok(rows.into_iter().map(|row| (row.tool.clone(), row)).collect())
}

async fn catalog(desk: &Desk<'_>) -> Result<Value, Failure> {
    let rows = said(desk).await?;
    let row = |tool: &Arc<Tool>| catalog_row(desk, tool, rows.get(tool.name.as_str()));
    let tools: Vec<Value> = desk.gate.catalog().tools().map(row).collect();
    Ok(json!({ "count": tools.len(), "tools": tools }))
}

async fn catalog_tool(desk: &Desk<'_>, name: &str) -> Result<Value, Failure> {
    let tool = desk.tool(name)?;
    let row = desk.store.catalog().get(tool.name.as_str()).await.map_err(store)?;
    Ok(json!({ "tool": catalog_row(desk, tool, row.as_ref()) }))
}

async fn disabled(desk: &Desk<'_>) -> Result<Value, Failure> {
    let rows = said(desk).await?;
    let is_disabled = |tool: &&Arc<Tool>| is_disabled(tool, rows.get(tool.name.as_str()));
    let names: Vec<&str> = desk.gate.catalog().tools().filter(is_disabled).map(|tool| tool.name.as_str()).collect();
    Ok(json!({ "count": names.len(), "disabled_tools": names }))
}

/// On the command line the gate leaves aside what was said of these tools themselves; the row does not.
fn is_disabled(tool: &Tool, row: Option<&CatalogRow>) -> bool {
    tool.facts.disabled || row.is_some_and(|row| row.says.disabled)
}

fn catalog_row(desk: &Desk<'_>, tool: &Tool, row: Option<&CatalogRow>) -> Value {
    let words = Words::of(tool, row);
    json!({
        "tool_name": tool.name, "display_name": words.display_name, "description": words.description,
        "group": tool.facts.group, "enabled_by_default": tool.facts.enabled_by_default,
        "min_plan": min_plan(desk, tool), "disabled": is_disabled(tool, row), "source": &*tool.source,
        "changed_by": row.map(|row| &row.changed_by), "reason": row.and_then(|row| row.reason.as_ref()),
        "changed_at": row.map(|row| iso(row.changed_at)),
    })
}

fn min_plan(desk: &Desk<'_>, tool: &Tool) -> String {
    tool.facts.min_plan.clone().unwrap_or_else(|| desk.lowest_plan())
}

async fn user(desk: &Desk<'_>, name: &str) -> Result<Value, Failure> {
    let user = known(desk, name).await?;
    let memberships = desk.store.tenants().of_user(&user.id).await.map_err(store)?;
    let membership = |of: &toolgate_store::tenants::Membership| json!({ "tenant": of.tenant, "role": of.role, "since": iso(of.since) });
    let memberships: Vec<Value> = memberships.iter().map(membership).collect();
    Ok(json!({ "user": shown::user(&user), "memberships": memberships }))
}

/// How a tool is called and described to people.
struct Words {
    display_name: String,
    description: String,
}

impl Words {
    fn of(tool: &Tool, row: Option<&CatalogRow>) -> Self {
        #[derive(Default, Deserialize)]
        struct Definition {
            title: Option<String>,
            description: Option<String>,
        }
        let Definition { title, description } = serde_json::from_str(tool.definition.get()).unwrap_or_default();
        let said = row.and_then(|row| row.says.display_name.clone());
        let display_name = said.or(title).unwrap_or_else(|| tool.name.to_string());
        Self { display_name, description: description.unwrap_or_default() }
    }
}
