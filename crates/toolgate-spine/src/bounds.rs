//! Bounds on input schemas, checked when they come in: validating against one can't be interrupted.

use std::collections::HashMap;

use serde_json::Value;

const MAX_DEPTH: usize = 128;
/// Subschemas a validator could visit for one instance location once references are followed.
const MAX_EXPANSION: usize = 10_000;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SchemaTooLarge {
    #[error("the schema is nested deeper than {MAX_DEPTH} levels")]
    Depth,
    #[error("the schema's references expand to more than {MAX_EXPANSION} subschemas")]
    Expansion,
}

/// Refuses schemas that could make validation take unbounded time or stack.
pub fn check_schema(schema: &Value) -> Result<(), SchemaTooLarge> {
    if depth(schema, 0) > MAX_DEPTH {
        return Err(SchemaTooLarge::Depth);
    }
    let mut walk = Expansion { root: schema, open: Vec::new(), cost: HashMap::new() };
    if walk.of(schema) > MAX_EXPANSION { Err(SchemaTooLarge::Expansion) } else { Ok(()) }
}

fn depth(value: &Value, at: usize) -> usize {
    if at > MAX_DEPTH {
        return at;
    }
    match value {
        Value::Object(members) => members.values().map(|value| depth(value, at + 1)).max().unwrap_or(at + 1),
        Value::Array(items) => items.iter().map(|value| depth(value, at + 1)).max().unwrap_or(at + 1),
        _ => at,
    }
}

struct Expansion<'a> {
    root: &'a Value,
    /// References being followed: one that leads back here is recursion over the instance, which has bounds of its own.
    open: Vec<&'a str>,
    cost: HashMap<&'a str, usize>,
}

impl<'a> Expansion<'a> {
    fn of(&mut self, schema: &'a Value) -> usize {
        let inside = match schema {
            Value::Object(members) => members.values().fold(0_usize, |sum, value| sum.saturating_add(self.of(value))),
            Value::Array(items) => items.iter().fold(0_usize, |sum, value| sum.saturating_add(self.of(value))),
            _ => return 0,
        };
        let target = schema.get("$ref").or_else(|| schema.get("$dynamicRef")).and_then(Value::as_str);
        inside.saturating_add(1).saturating_add(target.map_or(0, |target| self.followed(target)))
    }

    fn followed(&mut self, reference: &'a str) -> usize {
        if self.open.contains(&reference) {
            return 0;
        }
        if let Some(cost) = self.cost.get(reference) {
            return *cost;
        }
        let Some(target) = reference.strip_prefix('#').and_then(|pointer| self.root.pointer(pointer)) else { return 1 };
        self.open.push(reference);
        let cost = self.of(target);
        self.open.pop();
        self.cost.insert(reference, cost);
        cost
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn doubling_references_are_refused_and_plain_recursion_is_not() {
        let mut defs = serde_json::Map::new();
        for n in 0..30 {
            let next = format!("#/$defs/d{}", n + 1);
            defs.insert(format!("d{n}"), json!({"allOf": [{"$ref": next}, {"$ref": next}]}));
        }
        defs.insert("d30".into(), json!({"type": "string"}));
        assert_eq!(check_schema(&json!({"$ref": "#/$defs/d0", "$defs": defs})), Err(SchemaTooLarge::Expansion));
        let tree = json!({"$defs": {"node": {"properties": {"left": {"$ref": "#/$defs/node"}, "right": {"$ref": "#/$defs/node"}}}},
            "$ref": "#/$defs/node"});
        assert_eq!(check_schema(&tree), Ok(()));
    }

    #[test]
    fn deep_schemas_are_refused() {
        let mut schema = json!({"type": "string"});
        for _ in 0..200 {
            schema = json!({"properties": {"x": schema}});
        }
        assert_eq!(check_schema(&schema), Err(SchemaTooLarge::Depth));
    }
}
