//! Changes of tenants, members, switches, users and the catalogue: any number of rows together, and only if nothing was
//! changed since they were looked at. What was before is known for certain, and so can be put back.

use std::{collections::BTreeSet, sync::Arc};

use serde::{Deserialize, Serialize};
use toolgate_core::caller::Role;

use super::{CatalogRow, Member, Override, Tenant, User, catalog, members, overrides, users};
use crate::{
    Rights, StoreError,
    engine::Engine,
    error::Fault,
    ids,
    rights::Subject,
    statement::{FromRow, Row as Cells, Statement, Value},
};

/// One row, whole.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Row {
    User(User),
    Tenant(Tenant),
    Member { tenant: String, member: Member },
    Override(Override),
    Catalog(CatalogRow),
}

/// A row before and after; absent is not there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Edit {
    pub before: Option<Row>,
    pub after: Option<Row>,
}

impl Edit {
    pub fn reversed(self) -> Self {
        Self { before: self.after, after: self.before }
    }

    fn any(&self) -> Option<&Row> {
        self.after.as_ref().or(self.before.as_ref())
    }
}

/// Why everything is as it was.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EditFault {
    #[error("'{user}' is the last owner of tenant '{tenant}'; make somebody else an owner first")]
    LastOwner { tenant: String, user: String },
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// A moment: what was read since is changed only if all of it still is as it was then.
#[derive(Debug, Clone, Copy)]
pub struct Moment(i64);

pub struct Edits {
    engine: Arc<Engine>,
    rights: Rights,
}

const OWNERS: &str = "SELECT member FROM members WHERE tenant = $1 AND role = 'owner'";
const REMOVE_TENANT: &str = "DELETE FROM tenants WHERE id = $1";
const REMEMBER_REMOVED: &str = "INSERT INTO removed_tenants (id) VALUES ($1) ON CONFLICT (id) DO NOTHING";
const FORGET_REMOVED: &str = "DELETE FROM removed_tenants WHERE id = $1";
const SET_TENANT: &str = "INSERT INTO tenants (id, name, plan, created_at) VALUES ($1, $2, $3, $4)
    ON CONFLICT (id) DO UPDATE SET name = excluded.name, plan = excluded.plan";

impl Edits {
    pub(crate) fn new(engine: Arc<Engine>, rights: Rights) -> Self {
        Self { engine, rights }
    }

    /// To be asked before anything is read.
    pub async fn moment(&self) -> Result<Moment, StoreError> {
        self.rights.newest().await.map(Moment)
    }

    /// The row with the same key, as it is now.
    pub async fn current(&self, row: &Row) -> Result<Option<Row>, StoreError> {
        let operation = "look up what is to be changed";
        Ok(match row {
            Row::User(user) => self.engine.find(operation, users::get(&user.id)).await?.map(Row::User),
            Row::Tenant(tenant) => self.engine.find(operation, super::get(&tenant.id)).await?.map(Row::Tenant),
            Row::Member { tenant, member } => {
                let found = self.engine.find(operation, members::get(tenant, &member.user)).await?;
                found.map(|member| Row::Member { tenant: tenant.clone(), member })
            }
            Row::Override(switched) => {
                let found = overrides::get(&switched.tenant, &switched.tool);
                self.engine.find(operation, found).await?.map(Row::Override)
            }
            Row::Catalog(said) => self.engine.find(operation, catalog::get(&said.tool)).await?.map(Row::Catalog),
        })
    }

    /// All of them or none; answered when every process follows. False: something was changed since that moment, and nothing
    /// is done. A tenant that has an owner keeps one.
    pub async fn commit(&self, since: Moment, edits: &[Edit]) -> Result<bool, EditFault> {
        let operation = "change tenants, users or the catalogue";
        for edit in edits.iter().filter(|edit| edit.before.is_none()) {
            if let Some(Row::Tenant(tenant)) = &edit.after {
                ids::check(operation, &tenant.id)?;
            }
        }
        self.check(edits).await?;
        // what others refer to goes last and comes first
        let mut statements: Vec<(i8, Statement)> =
            edits.iter().flat_map(|edit| statement(edit).into_iter().chain(removal(edit))).collect();
        statements.sort_by_key(|(turn, _)| *turn);
        let statements = statements.into_iter().map(|(_, statement)| statement).collect();
        let about: Vec<Subject> = edits.iter().filter_map(subject).collect();
        Ok(self.rights.change(operation, since.0, about, statements).await?)
    }

