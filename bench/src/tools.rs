//! The tool definitions of the bench: `echo`, then as many tools with schemas of about 590 bytes as asked for.

use serde_json::{Value, json};

const AREAS: [&str; 10] =
    ["billing", "crm", "deploy", "search", "files", "tickets", "calendar", "metrics", "users", "audit"];
const VERBS: [&str; 5] = ["get", "list", "create", "update", "delete"];

/// A JSON array of `count` MCP tool definitions.
pub(crate) fn definitions(count: usize) -> String {
    let areas = AREAS.iter().cycle();
    let verbs = VERBS.iter().flat_map(|verb| [verb; 10]).cycle();
    let rest = areas.zip(verbs).enumerate().skip(1).map(|(number, (area, verb))| record_tool(number, area, verb));
    let all: Vec<Value> = std::iter::once(echo()).chain(rest).take(count).collect();
    Value::Array(all).to_string()
}

fn echo() -> Value {
    json!({
        "name": "echo",
        "description": "Returns its text argument unchanged.",
        "inputSchema": {
            "type": "object",
            "properties": { "text": { "type": "string" } },
            "required": ["text"],
            "additionalProperties": false,
        },
    })
}

fn record_tool(number: usize, area: &str, verb: &str) -> Value {
    json!({
        "name": format!("{area}_{verb}_{number:04}"),
        "description": format!("{verb} a record in the {area} system (number {number})."),
        "inputSchema": {
            "type": "object",
            "properties": {
                "record_id": {
                    "type": "string",
                    "description": format!("Identifier of the {area} record, as returned by list."),
                    "pattern": "^[a-z0-9-]{4,64}$",
                },
                "fields": {
                    "type": "array",
                    "items": { "type": "string", "maxLength": 64 },
                    "maxItems": 32,
                    "description": "Names of the fields to return; empty means all.",
                },
                "limit": { "type": "integer", "minimum": 1, "maximum": 500, "default": 50 },
                "mode": { "type": "string", "enum": ["fast", "full", "dry-run"], "default": "fast" },
                "note": {
                    "type": "string",
                    "maxLength": 200,
                    "description": "Free text kept in the change log.",
                },
            },
            "required": ["record_id"],
            "additionalProperties": false,
        },
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn echo_comes_first_and_every_name_is_its_own() {
        let all: Vec<Value> = serde_json::from_str(&definitions(500)).unwrap();
        let names: Vec<&str> = all.iter().filter_map(|tool| tool.get("name")?.as_str()).collect();
        assert_eq!(names.first(), Some(&"echo"));
        assert_eq!(names.iter().collect::<BTreeSet<_>>().len(), 500);
    }

    #[test]
    fn a_schema_is_about_590_bytes() {
        let all: Vec<Value> = serde_json::from_str(&definitions(60)).unwrap();
        for tool in all.iter().skip(1) {
            let size = tool.get("inputSchema").unwrap().to_string().len();
            assert!((560..640).contains(&size), "{size} bytes");
        }
    }
}
