//! Quotas: how much of something one holder and all holders together may have at the same time.

use std::{
    collections::HashMap,
    hash::Hash,
    net::{IpAddr, Ipv6Addr},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

/// A bound on what each holder has and on what all of them have together.
#[derive(Debug)]
pub struct Quota<K> {
    each: usize,
    total: usize,
    held: Mutex<Held<K>>,
}

#[derive(Debug)]
struct Held<K> {
    by_holder: HashMap<K, usize>,
    total: usize,
}

/// A holder's part of a quota, given back when dropped.
#[derive(Debug)]
pub struct QuotaPermit<K: Eq + Hash> {
    quota: Arc<Quota<K>>,
    holder: K,
    amount: usize,
}

impl<K: Eq + Hash + Clone> Quota<K> {
    /// At most `each` for one holder and `total` for all.
    pub fn new(each: usize, total: usize) -> Arc<Self> {
        Arc::new(Self { each, total, held: Mutex::new(Held { by_holder: HashMap::new(), total: 0 }) })
    }

    /// `None` where the holder, or all holders together, would have more than they may.
    pub fn take(self: &Arc<Self>, holder: K, amount: usize) -> Option<QuotaPermit<K>> {
        let mut permit = QuotaPermit { quota: Arc::clone(self), holder, amount: 0 };
        permit.grow(amount).then_some(permit)
    }

    /// The bound on one holder.
    pub fn each(&self) -> usize {
        self.each
    }

    /// The amount that all holders have together.
    pub fn in_use(&self) -> usize {
        self.held().total
    }
}

impl<K> Quota<K> {
    fn held(&self) -> MutexGuard<'_, Held<K>> {
        // every change of the counts is complete before anything can panic
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<K: Eq + Hash + Clone> QuotaPermit<K> {
    /// Takes more for the same holder; false, and nothing taken, where that would be too much.
    pub fn grow(&mut self, more: usize) -> bool {
        let mut held = self.quota.held();
        let own = held.by_holder.get(&self.holder).copied().unwrap_or(0).saturating_add(more);
        let total = held.total.saturating_add(more);
        if own > self.quota.each || total > self.quota.total {
            return false;
        }
        held.total = total;
        if more > 0 {
            held.by_holder.insert(self.holder.clone(), own);
        }
        self.amount += more;
        true
    }
}

impl<K: Eq + Hash> Drop for QuotaPermit<K> {
    fn drop(&mut self) {
        let mut held = self.quota.held();
        held.total = held.total.saturating_sub(self.amount);
        if let Some(own) = held.by_holder.get_mut(&self.holder) {
            *own = own.saturating_sub(self.amount);
            if *own == 0 {
                held.by_holder.remove(&self.holder);
            }
        }
    }
}

/// The address that quotas and rates are counted by: of IPv6 the network, since one host has all addresses of it.
pub fn quota_address(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => {
            let [a, b, c, d, ..] = address.segments();
            IpAddr::V6(Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0))
        }
        address => address,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_holder_and_all_holders_are_bounded_and_what_is_dropped_comes_back() {
        let quota = Quota::new(3, 5);
        let mut ann = quota.take("ann", 2).unwrap();
        assert!(quota.take("ann", 2).is_none(), "more than one holder may have");
        assert!(ann.grow(1) && !ann.grow(1));
        let bob = quota.take("bob", 2).unwrap();
        assert!(quota.take("eve", 1).is_none(), "more than all may have");
        assert_eq!(quota.in_use(), 5);
        drop(ann);
        assert_eq!(quota.in_use(), 2);
        assert!(quota.take("eve", 3).is_some());
        drop(bob);
        assert_eq!(quota.in_use(), 0);
        assert!(quota.held().by_holder.is_empty(), "a holder of nothing is forgotten");
    }

    #[test]
    fn an_address_of_version_six_is_counted_by_its_network() {
        let key = |text: &str| quota_address(text.parse().unwrap()).to_string();
        assert_eq!(key("2001:db8:1:2:3:4:5:6"), "2001:db8:1:2::");
        assert_eq!(key("2001:db8:1:2:ffff::1"), key("2001:db8:1:2:3:4:5:6"));
        assert_ne!(key("2001:db8:1:3::1"), key("2001:db8:1:2::1"));
        assert_eq!(key("::ffff:10.0.0.1"), "10.0.0.1");
        assert_eq!(key("10.0.0.1"), "10.0.0.1");
    }
}
