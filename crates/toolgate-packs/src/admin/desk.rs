//! Where an administrator sits: the store, the gate, and who it is. What somebody may look at or change beyond what the gate
//! decides is said here and nowhere else.

use toolgate_core::{
    Caller, Gate, Tool,
    caller::{Role, UserId},
    suggest::hint,
};
use toolgate_store::{
    Store,
    tenants::{Edit, Row, Tenant},
};

use crate::failure::{Failure, short};

pub(super) struct Desk<'a> {
    pub(super) store: &'a Store,
    pub(super) gate: &'a Gate,
    pub(super) caller: &'a Caller,
}

impl<'a> Desk<'a> {
    /// The tenant that is meant: the caller's own, or any for the operator. Another's and one that is not there are one
    /// answer, after the same look.
    pub(super) async fn tenant(&self, named: Option<&str>) -> Result<Tenant, Failure> {
        let own = self.own();
        let Some(id) = named.or(own) else {
            return Err(Failure::invalid("Argument 'tenant' is required: this caller acts for no tenant."));
        };
        let found = self.store.tenants().get(id).await.map_err(|fault| Failure::store(&fault))?;
        found.filter(|tenant| self.reaches(&tenant.id)).ok_or_else(|| no_tenant(id))
    }

    /// Whether the rows may be changed by this caller. Which tools it may call at all is the gate's to say.
    pub(super) fn may(&self, edits: &[Edit]) -> Result<(), Failure> {
        for row in edits.iter().flat_map(|edit| [&edit.before, &edit.after]).flatten() {
            match row {
                _ if self.caller.operator => {}
                Row::Override(switched) if self.reaches(&switched.tenant) => {}
                Row::Member { tenant, member } if self.reaches(tenant) => {
                    if member.role == Role::Owner && !self.is_owner() {
                        return Err(Failure {
                            error: "Owners are made and unmade by an owner of the tenant or by the operator."
                                .to_owned(),
                            code: "owner_required",
                        });
                    }
                }
                // who becomes a member is known from then on
                Row::User(user) if seats(edits, &user.id) => {}
                Row::Override(switched) => return Err(no_tenant(&switched.tenant)),
                Row::Member { tenant, .. } => return Err(no_tenant(tenant)),
                Row::Tenant(tenant) => return Err(no_tenant(&tenant.id)),
                Row::User(_) | Row::Catalog(_) => {
                    return Err(Failure {
                        error: "This is the operator's to change.".to_owned(),
                        code: "operator_required",
                    });
                }
            }
        }
        Ok(())
    }

    fn own(&self) -> Option<&'a str> {
        self.caller.tenant.as_ref().map(|tenant| tenant.id.as_str())
    }

    fn reaches(&self, tenant: &str) -> bool {
        self.caller.operator || self.own() == Some(tenant)
    }

    fn is_owner(&self) -> bool {
        self.caller.tenant.as_ref().is_some_and(|tenant| tenant.role == Role::Owner)
    }

    /// A registered tool by either of its names.
    pub(super) fn tool(&self, name: &str) -> Result<&'a Tool, Failure> {
        let catalog = self.gate.catalog();
        catalog.find(name).map(|tool| &**tool).ok_or_else(|| {
            let near = hint(name, catalog.tools().map(|tool| tool.name.as_str()));
            let near = if near.is_empty() { "." } else { &near };
            Failure::not_found(format!("There is no tool '{}'{near}", short(name)))
        })
    }

    /// The canonical name, also of a tool that is not here now: what was once said of it can be taken back.
    pub(super) fn canonical(&self, name: &str) -> String {
        self.gate.catalog().find(name).map_or_else(|| name.to_owned(), |tool| tool.name.to_string())
    }

    /// Lowest first.
    pub(super) fn plans(&self) -> &'a [String] {
        self.gate.rulebook().plans()
    }

    pub(super) fn plan(&self, name: &str) -> Result<String, Failure> {
        self.plans().iter().find(|plan| *plan == name).cloned().ok_or_else(|| {
            Failure::invalid(format!("There is no plan '{}'; the plans are: {}.", short(name), self.plans().join(", ")))
        })
    }

    pub(super) fn lowest_plan(&self) -> String {
        self.plans().first().cloned().unwrap_or_default()
    }

    /// A user as credentials write it: `NAME`, or `ISSUER/SUBJECT`.
    pub(super) fn user(&self, name: &str) -> Result<String, Failure> {
        let user = match name.split_once('/') {
            None => UserId::own(name),
            Some((issuer, subject)) => UserId::of_issuer(issuer, subject),
        };
        let plain = !name.chars().any(char::is_control);
        user.ok()
            .filter(|_| plain)
            .map(|user| user.as_str().to_owned())
            .ok_or_else(|| Failure::invalid("Argument 'user' is not valid: a user is written NAME, or ISSUER/SUBJECT."))
    }
}

/// Whether a user becomes a member by these.
pub(super) fn seats(edits: &[Edit], user: &str) -> bool {
    edits.iter().any(|edit| matches!(&edit.after, Some(Row::Member { member, .. }) if member.user == user))
}

pub(super) fn no_tenant(id: &str) -> Failure {
    Failure::not_found(format!("There is no tenant '{}'.", short(id)))
}
