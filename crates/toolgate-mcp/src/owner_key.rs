//! Whose share of a bound something counts to: a signed-in caller's, or an address's where nobody is signed in.

use std::{net::IpAddr, sync::Arc};

use toolgate_core::{Caller, Quota, QuotaPermit, quota_address};

use crate::session::{self, PrincipalDigest};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum OwnerKey {
    Principal(PrincipalDigest),
    /// `None` on standard input.
    Address(Option<IpAddr>),
}

impl OwnerKey {
    pub(crate) fn of(caller: &Caller, address: Option<IpAddr>) -> Self {
        match caller.is_signed_in() {
            true => Self::Principal(session::digest_of(caller)),
            false => Self::Address(address.map(quota_address)),
        }
    }
}

/// A bound with a share for each owner. Anonymous callers have a part of their own, which is all they can use up.
pub(crate) struct OwnerQuota {
    signed_in: Arc<Quota<OwnerKey>>,
    anonymous: Arc<Quota<OwnerKey>>,
}

impl OwnerQuota {
    /// What one owner may have, and all signed-in callers together; anonymous callers have as much again.
    pub(crate) fn new(each: usize, total: usize) -> Self {
        Self::with_anonymous((each, total), (each, total))
    }

    /// The bounds (one owner, all together) of signed-in callers, and those of anonymous ones.
    pub(crate) fn with_anonymous(signed_in: (usize, usize), anonymous: (usize, usize)) -> Self {
        Self { signed_in: Quota::new(signed_in.0, signed_in.1), anonymous: Quota::new(anonymous.0, anonymous.1) }
    }

    pub(crate) fn take(&self, owner: OwnerKey) -> Option<QuotaPermit<OwnerKey>> {
        match owner {
            OwnerKey::Principal(_) => self.signed_in.take(owner, 1),
            OwnerKey::Address(_) => self.anonymous.take(owner, 1),
        }
    }
}
