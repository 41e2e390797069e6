//! A definition as a client sees it: the source's own JSON, changed only where the gate must.

use std::{collections::BTreeMap, sync::Arc};

use indexmap::IndexMap;
use serde_json::value::{RawValue, to_raw_value};

use crate::{
    decision::Denial,
    tool::{Kind, Tool},
};

/// An object whose members keep their order and their bytes.
type RawObject = IndexMap<String, Box<RawValue>>;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the definition of tool '{tool}' is not usable: {reason}")]
pub struct BadDefinition {
    pub tool: String,
    pub reason: String,
}

/// The definition under its wire name and without its bound arguments; the very same value where neither applies.
pub(crate) fn listed(tool: &Tool) -> Result<Arc<RawValue>, BadDefinition> {
    let bad = |reason: String| BadDefinition { tool: tool.name.to_string(), reason };
    if matches!(tool.kind, Kind::Resource | Kind::Template | Kind::Address) {
        let Ok(mut definition) = serde_json::from_str::<RawObject>(tool.definition.get()) else {
            return Ok(Arc::clone(&tool.definition));
        };
        let Some(meta) = without_marks(&definition) else { return Ok(Arc::clone(&tool.definition)) };
        definition.insert("_meta".to_owned(), meta);
        return to_raw_value(&definition).map(Arc::from).map_err(|fault| bad(fault.to_string()));
    }
    let mut definition: RawObject =
        serde_json::from_str(tool.definition.get()).map_err(|fault| bad(format!("it is no JSON object: {fault}")))?;
    let name: String = definition
        .get("name")
        .and_then(|name| serde_json::from_str(name.get()).ok())
        .ok_or_else(|| bad("it has no name".to_owned()))?;
    let without = match (tool.kind, definition.get("inputSchema")) {
        (Kind::Tool, None) => return Err(bad("it has no inputSchema".to_owned())),
        (Kind::Tool, Some(schema)) => {
            without_bound(schema, tool).map_err(|fault| bad(format!("its inputSchema is no object: {fault}")))?
        }
        _ => None,
    };
    let unmarked = without_marks(&definition);
    if without.is_none() && unmarked.is_none() && name == tool.wire_name.as_str() {
        return Ok(Arc::clone(&tool.definition));
    }
    if let Some(meta) = unmarked {
        definition.insert("_meta".to_owned(), meta);
    }
    let raw = |fault: serde_json::Error| bad(fault.to_string());
    definition.insert("name".to_owned(), to_raw_value(&tool.wire_name).map_err(raw)?);
    if let Some(schema) = without {
        definition.insert("inputSchema".to_owned(), schema);
    }
    to_raw_value(&definition).map(Arc::from).map_err(raw)
}

/// What `_meta` holds without the marks that only the gate sets, or `None` where it has none of them.
fn without_marks(definition: &RawObject) -> Option<Box<RawValue>> {
    let mut meta: RawObject = serde_json::from_str(definition.get("_meta")?.get()).ok()?;
    let before = meta.len();
    meta.retain(|name, _| !name.starts_with("toolgate/"));
    (meta.len() != before).then(|| to_raw_value(&meta).ok()).flatten()
}

/// The schema without bound properties, or `None` where it has none of them.
fn without_bound(schema: &RawValue, tool: &Tool) -> Result<Option<Box<RawValue>>, serde_json::Error> {
    let mut schema: RawObject = serde_json::from_str(schema.get())?;
    let bound = &tool.facts.bind;
    let mut changed = false;
    if let Some(properties) = schema.get("properties") {
        let mut properties: RawObject = serde_json::from_str(properties.get())?;
        let before = properties.len();
        properties.retain(|name, _| !bound.contains_key(name));
        if properties.len() != before {
            schema.insert("properties".to_owned(), to_raw_value(&properties)?);
            changed = true;
        }
    }
    if let Some(required) = schema.get("required") {
        let mut required: Vec<String> = serde_json::from_str(required.get())?;
        let before = required.len();
        required.retain(|name| !bound.contains_key(name));
        if required.len() != before {
            schema.insert("required".to_owned(), to_raw_value(&required)?);
            changed = true;
        }
    }
    Ok(if changed { Some(to_raw_value(&schema)?) } else { None })
}

/// The definition marked as listed but not callable.
pub(crate) fn marked(definition: &RawValue, denial: &Denial) -> Result<Box<RawValue>, serde_json::Error> {
    let mut definition: RawObject = serde_json::from_str(definition.get())?;
    let mut meta: RawObject = match definition.get("_meta") {
        Some(meta) => serde_json::from_str(meta.get())?,
        None => RawObject::new(),
    };
    meta.insert("toolgate/callable".to_owned(), to_raw_value(&false)?);
    meta.insert("toolgate/code".to_owned(), to_raw_value(&denial.code)?);
    meta.insert("toolgate/reason".to_owned(), to_raw_value(&denial.message)?);
    if let Some(source) = &denial.source {
        meta.insert("toolgate/source".to_owned(), to_raw_value(source)?);
    }
    definition.insert("_meta".to_owned(), to_raw_value(&meta)?);
    to_raw_value(&definition)
}

/// One parameter as `help` shows it.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Parameter {
    pub name: String,
    #[serde(rename = "type")]
    pub kind: String,
    pub required: bool,
    #[serde(rename = "enum", skip_serializing_if = "Option::is_none")]
    pub words: Option<serde_json::Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
}

/// The parameters of a listed definition, in its own order.
pub(crate) fn parameters(definition: &RawValue) -> Vec<Parameter> {
    #[derive(serde::Deserialize, Default)]
    #[serde(rename_all = "camelCase", default)]
    struct Definition {
        input_schema: Schema,
    }
    #[derive(serde::Deserialize, Default)]
    #[serde(default)]
    struct Schema {
        properties: IndexMap<String, serde_json::Value>,
        required: Vec<String>,
    }
    let schema = serde_json::from_str::<Definition>(definition.get()).unwrap_or_default().input_schema;
    let kind = |property: &serde_json::Value| match property.get("type") {
        Some(serde_json::Value::String(kind)) => kind.clone(),
        Some(serde_json::Value::Array(kinds)) => {
            kinds.iter().filter_map(serde_json::Value::as_str).collect::<Vec<_>>().join("|")
        }
        _ => "any".to_owned(),
    };
    schema
        .properties
        .iter()
        .map(|(name, property)| Parameter {
            name: name.clone(),
            kind: kind(property),
            required: schema.required.contains(name),
            words: property.get("enum").cloned(),
            description: property.get("description").and_then(|text| text.as_str()).map(str::to_owned),
        })
        .collect()
}

/// A definition's description, in the language asked for where the facts have it.
pub(crate) fn description(tool: &Tool, lang: crate::Lang) -> String {
    let translated = |texts: &BTreeMap<String, String>| texts.get(lang.as_str()).cloned();
    translated(&tool.facts.descriptions).unwrap_or_else(|| {
        serde_json::from_str::<serde_json::Value>(tool.definition.get())
            .ok()
            .and_then(|definition| definition.get("description")?.as_str().map(str::to_owned))
            .unwrap_or_default()
    })
}
