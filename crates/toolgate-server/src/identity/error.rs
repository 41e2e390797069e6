//! What can be wrong with identity's configuration and keys, and why a credential was refused.

use std::path::PathBuf;

use toolgate_core::caller::BadFact;

/// Wrong set-up or wrong use. Shown to the operator, so it says where and what to do; it never holds a secret.
#[derive(Debug, thiserror::Error)]
pub enum IdentityError {
    #[error("the signing key '{path}' can be read by others (mode {mode:o}); run: chmod 600 '{path}'", path = path.display())]
    KeyExposed { path: PathBuf, mode: u32 },
    #[error("the signing key '{path}' is not a key file; restore it, or move it away to have a new one made (tokens signed with the old one end)", path = path.display())]
    KeyGarbled { path: PathBuf },
    #[error("cannot {doing} the signing key '{path}': {source}", path = path.display())]
    KeyFile { doing: &'static str, path: PathBuf, source: std::io::Error },
    #[error("the signing secret has {found} bytes; give at least {least} random ones")]
    KeyWeak { found: usize, least: usize },
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
    #[error("a token's life must be at least a second and end before the year 10000")]
    Lifetime,
    #[error("{0}")]
    Fact(#[from] BadFact),
    #[error("'{fact}' needs '{needs}' beside it")]
    Lonely { fact: &'static str, needs: &'static str },
    #[error("the facts of an API key are not its fields in JSON: {0}")]
    KeyFacts(String),
    #[error("identity fetches the keys of issuer '{0}' in the background and needs a running tokio runtime")]
    NoRuntime(String),
}

/// Why a credential did not hold: a fixed text, so that nothing of the credential can be in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Refusal(pub(super) &'static str);
