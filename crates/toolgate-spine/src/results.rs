//! Results that were too large for their call, kept for a while for whoever called.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use async_trait::async_trait;
use aws_lc_rs::rand;
use bytes::Bytes;
use serde_json::{json, value::RawValue};
use toolgate_core::{
    Caller, Facts, Kind, Tool, ToolName, hex,
    tool::{BadToolName, Effect, Limits, Permission, WhenTooLarge},
};

use crate::{Recorded, SourceFault, SpineDoor, ToolAnswer, ToolOffer, ToolSource};

const ADDRESS: &str = "toolgate://results/";
/// No upstream is called so: their names have no dots.
const SOURCE: &str = "toolgate.results";
pub(crate) const KEPT_FOR: Duration = Duration::from_secs(15 * 60);
/// Of all callers together; one of them has at most a quarter.
const KEPT_BYTES: usize = 64 << 20;
const KEPT_BYTES_OF_ONE: usize = KEPT_BYTES / 4;

/// In this process alone: a result is gone with it.
#[derive(Default)]
pub(crate) struct Results(Mutex<VecDeque<Kept>>);

struct Kept {
    address: String,
    owner: Owner,
    whole: Bytes,
    until: Instant,
}

/// Whom a result is for.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Owner {
    tenant: Option<String>,
    principal: String,
}

impl Owner {
    fn of(caller: &Caller) -> Self {
        Self { tenant: caller.tenant.as_ref().map(|tenant| tenant.id.clone()), principal: caller.principal() }
    }
}

impl Results {
    /// Keeps a result and says where. `None` where it is too large to be kept, or could be found by others.
    pub(crate) fn keep(&self, caller: &Caller, whole: &Bytes, now: Instant) -> Option<String> {
        let mut random = [0; 16];
        rand::fill(&mut random).ok()?;
        if whole.len() > KEPT_BYTES_OF_ONE {
            return None;
        }
        let (address, owner) = (format!("{ADDRESS}{}", hex(&random)), Owner::of(caller));
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.retain(|kept| kept.until > now);
        let is_own = |kept: &Kept| kept.owner == owner;
        while size(kept.iter().filter(|kept| is_own(kept))) + whole.len() > KEPT_BYTES_OF_ONE {
            let Some(oldest) = kept.iter().position(is_own) else { break };
            kept.remove(oldest);
        }
        while size(kept.iter()) + whole.len() > KEPT_BYTES && kept.pop_front().is_some() {}
        kept.push_back(Kept { address: address.clone(), owner, whole: whole.clone(), until: now + KEPT_FOR });
        Some(address)
    }

    fn find(&self, caller: &Caller, address: &str, now: Instant) -> Option<Bytes> {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let owner = Owner::of(caller);
        let found = kept.iter().find(|kept| kept.address == address && kept.owner == owner && kept.until > now);
        found.map(|kept| kept.whole.clone())
    }
}

fn size<'a>(kept: impl Iterator<Item = &'a Kept>) -> usize {
    kept.map(|kept| kept.whole.len()).sum()
}

/// Where kept results are read, for a gate some of whose tools cut theirs.
pub struct ResultsSource {
    door: Arc<SpineDoor>,
}

impl ResultsSource {
    pub fn new(door: Arc<SpineDoor>) -> Self {
        Self { door }
    }

    /// Whether any of these needs it.
    pub fn is_needed<'a>(mut tools: impl Iterator<Item = &'a Tool>) -> bool {
        tools.any(|tool| tool.facts.limits.result == WhenTooLarge::Cut)
    }

    /// What the gate decides about: the addresses of all results, on no list. Everybody may ask; each finds its own.
    pub fn offered() -> Result<Tool, BadToolName> {
        let name = ToolName::free(&format!("{ADDRESS}*"))?;
        let limits = Limits { result_bytes: Some(u64::MAX), ..Limits::default() };
        Ok(Tool {
            kind: Kind::Address,
            wire_name: name.clone(),
            own_name: name.clone(),
            name,
            source: SOURCE.into(),
            definition: RawValue::NULL.to_owned().into(),
            facts: Facts { effect: Effect::Read, permission: Permission::Unauthenticated, limits, ..Facts::default() },
        })
    }
}

#[async_trait]
impl ToolSource for ResultsSource {
    fn name(&self) -> &str {
        SOURCE
    }

    fn tools(&self) -> Vec<ToolOffer> {
        Vec::new()
    }

    fn has_more(&self) -> bool {
        true
    }

    async fn run(&self, call: Recorded) -> Result<ToolAnswer, SourceFault> {
        let spine = self.door.spine().ok_or_else(|| SourceFault::unavailable("the spine is not up yet"))?;
        let address = call.asked();
        let Some(whole) = spine.results.find(call.caller(), address, Instant::now()) else {
            // another's, an old one and one that never was look alike
            let data = json!({ "uri": address }).to_string();
            return Err(SourceFault::Rejected {
                code: -32002,
                message: format!("Resource not found: {address}"),
                data: Some(data),
            });
        };
        let text = String::from_utf8_lossy(&whole);
        let contents = json!({"contents": [{"uri": address, "mimeType": "application/json", "text": text}]});
        let json = serde_json::to_vec(&contents).map_err(|fault| SourceFault::unavailable(fault.to_string()))?;
        Ok(ToolAnswer::raw(json.into()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use toolgate_core::caller::UserId;

    fn user(name: &str) -> Caller {
        Caller { user: UserId::own(name).ok(), ..Caller::default() }
    }

    #[test]
    fn a_result_is_its_callers_alone_and_for_a_while() {
        let (results, now) = (Results::default(), Instant::now());
        let whole = Bytes::from_static(b"{}");
        let address = results.keep(&user("alice"), &whole, now).unwrap();
        assert_eq!(results.find(&user("alice"), &address, now), Some(whole));
        assert_eq!(results.find(&user("bob"), &address, now), None);
        assert_eq!(results.find(&Caller::default(), &address, now), None);
        assert_eq!(results.find(&user("alice"), &address, now + KEPT_FOR), None);
    }

    #[test]
    fn what_is_kept_is_bounded_for_each_caller_and_in_all() {
        let (results, now) = (Results::default(), Instant::now());
        let large = Bytes::from(vec![b' '; KEPT_BYTES_OF_ONE / 2 + 1]);
        assert_eq!(results.keep(&user("alice"), &Bytes::from(vec![b' '; KEPT_BYTES_OF_ONE + 1]), now), None);
        let others = results.keep(&user("bob"), &large, now).unwrap();
        let first = results.keep(&user("alice"), &large, now).unwrap();
        let second = results.keep(&user("alice"), &large, now).unwrap();
        assert_eq!(results.find(&user("alice"), &first, now), None, "her own oldest makes room");
        assert!(results.find(&user("alice"), &second, now).is_some());
        assert!(results.find(&user("bob"), &others, now).is_some());
        for number in 0..20 {
            results.keep(&user(&format!("user{number}")), &large, now).unwrap();
        }
        assert!(size(results.0.lock().unwrap().iter()) <= KEPT_BYTES);
        assert_eq!(results.find(&user("bob"), &others, now), None, "the oldest of all make room");
    }
}
