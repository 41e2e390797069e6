//! Headers that repeat the body (2026-07-28): they must say the same, and nothing is ever decided from them.

use std::{borrow::Cow, sync::LazyLock};

use base64::{Engine, engine::general_purpose::STANDARD};
use http::{HeaderMap, HeaderName};
use memchr::memmem::Finder;
use serde_json::{Value, value::RawValue};

use crate::{headers, message::Message, refusal::Refusal};

/// `Mcp-Method` of every request, `Mcp-Name` of every call. A notification may leave them out.
pub(crate) fn check_standard(
    headers: &HeaderMap,
    message: &Message<'_>,
    name: Option<(&str, &str)>,
) -> Result<(), Refusal> {
    let is_request = message.id.is_some();
    let method = headers::single(headers, &headers::METHOD)?;
    expect(&headers::METHOD, method.map(|value| value == message.method.as_bytes()), "method", is_request)?;
    let Some((field, name)) = name else { return Ok(()) };
    // Only names and arguments may be encoded; an intermediary reads the others as they are.
    let given = headers::single(headers, &headers::NAME)?;
    expect(&headers::NAME, given.map(|value| decoded(value).as_deref() == Some(name)), field, is_request)
}

fn expect(header: &HeaderName, matches: Option<bool>, field: &str, required: bool) -> Result<(), Refusal> {
    match matches {
        Some(true) => Ok(()),
        Some(false) => Err(Refusal::header(format!(
            "header {header} does not match {field} in the body; send the same value in both"
        ))),
        None if required => Err(Refusal::header(format!("header {header} is missing; send the body's {field} in it"))),
        None => Ok(()),
    }
}

/// What a header value says: plain visible ASCII, or `=?base64?…?=`. `None` if it is neither.
pub(crate) fn decoded(value: &[u8]) -> Option<Cow<'_, str>> {
    if let Some(inner) = value.strip_prefix(b"=?base64?").and_then(|rest| rest.strip_suffix(b"?=")) {
        let bytes = STANDARD.decode(inner).ok()?;
        return String::from_utf8(bytes).ok().map(Cow::Owned);
    }
    let plain = value.iter().all(|byte| matches!(byte, b' '..=b'~' | b'\t'));
    if plain { std::str::from_utf8(value).ok().map(Cow::Borrowed) } else { None }
}

/// Whether a definition may ask for `Mcp-Param-*` at all; cheap enough for every call.
pub(crate) fn is_annotated(definition: &RawValue) -> bool {
    static MARK: LazyLock<Finder<'_>> = LazyLock::new(|| Finder::new("x-mcp-header"));
    MARK.find(definition.get().as_bytes()).is_some()
}

/// `Mcp-Param-*` of a call to a tool that the caller has on its own list.
///
/// Never asked for any other tool: whether it answers with a mismatch would tell that the tool exists.
pub(crate) fn check_params(headers: &HeaderMap, definition: &RawValue, arguments: Option<&str>) -> Result<(), Refusal> {
    let definition: Value = serde_json::from_str(definition.get()).unwrap_or_default();
    let arguments: Value = arguments.and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default();
    match definition.get("inputSchema") {
        Some(schema) => check_properties(headers, schema, Some(&arguments)),
        None => Ok(()),
    }
}

/// Only a chain of `properties` counts; annotations elsewhere are not ones.
fn check_properties(headers: &HeaderMap, schema: &Value, instance: Option<&Value>) -> Result<(), Refusal> {
    let Some(properties) = schema.get("properties").and_then(Value::as_object) else { return Ok(()) };
    for (key, property) in properties {
        let value = instance.and_then(|instance| instance.get(key));
        if let Some(suffix) = property.get("x-mcp-header").and_then(Value::as_str)
            && let Ok(header) = HeaderName::from_bytes(format!("mcp-param-{suffix}").as_bytes())
        {
            check_param(headers, &header, key, value)?;
        }
        check_properties(headers, property, value)?;
    }
    Ok(())
}

fn check_param(headers: &HeaderMap, header: &HeaderName, key: &str, value: Option<&Value>) -> Result<(), Refusal> {
    let given = headers::single(headers, header)?;
    let value = value.filter(|value| !value.is_null());
    match (given, value) {
        (None, None) => Ok(()),
        (None, Some(Value::Object(_) | Value::Array(_))) => Ok(()),
        (None, Some(_)) => Err(Refusal::header(format!(
            "header {header} is missing; list the tools again and send argument '{key}' in it too"
        ))),
        (Some(given), value) => match decoded(given) {
            Some(text) if value.is_some_and(|value| says(&text, value)) => Ok(()),
            _ => Err(Refusal::header(format!(
                "header {header} does not match argument '{key}' in the body; send the same value in both"
            ))),
        },
    }
}

