//! What can be wrong with identity's configuration and keys, and why a credential was refused.

use std::path::PathBuf;

use toolgate_core::caller::BadFact;
use toolgate_mcp::Rejection;

/// Wrong set-up or wrong use. Shown to the operator, so it says where and what to do; it never holds a secret.
#[derive(Debug, thiserror::Error)]
pub enum IdentityError {
    #[error("'{path}' can be read by others (mode {mode:o}); run: chmod 600 '{path}'", path = path.display())]
    KeyExposed { path: PathBuf, mode: u32 },
    #[error("the signing key '{path}' is not a key file; restore it, or move it away to have a new one made (tokens signed with the old one end)", path = path.display())]
    KeyGarbled { path: PathBuf },
    #[error("cannot {doing} the signing key '{path}': {source}", path = path.display())]
    KeyFile { doing: &'static str, path: PathBuf, source: std::io::Error },
    #[error("the signing secret has {found} bytes; give at least {least} random ones")]
    KeyWeak { found: usize, least: usize },
    #[error("cannot read '{path}': {source}", path = path.display())]
    SecretFile { path: PathBuf, source: std::io::Error },
    #[error("the secret in '{path}' has {found} characters and needs at least {least}; make one that nobody guesses: (umask 077; openssl rand -hex 32 > '{path}')", path = path.display())]
    SecretWeak { path: PathBuf, found: usize, least: usize },
    #[error("signing failed: {0}")]
    Signing(&'static str),
    #[error("the system gave no random bytes")]
    NoRandomness,
    #[error("identity.audience is empty; name this gate, for example \"toolgate\"")]
    NoAudience,
    #[error("{place} leeway is {found} s; the most is {most} s")]
    Leeway { place: String, found: u64, most: u64 },
    #[error("issuer '{issuer}': {what}")]
    Issuer { issuer: String, what: String },
    #[error("a token's life must be at least a second")]
    Lifetime,
    #[error("a token may last {most} s here at the most; choose a shorter --ttl, or raise [identity] {key}")]
    TokenLifetime { most: u64, key: &'static str },
    #[error("[identity] max_token_ttl and max_operator_ttl may be {most} days at the most")]
    TokenLimit { most: u64 },
    #[error("not a token that holds here: {0}")]
    NoToken(&'static str),
    #[error("{0}")]
    Fact(#[from] BadFact),
    #[error("'{fact}' needs '{needs}' beside it")]
    Lonely { fact: &'static str, needs: &'static str },
    #[error("the facts of an API key are not its fields in JSON: {0}")]
    KeyFacts(String),
    #[error("identity fetches the keys of issuer '{0}' in the background and needs a running tokio runtime")]
    NoRuntime(String),
}

/// The reason why a credential did not hold: a fixed text, so that nothing of the credential can be in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Refusal {
    /// For the operator.
    pub(super) reason: &'static str,
    /// For the sender.
    pub(super) told: Rejection,
}

impl Refusal {
    pub(super) fn invalid(reason: &'static str) -> Self {
        Self { reason, told: Rejection::Invalid }
    }

    /// Of an own token: who made it knows as much.
    pub(super) fn other_key(reason: &'static str) -> Self {
        Self { reason, told: Rejection::OtherKey }
    }

    /// INVARIANT: only of a credential that was proven, so that the answer helps nobody to guess one. `at` is in Unix seconds.
    pub(super) fn expired(reason: &'static str, at: u64) -> Self {
        Self { reason, told: Rejection::Expired { at } }
    }

    /// INVARIANT: only of a credential that was proven.
    pub(super) fn revoked(reason: &'static str) -> Self {
        Self { reason, told: Rejection::Revoked }
    }
}
