//! Bounds on schemas and on what is checked against them: validating can't be interrupted.

use serde_json::Value;

use crate::schema_graph::{GraphFault, SchemaGraph};

const MAX_DEPTH: usize = 128;
/// Subschemas a validator could visit for one instance location once references are followed.
const MAX_EXPANSION: usize = 10_000;
/// Subschemas within one another for one instance location: each takes stack, at each level of a value.
const MAX_HEIGHT: usize = 32;
/// Visits of subschemas that one value may cost.
const MAX_WORK: usize = 50_000_000;
/// Visits up to which a misfit is explained, where the validator remembers nothing while it explains.
const MAX_EXPLAINED: usize = 200_000;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum SchemaTooLarge {
    #[error("the schema is nested deeper than {MAX_DEPTH} levels")]
    Depth,
    #[error("the schema's references expand to more than {MAX_EXPANSION} subschemas")]
    Expansion,
    #[error("more than {MAX_HEIGHT} parts of the schema lead to one another for one value")]
    Height,
    #[error("the schema refers to itself without going into the value, so that checking would not end")]
    Loop,
    #[error("a part of the schema has an '$id' of its own, so that references could mean two things")]
    NestedId,
}

/// The price of validating against a schema.
#[derive(Debug)]
pub(crate) struct SchemaCost {
    /// Visits for each part of a value.
    expansion: usize,
    /// Of a recursive schema.
    recursion: Option<SchemaGraph>,
}

impl SchemaCost {
    /// Refuses schemas that could make validation take unbounded time or stack.
    pub(crate) fn of(schema: &Value) -> Result<Self, SchemaTooLarge> {
        if depth(schema, 0) > MAX_DEPTH {
            return Err(SchemaTooLarge::Depth);
        }
        let graph = SchemaGraph::of(schema, MAX_EXPANSION).map_err(|fault| match fault {
            GraphFault::NestedId => SchemaTooLarge::NestedId,
            GraphFault::TooMany => SchemaTooLarge::Expansion,
        })?;
        let in_place = graph.in_place_expansion().ok_or(SchemaTooLarge::Loop)?;
        let expansion = graph.expansion().max(in_place);
        if expansion > MAX_EXPANSION {
            return Err(SchemaTooLarge::Expansion);
        }
        if graph.in_place_height() > MAX_HEIGHT {
            return Err(SchemaTooLarge::Height);
        }
        Ok(Self { expansion, recursion: graph.is_recursive().then_some(graph) })
    }

    /// True if the value is too large to be checked. Each part of a value is checked once against each subschema: the
    /// validator remembers what it found while it asks only whether a value fits.
    pub(crate) fn is_exceeded_by(&self, value: &Value) -> bool {
        parts(value).saturating_mul(self.expansion) > MAX_WORK
    }

    /// True if the reason why a value does not fit can be looked for: a recursive schema may reach one part of a value in
    /// more ways than can be counted.
    pub(crate) fn can_explain(&self, value: &Value) -> bool {
        self.recursion.as_ref().is_none_or(|graph| graph.visits(value, MAX_EXPLAINED).is_some())
    }
}

fn parts(value: &Value) -> usize {
    let (mut count, mut left) = (0_usize, vec![value]);
    while let Some(value) = left.pop() {
        count = count.saturating_add(1);
        match value {
            Value::Object(members) => left.extend(members.values()),
            Value::Array(items) => left.extend(items),
            _ => {}
        }
    }
    count
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

#[cfg(test)]
#[path = "bounds_tests.rs"]
mod tests;
