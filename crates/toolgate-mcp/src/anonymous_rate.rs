//! How often anonymous callers may do what is put on record: nobody answers for what they make durable.

use std::{
    net::IpAddr,
    time::{Duration, Instant},
};

use toolgate_core::{LogThrottle, quota_address};
use toolgate_spine::RateLimit;

use crate::refusal::Refusal;

/// Calls a minute of anonymous callers. Absent: as many as they like.
#[derive(Debug, Clone, Copy)]
pub struct AnonymousLimits {
    /// From one address.
    pub per_minute: Option<u32>,
    /// From all addresses together, attempts to sign in aside.
    pub total_per_minute: Option<u32>,
}

impl Default for AnonymousLimits {
    fn default() -> Self {
        Self { per_minute: Some(1200), total_per_minute: Some(6000) }
    }
}

/// The purpose of an anonymous call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AnonymousUse {
    /// A call of the tool that signs callers in. Other callers' calls must not keep anybody from it, so that it has a rate of
    /// its own for each address and no total; the tool counts failed attempts itself.
    SignIn,
    Other,
}

pub(crate) struct AnonymousRate {
    each: Option<RateLimit>,
    sign_ins: Option<RateLimit>,
    total: Option<RateLimit>,
    log: LogThrottle,
}

impl AnonymousRate {
    pub(crate) fn new(limits: &AnonymousLimits) -> Self {
        Self {
            each: limits.per_minute.map(RateLimit::per_minute),
            sign_ins: limits.per_minute.map(RateLimit::per_minute),
            total: limits.total_per_minute.map(RateLimit::per_minute),
            log: LogThrottle::default(),
        }
    }

    /// Takes one call from this address, or says when the next one may come.
    pub(crate) fn take(&self, address: IpAddr, purpose: AnonymousUse, now: Instant) -> Result<(), Refusal> {
        let address = quota_address(address);
        self.taken(&address.to_string(), purpose, now).map_err(|wait| {
            self.log.say(|left_out| {
                tracing::warn!(%address, left_out, "too many calls of anonymous callers: some were refused and not recorded");
            });
            let seconds = seconds(wait);
            Refusal::too_many(format!("too many calls without signing in; sign in, or try again in {seconds} s"), seconds)
        })
    }
}

impl AnonymousRate {
    /// A call that the total refuses costs its address nothing, and one that its address may not make costs the total nothing.
    fn taken(&self, address: &str, purpose: AnonymousUse, now: Instant) -> Result<(), Duration> {
        let (own, total) = match purpose {
            AnonymousUse::SignIn => (&self.sign_ins, None),
            AnonymousUse::Other => (&self.each, self.total.as_ref()),
        };
        own.as_ref().map_or(Ok(()), |own| own.allows(address, now))?;
        total.map_or(Ok(()), |total| total.take("", now))?;
        own.as_ref().map_or(Ok(()), |own| own.take(address, now))
    }
}

/// Whole seconds, and one at least.
pub(crate) fn seconds(wait: Duration) -> u64 {
    wait.as_secs() + u64::from(wait.subsec_nanos() > 0).max(u64::from(wait.is_zero()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(last: u8) -> IpAddr {
        IpAddr::from([10, 0, 0, last])
    }

    #[test]
    fn an_address_and_all_addresses_have_their_rate() {
        let rate = AnonymousRate::new(&AnonymousLimits { per_minute: Some(2), total_per_minute: Some(3) });
        let now = Instant::now();
        let take = |last: u8, now: Instant| rate.take(address(last), AnonymousUse::Other, now);
        assert!(take(1, now).is_ok() && take(1, now).is_ok());
        assert_eq!(take(1, now).unwrap_err().status, 429);
        assert!(take(2, now).is_ok(), "another address has its own");
        assert_eq!(take(3, now).unwrap_err().status, 429, "all together have had theirs");
        assert!(take(3, now + Duration::from_secs(60)).is_ok());
        let free = AnonymousRate::new(&AnonymousLimits { per_minute: None, total_per_minute: None });
        assert!((0..10_000).all(|_| free.take(address(1), AnonymousUse::Other, now).is_ok()));
    }

    #[test]
    fn other_addresses_keep_nobody_from_signing_in() {
        let rate = AnonymousRate::new(&AnonymousLimits { per_minute: Some(2), total_per_minute: Some(3) });
        let now = Instant::now();
        for last in [1, 1, 2, 2, 3, 3] {
            let _ = rate.take(address(last), AnonymousUse::Other, now);
        }
        for last in 1..=9 {
            let sign_in = || rate.take(address(last), AnonymousUse::SignIn, now);
            assert!(sign_in().is_ok() && sign_in().is_ok(), "{last}");
            assert_eq!(sign_in().unwrap_err().status, 429, "{last}");
        }
    }

    #[test]
    fn what_the_total_refuses_costs_the_address_nothing() {
        let rate = AnonymousRate::new(&AnonymousLimits { per_minute: Some(2), total_per_minute: Some(2) });
        let now = Instant::now();
        let take = |last: u8, now: Instant| rate.take(address(last), AnonymousUse::Other, now);
        assert!(take(1, now).is_ok() && take(1, now).is_ok());
        for _ in 0..5 {
            assert!(take(2, now).is_err());
        }
        let later = now + Duration::from_secs(60);
        assert!(take(2, later).is_ok() && take(2, later).is_ok(), "both of its calls are left");
    }
}
