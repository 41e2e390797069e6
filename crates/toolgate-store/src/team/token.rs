//! A session's token: 128 random bits, shown once; what is kept is its hash.

use std::fmt;

use aws_lc_rs::digest;

use crate::{StoreError, fresh};

/// A token itself. It has no `Display`, and `Debug` does not show it.
pub struct SessionToken(String);

impl SessionToken {
    pub fn fresh() -> Result<Self, StoreError> {
        fresh::id("sess_").map(Self).map_err(|fault| fault.during("make a session's token"))
    }

    /// The token, for the one place that hands it to its owner.
    pub fn expose(&self) -> &str {
        &self.0
    }

    pub fn hash(&self) -> [u8; 32] {
        Self::hash_of(&self.0)
    }

    /// By which a session is found. 128 random bits need no slow hash.
    pub fn hash_of(token: &str) -> [u8; 32] {
        let mut hash = [0; 32];
        for (to, from) in hash.iter_mut().zip(digest::digest(&digest::SHA256, token.as_bytes()).as_ref()) {
            *to = *from;
        }
        hash
    }
}

impl fmt::Debug for SessionToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SessionToken(redacted)")
    }
}