    /// Whether they could be made as things are: a tenant that has an owner keeps one.
    pub async fn check(&self, edits: &[Edit]) -> Result<(), EditFault> {
        let gone: BTreeSet<&str> = edits.iter().filter(|edit| edit.after.is_none()).filter_map(tenant_of).collect();
        for (tenant, user) in edits.iter().filter_map(|edit| steps_down(edit, true)) {
            if gone.contains(tenant) {
                continue;
            }
            let owners: Vec<Name> =
                self.engine.read("list the owners", Statement::new(OWNERS, [Value::id(tenant)])).await?;
            let leaves = |owner: &str| edits.iter().any(|edit| steps_down(edit, true) == Some((tenant, owner)));
            let stays = owners.iter().any(|owner| !leaves(&owner.0));
            let comes = edits.iter().any(|edit| steps_down(edit, false).is_some_and(|(of, _)| of == tenant));
            if !stays && !comes {
                return Err(EditFault::LastOwner { tenant: tenant.to_owned(), user: user.to_owned() });
            }
        }
        Ok(())
    }
}

/// The tenant and the user of an edit by which somebody ceases to be an owner, or, the other way round, becomes one.
fn steps_down(edit: &Edit, down: bool) -> Option<(&str, &str)> {
    let owner = |row: &Option<Row>| matches!(row, Some(Row::Member { member, .. }) if member.role == Role::Owner);
    match edit.any()? {
        Row::Member { tenant, member } if owner(&edit.before) == down && owner(&edit.after) != down => {
            Some((tenant, &member.user))
        }
        _ => None,
    }
}

fn tenant_of(edit: &Edit) -> Option<&str> {
    match edit.any()? {
        Row::Tenant(tenant) => Some(&tenant.id),
        _ => None,
    }
}

fn statement(edit: &Edit) -> Option<(i8, Statement)> {
    Some(match (&edit.after, edit.any()?) {
        (Some(Row::User(user)), _) => (1, users::set(user)),
        (Some(Row::Tenant(Tenant { id, name, plan, created_at })), _) => {
            let values = [Value::id(id), Value::id(name), Value::id(plan), Value::int(*created_at)];
            (2, Statement::new(SET_TENANT, values))
        }
        (Some(Row::Member { tenant, member }), _) => (3, members::set(tenant, member)),
        (Some(Row::Override(switched)), _) => (4, overrides::set(switched.clone())),
        (Some(Row::Catalog(said)), _) => (5, catalog::set(said.clone())),
        (None, Row::User(user)) => (-1, users::remove(&user.id)),
        (None, Row::Tenant(tenant)) => (-2, Statement::new(REMOVE_TENANT, [Value::id(&tenant.id)])),
        (None, Row::Member { tenant, member }) => (-3, members::remove(tenant, &member.user)),
        (None, Row::Override(switched)) => (-4, overrides::remove(&switched.tenant, &switched.tool)),
        (None, Row::Catalog(said)) => (-5, catalog::remove(&said.tool)),
    })
}

/// A removed tenant is remembered until there is one of that name again.
fn removal(edit: &Edit) -> Option<(i8, Statement)> {
    let id = tenant_of(edit)?;
    let sql = if edit.after.is_none() { REMEMBER_REMOVED } else { FORGET_REMOVED };
    Some((6, Statement::new(sql, [Value::id(id)])))
}

fn subject(edit: &Edit) -> Option<Subject> {
    Some(match edit.any()? {
        // whoever was a member has another first tenant now
        Row::Tenant(_) if edit.after.is_none() => Subject::Everybody,
        Row::Tenant(tenant) => Subject::Tenant(tenant.id.clone()),
        Row::Override(switched) => Subject::Tenant(switched.tenant.clone()),
        Row::User(user) => Subject::User(user.id.clone()),
        Row::Member { member, .. } => Subject::User(member.user.clone()),
        Row::Catalog(_) => Subject::Catalog,
    })
}

struct Name(String);

impl FromRow for Name {
    fn from_row(row: &mut Cells) -> Result<Self, Fault> {
        Ok(Self(row.text()?))
    }
}
