//! Which facts there are to ask `has` of. To Cedar an attribute nobody declared is merely never there; to an operator it
//! is a slip of the pen in a rule that would then never strike.

use std::sync::OnceLock;

use cedar_policy::SchemaFragment;
use serde_json::Value;

use super::SHIPPED_SCHEMA;
use crate::suggest::closest;

/// The facts of every action together; what stands below `arguments` is the tool's own.
const CONTEXT: &[&str] = &[
    "allowlisted",
    "override",
    "arguments",
    "callable",
    "concealed",
    "asker",
    "tenant",
    "flow",
    "owner",
    "four_eyes",
    "wide",
    "at_client",
];

/// `None` where the path is declared, else the last step's nearest declared neighbour, if there is one.
pub(super) fn undeclared(path: &[String]) -> Option<Option<&'static str>> {
    let (root, steps) = path.split_first()?;
    match root.as_str() {
        "principal" => follow(shape("Caller")?, steps),
        "resource" => follow(shape("Tool")?, steps),
        _ => {
            let first = steps.first()?;
            (!CONTEXT.contains(&first.as_str())).then(|| closest(first, CONTEXT.iter().copied()))
        }
    }
}

fn shape(entity: &str) -> Option<&'static Value> {
    static SCHEMA: OnceLock<Value> = OnceLock::new();
    let schema = SCHEMA.get_or_init(|| {
        let parsed = SchemaFragment::from_cedarschema_str(SHIPPED_SCHEMA).ok();
        parsed.and_then(|(fragment, _)| fragment.to_json_value().ok()).unwrap_or_default()
    });
    schema.get("")?.get("entityTypes")?.get(entity)?.get("shape")
}

fn follow(shape: &'static Value, steps: &[String]) -> Option<Option<&'static str>> {
    let (step, rest) = steps.split_first()?;
    let attributes = shape.get("attributes")?.as_object()?;
    match attributes.get(step) {
        Some(inner) => follow(inner, rest),
        None => Some(closest(step, attributes.keys().map(String::as_str))),
    }
}
