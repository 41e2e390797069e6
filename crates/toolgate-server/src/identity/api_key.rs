//! API keys: `tgk_<prefix>_<secret>`, kept only as a hash, looked up on every request.

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};

use super::{
    claims::Claims,
    error::{IdentityError, Refusal},
    secret::{Secret, Token, random, sha256},
    standing::Standing,
    store::KeyRow,
};

pub(super) const MARK: &str = "tgk_";
const PREFIX_LEN: usize = 8;
const SECRET_LEN: usize = 43;
/// RFC 4648 base32, in lower case.
const BASE32: &[u8; 32] = b"abcdefghijklmnopqrstuvwxyz234567";

/// A new key's row to store, without the key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewKey {
    /// Finds the row; no secret.
    pub prefix: String,
    pub hash: [u8; 32],
    pub facts_json: String,
    /// Unix milliseconds.
    pub expires_at: Option<i64>,
}

pub struct ApiKey;

impl ApiKey {
    /// A fresh key with these facts: the record to store, and the key to show once.
    pub fn generate(facts: &Claims, expires_at: Option<i64>) -> Result<(NewKey, Token), IdentityError> {
        facts.check()?;
        let prefix = base32(random::<5>()?);
        let key = format!("{MARK}{prefix}_{}", URL_SAFE_NO_PAD.encode(random::<32>()?));
        let facts_json = serde_json::to_string(facts).map_err(|error| IdentityError::KeyFacts(error.to_string()))?;
        Ok((NewKey { prefix, hash: sha256(key.as_bytes()), facts_json, expires_at }, Token::new(key)))
    }
}

/// The part of a well-formed key that finds its row.
pub(super) fn prefix(key: &str) -> Result<&str, Refusal> {
    let malformed = Refusal::invalid("not an API key");
    let (prefix, rest) = key.strip_prefix(MARK).and_then(|rest| rest.split_at_checked(PREFIX_LEN)).ok_or(malformed)?;
    let secret = rest.strip_prefix('_').ok_or(malformed)?;
    let url_safe = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
    let well_formed = secret.len() == SECRET_LEN && secret.bytes().all(url_safe);
    if well_formed && prefix.bytes().all(|byte| BASE32.contains(&byte)) { Ok(prefix) } else { Err(malformed) }
}

/// Whether the key is this row's, and holds now.
pub(super) fn prove(key: &str, row: &KeyRow) -> Result<Standing, Refusal> {
    // Hashes are compared in constant time: how far two agree must not show.
    if !Secret::new(row.hash).matches(&sha256(key.as_bytes())) {
        return Err(Refusal::invalid("no such API key"));
    }
    if row.revoked_at.is_some() {
        return Err(Refusal::revoked("the API key was revoked"));
    }
    if let Some(at) = row.expires_at.filter(|at| *at <= crate::now_millis()) {
        return Err(Refusal::expired("the API key has expired", u64::try_from(at / 1000).unwrap_or_default()));
    }
    let facts: Claims =
        serde_json::from_str(&row.facts_json).map_err(|_| Refusal::invalid("the API key's facts are garbled"))?;
    facts.standing().map_err(|_| Refusal::invalid("a fact of the API key is not one of its words"))
}

/// Five bytes are exactly eight letters of five bits.
fn base32(bytes: [u8; 5]) -> String {
    let bits = bytes.iter().fold(0_u64, |bits, byte| (bits << 8) | u64::from(*byte));
    let letter =
        |at: u64| usize::try_from((bits >> at) & 31).ok().and_then(|at| BASE32.get(at)).copied().unwrap_or(b'a');
    (0..8).rev().map(|n| char::from(letter(n * 5))).collect()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn a_key_has_the_documented_form_and_its_record_does_not_hold_it() {
        let (record, key) = ApiKey::generate(&Claims { user: Some("ada".into()), ..Claims::default() }, None).unwrap();
        assert_eq!(key.expose().len(), 4 + 8 + 1 + 43);
        assert_eq!(prefix(key.expose()).unwrap(), record.prefix);
        assert!(!format!("{record:?}").contains(&key.expose()[13..]));
        assert_eq!(record.facts_json, r#"{"sub":"ada"}"#);
    }

    #[test]
    fn base32_is_rfc_4648_in_lower_case() {
        assert_eq!(base32(*b"fooba"), "mzxw6ytb");
    }

    #[test]
    fn malformed_keys_never_reach_the_store() {
        for key in
            ["tgk_", "tgk_abcdefgh", "tgk_abcdefgh_short", "tgk_ABCDEFGH_0123456789012345678901234567890123456789012"]
        {
            assert!(prefix(key).is_err(), "{key}");
        }
    }
}
