//! Typed tool arguments: from a JSON Schema to Cedar's types, and from a call's JSON to Cedar's values.
//!
//! Only for tools that an argument rule names. A number that is not exact in the rule's type is no value at all.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use cedar_policy::RestrictedExpression;
use serde::{Deserialize, Serialize};
use serde_json::{Value, value::RawValue};

use super::reads::Reads;

/// A type the operator declares for an argument.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DeclaredType {
    Boolean,
    Integer,
    Decimal,
    String,
}

/// The arguments of one tool as rules see them.
#[derive(Debug, Clone, Default)]
pub struct ArgumentTypes {
    fields: BTreeMap<String, Field>,
    /// Arguments a rule can't read, with the reason.
    unclear: BTreeMap<String, String>,
    /// Arguments some rule reads: only these have to be exact.
    read: BTreeSet<String>,
}

#[derive(Debug, Clone)]
struct Field {
    kind: Kind,
    required: bool,
}

#[derive(Debug, Clone)]
enum Kind {
    Boolean,
    Integer,
    Decimal,
    String,
    Set(Box<Kind>),
    Record(BTreeMap<String, Field>),
}

/// Deeper than this a rule has no business.
const MAX_DEPTH: usize = 8;

impl ArgumentTypes {
    /// Reads the types of a definition's `inputSchema`.
    pub fn of(definition: &RawValue, declared: &BTreeMap<String, DeclaredType>) -> Self {
        let schema = serde_json::from_str::<Value>(definition.get())
            .ok()
            .and_then(|definition| definition.get("inputSchema").cloned())
            .unwrap_or(Value::Null);
        let mut types = Self::default();
        let required = required_of(&schema);
        if let Some(properties) = schema.get("properties").and_then(Value::as_object) {
            for (name, property) in properties {
                match kind_of(property, MAX_DEPTH) {
                    Ok(kind) => {
                        types.fields.insert(name.clone(), Field { kind, required: required.contains(&name.as_str()) });
                    }
                    Err(reason) => {
                        types.unclear.insert(name.clone(), reason);
                    }
                }
            }
        }
        for (name, kind) in declared {
            types.unclear.remove(name);
            let kind = match kind {
                DeclaredType::Boolean => Kind::Boolean,
                DeclaredType::Integer => Kind::Integer,
                DeclaredType::Decimal => Kind::Decimal,
                DeclaredType::String => Kind::String,
            };
            types.fields.insert(name.clone(), Field { kind, required: required.contains(&name.as_str()) });
        }
        types
    }

    /// Takes note of what a rule reads.
    pub(super) fn read_by(&mut self, reads: &Reads) {
        if reads.all_arguments() {
            self.read.extend(self.fields.keys().cloned());
        }
        self.read.extend(reads.arguments().map(str::to_owned));
    }

    /// Why a rule can't read this argument, if it can't.
    pub fn unclear(&self, argument: &str) -> Option<&str> {
        self.unclear.get(argument).map(String::as_str)
    }

    /// The record type in Cedar's schema language.
    pub fn to_cedar_schema(&self) -> String {
        record_schema(&self.fields)
    }

    /// The arguments that rules read as a Cedar record; `None` where a value has no exact counterpart.
    pub fn to_cedar(&self, arguments: Option<&RawValue>) -> Option<RestrictedExpression> {
        let text = arguments.map_or("{}", RawValue::get);
        record_value(self.fields.iter().filter(|(name, _)| self.read.contains(*name)), text)
    }
}

fn required_of(schema: &Value) -> Vec<&str> {
    schema
        .get("required")
        .and_then(Value::as_array)
        .map(|names| names.iter().filter_map(Value::as_str).collect())
        .unwrap_or_default()
}

fn kind_of(schema: &Value, depth: usize) -> Result<Kind, String> {
    if depth == 0 {
        return Err("it is nested too deeply".to_owned());
    }
    for keyword in ["anyOf", "oneOf", "allOf", "$ref", "not", "if"] {
        if schema.get(keyword).is_some() {
            return Err(format!("its schema uses '{keyword}'"));
        }
    }
    match schema.get("type") {
        Some(Value::String(name)) => match name.as_str() {
            "boolean" => Ok(Kind::Boolean),
            "integer" => Ok(Kind::Integer),
            "number" => Ok(Kind::Decimal),
            "string" => Ok(Kind::String),
            "array" => match schema.get("items") {
                Some(items) => Ok(Kind::Set(Box::new(kind_of(items, depth - 1)?))),
                None => Err("its items have no type".to_owned()),
            },
            "object" => {
                let required = required_of(schema);
                let mut fields = BTreeMap::new();
                for (name, property) in schema.get("properties").and_then(Value::as_object).into_iter().flatten() {
                    let kind = kind_of(property, depth - 1)?;
                    fields.insert(name.clone(), Field { kind, required: required.contains(&name.as_str()) });
                }
                Ok(Kind::Record(fields))
            }
            other => Err(format!("its type is '{other}'")),
        },
        Some(Value::Array(_)) => Err("it has several types".to_owned()),
        Some(_) => Err("its type is not a word".to_owned()),
        None => match schema.get("enum").and_then(Value::as_array) {
            Some(words) if !words.is_empty() && words.iter().all(Value::is_string) => Ok(Kind::String),
            _ => Err("its schema names no type".to_owned()),
        },
    }
}

