//! Who belongs to a tenant, and as what.

use toolgate_core::caller::Role;

use super::{Tenants, role};
use crate::{
    Mark, Page, Paging, StoreError,
    error::Fault,
    page::Listed,
    rights::Subject,
    statement::{FromRow, Row, Statement, Value},
};

/// A member of one tenant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Member {
    /// As a user is written: `name`, or `issuer/subject`.
    pub user: String,
    pub role: Role,
    pub since: i64,
}

/// A tenant one user is in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Membership {
    pub tenant: String,
    pub role: Role,
    pub since: i64,
}

/// Why a tenant's members or overrides are as they were.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MemberFault {
    #[error("there is no tenant '{tenant}'; add it first")]
    UnknownTenant { tenant: String },
    #[error("'{user}' is the last owner of tenant '{tenant}'; make somebody else an owner first")]
    LastOwner { tenant: String, user: String },
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// A user who is not known yet is, from here on.
const KNOW: &str = "INSERT INTO users (id, created_at) VALUES ($1, $2) ON CONFLICT (id) DO NOTHING";
/// Whether somebody else is an owner, or this one is none.
macro_rules! not_the_last_owner {
    () => {
        "(members.role <> 'owner' OR EXISTS (SELECT 1 FROM members other
            WHERE other.tenant = $1 AND other.member <> $2 AND other.role = 'owner'))"
    };
}
const SET: &str = concat!(
    "INSERT INTO members (tenant, member, role, since) VALUES ($1, $2, $3, $4)
    ON CONFLICT (tenant, member) DO UPDATE SET role = excluded.role
        WHERE excluded.role = 'owner' OR ",
    not_the_last_owner!(),
    " RETURNING member, role, since"
);
const REMOVE: &str = concat!(
    "DELETE FROM members WHERE tenant = $1 AND member = $2 AND ",
    not_the_last_owner!(),
    " RETURNING member, role, since"
);
const GET: &str = "SELECT member, role, since FROM members WHERE tenant = $1 AND member = $2";
const LIST: &str = "SELECT member, role, since FROM members WHERE tenant = $1 AND (since, member) < ($2, $3)
    ORDER BY since DESC, member DESC LIMIT $4";
const OF_USER: &str = "SELECT tenant, role, since FROM members WHERE member = $1 ORDER BY since, tenant LIMIT $2";

/// The most tenants of one user that are ever shown.
const MOST: i64 = 1_000;

impl Tenants {
    /// Makes somebody a member, or gives a member another role. The last owner stays one.
    pub async fn set_member(&self, tenant: &str, user: &str, role: Role, now: i64) -> Result<Member, MemberFault> {
        self.must_exist(tenant).await?;
        let values = [Value::id(tenant), Value::id(user), Value::text(role.as_str()), Value::int(now)];
        let statements = vec![Statement::new(KNOW, [Value::id(user), Value::int(now)]), Statement::new(SET, values)];
        let about = Subject::User(user.to_owned());
        let set = self.rights.change("change a member", [about], statements).await?;
        set.into_iter().next().ok_or_else(|| last_owner(tenant, user))
    }

    /// `None` if there was no such member. The last owner stays.
    pub async fn remove_member(&self, tenant: &str, user: &str) -> Result<Option<Member>, MemberFault> {
        let remove = Statement::new(REMOVE, [Value::id(tenant), Value::id(user)]);
        let about = Subject::User(user.to_owned());
        if let Some(removed) = self.rights.change("remove a member", [about], vec![remove]).await?.into_iter().next() {
            return Ok(Some(removed));
        }
        match self.member(tenant, user).await? {
            Some(_) => Err(last_owner(tenant, user)),
            None => Ok(None),
        }
    }

    pub async fn member(&self, tenant: &str, user: &str) -> Result<Option<Member>, StoreError> {
        let values = [Value::id(tenant), Value::id(user)];
        self.engine.find("look up a member", Statement::new(GET, values)).await
    }

    /// Newest first.
    pub async fn members(&self, tenant: &str, paging: &Paging) -> Result<Page<Member>, StoreError> {
        let values = [Value::id(tenant)].into_iter().chain(paging.values());
        Ok(paging.page(self.engine.read("list the members", Statement::new(LIST, values)).await?))
    }

    /// The tenants of a user, the one it was in first before the others.
    pub async fn of_user(&self, user: &str) -> Result<Vec<Membership>, StoreError> {
        let values = [Value::id(user), Value::int(MOST)];
        self.engine.read("list a user's tenants", Statement::new(OF_USER, values)).await
    }

    /// The tenant a user acts for who names none.
    pub async fn first_of_user(&self, user: &str) -> Result<Option<Membership>, StoreError> {
        let values = [Value::id(user), Value::int(1)];
        self.engine.find("look up a user's tenant", Statement::new(OF_USER, values)).await
    }
}

fn last_owner(tenant: &str, user: &str) -> MemberFault {
    MemberFault::LastOwner { tenant: tenant.to_owned(), user: user.to_owned() }
}

impl Listed for Member {
    fn mark(&self) -> Mark {
        Mark { at: self.since, id: self.user.clone() }
    }
}

impl FromRow for Member {
    fn from_row(row: &mut Row) -> Result<Self, Fault> {
        Ok(Member { user: row.text()?, role: role(row)?, since: row.int()? })
    }
}

impl FromRow for Membership {
    fn from_row(row: &mut Row) -> Result<Self, Fault> {
        Ok(Membership { tenant: row.text()?, role: role(row)?, since: row.int()? })
    }
}
