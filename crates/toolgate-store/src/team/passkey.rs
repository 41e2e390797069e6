//! Passkeys: what is kept of one, and how one that is given is held against it.
//!
//! Both take a good part of a second's work on purpose, so they belong on a thread that may be busy.

use std::fmt;

use argon2::{
    Argon2,
    password_hash::{PasswordHasher, PasswordVerifier},
};
use aws_lc_rs::rand;

use crate::{StoreError, error::Fault, fresh};

/// The fewest characters of a passkey.
const SHORTEST: usize = 12;
const LONGEST: usize = 1024;
/// Random bits in the form of what is kept of a passkey, and as slow to try.
const NOBODYS: &str =
    "$argon2id$v=19$m=19456,t=2,p=1$AwSHApvzDbP1FUgqNUYbmQ$QXoRcQsxPLfB2wvhIczxWvgJY38bNUsVjlVjA7GlHWc";

/// A passkey itself. It has no `Display`, and `Debug` does not show it.
#[derive(Clone, PartialEq, Eq)]
pub struct Passkey(String);

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a passkey has {SHORTEST} to {LONGEST} characters; choose another")]
pub struct BadPasskey;

impl Passkey {
    pub fn new(text: &str) -> Result<Self, BadPasskey> {
        let fits = (SHORTEST..=LONGEST).contains(&text.chars().count());
        if fits { Ok(Self(text.to_owned())) } else { Err(BadPasskey) }
    }

    /// One that nobody guesses.
    pub fn random() -> Result<Self, StoreError> {
        fresh::id("pk_").map(Self).map_err(|fault| fault.during("make a passkey"))
    }

    /// The passkey, for the one place that hands it to its owner.
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// What is kept: Argon2id with a salt of its own.
    pub fn hash(&self) -> Result<String, StoreError> {
        hash(&self.0).map_err(|fault| fault.during("hash a passkey"))
    }

    /// Whether the given text is the passkey of which this was kept. Where nothing was, it takes as long to say no.
    pub fn matches(given: &str, kept: Option<&str>) -> bool {
        Argon2::default().verify_password(given.as_bytes(), kept.unwrap_or(NOBODYS)).is_ok() && kept.is_some()
    }
}

fn hash(passkey: &str) -> Result<String, Fault> {
    let mut salt = [0; 16];
    rand::fill(&mut salt).map_err(|_| Fault::Other("the system has no random numbers".to_owned()))?;
    let hashed = Argon2::default().hash_password_with_salt(passkey.as_bytes(), &salt);
    hashed.map(|hash| hash.to_string()).map_err(|fault| Fault::Other(fault.to_string()))
}

impl fmt::Debug for Passkey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Passkey(redacted)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_passkey_matches_what_was_kept_of_it_and_nothing_else() {
        let kept = Passkey::new("correct horse").unwrap().hash().unwrap();
        assert!(kept.starts_with("$argon2id$v=19$"), "{kept}");
        assert!(Passkey::matches("correct horse", Some(&kept)));
        assert!(!Passkey::matches("correct horsf", Some(&kept)));
        assert!(!Passkey::matches("correct horse", Some("no hash at all")));
        assert!(!Passkey::matches("correct horse", None));
        let cost = |hash: &str| hash.split('$').nth(3).map(str::to_owned);
        assert_eq!(cost(NOBODYS), cost(&kept), "it takes as long");
        assert_ne!(Passkey::new("correct horse").unwrap().hash().unwrap(), kept, "each has a salt of its own");
    }

    #[test]
    fn a_passkey_is_long_enough_and_does_not_print() {
        assert_eq!(Passkey::new("eleven char"), Err(BadPasskey));
        assert!(Passkey::new("十二文字よりも長いパスキー").is_ok(), "characters count, not bytes");
        assert!(Passkey::new(&"x".repeat(1025)).is_err());
        assert_eq!(format!("{:?}", Passkey::new("canary-canary").unwrap()), "Passkey(redacted)");
    }
}
