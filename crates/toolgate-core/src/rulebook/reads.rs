//! What a rule reads, found in Cedar's own JSON form of the policy. Decides which callers and tools may share a decision.

use std::collections::BTreeSet;

use serde_json::Value;

/// Attribute paths of a rule, step by step (`principal`, `agent`, `kind`).
#[derive(Debug, Default)]
pub(super) struct Reads {
    /// Those it takes values from.
    values: BTreeSet<Path>,
    /// Those it asks `has` of.
    tests: BTreeSet<Path>,
}

pub(super) type Path = Vec<String>;

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
        IDENTITY.iter().any(|path| contains(&self.values, path))
    }

    /// The paths it asks `has` of.
    pub(super) fn tests(&self) -> impl Iterator<Item = &[String]> {
        self.tests.iter().map(Vec::as_slice)
    }

    pub(super) fn tool_name(&self) -> bool {
        contains(&self.values, "resource.name") || contains(&self.values, "resource")
    }

    /// Names of the arguments it reads or asks `has` of.
    pub(super) fn arguments(&self) -> impl Iterator<Item = &str> {
        self.values.iter().chain(&self.tests).filter_map(|path| match path.as_slice() {
            [context, arguments, name, ..] if context == "context" && arguments == "arguments" => Some(name.as_str()),
            _ => None,
        })
    }

    /// It takes the arguments as one value.
    pub(super) fn all_arguments(&self) -> bool {
        contains(&self.values, "context.arguments") || contains(&self.values, "context")
    }

    pub(super) fn any_argument(&self) -> bool {
        self.all_arguments() || self.arguments().next().is_some()
    }

    fn walk(&mut self, node: &Value) {
        if let Some(path) = path_of(node) {
            self.values.insert(path);
            return;
        }
        match node {
            Value::Object(fields) => {
                for (key, value) in fields {
                    match tested(key, value) {
                        // `x has y` takes no value of x
                        Some(path) => drop(self.tests.insert(path)),
                        None => self.walk(value),
                    }
                }
            }
            Value::Array(items) => items.iter().for_each(|item| self.walk(item)),
            _ => {}
        }
    }
}

fn contains(paths: &BTreeSet<Path>, dotted: &str) -> bool {
    paths.iter().any(|path| path.iter().map(String::as_str).eq(dotted.split('.')))
}

/// `"has": {"left": {"Var": "principal"}, "attr": "user"}` asks for `principal.user`.
fn tested(key: &str, value: &Value) -> Option<Path> {
    if key == "has" { step(value) } else { None }
}

/// `{".": {"left": {"Var": "principal"}, "attr": "user"}}` is `principal.user`.
pub(super) fn path_of(node: &Value) -> Option<Path> {
    match node.get("Var").and_then(Value::as_str) {
        Some(var) => Some(vec![var.to_owned()]),
        None => step(node.get(".")?),
    }
}

fn step(access: &Value) -> Option<Path> {
    let mut path = path_of(access.get("left")?)?;
    path.push(access.get("attr")?.as_str()?.to_owned());
    Some(path)
}
