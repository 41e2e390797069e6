//! Addresses of resources that rules name in another spelling than the normal one. Such a rule holds for a resource that a
//! server lists in that spelling, and for none that a pattern leads to.

use std::borrow::Cow;

use serde_json::Value;

use super::{RuleProblem, checks::point_at, load::Draft};
use crate::{address::encoded, normal_address};

/// The character for any text in what is compared: no normal form changes it.
const ANY: char = '*';

/// Notes each address of a rule that is not in normal form, with the form to write.
pub(super) fn note_addresses(draft: &Draft<'_>, policy: &Value, notes: &mut Vec<RuleProblem>) {
    let mut names = Vec::new();
    for literal in draft.policy.entity_literals() {
        if literal.type_name().to_string() == "Resource" {
            names.push(literal.id().unescaped().to_owned());
        }
    }
    compared_names(policy.get("conditions").unwrap_or(&Value::Null), &mut names);
    for name in names {
        let normal = normal_form(&name);
        if normal != name {
            let id = &draft.id;
            let message = format!("rule '{id}' names the address '{name}', which is not in normal form");
            let note = point_at(draft, &name, message).with_help(format!(
                "an address that a pattern leads to is compared in its normal form: write '{normal}', too"
            ));
            notes.push(note);
        }
    }
}

/// The normal form of an address or of a part of one; a name without a scheme only has its characters escaped.
fn normal_form(name: &str) -> Cow<'_, str> {
    let scheme = name.split_once(':').map(|(scheme, _)| scheme).unwrap_or_default();
    let is_scheme = scheme.starts_with(|first: char| first.is_ascii_alphabetic())
        && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.'));
    match (is_scheme, name.is_ascii() || !name.contains(ANY)) {
        (true, _) => normal_address(name),
        (false, true) => Cow::Borrowed(name),
        (false, false) => Cow::Owned(encoded(name)),
    }
}

/// The texts that `resource.name` is compared with.
fn compared_names(expression: &Value, names: &mut Vec<String>) {
    match expression {
        Value::Object(members) => {
            for (operator, operands) in members {
                let [left, right] = ["left", "right"].map(|side| operands.get(side).unwrap_or(&Value::Null));
                match operator.as_str() {
                    "==" | "!=" if is_name(left) => names.extend(text(right)),
                    "==" | "!=" if is_name(right) => names.extend(text(left)),
                    "contains" if is_name(right) => {
                        let items = left.get("Set").or_else(|| left.get("Value")).and_then(Value::as_array);
                        names.extend(items.into_iter().flatten().filter_map(text));
                    }
                    "like" if is_name(left) => {
                        let pattern = operands.get("pattern").and_then(Value::as_array);
                        let part = |part: &Value| part.get("Literal").and_then(Value::as_str).map(str::to_owned);
                        let parts = pattern.into_iter().flatten();
                        names.push(parts.map(|each| part(each).unwrap_or_else(|| ANY.to_string())).collect());
                    }
                    _ => {}
                }
                compared_names(operands, names);
            }
        }
        Value::Array(items) => items.iter().for_each(|item| compared_names(item, names)),
        _ => {}
    }
}

fn is_name(expression: &Value) -> bool {
    let access = expression.get(".");
    let of = |member: &str| access.and_then(|access| access.get(member));
    of("attr").and_then(Value::as_str) == Some("name")
        && of("left").and_then(|left| left.get("Var")).and_then(Value::as_str) == Some("resource")
}

fn text(expression: &Value) -> Option<String> {
    expression.get("Value").unwrap_or(expression).as_str().map(str::to_owned)
}
