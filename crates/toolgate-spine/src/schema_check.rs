//! Values held against a tool's schema: small ones at once, larger ones apart from the threads that serve and charged to
//! their caller, and those that are too large not at all.

use std::time::{Duration, Instant};

use jsonschema::Validator;
use serde_json::Value;

use crate::{bounds::MAX_STEPS, house::Guard, limits::WorkLimit, offload::deep_work, schema_weight::ValueSize};

/// Steps a minute that one caller may have taken apart.
const STEPS_PER_MINUTE: u64 = 30 * MAX_STEPS as u64;

/// The reason why a value was not checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unchecked {
    /// The schema can't be used.
    Unusable,
    /// The value costs more than one call may.
    TooLarge,
    /// The caller had as much checked as it may, for this long.
    Exhausted(Duration),
}

/// The work of each caller that was done apart.
pub(crate) struct CheckLimit(WorkLimit);

impl Default for CheckLimit {
    fn default() -> Self {
        Self(WorkLimit::per_minute(STEPS_PER_MINUTE))
    }
}

impl CheckLimit {
    pub(crate) fn charge(&self, principal: &str, steps: usize) -> Result<(), Unchecked> {
        let steps = u64::try_from(steps).unwrap_or(u64::MAX);
        self.0.take(principal, steps, Instant::now()).map_err(Unchecked::Exhausted)
    }
}

impl Guard {
    /// Runs a check of the value where its cost says, once `charge` has taken the steps of a large one.
    pub(crate) fn check<T: Send>(
        &self,
        value: &Value,
        charge: impl FnOnce(usize) -> Result<(), Unchecked> + Send,
        check: impl FnOnce(&Validator) -> T + Send,
    ) -> Result<T, Unchecked> {
        let size = ValueSize::of(value);
        if self.cost.is_inline(&size) {
            return self.validator().map(check).ok_or(Unchecked::Unusable);
        }
        let apart = || {
            let steps = self.cost.steps(value, &size);
            // looking at what is too large is work as well
            charge(steps.unwrap_or(MAX_STEPS))?;
            if steps.is_none() {
                return Err(Unchecked::TooLarge);
            }
            self.validator().map(check).ok_or(Unchecked::Unusable)
        };
        deep_work(apart).unwrap_or(Err(Unchecked::Unusable))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use toolgate_core::{Facts, Kind, Tool, ToolName};

    use super::*;

    fn guard(schema: &Value) -> Guard {
        let name = ToolName::new("t").unwrap();
        let definition = json!({"name": "t", "inputSchema": schema});
        let definition = serde_json::value::to_raw_value(&definition).unwrap();
        let [wire_name, own_name] = [name.clone(), name.clone()];
        let (kind, facts) = (Kind::Tool, Facts::default());
        Guard::of(&Tool { kind, wire_name, own_name, name, source: "s".into(), definition: definition.into(), facts })
            .unwrap()
    }

    /// Where a value was checked, and what was charged for it.
    fn checked(guard: &Guard, value: &Value) -> (Result<bool, Unchecked>, usize) {
        let (here, charged) = (std::thread::current().id(), std::sync::atomic::AtomicUsize::new(0));
        let charge = |steps| {
            charged.store(steps, std::sync::atomic::Ordering::Relaxed);
            Ok(())
        };
        let answer = guard.check(value, charge, |_| std::thread::current().id() != here);
        (answer, charged.into_inner())
    }

    #[test]
    fn small_values_are_checked_at_once_and_free_of_charge() {
        let plain = guard(&json!({"type": "object", "properties": {"a": {"items": {"type": "integer"}}}}));
        assert_eq!(checked(&plain, &json!({"a": vec![1; 1_000]})), (Ok(false), 0));
    }

    #[test]
    fn large_and_deep_values_are_checked_apart_and_charged() {
        let plain = guard(&json!({"type": "object", "properties": {"a": {"items": {"type": "integer"}}}}));
        let (apart, charged) = checked(&plain, &json!({"a": vec![1; 100_000]}));
        assert!(apart == Ok(true) && charged >= 100_000, "{charged}");
        let tree = guard(&json!({"allOf": [{"allOf": [{"properties": {"a": {"$ref": "#"}}}]}]}));
        let deep = (0..120).fold(json!({}), |inner, _| json!({ "a": inner }));
        let (apart, charged) = checked(&tree, &deep);
        assert!(apart == Ok(true) && charged > 0);
    }

    #[test]
    fn what_is_too_large_is_charged_whole_and_what_is_exhausted_is_not_checked() {
        let dear =
            guard(&json!({"type": "object", "properties": {"a": {"items": {"enum": (0..5_000).collect::<Vec<_>>()}}}}));
        assert_eq!(checked(&dear, &json!({"a": vec![1; 50_000]})), (Err(Unchecked::TooLarge), MAX_STEPS));
        let spent = Unchecked::Exhausted(Duration::from_secs(3));
        let value = json!({"a": vec![1; 300]});
        assert_eq!(dear.check(&value, |_| Err(spent), |_| panic!("it is checked")), Err::<(), _>(spent));
    }

    #[test]
    fn one_caller_spends_its_own_minute_and_nobody_elses() {
        let limit = CheckLimit::default();
        let allowed = (0..1_000).take_while(|_| limit.charge("user:ann", MAX_STEPS).is_ok()).count();
        assert!((30..60).contains(&allowed), "{allowed}");
        assert!(matches!(limit.charge("user:ann", MAX_STEPS), Err(Unchecked::Exhausted(_))));
        assert_eq!(limit.charge("user:bob", MAX_STEPS), Ok(()));
    }
}
