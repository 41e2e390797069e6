//! What upstreams offer besides tools, with the facts the operator has about it.

use std::{collections::BTreeMap, sync::Arc};

use serde_json::value::RawValue;
use toolgate_core::{Facts, Kind, Pattern, Tool, ToolName, normal_address, tool::Effect};

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
                if let Some(normal) = Pattern::unmatchable(name) {
                    tracing::warn!(
                        upstream = upstream.upstream,
                        template = name,
                        normal,
                        "nothing can be read by this template: its text is not in normal form"
                    );
                }
                all.extend(addresses(config, upstream, name)?);
            }
        }
        let entry = config.upstreams.iter().find(|entry| entry.name == upstream.upstream);
        for address in entry.map(|entry| entry.addresses.as_slice()).unwrap_or_default() {
            let facts = facts(config, Kind::Address, address)?;
            all.extend(offered(upstream, Kind::Address, (address, address), &empty(), facts));
            all.extend(addresses(config, upstream, address)?);
        }
    }
    Ok(all)
}

/// Facts about addresses that a template or a wider address leads to hold for them, whatever its own are.
fn addresses(config: &Config, upstream: &Pinned, leads: &str) -> Result<Vec<Tool>, RaiseProblem> {
    let mut all = Vec::new();
    for pattern in config.resources.keys().filter(|pattern| *pattern != leads) {
        let facts = facts(config, Kind::Address, pattern)?;
        all.extend(offered(upstream, Kind::Address, (pattern, leads), &empty(), facts));
    }
    Ok(all)
}

/// What a past request would lead to now, by what its record has: its kind, its source, the name it was found by and the one
/// that was asked for. `None` where that can't be known without asking the server.
pub fn past(
    config: &Config,
    (kind, source): (Kind, &str),
    (name, asked): (&str, &str),
) -> Result<Option<Tool>, RaiseProblem> {
    let Some(upstream) = config.upstreams.iter().find(|entry| entry.enabled && entry.name == source) else {
        return Ok(None);
    };
    let (kind, name) = match kind {
        Kind::Tool => return Ok(None),
        Kind::Prompt | Kind::Resource => (kind, name),
        Kind::Template | Kind::Address => {
            let patterns = config.resources.keys().chain(&upstream.addresses);
            let particular = patterns
                .map(|pattern| (Pattern::address(pattern), pattern))
                .filter(|(glob, _)| glob.matches(asked))
                .max_by_key(|(glob, _)| glob.plain());
            match particular {
                Some((_, pattern)) => (Kind::Address, pattern.as_str()),
                // the operator's word for it is gone, and which template led there is not on record
                None if kind == Kind::Address => return Ok(None),
                None => (kind, name),
            }
        }
    };
    let facts = facts(config, kind, name)?;
    let Ok(name) = ToolName::free(name) else { return Ok(None) };
    Ok(Some(Tool {
        kind,
        wire_name: name.clone(),
        own_name: name.clone(),
        name,
        source: source.into(),
        definition: empty(),
        facts,
    }))
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

/// An address is matched in its normal form too: a server's own spelling of it passes no pattern by.
fn matching<'c>(configured: &'c BTreeMap<String, ToolConfig>, name: &str) -> Vec<(&'c String, &'c ToolConfig)> {
    let normal = normal_address(name);
    let is_about = |pattern: &str| {
        pattern == name || Pattern::glob(pattern).matches(name) || Pattern::address(pattern).matches(&normal)
    };
    configured.iter().filter(|(pattern, _)| is_about(pattern)).collect()
}

/// Only a tool's arguments have a schema to take a bound one out of, and only upstreams have prompts and resources.
fn refuse_what_does_nothing(config: &Config) -> Result<(), RaiseProblem> {
    let all = config.prompts.iter().map(|entry| ("prompts", entry));
    let all = all.chain(config.resources.iter().map(|entry| ("resources", entry)));
    let addresses = config.upstreams.iter().flat_map(|upstream| {
        let place = format!("[[upstreams]] {} addresses", upstream.name);
        upstream.addresses.iter().map(move |address| (place.clone(), address))
    });
    let written = config.resources.keys().map(|key| ("[resources]".to_owned(), key)).chain(addresses);
    for (place, written) in written {
        if let Some(normal) = Pattern::unmatchable(written) {
            return Err(RaiseProblem::NotNormal { place, written: written.clone(), normal });
        }
    }
    for (place, (name, wanted)) in all {
        if config.upstreams.is_empty() {
            return Err(RaiseProblem::NothingOffers { place, name: name.clone() });
        }
        if wanted.source.is_some() {
            return Err(RaiseProblem::UnwantedSource { place, name: name.clone() });
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
