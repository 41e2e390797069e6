//! Own tokens that were revoked before they expired.

use std::collections::{HashMap, HashSet};

use toolgate_core::Caller;

/// Every revocation there is. Times are Unix seconds; tokens issued up to them are revoked.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Revocations {
    /// By the token's id.
    pub tokens: HashSet<String>,
    /// By subject: `user:NAME`, `agent:NAME`, `task:ID`.
    pub subjects: HashMap<String, u64>,
    pub everyone: Option<u64>,
}

/// What identifies an own token among all of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct TokenMark {
    pub(super) id: String,
    pub(super) issued_at: u64,
}

impl Revocations {
    pub(super) fn cover(&self, mark: &TokenMark, caller: &Caller, claimed_task: Option<&str>) -> bool {
        let is_covered = |until: &u64| mark.issued_at <= *until;
        let subjects = [
            ("user", caller.user.as_ref().map(|user| user.as_str())),
            ("agent", caller.agent.as_ref().map(|agent| agent.id.as_str())),
            ("task", claimed_task),
        ];
        let by_subject = || {
            let named = subjects.iter().filter_map(|(kind, name)| Some(format!("{kind}:{}", (*name)?)));
            named.filter_map(|subject| self.subjects.get(&subject)).any(is_covered)
        };
        self.tokens.contains(&mark.id)
            || self.everyone.as_ref().is_some_and(is_covered)
            || (!self.subjects.is_empty() && by_subject())
    }
}
