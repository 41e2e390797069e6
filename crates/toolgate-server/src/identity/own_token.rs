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
    revocation::TokenMark,
    secret::{Token, random},
    standing::Standing,
};

/// The issuer of own tokens. No configured issuer may carry this name.
pub const OWN_ISSUER: &str = "toolgate";

/// A fresh token is valid a little before it was made, so that a replica whose clock is behind takes it, while
/// with no leeway an expired one is expired everywhere.
const EARLY_SECONDS: u64 = 5;

/// No own token lives longer, whatever is configured: so long a revocation is remembered.
pub const LONGEST_TOKEN: Duration = Duration::from_secs(366 * 86_400);

/// The longest lives of own tokens. A token that was made for longer counts no longer than this.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TokenLimits {
    pub any: Duration,
    /// Of an operator's token.
    pub operator: Duration,
}

impl Default for TokenLimits {
    fn default() -> Self {
        Self { any: Duration::from_secs(90 * 86_400), operator: Duration::from_secs(7 * 86_400) }
    }
}

impl TokenLimits {
    fn of(self, claims: &Claims) -> Duration {
        if claims.operator { self.operator.min(self.any) } else { self.any }
    }
}

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
    limits: TokenLimits,
    checks: Validation,
}

impl OwnTokens {
    pub fn new(key: OwnKey, audience: &str, leeway: Duration) -> Result<Self, IdentityError> {
        if audience.trim().is_empty() {
            return Err(IdentityError::NoAudience);
        }
        jwt::check_leeway("identity", leeway)?;
        let checks = jwt::checks(&[key.algorithm()], OWN_ISSUER, audience, leeway, true);
        Ok(Self { key, audience: audience.to_owned(), leeway, limits: TokenLimits::default(), checks })
    }

    /// With other limits than the default ones; none above [`LONGEST_TOKEN`].
    pub fn with_limits(self, limits: TokenLimits) -> Result<Self, IdentityError> {
        if limits.any.max(limits.operator) > LONGEST_TOKEN {
            return Err(IdentityError::TokenLimit { most: LONGEST_TOKEN.as_secs() / 86_400 });
        }
        Ok(Self { limits, ..self })
    }

    /// A token that says these facts for this long. Facts that would not hold are refused here, not when used.
    pub fn mint(&self, claims: &Claims, ttl: Duration) -> Result<Token, IdentityError> {
        self.mint_with_id(claims, ttl).map(|(token, _)| token)
    }

    /// The same with the id by which the token is revoked.
    pub fn mint_with_id(&self, claims: &Claims, ttl: Duration) -> Result<(Token, String), IdentityError> {
        claims.check()?;
        let iat = jwt::now();
        let most = self.limits.of(claims);
        if ttl > most {
            let key = if claims.operator { "max_operator_ttl" } else { "max_token_ttl" };
            return Err(IdentityError::TokenLifetime { most: most.as_secs(), key });
        }
        let exp = iat.checked_add(ttl.as_secs()).filter(|exp| iat < *exp);
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
            .map(|token| (Token::new(token), registered.jti))
            .map_err(|_| IdentityError::Signing("the token could not be encoded"))
    }

    /// The facts of a token that holds, the second from which it no longer does, and how it is revoked.
    pub(super) fn prove(&self, token: &str) -> Result<(Standing, u64, TokenMark), Refusal> {
        let proven: Registered = jwt::proven(token, self.key.verifying(), &self.checks).map_err(jwt::of_own_token)?;
        let longest = proven.iat.saturating_add(self.limits.of(&proven.claims).as_secs());
        let until = jwt::until(proven.exp.min(longest), self.leeway)?;
        let standing = proven.claims.standing().map_err(|_| Refusal::invalid("a claim is not one of its words"))?;
        Ok((standing, until, TokenMark { id: proven.jti, issued_at: proven.iat }))
    }

    /// The id by which a token that holds is revoked.
    pub fn id_of(&self, token: &str) -> Result<String, IdentityError> {
        self.prove(token).map(|(_, _, mark)| mark.id).map_err(|refusal| IdentityError::NoToken(refusal.reason))
    }

    /// Returns true if this key signed the token, whatever the token says.
    pub fn signed(&self, token: &str) -> bool {
        let mut checks = self.checks.clone();
        (checks.validate_exp, checks.validate_nbf, checks.validate_aud) = (false, false, false);
        (checks.iss, checks.aud) = (None, None);
        checks.required_spec_claims.clear();
        jwt::proven::<serde::de::IgnoredAny>(token, self.key.verifying(), &checks).is_ok()
    }

    /// The reason why a token is refused here, whatever the store says; `None`: its signature and its times hold.
    pub fn refusal_of(&self, token: &str) -> Option<&'static str> {
        let refused = jwt::peek(token).and_then(|_| self.prove(token)).err();
        refused.map(|refusal| refusal.reason)
    }

    pub fn key(&self) -> &OwnKey {
        &self.key
    }
}
