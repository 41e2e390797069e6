//! Rows as callers see them.

use serde_json::{Value, json};
use toolgate_store::tenants::{CatalogRow, Edit, Member, Override, Row, Tenant, User};

use crate::times::iso;

pub(super) fn tenant(tenant: &Tenant) -> Value {
    let Tenant { id, name, plan, created_at } = tenant;
    json!({ "id": id, "name": name, "plan": plan, "created_at": iso(*created_at) })
}

pub(super) fn user(user: &User) -> Value {
    let User { id, name, email, created_at } = user;
    json!({ "id": id, "name": name, "email": email, "created_at": iso(*created_at) })
}

pub(super) fn member(member: &Member) -> Value {
    let Member { user, role, since } = member;
    json!({ "user": user, "role": role, "since": iso(*since) })
}

pub(super) fn switched(switched: &Override) -> Value {
    let Override { tenant, tool, enabled, changed_by, reason, changed_at } = switched;
    json!({
        "tenant": tenant, "tool_name": tool, "is_enabled": enabled, "reason": reason,
        "changed_by": changed_by, "changed_at": iso(*changed_at),
    })
}

fn said(said: &CatalogRow) -> Value {
    let says = &said.says;
    json!({
        "tool_name": said.tool, "display_name": says.display_name, "group": says.group,
        "enabled_by_default": says.enabled_by_default, "min_plan": says.min_plan, "disabled": says.disabled,
        "reason": said.reason, "changed_by": said.changed_by, "changed_at": iso(said.changed_at),
    })
}

fn row(row: &Row) -> (&'static str, Value) {
    match row {
        Row::Tenant(row) => ("tenant", tenant(row)),
        Row::User(row) => ("user", user(row)),
        Row::Member { tenant, member: row } => {
            let mut shown = json!({ "tenant": tenant });
            if let (Some(shown), Value::Object(member)) = (shown.as_object_mut(), member(row)) {
                shown.extend(member);
            }
            ("member", shown)
        }
        Row::Override(row) => ("override", switched(row)),
        Row::Catalog(row) => ("catalog", said(row)),
    }
}

/// One row before and after.
pub(super) fn change(edit: &Edit) -> Option<Value> {
    let (before, after) = (edit.before.as_ref().map(row), edit.after.as_ref().map(row));
    let (kind, _) = after.as_ref().or(before.as_ref())?;
    let content = |row: &Option<(&'static str, Value)>| row.as_ref().map(|(_, content)| content.clone());
    Some(json!({ "kind": kind, "before": content(&before), "after": content(&after) }))
}

/// What a row is about, in words.
pub(super) fn named(row: &Row) -> String {
    match row {
        Row::Tenant(row) => format!("Tenant '{}'", row.id),
        Row::User(row) => format!("User '{}'", row.id),
        Row::Member { tenant, member } => format!("The membership of '{}' in tenant '{tenant}'", member.user),
        Row::Override(row) => format!("The override of '{}' for tenant '{}'", row.tool, row.tenant),
        Row::Catalog(row) => format!("What is said of tool '{}'", row.tool),
    }
}

/// Whether two say the same, whoever said it and when.
pub(super) fn same_switch(one: &Override, other: &Override) -> bool {
    (one.enabled, &one.reason) == (other.enabled, &other.reason)
}

pub(super) fn catalog_words(row: &CatalogRow) -> impl PartialEq {
    (row.says.clone(), row.reason.clone())
}
