//! How much of the store a reader sees. Part of the query itself: what is outside does not exist.

use crate::statement::Value;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Scope {
    /// All of it: for the operator and for the gate's own work.
    Everything,
    /// One tenant, or with `None` what belongs to no tenant.
    Tenant(Option<String>),
    /// What one principal owns or asked for, within its tenant.
    Principal { tenant: Option<String>, principal: String },
}

impl Scope {
    pub fn principal(tenant: Option<&str>, principal: &str) -> Self {
        Scope::Principal { tenant: tenant.map(str::to_owned), principal: principal.to_owned() }
    }

    /// The values of `$1`, `$2` and `$3` in `in_scope!`.
    pub(crate) fn values(&self) -> [Value; 3] {
        let (all, tenant, principal) = match self {
            Scope::Everything => (true, None, None),
            Scope::Tenant(tenant) => (false, tenant.as_deref(), None),
            Scope::Principal { tenant, principal } => (false, tenant.as_deref(), Some(principal.as_str())),
        };
        [Value::Bool(all), Value::maybe_id(tenant), Value::maybe_id(principal)]
    }
}

/// The condition that a row is in scope: its tenant, and one of the columns that name its people.
macro_rules! in_scope {
    ($($column:literal),+) => {
        concat!("($1 OR tenant IS NOT DISTINCT FROM $2) AND ($3 IS NULL", $(" OR ", $column, " = $3"),+, ")")
    };
}
