//! Toolgate's own tokens: minted and proven with its own key.

use std::time::Duration;

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use jsonwebtoken::{Header, Validation, encode};
use serde::{Deserialize, Serialize};

use super::{
    claims::Claims,
    error::{IdentityError, Refusal},
    jwt,
    own_key::OwnKey,
    secret::{Token, random},
    standing::Standing,
};

/// The issuer of own tokens. No configured issuer may carry this name.
pub const OWN_ISSUER: &str = "toolgate";

/// A fresh token is valid a little before it was made, so that a replica whose clock is behind takes it, while
/// with no leeway an expired one is expired everywhere.
const EARLY_SECONDS: u64 = 5;
const YEAR_10000: u64 = 253_402_300_800;

#[derive(Serialize, Deserialize)]
struct Registered {
    iss: String,
    aud: String,
    exp: u64,
    nbf: u64,
    iat: u64,
    jti: String,
    #[serde(flatten)]
    claims: Claims,
}

/// Mints and proves own tokens for one audience.
#[derive(Debug, Clone)]
pub struct OwnTokens {
    key: OwnKey,
    audience: String,
    leeway: Duration,
    checks: Validation,
}

impl OwnTokens {
    pub fn new(key: OwnKey, audience: &str, leeway: Duration) -> Result<Self, IdentityError> {
        if audience.trim().is_empty() {
            return Err(IdentityError::NoAudience);
        }
        jwt::check_leeway("identity", leeway)?;
        let checks = jwt::checks(&[key.algorithm()], OWN_ISSUER, audience, leeway, true);
        Ok(Self { key, audience: audience.to_owned(), leeway, checks })
    }

    /// A token that says these facts for this long. Facts that would not hold are refused here, not when used.
    pub fn mint(&self, claims: &Claims, ttl: Duration) -> Result<Token, IdentityError> {
        claims.check()?;
        let iat = jwt::now();
        let exp = iat.checked_add(ttl.as_secs()).filter(|exp| (iat + 1..YEAR_10000).contains(exp));
        let registered = Registered {
            iss: OWN_ISSUER.to_owned(),
            aud: self.audience.clone(),
            exp: exp.ok_or(IdentityError::Lifetime)?,
            nbf: iat.saturating_sub(EARLY_SECONDS),
            iat,
            jti: URL_SAFE_NO_PAD.encode(random::<16>()?),
            claims: claims.clone(),
        };
        encode(&Header::new(self.key.algorithm()), &registered, self.key.signing())
            .map(Token::new)
            .map_err(|_| IdentityError::Signing("the token could not be encoded"))
    }

    /// The facts of a token that holds, and the second from which it no longer does.
    pub(super) fn prove(&self, token: &str) -> Result<(Standing, u64), Refusal> {
        let proven: Registered = jwt::proven(token, self.key.verifying(), &self.checks)?;
        let until = jwt::until(proven.exp, self.leeway)?;
        let standing = proven.claims.standing().map_err(|_| Refusal("a claim is not one of its words"))?;
        Ok((standing, until))
    }

    pub fn key(&self) -> &OwnKey {
        &self.key
    }
}
