//! Definitions in another language than the source's own: the texts that a tool's facts have for it, and nothing else.

use indexmap::IndexMap;
use serde_json::{
    Value,
    value::{RawValue, to_raw_value},
};

use crate::{
    decision::Lang,
    tool::{Kind, Phrases, Tool},
};

/// Members of a definition whose texts people read.
const SCHEMAS: [&str; 2] = ["inputSchema", "outputSchema"];
const READ: [&str; 2] = ["title", "description"];

/// A listed definition in this language; `None` where the facts have no text in it, as of upstreams' tools.
pub(crate) fn translated(tool: &Tool, listed: &RawValue, lang: Lang) -> Option<Box<RawValue>> {
    let description = tool.facts.descriptions.get(lang.as_str());
    let phrases = tool.facts.phrases.get(lang.as_str());
    if tool.kind != Kind::Tool || (description.is_none() && phrases.is_none()) {
        return None;
    }
    let mut definition: IndexMap<String, Box<RawValue>> = serde_json::from_str(listed.get()).ok()?;
    if let Some(description) = description {
        definition.insert("description".to_owned(), to_raw_value(description).ok()?);
    }
    if let Some(phrases) = phrases {
        for (_, member) in definition.iter_mut().filter(|(name, _)| SCHEMAS.contains(&name.as_str())) {
            let mut schema: Value = serde_json::from_str(member.get()).ok()?;
            translate_schema(&mut schema, phrases);
            *member = to_raw_value(&schema).ok()?;
        }
        let title = definition.get("title").and_then(|title| serde_json::from_str::<String>(title.get()).ok());
        if let Some(title) = title.and_then(|title| phrases.get(&title)) {
            definition.insert("title".to_owned(), to_raw_value(title).ok()?);
        }
    }
    to_raw_value(&definition).ok()
}

/// Titles and descriptions, at every depth. A definition's author wrote and bounded it.
fn translate_schema(schema: &mut Value, phrases: &Phrases) {
    match schema {
        Value::Array(items) => items.iter_mut().for_each(|item| translate_schema(item, phrases)),
        Value::Object(members) => {
            for (name, member) in members.iter_mut() {
                match member {
                    Value::String(text) if READ.contains(&name.as_str()) => translate(text, Some(phrases)),
                    member => translate_schema(member, phrases),
                }
            }
        }
        _ => {}
    }
}

pub(crate) fn translate(text: &mut String, phrases: Option<&Phrases>) {
    if let Some(translated) = phrases.and_then(|phrases| phrases.get(text)) {
        text.clone_from(translated);
    }
}
