//! What a rule reads, found in Cedar's own JSON form of the policy. Decides which callers and tools may share a decision.

use std::collections::BTreeSet;

use serde_json::Value;

/// Attribute paths a rule takes values from (`principal.agent.kind`); `has` tests are not values.
#[derive(Debug, Default)]
pub(super) struct Reads {
    paths: BTreeSet<String>,
}

/// Reading one of these tells callers of one kind apart.
const IDENTITY: &[&str] = &[
    "principal",
    "principal.user",
    "principal.tenant",
    "principal.tenant.id",
    "principal.agent",
    "principal.agent.id",
    "principal.agent.project",
    "principal.task",
    "principal.task.id",
    "principal.task.process",
    "principal.flow",
    "principal.flow.id",
];

impl Reads {
    /// Of one policy in Cedar's JSON form.
    pub(super) fn of(policy: &Value) -> Self {
        let mut reads = Self::default();
        if let Some(conditions) = policy.get("conditions") {
            reads.walk(conditions);
        }
        reads
    }

    pub(super) fn identity(&self) -> bool {
        IDENTITY.iter().any(|path| self.paths.contains(*path))
    }

    pub(super) fn tool_name(&self) -> bool {
        self.paths.contains("resource.name") || self.paths.contains("resource")
    }

    /// First steps below `context.arguments`.
    pub(super) fn arguments(&self) -> impl Iterator<Item = &str> {
        self.paths.iter().filter_map(|path| path.strip_prefix("context.arguments."))
    }

    pub(super) fn any_argument(&self) -> bool {
        self.paths.iter().any(|path| path == "context.arguments" || path.starts_with("context.arguments."))
    }

    fn walk(&mut self, node: &Value) {
        if let Some(path) = path_of(node) {
            self.paths.insert(path);
            return;
        }
        match node {
            Value::Object(fields) => {
                for (key, value) in fields {
                    match (key.as_str(), value.get("left")) {
                        // `x has y` reads no value of x, but x's own path up to there must be walked for its inside
                        ("has", Some(left)) if path_of(left).is_some() => {}
                        _ => self.walk(value),
                    }
                }
            }
            Value::Array(items) => items.iter().for_each(|item| self.walk(item)),
            _ => {}
        }
    }
}

/// `{".": {"left": {"Var": "principal"}, "attr": "user"}}` is `principal.user`.
fn path_of(node: &Value) -> Option<String> {
    if let Some(var) = node.get("Var").and_then(Value::as_str) {
        return Some(var.to_owned());
    }
    let access = node.get(".")?;
    let left = path_of(access.get("left")?)?;
    Some(format!("{left}.{}", access.get("attr")?.as_str()?))
}
