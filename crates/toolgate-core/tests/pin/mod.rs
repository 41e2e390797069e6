//! Pinning: what an upstream may change without being noticed (nothing but key order and white space), and what is
//! shown of what it changed.

mod canonical;
mod diff;
mod judge;
mod lock_text;
mod random;
mod visible;
mod warnings;

use serde_json::value::RawValue;
use toolgate_core::pin::{Choice, Lock};

pub(crate) fn raw(json: &str) -> Box<RawValue> {
    RawValue::from_string(json.to_owned()).unwrap()
}

/// A lock that accepted these tools of `files`.
pub(crate) fn accepted(tools: &[(&str, &str)]) -> Lock {
    let mut lock = Lock::new();
    let tools: Vec<_> = tools.iter().map(|(name, json)| (*name, raw(json))).collect();
    let tools: Vec<_> = tools.iter().map(|(name, raw)| (*name, &**raw)).collect();
    assert_eq!(lock.accept("files", Choice::All, &tools).refused, []);
    lock
}
