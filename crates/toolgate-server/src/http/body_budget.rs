//! The memory that bodies of requests may take: so many bytes for all, for callers who are not known yet, and for one address.

use std::{net::IpAddr, sync::Arc};

use toolgate_core::{Quota, QuotaPermit, quota_address};

/// Bytes of a body that are not counted: the buffer of its connection holds as much anyway, and most messages are smaller.
const UNCOUNTED: usize = 8 << 10;

/// Bytes of bodies that are being read or answered. Half of them are for signed-in callers alone.
#[derive(Debug)]
pub struct BodyBudget {
    anyone: Arc<Quota<IpAddr>>,
    signed_in: Arc<Quota<IpAddr>>,
}

/// The bytes of one body, given back when dropped.
#[derive(Debug)]
pub(super) struct BodyCharge {
    budget: Arc<BodyBudget>,
    address: IpAddr,
    uncounted: usize,
    is_signed_in: bool,
    permit: Option<QuotaPermit<IpAddr>>,
    reserved: Option<QuotaPermit<IpAddr>>,
}

impl BodyBudget {
    /// `bytes` for all bodies together.
    pub fn new(bytes: usize) -> Arc<Self> {
        let half = bytes / 2;
        Arc::new(Self { anyone: Quota::new(half / 2, half), signed_in: Quota::new(half / 2, half) })
    }

    pub(super) fn charge(self: &Arc<Self>, address: IpAddr) -> BodyCharge {
        BodyCharge {
            budget: Arc::clone(self),
            address: quota_address(address),
            uncounted: UNCOUNTED,
            is_signed_in: false,
            permit: None,
            reserved: None,
        }
    }
}

impl BodyCharge {
    /// Opens the half that is for signed-in callers.
    pub(super) fn sign_in(&mut self) {
        self.is_signed_in = true;
    }

    /// What is to be kept as long as the body is; nothing where none of it was counted.
    pub(super) fn counted(self) -> Option<Box<dyn Send + Sync>> {
        (self.permit.is_some() || self.reserved.is_some()).then(|| Box::new(self) as _)
    }

    pub(super) fn is_signed_in(&self) -> bool {
        self.is_signed_in
    }

    /// Counts bytes that arrived; false where there is no room for them.
    pub(super) fn grow(&mut self, bytes: usize) -> bool {
        let counted = bytes.saturating_sub(self.uncounted);
        let grown = counted == 0
            || taken(&mut self.permit, &self.budget.anyone, self.address, counted)
            || self.is_signed_in && taken(&mut self.reserved, &self.budget.signed_in, self.address, counted);
        if grown {
            self.uncounted = self.uncounted.saturating_sub(bytes);
        }
        grown
    }
}

fn taken(permit: &mut Option<QuotaPermit<IpAddr>>, quota: &Arc<Quota<IpAddr>>, address: IpAddr, bytes: usize) -> bool {
    match permit {
        Some(permit) => permit.grow(bytes),
        None => {
            *permit = quota.take(address, bytes);
            permit.is_some()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(last: u8) -> IpAddr {
        [10, 0, 0, last].into()
    }

    #[test]
    fn one_address_has_a_quarter_and_unknown_callers_half_and_signed_in_callers_the_rest() {
        let budget = BodyBudget::new(400 << 10);
        let fill = |last| {
            let mut charge = budget.charge(address(last));
            (charge.grow(108 << 10), charge)
        };
        let (first, second) = (fill(1), fill(2));
        assert!(first.0 && second.0);
        assert!(!budget.charge(address(1)).grow(9 << 10), "the address has its quarter");
        assert!(!budget.charge(address(3)).grow(9 << 10), "unknown callers have their half");
        assert!(budget.charge(address(3)).grow(8 << 10), "a small body needs no room");
        let mut known = budget.charge(address(1));
        known.sign_in();
        assert!(known.grow(100 << 10), "a signed-in caller has room left");
        drop(first);
        assert!(budget.charge(address(3)).grow(9 << 10), "room comes back");
    }
}
