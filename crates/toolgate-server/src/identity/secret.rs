//! Values that must never be printed: minted tokens, keys, seeds.

use std::fmt;

use aws_lc_rs::{constant_time, digest, rand};

use super::error::IdentityError;

/// Text that is itself a credential. It has no `Display`, and `Debug` says only that it is there.
#[derive(Clone, PartialEq, Eq)]
pub struct Token(String);

impl Token {
    pub fn new(text: String) -> Self {
        Self(text)
    }

    /// The credential itself, for the one place that hands it to its owner.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(redacted)")
    }
}

/// Secret bytes: a signing seed, a shared coordinator secret.
#[derive(Clone)]
pub struct Secret(Box<[u8]>);

impl Secret {
    pub fn new(bytes: impl Into<Box<[u8]>>) -> Self {
        Self(bytes.into())
    }

    pub fn random() -> Result<Self, IdentityError> {
        Ok(Self::new(random::<32>()?))
    }

    pub fn expose(&self) -> &[u8] {
        &self.0
    }

    /// Compared in constant time. An empty secret matches nothing, not even another empty one.
    pub fn matches(&self, other: &[u8]) -> bool {
        !self.0.is_empty() && constant_time::verify_slices_are_equal(&self.0, other).is_ok()
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(redacted)")
    }
}

pub(super) fn random<const N: usize>() -> Result<[u8; N], IdentityError> {
    let mut bytes = [0; N];
    rand::fill(&mut bytes).map_err(|_| IdentityError::NoRandomness)?;
    Ok(bytes)
}

pub(super) fn sha256(bytes: &[u8]) -> [u8; 32] {
    let mut out = [0; 32];
    // The digest is 32 bytes by definition; a mismatch would leave zeros, which match no stored hash.
    if let Ok(digest) = <[u8; 32]>::try_from(digest::digest(&digest::SHA256, bytes).as_ref()) {
        out = digest;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_secret_matches_nothing() {
        assert!(!Secret::new([]).matches(b""));
        assert!(Secret::new(*b"s3").matches(b"s3"));
        assert!(!Secret::new(*b"s3").matches(b"s4"));
    }

    #[test]
    fn secrets_do_not_print() {
        assert_eq!(
            format!("{:?} {:?}", Token::new("canary".into()), Secret::new(*b"canary")),
            "Token(redacted) Secret(redacted)"
        );
    }
}
