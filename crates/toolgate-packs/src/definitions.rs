//! A pack's definitions as data: a JSON array of MCP tool definitions, kept byte for byte.

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
            Ok(ToolOffer { definition, facts: facts(&name), name })
        })
        .collect()
}
