//! What upstreams offer besides tools, with the facts the operator has about it.

use std::{collections::BTreeMap, sync::Arc};

use serde_json::value::RawValue;
use toolgate_core::{Facts, Kind, Pattern, Tool, ToolName, tool::Effect};

use crate::{
    config::{Config, ToolConfig},
    raise::RaiseProblem,
    upstreams::Pinned,
};

/// Prompts and resources that a gate can register.
pub fn registered(config: &Config, upstreams: &[Pinned]) -> Result<Vec<Tool>, RaiseProblem> {
    refuse_what_does_nothing(config)?;
    let mut all = Vec::new();
    for upstream in upstreams {
        for (kind, name, definition) in &upstream.more {
            let prefix = if *kind == Kind::Prompt { upstream.prefix.as_str() } else { "" };
            let full = format!("{prefix}{name}");
            let facts = facts(config, *kind, &full)?;
            if let Some(tool) = offered(upstream, *kind, (&full, name), definition, facts) {
                all.push(tool);
            }
            if *kind == Kind::Template {
                all.extend(addresses(config, upstream, name)?);
            }
        }
        let entry = config.upstreams.iter().find(|entry| entry.name == upstream.upstream);
        for address in entry.map(|entry| entry.addresses.as_slice()).unwrap_or_default() {
            let facts = facts(config, Kind::Address, address)?;
            all.extend(offered(upstream, Kind::Address, (address, address), &empty(), facts));
        }
    }
    Ok(all)
}

/// Facts about addresses that a template leads to hold for them, whatever the template's own are.
fn addresses(config: &Config, upstream: &Pinned, template: &str) -> Result<Vec<Tool>, RaiseProblem> {
    let mut all = Vec::new();
    for pattern in config.resources.keys().filter(|pattern| *pattern != template) {
        let facts = facts(config, Kind::Address, pattern)?;
        all.extend(offered(upstream, Kind::Address, (pattern, template), &empty(), facts));
    }
    Ok(all)
}

/// `None`, and a warning, for a name that is none.
fn offered(
    upstream: &Pinned,
    kind: Kind,
    (name, own_name): (&str, &str),
    definition: &Arc<RawValue>,
    facts: Facts,
) -> Option<Tool> {
    let names = ToolName::free(name).and_then(|name| Ok((name, ToolName::free(own_name)?)));
    let (name, own_name) = match names {
        Ok(names) => names,
        Err(fault) => {
            tracing::warn!(upstream = upstream.upstream, "a {kind} is left out: {fault}");
            return None;
        }
    };
    Some(Tool {
        kind,
        wire_name: name.clone(),
        own_name,
        name,
        source: upstream.upstream.as_str().into(),
        definition: Arc::clone(definition),
        facts,
    })
}

/// Of everything configured that is about this name, the more particular has the last word.
fn facts(config: &Config, kind: Kind, name: &str) -> Result<Facts, RaiseProblem> {
    let (configured, place) = match kind {
        Kind::Prompt => (&config.prompts, "prompts"),
        _ => (&config.resources, "resources"),
    };
    let mut about: Vec<(&String, &ToolConfig)> = matching(configured, name);
    about.sort_by_key(|(pattern, _)| Pattern::glob(pattern).plain());
    let mut facts = Facts { effect: Effect::Read, ..Facts::default() };
    for (pattern, wanted) in about {
        wanted
            .apply(&mut facts)
            .map_err(|fault| RaiseProblem::BadFact { tool: format!("[{place}.\"{pattern}\"]"), fault })?;
    }
    Ok(facts)
}

fn matching<'c>(configured: &'c BTreeMap<String, ToolConfig>, name: &str) -> Vec<(&'c String, &'c ToolConfig)> {
    configured.iter().filter(|(pattern, _)| *pattern == name || Pattern::glob(pattern).matches(name)).collect()
}

/// Only a tool's arguments have a schema to take a bound one out of, and only upstreams have prompts and resources.
fn refuse_what_does_nothing(config: &Config) -> Result<(), RaiseProblem> {
    let all = config.prompts.iter().map(|entry| ("prompts", entry));
    let all = all.chain(config.resources.iter().map(|entry| ("resources", entry)));
    for (place, (name, wanted)) in all {
        if config.upstreams.is_empty() {
            return Err(RaiseProblem::NothingOffers { place, name: name.clone() });
        }
        if wanted.bind.is_some() {
            return Err(RaiseProblem::UnwantedBinding { place, name: name.clone() });
        }
        if wanted.limits.as_ref().is_some_and(|limits| limits.result.as_deref() == Some("cut")) {
            return Err(RaiseProblem::UnwantedCut { place, name: name.clone() });
        }
    }
    Ok(())
}

fn empty() -> Arc<RawValue> {
    RawValue::NULL.to_owned().into()
}