fn record_schema(fields: &BTreeMap<String, Field>) -> String {
    let fields: Vec<String> = fields
        .iter()
        .map(|(name, field)| {
            let optional = if field.required { "" } else { "?" };
            format!("{}{optional}: {}", quote(name), kind_schema(&field.kind))
        })
        .collect();
    format!("{{ {} }}", fields.join(", "))
}

fn kind_schema(kind: &Kind) -> String {
    match kind {
        Kind::Boolean => "Bool".to_owned(),
        Kind::Integer => "Long".to_owned(),
        Kind::Decimal => "decimal".to_owned(),
        Kind::String => "String".to_owned(),
        Kind::Set(items) => format!("Set<{}>", kind_schema(items)),
        Kind::Record(fields) => record_schema(fields),
    }
}

/// A Cedar string literal.
pub(super) fn quote(text: &str) -> String {
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            c if c.is_control() => quoted.push_str(&format!("\\u{{{:x}}}", u32::from(c))),
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}

fn record_value<'a>(fields: impl Iterator<Item = (&'a String, &'a Field)>, json: &str) -> Option<RestrictedExpression> {
    let given: HashMap<String, &RawValue> = serde_json::from_str(json).ok()?;
    let mut values = Vec::new();
    for (name, field) in fields {
        if let Some(value) = given.get(name) {
            values.push((name.clone(), value_of(&field.kind, value.get())?));
        }
    }
    RestrictedExpression::new_record(values).ok()
}

fn value_of(kind: &Kind, json: &str) -> Option<RestrictedExpression> {
    match kind {
        Kind::Boolean => serde_json::from_str(json).ok().map(RestrictedExpression::new_bool),
        Kind::String => serde_json::from_str(json).ok().map(RestrictedExpression::new_string),
        Kind::Integer => scaled(json, 0).map(RestrictedExpression::new_long),
        Kind::Decimal => {
            let units = scaled(json, 4)?;
            let sign = if units < 0 { "-" } else { "" };
            let units = units.unsigned_abs();
            Some(RestrictedExpression::new_decimal(format!("{sign}{}.{:04}", units / 10_000, units % 10_000)))
        }
        Kind::Set(items) => {
            let given: Vec<&RawValue> = serde_json::from_str(json).ok()?;
            let values = given.iter().map(|item| value_of(items, item.get())).collect::<Option<Vec<_>>>()?;
            Some(RestrictedExpression::new_set(values))
        }
        Kind::Record(fields) => record_value(fields.iter(), json),
    }
}

/// A JSON number times ten to `places`, if that is exactly a 64-bit integer.
pub(super) fn scaled(json: &str, places: i64) -> Option<i64> {
    let (negative, rest) = json.strip_prefix('-').map_or((false, json), |rest| (true, rest));
    if !rest.starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    let (mantissa, exponent) = match rest.find(['e', 'E']) {
        Some(at) => (rest.get(..at)?, rest.get(at + 1..)?.trim_start_matches('+').parse::<i64>().ok()?),
        None => (rest, 0),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = format!("{whole}{fraction}");
    let digits = digits.trim_start_matches('0');
    if digits.is_empty() {
        return Some(0);
    }
    let kept = digits.trim_end_matches('0');
    let zeros = i64::try_from(digits.len() - kept.len()).ok()?;
    let shift = exponent.checked_sub(i64::try_from(fraction.len()).ok()?)?.checked_add(places)?.checked_add(zeros)?;
    // 19 digits is all an i64 holds, so a larger shift or more digits can't fit
    if !(0..=19).contains(&shift) || kept.len() > 19 {
        return None;
    }
    let scaled = kept.parse::<i128>().ok()?.checked_mul(10_i128.checked_pow(u32::try_from(shift).ok()?)?)?;
    i64::try_from(if negative { -scaled } else { scaled }).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_exact_or_nothing() {
        for (json, places, expected) in [
            ("0", 4, Some(0)),
            ("-0.0", 4, Some(0)),
            ("1000", 4, Some(10_000_000)),
            ("1e3", 4, Some(10_000_000)),
            ("1000.0001", 4, Some(10_000_001)),
            ("1000.00010", 4, Some(10_000_001)),
            ("1000.00001", 4, None),
            ("0.1", 4, Some(1_000)),
            ("5.0", 0, Some(5)),
            ("5.5", 0, None),
            ("9223372036854775807", 0, Some(i64::MAX)),
            ("9223372036854775808", 0, None),
            ("-9223372036854775808", 0, Some(i64::MIN)),
            ("1e400", 4, None),
            ("1e-400", 4, None),
            ("\"5\"", 0, None),
            ("true", 0, None),
        ] {
            assert_eq!(scaled(json, places), expected, "{json} with {places} places");
        }
    }
}
