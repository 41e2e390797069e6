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
    /// From all addresses together.
    pub total_per_minute: Option<u32>,
}

impl Default for AnonymousLimits {
    fn default() -> Self {
        Self { per_minute: Some(1200), total_per_minute: Some(6000) }
    }
}

pub(crate) struct AnonymousRate {
    each: Option<RateLimit>,
    total: Option<RateLimit>,
    log: LogThrottle,
}

impl AnonymousRate {
    pub(crate) fn new(limits: &AnonymousLimits) -> Self {
        Self {
            each: limits.per_minute.map(RateLimit::per_minute),
            total: limits.total_per_minute.map(RateLimit::per_minute),
            log: LogThrottle::default(),
        }
    }

    /// Takes one call from this address, or says when the next one may come.
    pub(crate) fn take(&self, address: IpAddr, now: Instant) -> Result<(), Refusal> {
        let address = quota_address(address);
        let own = self.each.as_ref().map_or(Ok(()), |each| each.take(&address.to_string(), now));
        let taken = own.and_then(|()| self.total.as_ref().map_or(Ok(()), |total| total.take("", now)));
        taken.map_err(|wait| {
            self.log.say(|left_out| {
                tracing::warn!(%address, left_out, "too many calls of anonymous callers: some were refused and not recorded");
            });
            let seconds = seconds(wait);
            Refusal::too_many(format!("too many calls without signing in; sign in, or try again in {seconds} s"), seconds)
        })
    }
}

/// Whole seconds, and one at least.
fn seconds(wait: Duration) -> u64 {
    wait.as_secs() + u64::from(wait.subsec_nanos() > 0).max(u64::from(wait.is_zero()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_and_all_addresses_have_their_rate() {
        let rate = AnonymousRate::new(&AnonymousLimits { per_minute: Some(2), total_per_minute: Some(3) });
        let (now, address) = (Instant::now(), |last: u8| IpAddr::from([10, 0, 0, last]));
        assert!(rate.take(address(1), now).is_ok() && rate.take(address(1), now).is_ok());
        assert_eq!(rate.take(address(1), now).unwrap_err().status, 429);
        assert!(rate.take(address(2), now).is_ok(), "another address has its own");
        assert_eq!(rate.take(address(3), now).unwrap_err().status, 429, "all together have had theirs");
        assert!(rate.take(address(3), now + Duration::from_secs(60)).is_ok());
        let free = AnonymousRate::new(&AnonymousLimits { per_minute: None, total_per_minute: None });
        assert!((0..10_000).all(|_| free.take(address(1), now).is_ok()));
    }
}
