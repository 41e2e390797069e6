//! Failed attempts, counted by the client's address, so that nobody tries secrets at the speed of the network.
//!
//! A failure costs its own address alone, and a secret that held before is always looked at: nobody locks out a client that is
//! known. Signed tokens and agents' session tokens are not counted: neither a signature nor 128 random bits are guessed.

use std::{
    collections::HashMap,
    net::IpAddr,
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

use toolgate_core::{KnownSecrets, quota_address};

/// Addresses that are counted apart. Further ones are counted together.
const MOST_ADDRESSES: usize = 10_000;
const MOST_KNOWN: usize = 10_000;

/// The attempts that may fail at one address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AttemptLimit {
    /// Failures at once.
    pub burst: u32,
    /// The time after which one failure is forgotten.
    pub refill: Duration,
}

impl Default for AttemptLimit {
    fn default() -> Self {
        Self { burst: 20, refill: Duration::from_secs(2) }
    }
}

#[derive(Debug)]
pub(super) struct LoginThrottle {
    limit: AttemptLimit,
    /// The moment at which the failures of an address are forgotten.
    forgotten_at: Mutex<HashMap<Option<IpAddr>, Instant>>,
    known: KnownSecrets,
}

impl LoginThrottle {
    pub(super) fn new(limit: AttemptLimit) -> Self {
        Self { limit, forgotten_at: Mutex::default(), known: KnownSecrets::new(MOST_KNOWN) }
    }

    /// Whether a secret from this address is looked at. Where no address is known (standard input), every one is.
    pub(super) fn allows(&self, address: Option<IpAddr>, secret: &str, now: Instant) -> bool {
        let Some(address) = address else { return true };
        let buckets = self.forgotten_at.lock().unwrap_or_else(PoisonError::into_inner);
        if buckets.is_empty() {
            return true;
        }
        let own = buckets.get(&Some(quota_address(address)));
        let at = if own.is_none() && buckets.len() >= MOST_ADDRESSES { buckets.get(&None) } else { own };
        let left = at.map(|at| at.saturating_duration_since(now)).unwrap_or_default();
        drop(buckets);
        left <= self.limit.refill.saturating_mul(self.limit.burst.saturating_sub(1)) || self.known.knows("", secret)
    }

    pub(super) fn failed(&self, address: Option<IpAddr>, now: Instant) {
        let Some(address) = address else { return };
        let mut buckets = self.forgotten_at.lock().unwrap_or_else(PoisonError::into_inner);
        let mut key = Some(quota_address(address));
        if buckets.len() >= MOST_ADDRESSES && !buckets.contains_key(&key) {
            buckets.retain(|_, at| *at > now);
            if buckets.len() >= MOST_ADDRESSES {
                key = None;
            }
        }
        let at = buckets.entry(key).or_insert(now);
        // however many fail at the same time, the address waits no longer than a burst takes to be forgotten
        let latest = now + self.limit.refill.saturating_mul(self.limit.burst);
        *at = ((*at).max(now) + self.limit.refill).min(latest);
    }

    pub(super) fn held(&self, secret: &str) {
        self.known.remember("", secret);
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    const REFILL: Duration = Duration::from_secs(10);

    fn at(text: &str) -> Option<IpAddr> {
        Some(text.parse().unwrap())
    }

    #[test]
    fn failures_cost_their_own_address_and_fade() {
        let (throttle, now) = (LoginThrottle::new(AttemptLimit { burst: 3, refill: REFILL }), Instant::now());
        throttle.held("known");
        for _ in 0..3 {
            assert!(throttle.allows(at("10.0.0.1"), "guess", now));
            throttle.failed(at("10.0.0.1"), now);
        }
        assert!(!throttle.allows(at("10.0.0.1"), "guess", now));
        assert!(throttle.allows(at("10.0.0.1"), "known", now), "a known secret is always looked at");
        assert!(throttle.allows(at("10.0.0.2"), "guess", now));
        assert!(throttle.allows(None, "guess", now));
        assert!(!throttle.allows(at("10.0.0.1"), "guess", now + REFILL / 2));
        assert!(throttle.allows(at("10.0.0.1"), "guess", now + REFILL));
        throttle.failed(at("10.0.0.1"), now + REFILL);
        assert!(!throttle.allows(at("10.0.0.1"), "guess", now + REFILL));
    }

    #[test]
    fn many_failures_at_once_lock_an_address_for_one_burst() {
        let (throttle, now) = (LoginThrottle::new(AttemptLimit { burst: 3, refill: REFILL }), Instant::now());
        for _ in 0..256 {
            throttle.failed(at("10.0.0.1"), now);
        }
        assert!(!throttle.allows(at("10.0.0.1"), "guess", now));
        assert!(throttle.allows(at("10.0.0.1"), "guess", now + REFILL));
    }

    #[test]
    fn an_address_of_version_6_stands_for_its_network() {
        let (throttle, now) = (LoginThrottle::new(AttemptLimit { burst: 1, refill: REFILL }), Instant::now());
        throttle.failed(at("2001:db8:1:2::1"), now);
        assert!(!throttle.allows(at("2001:db8:1:2:3:4:5:6"), "x", now));
        assert!(throttle.allows(at("2001:db8:1:3::1"), "x", now));
        throttle.failed(at("::ffff:10.0.0.9"), now);
        assert!(!throttle.allows(at("10.0.0.9"), "x", now));
    }

    #[test]
    fn memory_is_bounded_and_what_does_not_fit_is_counted_together() {
        let (throttle, now) = (LoginThrottle::new(AttemptLimit { burst: 1, refill: REFILL }), Instant::now());
        for n in 0..u32::try_from(MOST_ADDRESSES).unwrap() + 50 {
            throttle.failed(Some(IpAddr::from(n.to_be_bytes())), now);
        }
        assert!(throttle.forgotten_at.lock().unwrap().len() <= MOST_ADDRESSES + 1);
        assert!(!throttle.allows(at("200.0.0.1"), "x", now));
        let later = now + REFILL * 100;
        throttle.failed(at("200.0.0.1"), later);
        assert_eq!(throttle.forgotten_at.lock().unwrap().len(), 1);
    }
}
