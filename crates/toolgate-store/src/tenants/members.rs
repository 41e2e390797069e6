//! Who belongs to a tenant, and as what.

use serde::{Deserialize, Serialize};
use toolgate_core::caller::Role;

use super::{Tenants, role};
use crate::{
    Mark, Page, Paging, StoreError,
    error::Fault,
    page::Listed,
    statement::{FromRow, Row, Statement, Value},
};

/// A member of one tenant.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
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

const SET: &str = "INSERT INTO members (tenant, member, role, since) VALUES ($1, $2, $3, $4)
    ON CONFLICT (tenant, member) DO UPDATE SET role = excluded.role, since = excluded.since";
const REMOVE: &str = "DELETE FROM members WHERE tenant = $1 AND member = $2";
const GET: &str = "SELECT member, role, since FROM members WHERE tenant = $1 AND member = $2";
const LIST: &str = "SELECT member, role, since FROM members WHERE tenant = $1 AND (since, member) < ($2, $3)
    ORDER BY since DESC, member DESC LIMIT $4";
const OF_USER: &str = "SELECT tenant, role, since FROM members WHERE member = $1 ORDER BY since, tenant LIMIT $2";

/// The most tenants of one user that are ever shown.
const MOST: i64 = 1_000;

impl Tenants {
    pub async fn member(&self, tenant: &str, user: &str) -> Result<Option<Member>, StoreError> {
        self.engine.find("look up a member", get(tenant, user)).await
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

pub(super) fn get(tenant: &str, user: &str) -> Statement {
    Statement::new(GET, [Value::id(tenant), Value::id(user)])
}

pub(super) fn set(tenant: &str, Member { user, role, since }: &Member) -> Statement {
    let values = [Value::id(tenant), Value::id(user), Value::text(role.as_str()), Value::int(*since)];
    Statement::new(SET, values)
}

pub(super) fn remove(tenant: &str, user: &str) -> Statement {
    Statement::new(REMOVE, [Value::id(tenant), Value::id(user)])
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
