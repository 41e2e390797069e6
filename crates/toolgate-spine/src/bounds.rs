//! Bounds on schemas and on what is checked against them: validating can't be interrupted.

use serde_json::Value;

use crate::{
    schema_graph::{GraphFault, SchemaGraph},
    schema_weight::ValueSize,
};

const MAX_DEPTH: usize = 128;
/// Subschemas a validator could visit for one instance location once references are followed.
const MAX_EXPANSION: usize = 10_000;
/// Subschemas within one another for one instance location: each takes stack, at each level of a value.
const MAX_HEIGHT: usize = 32;
/// Steps that one value may cost: a fifth of a second, estimated at 100 ns a step.
pub(crate) const MAX_STEPS: usize = 2_000_000;
/// Steps up to which a misfit is explained, where the validator remembers nothing while it explains.
const MAX_EXPLAINED: usize = 200_000;
/// Steps up to which a value is checked on the thread that serves: a few milliseconds by the same estimate.
const INLINE_STEPS: usize = 50_000;
/// Subschemas within one another, over all levels of a value, for which the stack of a serving thread has room.
const INLINE_FRAMES: usize = 256;

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
    /// Steps for each part of a value, for each stretch of its text, and for each part and level where items must differ.
    of_part: usize,
    of_text: usize,
    of_level: usize,
    /// Subschemas within one another for one place of a value.
    height: usize,
    graph: SchemaGraph,
    is_recursive: bool,
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
        let height = graph.in_place_height();
        if height > MAX_HEIGHT {
            return Err(SchemaTooLarge::Height);
        }
        Ok(Self {
            of_part: graph.weighed(|weight| weight.own).max(in_place),
            of_text: graph.weighed(|weight| weight.text),
            of_level: graph.weighed(|weight| weight.unique),
            height,
            is_recursive: graph.is_recursive(),
            graph,
        })
    }

    /// True if the value can be checked on the thread that serves: quickly, and without going deep.
    pub(crate) fn is_inline(&self, size: &ValueSize) -> bool {
        self.bound(size) <= INLINE_STEPS && size.depth.saturating_mul(self.height + 1) <= INLINE_FRAMES
    }

    /// The steps that the value can cost; `None` if it is too large to be checked.
    pub(crate) fn steps(&self, value: &Value, size: &ValueSize) -> Option<usize> {
        // a recursive schema may reach one part in more ways than can be counted, and remembers what it found
        let bound = Some(self.bound(size)).filter(|bound| *bound <= MAX_STEPS);
        bound.or_else(|| self.graph.steps(value, MAX_STEPS))
    }

    /// True if the reason why a value does not fit can be looked for: a recursive schema may reach one part of a value in
    /// more ways than can be counted.
    pub(crate) fn can_explain(&self, value: &Value) -> bool {
        !self.is_recursive || self.graph.steps(value, MAX_EXPLAINED).is_some()
    }

    /// No value of the size costs more steps. Each part of a value is checked once against each subschema: the validator
    /// remembers what it found while it asks only whether a value fits.
    fn bound(&self, size: &ValueSize) -> usize {
        let parts = size.parts.saturating_mul(self.of_part.saturating_add(self.of_level.saturating_mul(size.depth)));
        // names are looked at by patterns of names
        parts.saturating_add(size.texts().saturating_mul(self.of_text.saturating_add(1)))
    }
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
