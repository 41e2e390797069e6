//! One revision of everything a call needs: the gate, the sources that run its tools, and a guard for each tool.

use std::{
    collections::HashMap,
    sync::{Arc, OnceLock},
};

use jsonschema::{PatternOptions, Validator};
use serde_json::Value;
use tokio::sync::Semaphore;
use toolgate_core::{Gate, GateProblem, Tool};

use crate::{ToolSource, bounds, limits::Limit};

/// A gate and what stands behind it.
pub struct House {
    pub(crate) gate: Arc<Gate>,
    pub(crate) sources: HashMap<Arc<str>, Arc<dyn ToolSource>>,
    guards: HashMap<String, Arc<Guard>>,
    pub(crate) defaults: LimitDefaults,
}

/// What one call may take where a tool's facts do not say.
#[derive(Debug, Clone)]
pub struct LimitDefaults {
    pub timeout_ms: u64,
    pub argument_bytes: u64,
    pub result_bytes: u64,
}

impl Default for LimitDefaults {
    fn default() -> Self {
        Self { timeout_ms: 30_000, argument_bytes: 1 << 20, result_bytes: 8 << 20 }
    }
}

/// What stands between a tool's decision and its run.
pub(crate) struct Guard {
    pub(crate) schema: Value,
    validator: OnceLock<Option<Validator>>,
    pub(crate) concurrency: Option<Semaphore>,
    pub(crate) rate: Option<Limit>,
}

#[derive(Debug, thiserror::Error)]
pub enum HouseProblem {
    #[error(transparent)]
    Gate(#[from] GateProblem),
    #[error("the input schema of tool '{tool}' is refused: {reason}")]
    Schema { tool: String, reason: String },
}

impl House {
    /// Checks every tool's schema. Compiling is left to the first call: most tools of a large catalogue are never called.
    pub fn new(
        gate: Arc<Gate>,
        sources: Vec<Arc<dyn ToolSource>>,
        defaults: LimitDefaults,
    ) -> Result<Self, HouseProblem> {
        let mut guards = HashMap::with_capacity(gate.catalog().len());
        for tool in gate.catalog().tools() {
            guards.insert(tool.name.to_string(), Arc::new(Guard::of(tool)?));
        }
        let sources = sources.into_iter().map(|source| (Arc::from(source.name()), source)).collect();
        Ok(Self { gate, sources, guards, defaults })
    }

    pub fn gate(&self) -> &Arc<Gate> {
        &self.gate
    }

    pub(crate) fn guard(&self, tool: &Tool) -> Option<&Arc<Guard>> {
        self.guards.get(tool.name.as_str())
    }
}

impl Guard {
    fn of(tool: &Tool) -> Result<Self, HouseProblem> {
        let refused = |reason: String| HouseProblem::Schema { tool: tool.name.to_string(), reason };
        let mut definition: Value =
            serde_json::from_str(tool.definition.get()).map_err(|fault| refused(fault.to_string()))?;
        let schema = definition.get_mut("inputSchema").map(Value::take).unwrap_or_default();
        if !schema.is_object() {
            return Err(refused("it is not an object".to_owned()));
        }
        bounds::check_schema(&schema).map_err(|fault| refused(fault.to_string()))?;
        if let Some(pattern) = outside_reference(&schema) {
            return Err(refused(format!("it refers to '{pattern}', and nothing is fetched")));
        }
        let limits = &tool.facts.limits;
        Ok(Self {
            schema,
            validator: OnceLock::new(),
            concurrency: limits
                .concurrency
                .map(|most| Semaphore::new(usize::try_from(most).unwrap_or(usize::MAX >> 4))),
            rate: limits.per_minute.map(Limit::per_minute),
        })
    }

    /// `None` where the schema does not compile: such a tool refuses every call rather than run unchecked.
    pub(crate) fn validator(&self) -> Option<&Validator> {
        self.validator
            .get_or_init(|| {
                jsonschema::options()
                    // linear time, so that a pattern can't be made to run for ever
                    .with_pattern_options(PatternOptions::regex())
                    .build(&self.schema)
                    .ok()
            })
            .as_ref()
    }

    /// Whether the schema itself declares a top-level argument.
    pub(crate) fn declares(&self, argument: &str) -> bool {
        self.schema.get("properties").is_some_and(|properties| properties.get(argument).is_some())
    }
}

fn outside_reference(schema: &Value) -> Option<&str> {
    match schema {
        Value::Object(members) => members.iter().find_map(|(key, value)| match (key.as_str(), value.as_str()) {
            ("$ref" | "$dynamicRef", Some(target)) if !target.starts_with('#') => Some(target),
            _ => outside_reference(value),
        }),
        Value::Array(items) => items.iter().find_map(outside_reference),
        _ => None,
    }
}
