//! An issuer's public keys, each pinned to the algorithms it may prove.

use jsonwebtoken::{
    Algorithm, DecodingKey,
    jwk::{AlgorithmParameters, EllipticCurve, Jwk, KeyOperations, PublicKeyUse},
};
use serde::Deserialize;

use super::super::secret::sha256;

/// More keys than any issuer rotates through; a larger set is cut, not refused.
const MOST_KEYS: usize = 64;

pub(super) struct PinnedKey {
    kid: Option<String>,
    pub(super) algorithms: Vec<Algorithm>,
    pub(super) key: DecodingKey,
}

/// Keys from one fetch. The digest tells whether another fetch brought anything new.
#[derive(Default)]
pub(super) struct Keyset {
    keys: Vec<PinnedKey>,
    /// Entries of the published set, usable or not.
    published: usize,
    pub(super) digest: [u8; 32],
}

/// What a set says about a token's key.
pub(super) enum Found<'a> {
    Keys(Vec<&'a PinnedKey>),
    /// The set does not know the key: a fresh set may.
    Unknown,
    /// The set knows the key and it does not fit: a fresh set will not help.
    Mismatch,
}

impl Keyset {
    /// Keys that can't be used (encryption keys, unknown types, algorithms that were not pinned) are left out: one odd
    /// key must not take down the others. A set without a usable key is a set all the same: the issuer withdrew its keys.
    pub(super) fn parse(json: &[u8], pinned: &[Algorithm]) -> Result<Self, &'static str> {
        #[derive(Deserialize)]
        struct Document {
            keys: Vec<serde_json::Value>,
        }
        let document: Document = serde_json::from_slice(json).map_err(|_| "not a JSON Web Key Set")?;
        let published = document.keys.len();
        let jwks = document.keys.into_iter().filter_map(|key| serde_json::from_value::<Jwk>(key).ok());
        let keys: Vec<_> = jwks.filter_map(|jwk| pin(&jwk, pinned)).take(MOST_KEYS).collect();
        Ok(Self { keys, published, digest: sha256(json) })
    }

    pub(super) fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    /// Keys were published, and none of them can be used: a mistake more often than a withdrawal.
    pub(super) fn is_unusable(&self) -> bool {
        self.keys.is_empty() && self.published > 0
    }

    pub(super) fn find(&self, kid: Option<&str>, algorithm: Algorithm) -> Found<'_> {
        let named = || self.keys.iter().filter(|key| kid.is_none() || key.kid.as_deref() == kid);
        if named().next().is_none() {
            return Found::Unknown;
        }
        let keys: Vec<_> = named().filter(|key| key.algorithms.contains(&algorithm)).collect();
        match keys.len() {
            0 => Found::Mismatch,
            // A token that names no key is only for a set with no choice.
            2.. if kid.is_none() => Found::Mismatch,
            _ => Found::Keys(keys),
        }
    }
}

fn pin(jwk: &Jwk, pinned: &[Algorithm]) -> Option<PinnedKey> {
    if !matches!(jwk.common.public_key_use, None | Some(PublicKeyUse::Signature)) {
        return None;
    }
    if jwk.common.key_operations.as_ref().is_some_and(|ops| !ops.contains(&KeyOperations::Verify)) {
        return None;
    }
    let possible = possible(&jwk.algorithm);
    let stated = jwk.common.key_algorithm.map(Algorithm::try_from).transpose().ok()?;
    let fits =
        |algorithm: &&Algorithm| possible.contains(algorithm) && stated.is_none_or(|stated| stated == **algorithm);
    let algorithms: Vec<_> = pinned.iter().filter(fits).copied().collect();
    if algorithms.is_empty() {
        return None;
    }
    let key = DecodingKey::from_jwk(jwk).ok()?;
    Some(PinnedKey { kid: jwk.common.key_id.clone(), algorithms, key })
}

/// What a key of this type can prove. A symmetric key in a public set proves nothing.
fn possible(parameters: &AlgorithmParameters) -> &'static [Algorithm] {
    use Algorithm::{ES256, ES384, EdDSA, PS256, PS384, PS512, RS256, RS384, RS512};
    match parameters {
        AlgorithmParameters::RSA(_) => &[RS256, RS384, RS512, PS256, PS384, PS512],
        AlgorithmParameters::EllipticCurve(key) => match key.curve {
            EllipticCurve::P256 => &[ES256],
            EllipticCurve::P384 => &[ES384],
            _ => &[],
        },
        AlgorithmParameters::OctetKeyPair(key) if key.curve == EllipticCurve::Ed25519 => &[EdDSA],
        _ => &[],
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use serde_json::json;

    use super::*;

    const PINNED: &[Algorithm] = &[Algorithm::RS256, Algorithm::EdDSA];

    fn ed(kid: &str) -> serde_json::Value {
        json!({"kty": "OKP", "crv": "Ed25519", "kid": kid, "x": "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"})
    }

    #[test]
    fn odd_keys_are_left_out_and_the_rest_stay() {
        let set = json!({"keys": [
            {"kty": "oct", "k": "c2VjcmV0", "kid": "shared", "alg": "HS256"},
            {"kty": "AKP", "kid": "new", "alg": "ML-DSA-44", "pub": "x"},
            {"kty": "RSA", "kid": "broken"},
            {"kty": "RSA", "kid": "enc", "use": "enc", "n": "AQAB", "e": "AQAB"},
            "nonsense",
            ed("good"),
        ]});
        let keyset = Keyset::parse(set.to_string().as_bytes(), PINNED).unwrap();
        assert_eq!(keyset.keys.len(), 1);
        assert!(matches!(keyset.find(Some("good"), Algorithm::EdDSA), Found::Keys(_)));
        assert!(matches!(keyset.find(Some("good"), Algorithm::RS256), Found::Mismatch));
        assert!(matches!(keyset.find(Some("shared"), Algorithm::HS256), Found::Unknown));
    }

    #[test]
    fn a_set_without_keys_is_a_set_and_says_whether_any_were_published() {
        let none = Keyset::parse(br#"{"keys": []}"#, PINNED).unwrap();
        assert!(none.is_empty() && !none.is_unusable());
        let other = Keyset::parse(json!({"keys": ["nonsense"]}).to_string().as_bytes(), PINNED).unwrap();
        assert!(other.is_empty() && other.is_unusable());
        for wrong in ["", "{}", "[]", r#"{"keys": {}}"#, "<html>404</html>"] {
            assert!(Keyset::parse(wrong.as_bytes(), PINNED).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_token_without_a_kid_is_only_for_a_set_with_no_choice() {
        let one = Keyset::parse(json!({"keys": [ed("a")]}).to_string().as_bytes(), PINNED).unwrap();
        let two = Keyset::parse(json!({"keys": [ed("a"), ed("b")]}).to_string().as_bytes(), PINNED).unwrap();
        assert!(matches!(one.find(None, Algorithm::EdDSA), Found::Keys(_)));
        assert!(matches!(two.find(None, Algorithm::EdDSA), Found::Mismatch));
    }
}
