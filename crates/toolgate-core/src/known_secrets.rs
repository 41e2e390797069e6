//! Secrets that held before, remembered so that failed attempts of others do not slow their owners down.

use std::{
    fmt,
    hash::{BuildHasher, RandomState},
};

use quick_cache::sync::Cache;

/// A bounded memory of secrets, each as a hash under a random key of this process. A remembered secret is let through to be
/// checked again; it is not thereby valid.
///
/// Only for secrets that nobody can guess: while an address is throttled, a right guess is let through and a wrong one is not,
/// at no cost. A passkey that a person chose does not belong here.
pub struct KnownSecrets {
    key: RandomState,
    kept: Cache<u64, ()>,
}

impl KnownSecrets {
    pub fn new(capacity: usize) -> Self {
        Self { key: RandomState::new(), kept: Cache::new(capacity.max(1)) }
    }

    /// Whether this secret of this account held before.
    pub fn knows(&self, account: &str, secret: &str) -> bool {
        self.kept.get(&self.digest(account, secret)).is_some()
    }

    pub fn remember(&self, account: &str, secret: &str) {
        self.kept.insert(self.digest(account, secret), ());
    }

    fn digest(&self, account: &str, secret: &str) -> u64 {
        self.key.hash_one((account, secret))
    }
}

impl fmt::Debug for KnownSecrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KnownSecrets").field("len", &self.kept.len()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_known_for_the_account_it_held_for() {
        let known = KnownSecrets::new(10);
        assert!(!known.knows("ann", "s3cret"));
        known.remember("ann", "s3cret");
        assert!(known.knows("ann", "s3cret"));
        assert!(!known.knows("bob", "s3cret") && !known.knows("ann", "s3cre") && !known.knows("anns", "3cret"));
        assert!(!format!("{known:?}").contains("s3cret"));
    }
}