/// Numbers are compared as numbers: `42.0` is 42.
fn says(text: &str, value: &Value) -> bool {
    match value {
        Value::String(string) => text == string,
        Value::Bool(flag) => text == if *flag { "true" } else { "false" },
        Value::Number(number) => match (number.as_i64(), text.parse::<i64>()) {
            (Some(number), Ok(text)) => number == text,
            _ => number.as_f64().is_some_and(|number| text.parse() == Ok(number)),
        },
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;
    use crate::json::limits::Limits;

    fn headers(pairs: &[(&'static str, &str)]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for (name, value) in pairs {
            headers.append(HeaderName::from_static(name), HeaderValue::from_bytes(value.as_bytes()).unwrap());
        }
        headers
    }

    fn standard(pairs: &[(&'static str, &str)], name: &str) -> Result<(), Refusal> {
        let body = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"{name}"}}}}"#);
        let message = Message::read(body.as_bytes(), &Limits::default()).unwrap();
        check_standard(&headers(pairs), &message, Some(("params.name", name)))
    }

    #[test]
    fn method_and_name_must_be_there_and_equal() {
        let good: &[&[(&str, &str)]] = &[
            &[("mcp-method", "tools/call"), ("mcp-name", "vault")],
            &[("mcp-method", "tools/call"), ("mcp-name", "=?base64?dmF1bHQ=?=")],
        ];
        for pairs in good {
            assert!(standard(pairs, "vault").is_ok(), "{pairs:?}");
        }
        let bad: &[&[(&str, &str)]] = &[
            &[("mcp-name", "vault")],
            &[("mcp-method", "tools/call")],
            &[("mcp-method", "tools/list"), ("mcp-name", "vault")],
            &[("mcp-method", "=?base64?dG9vbHMvY2FsbA==?="), ("mcp-name", "vault")],
            &[("mcp-method", "tools/call"), ("mcp-name", "Vault")],
            &[("mcp-method", "tools/call"), ("mcp-name", "=?base64?!!?=")],
            &[("mcp-method", "tools/call"), ("mcp-name", "=?BASE64?dmF1bHQ=?=")],
            &[("mcp-method", "tools/call"), ("mcp-name", "vault"), ("mcp-name", "vault")],
        ];
        for pairs in bad {
            let refusal = standard(pairs, "vault").unwrap_err();
            assert_eq!((refusal.status.as_u16(), refusal.code), (400, -32020), "{pairs:?}");
        }
        assert!(standard(&[("mcp-method", "tools/call"), ("mcp-name", "=?base64?5LiW?=")], "世").is_ok());
        assert!(standard(&[("mcp-method", "tools/call"), ("mcp-name", "世")], "世").is_err());
    }

    const DEFINITION: &str = r#"{"name":"sql","inputSchema":{"type":"object","properties":{
        "region":{"type":"string","x-mcp-header":"Region"},"n":{"type":"integer","x-mcp-header":"N"},
        "dry":{"type":"boolean","x-mcp-header":"Dry"},
        "deep":{"type":"object","properties":{"x":{"type":"string","x-mcp-header":"Deep"}}},
        "list":{"type":"array","items":{"properties":{"y":{"x-mcp-header":"Not-Reachable"}}}}}}}"#;

    fn params(pairs: &[(&'static str, &str)], arguments: &str) -> bool {
        let definition = RawValue::from_string(DEFINITION.to_owned()).unwrap();
        match check_params(&headers(pairs), &definition, Some(arguments)) {
            Ok(()) => true,
            Err(refusal) => {
                assert_eq!((refusal.status.as_u16(), refusal.code), (400, -32020));
                false
            }
        }
    }

    #[test]
    fn annotated_arguments_must_be_mirrored_exactly() {
        assert!(params(&[("mcp-param-region", "us")], r#"{"region":"us"}"#));
        assert!(params(&[("mcp-param-region", "=?base64?5LiW?=")], r#"{"region":"世"}"#));
        assert!(params(&[("mcp-param-n", "42.0")], r#"{"n":42}"#));
        assert!(params(&[("mcp-param-n", "-7")], r#"{"n":-7}"#));
        assert!(params(&[("mcp-param-dry", "true")], r#"{"dry":true}"#));
        assert!(params(&[("mcp-param-deep", "z")], r#"{"deep":{"x":"z"}}"#));
        assert!(params(&[], r#"{"region":null,"list":[{"y":"q"}]}"#));
        assert!(params(&[("mcp-param-unknown", "x")], "{}"));
    }

    #[test]
    fn a_missing_wrong_or_surplus_mirror_is_refused() {
        assert!(!params(&[], r#"{"region":"us"}"#));
        assert!(!params(&[("mcp-param-region", "eu")], r#"{"region":"us"}"#));
        assert!(!params(&[("mcp-param-region", "us")], "{}"));
        assert!(!params(&[("mcp-param-region", "us"), ("mcp-param-region", "eu")], r#"{"region":"us"}"#));
        assert!(!params(&[("mcp-param-n", "41")], r#"{"n":42}"#));
        assert!(!params(&[("mcp-param-dry", "True")], r#"{"dry":true}"#));
        assert!(!params(&[("mcp-param-region", "é")], r#"{"region":"é"}"#));
        assert!(!params(&[("mcp-param-deep", "a")], r#"{"deep":{"x":"z"}}"#));
    }

    #[test]
    fn a_tool_without_annotations_has_no_such_headers() {
        let definition = RawValue::from_string(r#"{"name":"a","inputSchema":{}}"#.to_owned()).unwrap();
        assert!(!is_annotated(&definition));
        assert!(is_annotated(&RawValue::from_string(DEFINITION.to_owned()).unwrap()));
        assert!(check_params(&headers(&[("mcp-param-region", "x")]), &definition, None).is_ok());
    }
}
