//! Toolgate's own key: one random seed, from which the signing key and every sealing key are derived.
//!
//! Deriving keeps uses apart: what seals a cursor can't sign a token, and one file is all there is to guard.

use std::{fmt, path::Path, str::FromStr, sync::Arc};

use aws_lc_rs::{
    hkdf,
    signature::{Ed25519KeyPair, KeyPair},
};
use jsonwebtoken::{Algorithm, DecodingKey, EncodingKey};
use toolgate_core::caller::BadFact;

use super::{error::IdentityError, key_file, secret::Secret};

/// The least a seed may have: what a 256-bit key needs.
const LEAST_BYTES: usize = 32;

/// How own tokens are signed. The key says it, never the token.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OwnAlgorithm {
    #[default]
    Hs256,
    EdDsa,
}

impl FromStr for OwnAlgorithm {
    type Err = BadFact;
    fn from_str(word: &str) -> Result<Self, BadFact> {
        match word {
            "HS256" => Ok(Self::Hs256),
            "EdDSA" => Ok(Self::EdDsa),
            _ => Err(BadFact::new("algorithm", word, "one of: HS256 EdDSA")),
        }
    }
}

/// The gate's own key. Cheap to clone.
#[derive(Clone)]
pub struct OwnKey(Arc<Inner>);

struct Inner {
    prk: hkdf::Prk,
    algorithm: Algorithm,
    sign: EncodingKey,
    verify: DecodingKey,
}

impl OwnKey {
    /// The key in `dir`, made at the first start. Refuses a file that others can read, and one that is not a key.
    pub fn load_or_create(dir: &Path, algorithm: OwnAlgorithm) -> Result<Self, IdentityError> {
        Self::from_secret(&key_file::load_or_create(dir)?, algorithm)
    }

    /// The key in a file named by configuration, which must be there.
    pub fn load(path: &Path, algorithm: OwnAlgorithm) -> Result<Self, IdentityError> {
        Self::from_secret(&key_file::load(path)?, algorithm)
    }

    /// From bytes kept elsewhere: the secret that replicas share through the store.
    pub fn from_secret(seed: &Secret, algorithm: OwnAlgorithm) -> Result<Self, IdentityError> {
        let bytes = seed.expose();
        if bytes.len() < LEAST_BYTES {
            return Err(IdentityError::KeyWeak { found: bytes.len(), least: LEAST_BYTES });
        }
        let prk = hkdf::Salt::new(hkdf::HKDF_SHA256, b"toolgate own key 1").extract(bytes);
        let (algorithm, sign, verify) = match algorithm {
            OwnAlgorithm::Hs256 => {
                let key = derive(&prk, "sign", "hs256")?;
                (Algorithm::HS256, EncodingKey::from_secret(&key), DecodingKey::from_secret(&key))
            }
            OwnAlgorithm::EdDsa => {
                let bad = |_| IdentityError::Signing("the derived Ed25519 key was refused");
                let pair = Ed25519KeyPair::from_seed_unchecked(&derive(&prk, "sign", "eddsa")?).map_err(bad)?;
                let der =
                    pair.to_pkcs8v1().map_err(|_| IdentityError::Signing("the Ed25519 key could not be encoded"))?;
                let sign = EncodingKey::from_ed_der(der.as_ref());
                (Algorithm::EdDSA, sign, DecodingKey::from_ed_der(pair.public_key().as_ref()))
            }
        };
        Ok(Self(Arc::new(Inner { prk, algorithm, sign, verify })))
    }

    /// A key for sealing one kind of thing (`cursor`, `session`); two uses never share one.
    pub fn seal_key(&self, r#use: &str) -> Result<[u8; 32], IdentityError> {
        derive(&self.0.prk, "seal", r#use)
    }

    pub(super) fn algorithm(&self) -> Algorithm {
        self.0.algorithm
    }

    pub(super) fn signing(&self) -> &EncodingKey {
        &self.0.sign
    }

    pub(super) fn verifying(&self) -> &DecodingKey {
        &self.0.verify
    }
}

impl fmt::Debug for OwnKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OwnKey").field("algorithm", &self.0.algorithm).finish_non_exhaustive()
    }
}

/// `expand` joins its parts without a separator, so the purpose is ended with a byte no purpose holds.
fn derive(prk: &hkdf::Prk, purpose: &'static str, name: &str) -> Result<[u8; 32], IdentityError> {
    let failed = |_| IdentityError::Signing("key derivation failed");
    let mut key = [0; 32];
    let info = [purpose.as_bytes(), b"\0", name.as_bytes()];
    prk.expand(&info, hkdf::HKDF_SHA256).map_err(failed)?.fill(&mut key).map_err(failed)?;
    Ok(key)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn every_use_has_its_own_sealing_key_and_the_seed_decides_it() {
        let key = OwnKey::from_secret(&Secret::new([7; 32]), OwnAlgorithm::Hs256).unwrap();
        let same = OwnKey::from_secret(&Secret::new([7; 32]), OwnAlgorithm::EdDsa).unwrap();
        let other = OwnKey::from_secret(&Secret::new([8; 32]), OwnAlgorithm::Hs256).unwrap();
        let cursor = key.seal_key("cursor").unwrap();
        assert_eq!(cursor, same.seal_key("cursor").unwrap());
        assert_ne!(cursor, key.seal_key("session").unwrap());
        assert_ne!(cursor, other.seal_key("cursor").unwrap());
        assert_ne!(cursor.as_slice(), key.signing().as_bytes());
    }

    #[test]
    fn a_short_secret_is_refused_with_what_to_do() {
        let error = OwnKey::from_secret(&Secret::new([1; 31]), OwnAlgorithm::Hs256).unwrap_err();
        assert_eq!(error.to_string(), "the signing secret has 31 bytes; give at least 32 random ones");
    }
}
