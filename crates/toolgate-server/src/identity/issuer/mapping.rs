//! An issuer's claims, turned into facts by the operator's mapping and by nothing else.

use std::collections::BTreeSet;

use serde_json::{Map, Value};
use toolgate_core::{
    Caller,
    caller::{Role, Tenant, UserId},
};

use super::{
    super::{error::Refusal, standing::Standing},
    config::IssuerConfig,
};

pub(super) fn standing(config: &IssuerConfig, claims: &Map<String, Value>) -> Result<Standing, Refusal> {
    let map = &config.claims;
    let text = |name: &Option<String>| name.as_deref().and_then(|name| word(claims, name));
    let subject =
        word(claims, map.user.as_deref().unwrap_or("sub")).ok_or(Refusal::invalid("the token names no user"))?;
    if subject.chars().any(char::is_control) {
        return Err(Refusal::invalid("the token's user holds control characters"));
    }
    let user = UserId::of_issuer(&config.name, subject).map_err(|_| Refusal::invalid("the token names no user"))?;
    let tenant = text(&map.tenant).map(|id| Tenant {
        id: id.to_owned(),
        role: text(&map.role).map(Role::from_claim).unwrap_or_default(),
        plan: text(&map.plan).map(str::to_owned),
        overrides: Default::default(),
    });
    let operator = map.operator.as_ref().is_some_and(|(name, value)| holds(claims, name, value));
    let caller = Caller {
        user: Some(user),
        tenant,
        scopes: scopes(map.scopes.as_deref(), claims),
        operator,
        ..Caller::default()
    };
    Ok(Standing::new(caller, text(&map.task).map(str::to_owned)))
}

/// The claim of exactly this name, else the one its dots lead to (`realm_access.roles`).
fn claim<'a>(claims: &'a Map<String, Value>, name: &str) -> Option<&'a Value> {
    claims.get(name).or_else(|| {
        let mut steps = name.split('.');
        let first = claims.get(steps.next()?)?;
        steps.try_fold(first, |value, step| value.get(step))
    })
}

fn word<'a>(claims: &'a Map<String, Value>, name: &str) -> Option<&'a str> {
    claim(claims, name)?.as_str().filter(|word| !word.is_empty())
}

fn holds(claims: &Map<String, Value>, name: &str, wanted: &str) -> bool {
    match claim(claims, name) {
        Some(Value::Array(values)) => values.iter().any(|value| value.as_str() == Some(wanted)),
        Some(Value::String(value)) => value == wanted,
        Some(Value::Bool(value)) => *value && wanted == "true",
        _ => false,
    }
}

fn scopes(mapped: Option<&str>, claims: &Map<String, Value>) -> BTreeSet<String> {
    let value = match mapped {
        Some(name) => claim(claims, name),
        None => claims.get("scope").or_else(|| claims.get("scp")),
    };
    match value {
        Some(Value::String(text)) => text.split_ascii_whitespace().map(str::to_owned).collect(),
        Some(Value::Array(values)) => values.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
        _ => BTreeSet::new(),
    }
}
