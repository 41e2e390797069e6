//! Arguments that do not fit a tool's schema, and the reason in words.

use jsonschema::Validator;
use serde_json::Value;
use toolgate_core::{Lang, redact::Redactor};

use crate::house::Guard;

/// Where arguments do not fit the tool's schema.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArgumentFault {
    /// JSON pointer to the value at fault; empty for the arguments as a whole.
    pub path: String,
    /// The schema keyword that failed.
    pub keyword: String,
    /// The missing or unwanted property, where that is the fault.
    pub property: Option<String>,
    pub message: String,
    /// The arguments as given.
    pub arguments: Value,
    /// The language of who called.
    pub lang: Lang,
}

impl ArgumentFault {
    /// The reason why a value does not fit; `None` where it does. What depends on the values at `unknown`, which are JSON
    /// pointers, is left out.
    pub(crate) fn of(
        guard: &Guard,
        validator: &Validator,
        value: &Value,
        unknown: &[String],
        lang: Lang,
    ) -> Option<Self> {
        let explained = |fault: &jsonschema::ValidationError<'_>| Self {
            path: fault.instance_path().to_string(),
            keyword: fault.kind().keyword().to_owned(),
            property: missing_property(fault),
            message: described(&guard.redactor, fault),
            arguments: value.clone(),
            lang,
        };
        match unknown {
            [] if validator.is_valid(value) => None,
            [] if guard.cost.can_explain(value) => validator.validate(value).err().as_ref().map(explained),
            [] => Some(Self {
                path: String::new(),
                keyword: "type".to_owned(),
                property: None,
                message: "the arguments do not fit its recursive schema".to_owned(),
                arguments: Value::Null,
                lang,
            }),
            unknown if guard.cost.can_explain(value) => {
                validator.iter_errors(value).find(|fault| stands(fault, unknown)).as_ref().map(explained)
            }
            // the call itself is checked whole
            _ => None,
        }
    }
}

/// Whether a fault is one whatever the values are that are not known yet.
fn stands(fault: &jsonschema::ValidationError<'_>, unknown: &[String]) -> bool {
    let (at, through) = (fault.instance_path().as_str(), fault.schema_path().as_str());
    let within = |inner: &str, outer: &str| {
        inner.strip_prefix(outer).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    let conditional = through.split('/').any(|word| CONDITIONAL.contains(&word));
    let whole = WHOLE.contains(&fault.kind().keyword()) && unknown.iter().any(|unknown| within(unknown, at));
    !conditional && !whole && !unknown.iter().any(|unknown| within(at, unknown))
}

/// Keywords under which one value decides what others must be.
const CONDITIONAL: [&str; 11] = [
    "anyOf",
    "oneOf",
    "not",
    "if",
    "then",
    "else",
    "contains",
    "dependentSchemas",
    "unevaluatedItems",
    "unevaluatedProperties",
    "$dynamicRef",
];
/// Keywords that look at a value with everything in it.
const WHOLE: [&str; 3] = ["const", "enum", "uniqueItems"];

/// The longest description of a value at fault.
const DESCRIBED: usize = 300;

/// What is wrong with a value, without secrets and without more of the value than is needed to see it.
fn described(redactor: &Redactor, fault: &jsonschema::ValidationError<'_>) -> String {
    if redactor.hides(fault.instance_path().as_str()) {
        return fault.masked_with("the value").to_string();
    }
    let described = fault.to_string();
    if described.len() <= DESCRIBED {
        return redactor.text(&described).into_owned();
    }
    // the end says what was expected
    let masked = fault.masked_with("the value").to_string();
    match masked.len() <= DESCRIBED {
        true => redactor.text(&masked).into_owned(),
        false => format!("{}…", masked.get(..masked.floor_char_boundary(DESCRIBED)).unwrap_or_default()),
    }
}

fn missing_property(fault: &jsonschema::ValidationError<'_>) -> Option<String> {
    match fault.kind() {
        jsonschema::error::ValidationErrorKind::Required { property } => property.as_str().map(str::to_owned),
        jsonschema::error::ValidationErrorKind::AdditionalProperties { unexpected } => unexpected.first().cloned(),
        _ => None,
    }
}
