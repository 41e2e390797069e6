//! A client's own file: JSON, with the comments and trailing commas that some clients take. Each value keeps its place.

use std::{
    collections::BTreeSet,
    io::ErrorKind,
    path::{Path, PathBuf},
};

use jsonc_parser::{
    CollectOptions, ParseOptions,
    ast::{Object, Value as Node},
};
use serde_json::{Map, Value};

use crate::bounded_file::{LARGEST, read_text};

const BOM: char = '\u{feff}';

#[derive(Debug, thiserror::Error)]
pub enum FileProblem {
    #[error("{path} can't be read: {reason}")]
    Unreadable { path: String, reason: String },
    #[error("{path} is not a file; name the client's JSON file")]
    NoFile { path: String },
    #[error("{path} has more than {LARGEST} bytes; no client's file is that large")]
    TooLarge { path: String },
    #[error("{path} is not text in UTF-8; save it as that")]
    NotText { path: String },
    #[error("{path} is not JSON: {reason}; mend it first")]
    NotJson { path: String, reason: String },
    #[error("{path} has {found} where an object {{…}} is needed, at {place}")]
    NotObject { path: String, place: String, found: &'static str },
    #[error("{path} has the key '{key}' twice in {place}; keep one")]
    Twice { path: String, place: String, key: String },
}

/// The text of a file, whole; `None` where there is none.
pub fn read(path: &Path) -> Result<Option<String>, FileProblem> {
    let name = path.display().to_string();
    match read_text(path) {
        Ok(text) => Ok(Some(text)),
        Err(fault) => match fault.kind() {
            ErrorKind::NotFound => Ok(None),
            ErrorKind::InvalidInput => Err(FileProblem::NoFile { path: name }),
            ErrorKind::FileTooLarge => Err(FileProblem::TooLarge { path: name }),
            ErrorKind::InvalidData => Err(FileProblem::NotText { path: name }),
            _ => Err(FileProblem::Unreadable { path: name, reason: fault.to_string() }),
        },
    }
}

/// What some editors put before the text, and the text.
pub fn without_mark(text: &str) -> (&str, &str) {
    match text.strip_prefix(BOM) {
        Some(rest) => text.split_at(text.len() - rest.len()),
        None => ("", text),
    }
}

/// The object a file is, no key of it twice: with a key twice, clients differ in which one counts.
pub fn object<'t>(path: &Path, text: &'t str) -> Result<Object<'t>, FileProblem> {
    let name = path.display().to_string();
    let options = ParseOptions {
        allow_comments: true,
        allow_trailing_commas: true,
        allow_loose_object_property_names: false,
        allow_missing_commas: false,
        allow_single_quoted_strings: false,
        allow_hexadecimal_numbers: false,
        allow_unary_plus_numbers: false,
        allow_bare_decimal_point_numbers: false,
        allow_non_finite_numbers: false,
        allow_extended_string_escapes: false,
    };
    let parsed = jsonc_parser::parse_to_ast(text, &CollectOptions::default(), &options)
        .map_err(|fault| FileProblem::NotJson { path: name.clone(), reason: fault.to_string() })?;
    let root = parsed
        .value
        .ok_or_else(|| FileProblem::NotJson { path: name.clone(), reason: "there is nothing in it".to_owned() })?;
    once(&name, "the file", &root)?;
    match root {
        Node::Object(object) => Ok(object),
        other => Err(FileProblem::NotObject { path: name, place: "the top".to_owned(), found: kind(&other) }),
    }
}

fn once(path: &str, place: &str, node: &Node<'_>) -> Result<(), FileProblem> {
    match node {
        Node::Object(object) => {
            let mut seen = BTreeSet::new();
            for member in &object.properties {
                let key = member.name.as_str();
                if !seen.insert(key) {
                    let (path, place) = (path.to_owned(), place.to_owned());
                    return Err(FileProblem::Twice { path, place, key: key.to_owned() });
                }
                once(path, &format!("'{key}'"), &member.value)?;
            }
            Ok(())
        }
        Node::Array(array) => array.elements.iter().try_for_each(|element| once(path, place, element)),
        _ => Ok(()),
    }
}

/// What a value is, for people.
pub fn kind(node: &Node<'_>) -> &'static str {
    match node {
        Node::StringLit(_) => "a text",
        Node::NumberLit(_) => "a number",
        Node::BooleanLit(_) => "true or false",
        Node::Object(_) => "an object",
        Node::Array(_) => "a list",
        Node::NullKeyword(_) => "null",
    }
}

/// The value without its place.
pub fn value(node: &Node<'_>) -> Value {
    match node {
        Node::StringLit(text) => Value::String(text.value.to_string()),
        Node::NumberLit(number) => serde_json::from_str(number.value).unwrap_or(Value::Null),
        Node::BooleanLit(literal) => Value::Bool(literal.value),
        Node::Object(object) => Value::Object(members(object)),
        Node::Array(array) => Value::Array(array.elements.iter().map(value).collect()),
        Node::NullKeyword(_) => Value::Null,
    }
}

pub fn members(object: &Object<'_>) -> Map<String, Value> {
    object.properties.iter().map(|member| (member.name.as_str().to_owned(), value(&member.value))).collect()
}

/// `FILE.toolgate-backup` of `FILE`.
pub fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    PathBuf::from(name)
}
