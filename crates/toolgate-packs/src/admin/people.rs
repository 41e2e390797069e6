//! What is to be different of members and users.

use serde::Deserialize;
use toolgate_core::caller::Role;
use toolgate_store::tenants::{Edit, Member, Row, User};

use super::{
    desk::Desk,
    wishes::{given, store},
};
use crate::{
    failure::{Failure, short},
    times::now,
};

#[derive(Deserialize)]
pub(super) struct SetMember {
    tenant: Option<String>,
    user: String,
    role: Role,
}

pub(super) async fn set_member(desk: &Desk<'_>, asked: SetMember) -> Result<Vec<Edit>, Failure> {
    let tenant = desk.tenant(asked.tenant.as_deref()).await?.id;
    let user = desk.user(&asked.user)?;
    seated(desk, &tenant, &user, asked.role).await
}

/// A member's row, and the user's where nobody knew it before.
pub(super) async fn seated(desk: &Desk<'_>, tenant: &str, user: &str, role: Role) -> Result<Vec<Edit>, Failure> {
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
pub(super) struct RemoveMember {
    tenant: Option<String>,
    user: String,
}

pub(super) async fn remove_member(desk: &Desk<'_>, asked: RemoveMember) -> Result<Vec<Edit>, Failure> {
    let tenant = desk.tenant(asked.tenant.as_deref()).await?.id;
    let user = desk.user(&asked.user)?;
    let Some(member) = desk.store.tenants().member(&tenant, &user).await.map_err(store)? else {
        return Err(Failure::not_found(format!("'{}' is no member of tenant '{tenant}'.", short(&user))));
    };
    Ok(vec![Edit { before: Some(Row::Member { tenant, member }), after: None }])
}

#[derive(Deserialize)]
pub(super) struct AddUser {
    user: String,
    name: Option<String>,
    email: Option<String>,
}

pub(super) async fn add_user(desk: &Desk<'_>, asked: AddUser) -> Result<Vec<Edit>, Failure> {
    let id = desk.user(&asked.user)?;
    if desk.store.users().get(&id).await.map_err(store)?.is_some() {
        return Err(Failure::conflict(format!("There is a user '{}' already.", short(&id))));
    }
    let user = User { id, name: asked.name, email: asked.email, created_at: now() };
    Ok(vec![Edit { before: None, after: Some(Row::User(user)) }])
}

#[derive(Deserialize)]
pub(super) struct ChangeUser {
    user: String,
    #[serde(default, deserialize_with = "given")]
    name: Option<Option<String>>,
    #[serde(default, deserialize_with = "given")]
    email: Option<Option<String>>,
}

pub(super) async fn change_user(desk: &Desk<'_>, asked: ChangeUser) -> Result<Vec<Edit>, Failure> {
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
pub(super) struct NamedUser {
    user: String,
}

pub(super) async fn remove_user(desk: &Desk<'_>, asked: NamedUser) -> Result<Vec<Edit>, Failure> {
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
