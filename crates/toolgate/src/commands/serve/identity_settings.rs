//! The configuration of authentication, out of `[identity]`.

use toolgate_server::identity::{self, IdentityConfig};

use super::super::token::token_limits;
use crate::{
    Misuse,
    config::{self, Config},
    ground::duration,
};

pub fn identity_config(config: &Config) -> Result<IdentityConfig, Misuse> {
    let given = &config.identity;
    let coordinator_secret = match &given.coordinator_token_file {
        None => None,
        Some(path) => Some(
            identity::read_shared_secret(path)
                .map_err(|fault| format!("[identity] coordinator_token_file: {fault}"))?,
        ),
    };
    Ok(IdentityConfig {
        audience: given.audience.clone(),
        issuers: given.issuers.iter().map(issuer).collect::<Result<_, _>>()?,
        token_limits: token_limits(config)?,
        trust_task_ids: given.trust_task_ids,
        coordinator_secret,
        ..IdentityConfig::default()
    })
}

fn issuer(given: &config::Issuer) -> Result<identity::IssuerConfig, Misuse> {
    let jwks = match (&given.jwks_url, &given.jwks_file) {
        (Some(url), None) => identity::Jwks::Url(url.clone()),
        (None, Some(path)) => identity::Jwks::File(path.clone()),
        _ => {
            return Err(format!("the issuer '{}' needs jwks_url or jwks_file, and only one of them", given.name).into());
        }
    };
    let algorithms = given
        .algorithms
        .iter()
        .map(|name| {
            name.parse().map_err(|_| format!("the issuer '{}' names an unknown algorithm '{name}'", given.name))
        })
        .collect::<Result<Vec<identity::Algorithm>, _>>()?;
    let names = given.claims.clone();
    let mut config = identity::IssuerConfig::new(&given.name, &given.issuer, &given.audience, jwks);
    if !algorithms.is_empty() {
        config.algorithms = algorithms;
    }
    if let Some(age) = &given.max_key_age {
        let wrong = |fault| format!("the issuer '{}': max_key_age: {fault}", given.name);
        config.max_key_age = duration(age).map_err(wrong)?;
    }
    config.claims = identity::ClaimMap {
        user: names.user,
        tenant: names.tenant,
        role: names.role,
        plan: names.plan,
        task: names.task,
        operator: names.operator.map(|operator| (operator.claim, operator.value)),
        scopes: names.scopes,
    };
    Ok(config)
}
