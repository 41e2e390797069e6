//! Attributes that servers claim for their own tools, offered to the operator: only what the operator accepts counts.

use std::path::Path;

use serde_json::{Map, Value, json};
use toolgate_core::Tool;

use super::{
    claim::Claim,
    survey::{Survey, tool_of},
};
use crate::{
    Misuse,
    commands::{
        import::{render::quoted, write::appended},
        put_file,
    },
    tool_attributes::{AttributeTables, is_pattern},
};

/// One attribute of one tool, as its server claims it.
pub struct ClaimedAttribute {
    upstream: String,
    /// The tool's name on the wire.
    tool: String,
    key: &'static str,
    value: &'static str,
}

/// The attributes that the configuration has no word on yet, for tools of upstreams by their own names. A tool with a table
/// of its own is left alone, and so is an attribute that a pattern sets.
pub fn claimed_attributes(survey: &Survey, accepted: &[(String, String)]) -> Vec<ClaimedAttribute> {
    let config = &survey.ground.config;
    let tables = AttributeTables::of(config);
    let mut claimed = Vec::new();
    for (upstream, own_name) in accepted {
        let review = survey.reviews.iter().find(|review| review.name == *upstream);
        let entry = config.upstreams.iter().find(|entry| entry.name == *upstream);
        // a name that two tools have leads to neither of them
        let Some(review) = review.filter(|review| !review.clashes.contains_key(own_name)) else { continue };
        let Some(definition) = review.definition(own_name) else { continue };
        let Some(tool) = entry.and_then(|entry| tool_of(config, entry, definition)) else { continue };
        let (key, value) = match Claim::of(definition) {
            Claim::Reads => ("effect", "read"),
            Claim::Destroys => ("approval", "required"),
            Claim::Writes | Claim::Nothing => continue,
        };
        if is_open(&tables, &tool, key) {
            let tool = tool.wire_name.to_string();
            claimed.push(ClaimedAttribute { upstream: upstream.clone(), tool, key, value });
        }
    }
    claimed
}

fn is_open(tables: &AttributeTables<'_>, tool: &Tool, key: &str) -> bool {
    let is_said = |(name, table): &(&str, &crate::config::ToolConfig)| {
        !is_pattern(name) || if key == "effect" { table.effect.is_some() } else { table.approval.is_some() }
    };
    !tables.about(tool).iter().any(is_said)
}

/// Tables for the configuration, each claim marked as the server's word. INVARIANT: a table names its server, so that what a
/// server claims never holds for a tool of another, whoever has the name later.
pub fn render(claimed: &[ClaimedAttribute]) -> String {
    let table = |claim: &ClaimedAttribute| {
        let (tool, key, value) = (quoted(&claim.tool), claim.key, claim.value);
        let source = quoted_value(&claim.upstream);
        format!("[tools.{tool}]\nsource = {source}\n{key} = \"{value}\"  # the server's own claim\n")
    };
    claimed.iter().map(table).collect::<Vec<_>>().join("\n")
}

fn quoted_value(text: &str) -> String {
    toml::Value::String(text.to_owned()).to_string()
}

pub fn json(claimed: &[ClaimedAttribute]) -> Vec<Value> {
    let one = |claim: &ClaimedAttribute| {
        let attributes: Map<String, Value> = [(claim.key.to_owned(), Value::from(claim.value))].into_iter().collect();
        json!({"upstream": claim.upstream, "tool": claim.tool, "attributes": attributes})
    };
    claimed.iter().map(one).collect()
}

/// Adds the tables to the end of the configuration file.
pub fn write(path: &Path, claimed: &[ClaimedAttribute]) -> Result<(), Misuse> {
    let text = appended(path, &render(claimed))?;
    put_file::replace(path, text.as_bytes())
        .map_err(|fault| format!("{} can't be written: {fault}", path.display()))?;
    Ok(())
}
