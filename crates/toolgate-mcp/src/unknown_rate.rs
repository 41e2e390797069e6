//! How often a signed-in caller may ask for what is not there: each time leaves a record.
//!
//! INVARIANT: a name that is hidden from the caller counts as one that leads nowhere, and every call is refused while the rate is
//! used up, so that nobody can tell the two apart by it.

use std::time::Instant;

use toolgate_core::Caller;
use toolgate_spine::RateLimit;

use crate::{anonymous_rate::seconds, refusal::Refusal};

/// Calls a minute of one caller that lead nowhere. An agent that is told so does not come near.
const PER_MINUTE: u32 = 6000;

pub(crate) struct UnknownRate(RateLimit);

impl Default for UnknownRate {
    fn default() -> Self {
        Self(RateLimit::per_minute(PER_MINUTE))
    }
}

impl UnknownRate {
    /// Refuses a caller of whom too many calls led nowhere. Anonymous callers have a rate of their own.
    pub(crate) fn admit(&self, caller: &Caller, now: Instant) -> Result<(), Refusal> {
        if !caller.is_signed_in() {
            return Ok(());
        }
        self.0.allows(&caller.principal(), now).map_err(|wait| {
            let seconds = seconds(wait);
            let message =
                format!("too many calls of this caller led nowhere; list what is there, and try again in {seconds} s");
            Refusal::too_many(message, seconds)
        })
    }

    /// Counts a call that led nowhere.
    pub(crate) fn count(&self, caller: &Caller, now: Instant) {
        if caller.is_signed_in() {
            // a call that was under way when the rate was used up costs nothing more
            let _ = self.0.take(&caller.principal(), now);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use toolgate_core::caller::UserId;

    use super::*;

    #[test]
    fn a_caller_whose_calls_lead_nowhere_too_often_waits_and_others_do_not() {
        let (rate, now) = (UnknownRate::default(), Instant::now());
        let user = |name: &str| Caller { user: UserId::own(name).ok(), ..Caller::default() };
        for _ in 0..PER_MINUTE {
            assert!(rate.admit(&user("alice"), now).is_ok());
            rate.count(&user("alice"), now);
        }
        assert_eq!(rate.admit(&user("alice"), now).unwrap_err().status, 429);
        assert!(rate.admit(&user("bob"), now).is_ok() && rate.admit(&Caller::anonymous(), now).is_ok());
        assert!(rate.admit(&user("alice"), now + Duration::from_secs(1)).is_ok());
    }
}
