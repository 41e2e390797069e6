//! Headers that repeat parts of a request (2026-07-28): its method, its name, and the arguments a schema marks.

use std::collections::BTreeSet;

use base64::{Engine, engine::general_purpose::STANDARD};
use http::header::{HeaderName, HeaderValue};
use serde_json::Value;

use crate::scan;

const MARK: &str = "x-mcp-header";
/// Marked arguments of one definition: each is a header, and is looked for in the arguments of each call.
const MOST_MARKS: usize = 100;

/// One argument that goes into a header as well.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Mirror {
    header: HeaderName,
    /// The properties that lead to it.
    path: Vec<String>,
}

/// The marked arguments of a definition, or why its marks can't be followed.
pub(crate) fn mirrors(definition: &str) -> Result<Vec<Mirror>, String> {
    if memchr::memmem::find(definition.as_bytes(), MARK.as_bytes()).is_none() {
        return Ok(Vec::new());
    }
    let definition: Value = serde_json::from_str(definition).map_err(|fault| fault.to_string())?;
    let schema = definition.get("inputSchema").unwrap_or(&Value::Null);
    let mut found = Vec::new();
    walk(schema, &mut Vec::new(), &mut found)?;
    if found.len() != marks(schema) {
        return Err(format!("{MARK} stands where no argument's value is certain to be"));
    }
    if found.len() > MOST_MARKS {
        return Err(format!("{MARK} marks more than {MOST_MARKS} arguments"));
    }
    let names: BTreeSet<&str> = found.iter().map(|mirror| mirror.header.as_str()).collect();
    if names.len() != found.len() { Err(format!("{MARK} names a header twice")) } else { Ok(found) }
}

fn walk(schema: &Value, path: &mut Vec<String>, found: &mut Vec<Mirror>) -> Result<(), String> {
    for (name, property) in schema.get("properties").and_then(Value::as_object).into_iter().flatten() {
        path.push(name.clone());
        match property.get(MARK) {
            Some(Value::String(header)) if !header.is_empty() => {
                let kind = property.get("type").and_then(Value::as_str).unwrap_or_default();
                if !matches!(kind, "string" | "integer" | "boolean") {
                    return Err(format!("{MARK} of argument '{name}' is on no string, integer or boolean"));
                }
                let header = HeaderName::try_from(format!("mcp-param-{header}"));
                let header = header.map_err(|_| format!("{MARK} of argument '{name}' is no header name"))?;
                found.push(Mirror { header, path: path.clone() });
            }
            Some(_) => return Err(format!("{MARK} of argument '{name}' is no header name")),
            None => walk(property, path, found)?,
        }
        path.pop();
    }
    Ok(())
}

/// Marks anywhere in a schema.
fn marks(schema: &Value) -> usize {
    match schema {
        Value::Object(members) => {
            members.iter().map(|(key, value)| if key == MARK && value.is_string() { 1 } else { marks(value) }).sum()
        }
        Value::Array(items) => items.iter().map(marks).sum(),
        _ => 0,
    }
}

/// The headers of one request.
pub(crate) fn headers(
    method: &'static str,
    name: Option<&str>,
    mirrors: &[Mirror],
    arguments: &str,
) -> Vec<(HeaderName, HeaderValue)> {
    let mut headers = Vec::with_capacity(2 + mirrors.len());
    headers.push((HeaderName::from_static("mcp-method"), HeaderValue::from_static(method)));
    let mut add = |header: HeaderName, text: &str| {
        if let Ok(value) = HeaderValue::try_from(encoded(text)) {
            headers.push((header, value));
        }
    };
    if let Some(name) = name {
        add(HeaderName::from_static("mcp-name"), name);
    }
    for mirror in mirrors {
        let value = mirror.path.iter().try_fold(arguments, |object, name| scan::member(object, name));
        match value.map(|value| (value, value.as_bytes().first())) {
            None | Some((_, Some(b'n' | b'{' | b'[') | None)) => {}
            Some((value, Some(b'"'))) => {
                add(mirror.header.clone(), &serde_json::from_str::<String>(value).unwrap_or_default());
            }
            Some((value, _)) => add(mirror.header.clone(), value),
        }
    }
    headers
}

/// Plain where a header can hold it as it is, else in Base64.
fn encoded(text: &str) -> String {
    let plain = text.bytes().all(|byte| matches!(byte, b' '..=b'~' | b'\t')) && text.trim_ascii() == text;
    let looks_encoded = text.starts_with("=?base64?") && text.ends_with("?=");
    if plain && !looks_encoded { text.to_owned() } else { format!("=?base64?{}?=", STANDARD.encode(text)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marked_arguments_become_headers() {
        let definition = r#"{"inputSchema":{"properties":{"region":{"type":"string","x-mcp-header":"Region"},
            "where":{"properties":{"row":{"type":"integer","x-mcp-header":"Row"}}}}}}"#;
        let mirrors = mirrors(definition).unwrap();
        let sent = |arguments: &str| {
            let all = headers("tools/call", Some("sql"), &mirrors, arguments);
            all.into_iter().map(|(name, value)| format!("{name}: {}", value.to_str().unwrap())).collect::<Vec<_>>()
        };
        let plain = sent(r#"{"region":"us-west1","where":{"row":42}}"#);
        assert_eq!(
            plain,
            ["mcp-method: tools/call", "mcp-name: sql", "mcp-param-region: us-west1", "mcp-param-row: 42"]
        );
        assert_eq!(sent(r#"{"region":"Hello, 世界"}"#)[2], "mcp-param-region: =?base64?SGVsbG8sIOS4lueVjA==?=");
        assert_eq!(sent(r#"{"region":" padded "}"#)[2], "mcp-param-region: =?base64?IHBhZGRlZCA=?=");
        assert_eq!(sent(r#"{"region":null}"#).len(), 2);
    }

    #[test]
    fn marks_that_can_not_be_followed_are_refused() {
        let schema = |properties: &str| mirrors(&format!(r#"{{"inputSchema":{{"properties":{properties}}}}}"#));
        assert!(schema(r#"{"a":{"type":"number","x-mcp-header":"A"}}"#).is_err());
        assert!(schema(r#"{"a":{"type":"string","x-mcp-header":"A b"}}"#).is_err());
        assert!(schema(r#"{"a":{"items":{"properties":{"b":{"type":"string","x-mcp-header":"B"}}}}}"#).is_err());
        let twice = r#"{"a":{"type":"string","x-mcp-header":"X"},"b":{"type":"string","x-mcp-header":"x"}}"#;
        assert!(schema(twice).is_err());
        assert_eq!(schema(r#"{"a":{"type":"string"}}"#), Ok(Vec::new()));
    }
}
