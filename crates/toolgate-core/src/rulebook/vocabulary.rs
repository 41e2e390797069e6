//! Words with a fixed vocabulary. To Cedar they are any text; to an operator `"managr_only"` is a rule that never matches.

use serde_json::Value;

use super::reads::path_of;
use crate::{
    caller::{AgentKind, Purpose, Role, Runtime},
    suggest::closest,
    tool::{Approval, Binding, Effect, Permission, Scope},
};

/// A word that its fact can never be.
pub(super) struct Misspelt {
    pub(super) fact: String,
    pub(super) word: String,
    pub(super) near: Option<&'static str>,
}

/// Every such word in a policy's JSON form.
pub(super) fn misspelt(policy: &Value) -> Vec<Misspelt> {
    let mut found = Vec::new();
    if let Some(conditions) = policy.get("conditions") {
        walk(conditions, &mut found);
    }
    found
}

fn walk(node: &Value, found: &mut Vec<Misspelt>) {
    match node {
        Value::Object(fields) => {
            for (operator, operands) in fields {
                if matches!(operator.as_str(), "==" | "!=" | "contains" | "containsAll" | "containsAny")
                    && let (Some(left), Some(right)) = (operands.get("left"), operands.get("right"))
                {
                    compare(left, right, found);
                    compare(right, left, found);
                }
                walk(operands, found);
            }
        }
        Value::Array(items) => items.iter().for_each(|item| walk(item, found)),
        _ => {}
    }
}

fn compare(fact: &Value, words: &Value, found: &mut Vec<Misspelt>) {
    let Some(fact) = path_of(fact).map(|path| path.join(".")) else { return };
    let Some(known) = vocabulary(&fact) else { return };
    let words = words.get("Set").and_then(Value::as_array).map_or(std::slice::from_ref(words), Vec::as_slice);
    for word in words.iter().filter_map(|word| word.get("Value")?.as_str()).filter(|word| !known.contains(word)) {
        found.push(Misspelt { fact: fact.clone(), word: word.to_owned(), near: closest(word, known.iter().copied()) });
    }
}

fn vocabulary(fact: &str) -> Option<Vec<&'static str>> {
    macro_rules! all {
        ($words:ty) => {
            Some(<$words>::ALL.iter().map(|word| word.as_str()).collect())
        };
    }
    match fact {
        "resource.permission" => all!(Permission),
        "resource.scope" => all!(Scope),
        "resource.effect" => all!(Effect),
        "resource.approval" => all!(Approval),
        "resource.runtimes" | "principal.runtime" => all!(Runtime),
        "resource.binds" | "principal.known" => all!(Binding),
        "principal.tenant.role" => all!(Role),
        "principal.agent.kind" => all!(AgentKind),
        "principal.agent.purpose" => all!(Purpose),
        _ => None,
    }
}
