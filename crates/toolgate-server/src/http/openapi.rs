//! `/api/v1/openapi.json`: what is at each address. The addresses of tools are described by the tools themselves.

use bytes::Bytes;
use http::{StatusCode, header, request::Parts};
use serde_json::{Map, Value, json};
use toolgate_core::{Caller, Found, Gate};

use super::{
    Site,
    admin::tool_of,
    admin_routes::{ROUTES, Route},
    route::{Answer, text, with_header},
};

/// Everything but what tools say of themselves.
const BASE: &str = include_str!("openapi.json");

/// The answers that are none: each is a problem in words.
const PROBLEMS: [&str; 11] = ["400", "401", "403", "404", "405", "408", "409", "413", "415", "429", "503"];

impl Site {
    /// A caller is told of the addresses of tools that the rules do not hide from it, as over MCP.
    pub(super) async fn openapi(&self, head: &Parts) -> Answer {
        let caller = self.identified(head).await.map(|identified| identified.caller).unwrap_or_default();
        let gate = self.spine.gate();
        let shown: Vec<bool> = ROUTES.iter().map(|route| is_shown(&gate, &caller, route)).collect();
        let described = match shown.contains(&true) {
            true => self.cache.description(&gate, &shown, |gate| Some(description(gate, &shown)?.to_string().into())),
            false => Some(Bytes::from_static(BASE.as_bytes())),
        };
        match described {
            Some(described) => {
                let answer = with_header(text(StatusCode::OK, described), header::CONTENT_TYPE, "application/json");
                with_header(answer, header::CACHE_CONTROL, "no-store")
            }
            None => text(StatusCode::SERVICE_UNAVAILABLE, "the description can't be put together\n"),
        }
    }
}

/// Whether the caller may know of the tool of this route.
fn is_shown(gate: &Gate, caller: &Caller, route: &Route) -> bool {
    let Some(tool) = tool_of(gate, route.tool) else { return false };
    let view = gate.view(caller);
    view.is_some_and(|view| {
        matches!(gate.find(&view, caller, tool.name.as_str(), false, false, gate.lang()), Found::Tool { .. })
    })
}

/// The description with those routes that are shown.
fn description(gate: &Gate, shown: &[bool]) -> Option<Value> {
    let mut description: Value = serde_json::from_str(BASE).ok()?;
    let paths = description.get_mut("paths")?.as_object_mut()?;
    for (route, _) in ROUTES.iter().zip(shown).filter(|(_, shown)| **shown) {
        let Some(tool) = tool_of(gate, route.tool) else { continue };
        let definition: Value = serde_json::from_str(tool.definition.get()).ok()?;
        let methods = paths.entry(route.path).or_insert_with(|| json!({})).as_object_mut()?;
        methods.insert(route.method.to_ascii_lowercase(), operation(route, &definition));
    }
    Some(description)
}

fn operation(route: &Route, definition: &Value) -> Value {
    let member = |key: &str| definition.get(key).cloned().unwrap_or_default();
    let mut schema = member("inputSchema");
    let mut parameters = Vec::new();
    let mut properties = schema.get_mut("properties").map(Value::take).unwrap_or_default();
    for name in route.in_path() {
        let schema = properties.as_object_mut().and_then(|properties| properties.shift_remove(name));
        parameters.push(json!({ "name": name, "in": "path", "required": true, "schema": schema.unwrap_or_default() }));
    }
    let required = schema.get_mut("required").map(Value::take);
    let required: Vec<Value> = match required {
        Some(Value::Array(names)) => {
            names.into_iter().filter(|name| !route.in_path().any(|own| name.as_str() == Some(own))).collect()
        }
        _ => Vec::new(),
    };
    let mut operation = json!({
        "tags": ["admin"], "operationId": route.tool, "summary": member("title"), "description": member("description"),
    });
    let Some(members) = operation.as_object_mut() else { return operation };
    if route.has_body() {
        let body = json!({
            "type": "object", "properties": properties, "required": required, "additionalProperties": false,
        });
        let content = json!({ "application/json": { "schema": body } });
        members.insert("requestBody".to_owned(), json!({ "required": !required.is_empty(), "content": content }));
    } else if let Value::Object(properties) = properties {
        parameters.extend(properties.into_iter().map(|(name, schema)| {
            json!({ "name": name, "in": "query", "required": required.contains(&json!(name)), "schema": schema })
        }));
    }
    members.insert("parameters".to_owned(), parameters.into());
    members.insert("responses".to_owned(), responses(&member("outputSchema")).into());
    operation
}

fn responses(data: &Value) -> Map<String, Value> {
    let schema = json!({
        "type": "object",
        "properties": {
            "success": { "const": true },
            "message": { "type": "string" },
            "data": data,
            "receipt": { "type": "string", "description": "What takes it back: the tool undo, or toolgate undo" },
        },
        "required": ["success", "message", "data"],
    });
    let done = json!({ "description": "Done", "content": { "application/json": { "schema": schema } } });
    let problem = json!({ "$ref": "#/components/responses/Problem" });
    let problems = PROBLEMS.into_iter().map(|status| (status.to_owned(), problem.clone()));
    std::iter::once(("200".to_owned(), done)).chain(problems).collect()
}
