//! What the operator says about an issuer, and what of it is refused at start.

use std::{net::IpAddr, path::PathBuf, time::Duration};

use jsonwebtoken::{Algorithm, AlgorithmFamily};
use reqwest::Url;

use super::super::{error::IdentityError, jwt, own_token::OWN_ISSUER};

/// Where an issuer's public keys are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Jwks {
    /// `https`, or `http` on this machine's loopback.
    Url(String),
    File(PathBuf),
}

/// Which claims count, and as what. A claim without a mapping is not read.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ClaimMap {
    /// Absent: `sub`.
    pub user: Option<String>,
    pub tenant: Option<String>,
    pub role: Option<String>,
    pub plan: Option<String>,
    pub task: Option<String>,
    /// A claim that equals this value, or a list that holds it, makes an operator.
    pub operator: Option<(String, String)>,
    /// Absent: `scope`, else `scp`.
    pub scopes: Option<String>,
}

/// One OAuth issuer whose tokens count here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IssuerConfig {
    /// Names its users (`name/subject`); no slash.
    pub name: String,
    /// The `iss` of its tokens, exactly.
    pub issuer: String,
    /// The `aud` its tokens must carry. Mandatory: a token for someone else is not for us.
    pub audience: String,
    pub jwks: Jwks,
    /// Asymmetric only. Which one a token must use is its key's to say.
    pub algorithms: Vec<Algorithm>,
    pub claims: ClaimMap,
    /// For clocks that differ; at most a minute.
    pub leeway: Duration,
    /// How long keys are kept before the next fetch where the issuer does not say.
    pub refresh: Duration,
    /// The longest that keys are trusted without a successful fetch.
    pub max_key_age: Duration,
    /// However many tokens name an unknown key, the issuer is asked this often at most.
    pub refetch_interval: Duration,
}

impl IssuerConfig {
    pub fn new(name: &str, issuer: &str, audience: &str, jwks: Jwks) -> Self {
        Self {
            name: name.to_owned(),
            issuer: issuer.to_owned(),
            audience: audience.to_owned(),
            jwks,
            algorithms: vec![Algorithm::RS256, Algorithm::ES256, Algorithm::EdDSA],
            claims: ClaimMap::default(),
            leeway: Duration::from_secs(10),
            refresh: Duration::from_secs(600),
            max_key_age: Duration::from_secs(4 * 3600),
            refetch_interval: Duration::from_secs(10),
        }
    }

    pub(super) fn check(&self) -> Result<(), IdentityError> {
        let bad = |what: &str| Err(IdentityError::Issuer { issuer: self.name.clone(), what: what.to_owned() });
        if self.name.is_empty() || self.name.contains('/') || self.name.chars().any(char::is_control) {
            return bad("its name must be there and hold no '/' and no control character");
        }
        if self.issuer.is_empty() || self.issuer == OWN_ISSUER {
            return bad("'issuer' must be the exact 'iss' of its tokens, and not \"toolgate\", which is our own");
        }
        if self.audience.trim().is_empty() {
            return bad("'audience' is empty; name what its tokens for this gate carry as 'aud'");
        }
        if self.algorithms.is_empty() || self.algorithms.iter().any(|a| a.family() == AlgorithmFamily::Hmac) {
            return bad("'algorithms' must list at least one, and only asymmetric ones (RS256, ES256, EdDSA, …)");
        }
        if self.refetch_interval.is_zero() || self.refresh < self.refetch_interval {
            return bad("'refetch_interval' must be above zero and not above 'refresh'");
        }
        if self.max_key_age < self.refetch_interval.saturating_mul(2) {
            return bad("'max_key_age' is too short: it must be at least twice 'refetch_interval' (10 s)");
        }
        jwt::check_leeway(&format!("issuer '{}'", self.name), self.leeway)
    }

    /// The address of the keys, if it may be used: keys fetched over plain http could be anybody's.
    pub(super) fn url(&self, text: &str) -> Result<Url, IdentityError> {
        let bad = |what: &str| IdentityError::Issuer { issuer: self.name.clone(), what: what.to_owned() };
        let url = Url::parse(text).map_err(|_| bad("'jwks' is not a URL"))?;
        if !url.username().is_empty() || url.password().is_some() {
            return Err(bad("'jwks' must not hold a user name or password"));
        }
        match url.scheme() {
            "https" => Ok(url),
            "http" if is_loopback(&url) => Ok(url),
            _ => Err(bad("'jwks' must be https (plain http only on loopback)")),
        }
    }
}

pub(super) fn is_loopback(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default();
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    host == "localhost" || bare.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback())
}
