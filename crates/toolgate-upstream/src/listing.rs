//! A list read to its end, within bounds.

use std::collections::HashSet;

use serde::Deserialize;
use serde_json::value::RawValue;
use toolgate_core::{ToolName, has_reserved_key};

use crate::{
    Definition, UpstreamConfig,
    fault::{Fault, shortened},
    glob,
    handshake::Live,
    link::{Ask, Link},
    listed::Listed,
    message::Value,
    mirror, scan,
};

const PAGES: usize = 200;
const ENTRIES: usize = 10_000;
const BYTES: usize = 64 << 20;

/// The entries that are wanted, in the upstream's order; none where it offers no such list.
pub(crate) async fn list(live: &Live, config: &UpstreamConfig, listed: Listed) -> Result<Vec<Definition>, Fault> {
    if !live.offers(listed.capability()) {
        return Ok(Vec::new());
    }
    let (mut found, mut names, mut bytes) = (Vec::new(), HashSet::new(), 0);
    let mut cursor: Option<String> = None;
    for _ in 0..PAGES {
        let members = [("cursor", Value::text(cursor.as_deref()))];
        let ask = Ask { method: listed.method(), members: &members, ..Ask::default() };
        let result = match live.link.ask(Some(&live.era), ask).await {
            // some servers have resources and no templates, and say it this way
            Err(Fault::Refused { code: -32601, .. }) if listed != Listed::Tools => return Ok(Vec::new()),
            answer => answer?,
        };
        bytes += result.len();
        let (entries, next) = page(&result, listed)?;
        for raw in entries {
            match definition(live, listed, raw) {
                Ok(one) if listed == Listed::Tools && !glob::wanted(&one.name, &config.include, &config.exclude) => {}
                Ok(one) if names.insert(one.name.clone()) => found.push(one),
                Ok(one) => left_out(config, listed, &shortened(&one.name, 140), "it is on the list twice"),
                Err((name, why)) => left_out(config, listed, &name, &why),
            }
        }
        if found.len() > ENTRIES || bytes > BYTES {
            let why = format!("its list of {listed} is longer than {ENTRIES} entries or {BYTES} bytes");
            return Err(Fault::protocol(why));
        }
        match next {
            None => return Ok(found),
            next if next == cursor => return Err(Fault::protocol(format!("its list of {listed} goes in a circle"))),
            next => cursor = next,
        }
    }
    Err(Fault::protocol(format!("its list of {listed} does not end within {PAGES} pages")))
}

/// The entries of a page, and where the next one begins.
fn page(result: &[u8], listed: Listed) -> Result<(Vec<Box<RawValue>>, Option<String>), Fault> {
    let wrong = |why: String| Fault::protocol(format!("its list of {listed} can't be read ({why})"));
    let text = std::str::from_utf8(result).map_err(|fault| wrong(fault.to_string()))?;
    let entries = scan::member(text, listed.member()).ok_or_else(|| wrong(format!("no '{}'", listed.member())))?;
    let entries = serde_json::from_str(entries).map_err(|fault| wrong(fault.to_string()))?;
    let next = scan::member(text, "nextCursor").map(serde_json::from_str::<Option<String>>).transpose();
    Ok((entries, next.map_err(|fault| wrong(fault.to_string()))?.flatten()))
}

/// One entry, or its name and why it can't be offered. The others are not its hostages.
fn definition(live: &Live, listed: Listed, raw: Box<RawValue>) -> Result<Definition, (String, String)> {
    #[derive(Deserialize)]
    struct Names {
        name: Option<String>,
        uri: Option<String>,
        #[serde(rename = "uriTemplate")]
        template: Option<String>,
    }
    let nameless = |why: &str| (shortened(raw.get(), 60), format!("it has no {} ({why})", listed.key()));
    let names = serde_json::from_str::<Names>(raw.get()).map_err(|fault| nameless(&fault.to_string()))?;
    let name = match listed {
        Listed::Tools | Listed::Prompts => names.name,
        Listed::Resources => names.uri,
        Listed::Templates => names.template,
    };
    let name = name.ok_or_else(|| nameless("missing"))?;
    let checked = if listed == Listed::Tools { ToolName::new(&name) } else { ToolName::free(&name) };
    if let Err(fault) = checked {
        return Err((shortened(&name, 60), fault.to_string()));
    }
    // a schema would be checked as another than the one that clients are shown
    if has_reserved_key(raw.get()) {
        return Err((shortened(&name, 60), "its definition has a key that is reserved".to_owned()));
    }
    let mirrors = match &live.link {
        Link::Http(_) if listed == Listed::Tools => mirror::mirrors(raw.get()).map_err(|why| (name.clone(), why))?,
        _ => Vec::new(),
    };
    Ok(Definition { name, raw: raw.into(), mirrors: mirrors.into() })
}

fn left_out(config: &UpstreamConfig, listed: Listed, name: &str, why: &str) {
    tracing::warn!(target: "toolgate::upstream", upstream = config.name, name, "left out of its {listed}: {why}");
}
