//! `tools/list` to its end, within bounds.

use std::collections::HashSet;

use serde::Deserialize;
use serde_json::value::RawValue;
use toolgate_core::ToolName;

use crate::{
    Definition, UpstreamConfig,
    fault::{Fault, shortened},
    glob,
    handshake::Live,
    link::{Ask, Link},
    message, mirror,
};

const PAGES: usize = 200;
const TOOLS: usize = 10_000;
const BYTES: usize = 64 << 20;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Page {
    tools: Vec<Box<RawValue>>,
    #[serde(default)]
    next_cursor: Option<String>,
}

/// The tools that are wanted, in the upstream's order.
pub(crate) async fn list(live: &Live, config: &UpstreamConfig) -> Result<Vec<Definition>, Fault> {
    if !live.has_tools {
        return Ok(Vec::new());
    }
    let (mut found, mut names, mut bytes) = (Vec::new(), HashSet::new(), 0);
    let mut cursor: Option<String> = None;
    for _ in 0..PAGES {
        let member = cursor.as_deref().map(|cursor| format!("\"cursor\":{}", message::string(cursor)));
        let members = [member.as_deref().unwrap_or_default()];
        let ask = Ask { method: "tools/list", members: &members, ..Ask::default() };
        let result = live.link.ask(Some(&live.era), ask).await?;
        bytes += result.len();
        let page: Page = serde_json::from_slice(&result)
            .map_err(|fault| Fault::protocol(format!("its list of tools can't be read ({fault})")))?;
        for raw in page.tools {
            match definition(live, raw) {
                Ok(definition) if !glob::wanted(&definition.name, &config.include, &config.exclude) => {}
                Ok(definition) if names.insert(definition.name.clone()) => found.push(definition),
                Ok(definition) => left_out(config, &definition.name, "its name is on the list twice"),
                Err((name, why)) => left_out(config, &name, &why),
            }
        }
        if found.len() > TOOLS || bytes > BYTES {
            return Err(Fault::protocol(format!("its list of tools is longer than {TOOLS} tools or {BYTES} bytes")));
        }
        match page.next_cursor {
            None => return Ok(found),
            next if next == cursor => return Err(Fault::protocol("its list of tools goes in a circle")),
            next => cursor = next,
        }
    }
    Err(Fault::protocol(format!("its list of tools does not end within {PAGES} pages")))
}

/// One tool, or its name and why it can't be offered. The others are not its hostages.
fn definition(live: &Live, raw: Box<RawValue>) -> Result<Definition, (String, String)> {
    #[derive(Deserialize)]
    struct Named {
        name: String,
    }
    let named = serde_json::from_str::<Named>(raw.get());
    let Named { name } = named.map_err(|fault| (shortened(raw.get(), 60), format!("it has no name ({fault})")))?;
    if let Err(fault) = ToolName::new(&name) {
        return Err((shortened(&name, 60), fault.to_string()));
    }
    let mirrors = match &live.link {
        Link::Http(_) => mirror::mirrors(raw.get()).map_err(|why| (name.clone(), why))?,
        Link::Child(_) => Vec::new(),
    };
    Ok(Definition { name, raw: raw.into(), mirrors: mirrors.into() })
}

fn left_out(config: &UpstreamConfig, tool: &str, why: &str) {
    tracing::warn!(target: "toolgate::upstream", upstream = config.name, tool, "tool is left out: {why}");
}
