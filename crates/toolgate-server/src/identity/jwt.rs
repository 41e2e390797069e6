//! Reading JSON Web Tokens: what may be read before the signature is checked, and the check itself.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use jsonwebtoken::{Algorithm, DecodingKey, Validation, decode, decode_header};
use serde::{Deserialize, de::DeserializeOwned};

use super::{
    error::{IdentityError, Refusal},
    standing::Kind,
};

/// Longer than any token worth reading; keeps the cost of garbage small.
pub(super) const LONGEST: usize = 16 * 1024;
const MOST_LEEWAY: u64 = 60;
const WRONG_SIGNATURE: &str = "the signature does not hold";
const WRONG_ALGORITHM: &str = "the algorithm is not the key's";

/// What a token says of itself, unproven. It picks the key that proves or refutes it, and nothing else.
pub(super) struct Unproven {
    pub(super) algorithm: Algorithm,
    pub(super) kid: Option<String>,
    pub(super) issuer: String,
}

pub(super) fn peek(token: &str) -> Result<Unproven, Refusal> {
    if token.len() > LONGEST {
        return Err(Refusal::invalid("the token is too long"));
    }
    let header =
        decode_header(token).map_err(|_| Refusal::invalid("not a token, or an algorithm that is never accepted"))?;
    if header.crit.is_some() {
        return Err(Refusal::invalid("the token demands extensions (crit)"));
    }
    let typed = header.typ.as_deref().unwrap_or("JWT").to_ascii_lowercase();
    if !matches!(typed.trim_start_matches("application/"), "jwt" | "at+jwt") {
        return Err(Refusal::invalid("the token is of another type (typ)"));
    }
    let Payload { iss, .. } = payload(token).ok_or(Refusal::invalid("the token has no readable claims"))?;
    let issuer = iss.ok_or(Refusal::invalid("the token names no issuer"))?;
    Ok(Unproven { algorithm: header.alg, kid: header.kid, issuer })
}

/// Whether a credential has the form of a signed token. A signature is not guessed, so its attempts are not counted.
pub(super) fn is_signed(token: &str) -> bool {
    token.bytes().filter(|byte| *byte == b'.').count() == 2
}

/// The kind an *invalid* token would have been of. Only decides whose turn it took; grants nothing.
pub(super) fn kind_it_claims(token: &str) -> Kind {
    match payload(token) {
        Some(Payload { agent: Some(_), .. }) => Kind::Agent,
        Some(Payload { task: Some(_), .. }) => Kind::Task,
        _ => Kind::User,
    }
}

#[derive(Deserialize)]
struct Payload {
    iss: Option<String>,
    agent: Option<serde::de::IgnoredAny>,
    task: Option<serde::de::IgnoredAny>,
}

/// The claims of a token, unproven.
pub(super) fn payload<T: DeserializeOwned>(token: &str) -> Option<T> {
    let encoded = token.get(..LONGEST.min(token.len()))?.split('.').nth(1)?;
    serde_json::from_slice(&URL_SAFE_NO_PAD.decode(encoded).ok()?).ok()
}

/// The checks one key's tokens must pass. Algorithms are the key's, never the token's.
pub(super) fn checks(
    algorithms: &[Algorithm],
    issuer: &str,
    audience: &str,
    leeway: Duration,
    need_nbf: bool,
) -> Validation {
    let mut checks = Validation {
        algorithms: algorithms.to_vec(),
        leeway: leeway.as_secs(),
        validate_exp: true,
        validate_nbf: true,
        validate_aud: true,
        ..Validation::default()
    };
    checks.set_issuer(&[issuer]);
    checks.set_audience(&[audience]);
    checks.set_required_spec_claims(if need_nbf { &["exp", "nbf", "iss", "aud"] } else { &["exp", "iss", "aud"] });
    checks
}

pub(super) fn proven<T: DeserializeOwned>(token: &str, key: &DecodingKey, checks: &Validation) -> Result<T, Refusal> {
    use jsonwebtoken::errors::ErrorKind as Kind;
    decode(token, key, checks).map(|data| data.claims).map_err(|error| {
        Refusal::invalid(match error.kind() {
            Kind::InvalidSignature => WRONG_SIGNATURE,
            Kind::InvalidAlgorithm => WRONG_ALGORITHM,
            // claims are read after the signature was found to hold
            Kind::ExpiredSignature => return Refusal::expired("the token has expired", expiry(token)),
            Kind::ImmatureSignature => "the token is not valid yet",
            Kind::InvalidIssuer => "another issuer",
            Kind::InvalidAudience => "another audience",
            Kind::MissingRequiredClaim(_) => "a required claim is missing",
            _ => "the token is malformed",
        })
    })
}

/// The refusal of an own token. Where the signature is wrong, another Toolgate, or this one with another key, made the token.
pub(super) fn of_own_token(refusal: Refusal) -> Refusal {
    if matches!(refusal.reason, WRONG_SIGNATURE | WRONG_ALGORITHM) {
        return Refusal::other_key("the token is signed with another key; it was made with another data folder");
    }
    refusal
}

/// The `exp` of a token. Issuers may write it with a fraction.
fn expiry(token: &str) -> u64 {
    #[derive(Deserialize)]
    struct Expiry {
        exp: serde_json::Number,
    }
    let exp = payload(token).map(|Expiry { exp }| exp);
    let whole = |exp: serde_json::Number| exp.as_u64().or_else(|| exp.to_string().split('.').next()?.parse().ok());
    exp.and_then(whole).unwrap_or_default()
}

/// The second from which the token no longer holds. The library lets the last second pass; the standard does not.
pub(super) fn until(exp: u64, leeway: Duration) -> Result<u64, Refusal> {
    let until = exp.saturating_add(leeway.as_secs());
    if now() < until { Ok(until) } else { Err(Refusal::expired("the token has expired", exp)) }
}

pub(super) fn check_leeway(place: &str, leeway: Duration) -> Result<(), IdentityError> {
    let found = leeway.as_secs();
    if found > MOST_LEEWAY {
        return Err(IdentityError::Leeway { place: place.to_owned(), found, most: MOST_LEEWAY });
    }
    Ok(())
}

/// Seconds since 1970.
pub(super) fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}
