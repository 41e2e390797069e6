//! `token mint`: any caller of any kind, as a token.

use std::collections::BTreeSet;

use serde_json::json;
use toolgate_core::tool::is_of_more;
use toolgate_server::identity::{Claims, OwnTokens};

use super::print;
use crate::{
    CommandResult, Ending, Misuse,
    cli::{FactArgs, Output, Place},
    ground::{self, Ground},
};

pub async fn mint(place: &Place, facts: FactArgs, ttl: &str, output: Output) -> CommandResult {
    let ground = Ground::of(place)?;
    let ttl = ground::duration(ttl)?;
    let mut claims = Claims::from(facts);
    // a flow that is configured by this name allows what it says there
    if let (Some(flow), None) = (&claims.flow, &claims.allow) {
        let named = ground.config.flows.get(flow).and_then(|flow| flow.allowlist.clone());
        claims.allow = named.map(BTreeSet::from_iter);
    }
    if claims == Claims::default() {
        return Err("a token without facts says nothing: give it --user, --agent or --task".into());
    }
    known_tools(&ground, &claims)?;
    let key = ground.key(None).await?;
    let tokens = OwnTokens::new(key, &ground.config.identity.audience, std::time::Duration::ZERO)?;
    let token = tokens.mint(&claims, ttl)?;
    print(output, &json!({"token": token.expose(), "expires_in": ttl.as_secs()}), &format!("{}\n", token.expose()))?;
    Ok(Ending::Good)
}

/// An allowlist with a name that no tool has would quietly allow less than was meant.
pub(super) fn known_tools(ground: &Ground, claims: &Claims) -> Result<(), Misuse> {
    let Some(allow) = &claims.allow else { return Ok(()) };
    let gate = ground.gate()?;
    match allow.iter().find(|name| !is_of_more(name) && gate.catalog().find(name).is_none()) {
        None => Ok(()),
        Some(name) => Err(format!("--allow: {}", gate.catalog().not_registered(name)).into()),
    }
}
