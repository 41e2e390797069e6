//! How many streams may stay open: of one caller, of one address where nobody is signed in, and of all anonymous callers.

use std::{net::IpAddr, sync::Arc, time::Duration};

use toolgate_core::{Caller, Quota, QuotaPermit, quota_address};

use crate::{
    refusal::Refusal,
    session::{self, PrincipalDigest},
};

/// The share of the streams of anonymous callers that one address may have.
const ADDRESS_SHARE: usize = 8;

/// Bounds on streams that stay open.
#[derive(Debug, Clone, Copy)]
pub struct StreamLimits {
    /// Streams of one signed-in caller.
    pub per_caller: usize,
    /// Streams of all anonymous callers; one address may have an eighth of them.
    pub anonymous: usize,
    /// How long a stream of an anonymous caller stays open; the client may open the next one.
    pub anonymous_age: Duration,
}

impl Default for StreamLimits {
    fn default() -> Self {
        Self { per_caller: 1000, anonymous: 1000, anonymous_age: Duration::from_secs(10 * 60) }
    }
}

pub(crate) struct StreamQuota {
    signed_in: Arc<Quota<PrincipalDigest>>,
    anonymous: Arc<Quota<Option<IpAddr>>>,
    anonymous_age: Duration,
}

/// One open stream among those that may be.
pub(crate) struct StreamPermit {
    _held: Held,
    /// How long the stream may stay open, where that is bounded.
    pub(crate) age: Option<Duration>,
}

enum Held {
    SignedIn { _permit: QuotaPermit<PrincipalDigest> },
    Anonymous { _permit: QuotaPermit<Option<IpAddr>> },
}

impl StreamQuota {
    pub(crate) fn new(limits: &StreamLimits) -> Self {
        let each = limits.anonymous.div_ceil(ADDRESS_SHARE);
        Self {
            signed_in: Quota::new(limits.per_caller, usize::MAX),
            anonymous: Quota::new(each, limits.anonymous),
            anonymous_age: limits.anonymous_age,
        }
    }

    pub(crate) fn enter(&self, caller: &Caller, address: Option<IpAddr>) -> Result<StreamPermit, Refusal> {
        if caller.is_signed_in() {
            let permit = self.signed_in.take(session::digest_of(caller), 1).ok_or_else(|| {
                Refusal::too_many("too many streams of this caller are open; close some of them", RETRY_AFTER)
            })?;
            return Ok(StreamPermit { _held: Held::SignedIn { _permit: permit }, age: None });
        }
        let permit = self.anonymous.take(address.map(quota_address), 1).ok_or_else(|| {
            Refusal::too_many(
                "too many streams of anonymous callers are open; sign in, or try again later",
                RETRY_AFTER,
            )
        })?;
        Ok(StreamPermit { _held: Held::Anonymous { _permit: permit }, age: Some(self.anonymous_age) })
    }
}

/// Seconds after which a client may try again.
const RETRY_AFTER: u64 = 30;
