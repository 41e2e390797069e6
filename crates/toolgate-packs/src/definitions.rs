//! A pack's definitions as data: a JSON array of MCP tool definitions, kept byte for byte.

use std::{collections::BTreeMap, sync::LazyLock};

use serde::Deserialize;
use serde_json::value::RawValue;
use toolgate_core::Facts;
use toolgate_spine::ToolOffer;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the definitions of {place} can't be read: {reason}")]
pub struct BadPack {
    pub place: String,
    pub reason: String,
}

/// Our own definitions are written for people to read; clients get them without the white space.
pub(crate) fn compact(json: &str) -> String {
    serde_json::from_str::<serde_json::Value>(json).map_or_else(|_| json.to_owned(), |value| value.to_string())
}

/// Offers each definition of the array with the facts given for its name.
pub fn offers(place: &str, json: &str, facts: impl Fn(&str) -> Facts) -> Result<Vec<ToolOffer>, BadPack> {
    #[derive(Deserialize)]
    struct Named {
        name: String,
    }
    let bad = |fault: serde_json::Error| BadPack { place: place.to_owned(), reason: fault.to_string() };
    let definitions: Vec<Box<RawValue>> = serde_json::from_str(json).map_err(bad)?;
    definitions
        .into_iter()
        .map(|definition| {
            let Named { name } = serde_json::from_str(definition.get()).map_err(bad)?;
            let mut facts = facts(&name);
            let phrases = japanese(&definition, &facts);
            if !phrases.is_empty() {
                facts.phrases.insert("ja".to_owned(), phrases);
            }
            Ok(ToolOffer { definition, facts, name })
        })
        .collect()
}

/// Texts in Japanese, by their English.
static JAPANESE: LazyLock<BTreeMap<String, String>> =
    LazyLock::new(|| serde_json::from_str(include_str!("japanese.json")).unwrap_or_default());

/// The texts of one tool's parameters and example that have a translation.
fn japanese(definition: &RawValue, facts: &Facts) -> BTreeMap<String, String> {
    let example = facts.example.as_ref().map(|example| example.0.as_str());
    let mut texts = Vec::new();
    for json in [Some(definition.get()), example].into_iter().flatten() {
        if let Ok(value) = serde_json::from_str(json) {
            gather(&value, &mut texts);
        }
    }
    texts.into_iter().filter_map(|text| JAPANESE.get(&text).map(|japanese| (text, japanese.clone()))).collect()
}

fn gather(value: &serde_json::Value, texts: &mut Vec<String>) {
    match value {
        serde_json::Value::String(text) => texts.push(text.clone()),
        serde_json::Value::Array(items) => items.iter().for_each(|item| gather(item, texts)),
        serde_json::Value::Object(members) => members.values().for_each(|member| gather(member, texts)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use toolgate_spine::ToolSource;

    use super::*;

    #[test]
    fn every_parameter_of_a_tasks_or_a_teams_tool_is_described_in_japanese_too() {
        let packs = [
            crate::gate::GatePack::new().unwrap().tools(),
            crate::process::offered().unwrap(),
            crate::team::offered(crate::team::TeamConfig::default()).unwrap(),
            crate::workspace::offered(false).unwrap(),
        ];
        for offer in packs.into_iter().flatten() {
            let definition: serde_json::Value = serde_json::from_str(offer.definition.get()).unwrap();
            let none = BTreeMap::new();
            let phrases = offer.facts.phrases.get("ja").unwrap_or(&none);
            for (name, property) in definition["inputSchema"]["properties"].as_object().into_iter().flatten() {
                let Some(english) = property["description"].as_str() else { continue };
                assert!(phrases.contains_key(english), "{} {name}: {english}", offer.name);
            }
        }
    }
}
