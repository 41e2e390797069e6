//! One revision of everything a call needs: the gate, the sources that run its tools, and a guard for each tool.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    sync::{Arc, OnceLock},
    time::Duration,
};

use jsonschema::{PatternOptions, Validator};
use serde::Serialize;
use serde_json::{Value, value::to_raw_value};
use tokio::sync::Semaphore;
use toolgate_core::{
    Gate, GateProblem, Kind, Tool, hex,
    pin::Canonical,
    redact::{BadPointer, Redactor},
};

use crate::{
    ToolAnswer, ToolSource,
    bounds::SchemaCost,
    limits::{Limit, UnderWay},
    schema_check::CheckLimit,
    schema_weight::ValueSize,
    who::Who,
};

/// A gate and what stands behind it.
pub struct House {
    pub(crate) gate: Arc<Gate>,
    pub(crate) sources: HashMap<Arc<str>, Arc<dyn ToolSource>>,
    guards: BTreeMap<Kind, HashMap<String, Arc<Guard>>>,
    pub(crate) defaults: LimitDefaults,
    /// For what leads to no tool.
    pub(crate) plain: Redactor,
    /// Digest of the rulebook, for records.
    pub(crate) rules: Arc<str>,
    /// By name.
    pub(crate) flows: BTreeMap<String, NamedFlow>,
    pub(crate) who: Who,
    /// The pack's own `undo`, where it is loaded.
    pub(crate) undo_tool: Option<Arc<Tool>>,
    /// Whether the answer of a write names its receipt in a block of text too.
    pub(crate) receipt_notes: bool,
    pub(crate) check_limit: CheckLimit,
}

/// What a flow of some name may call, whoever opens it.
#[derive(Debug, Clone, Default)]
pub struct NamedFlow {
    /// Canonical names; absent is no limit.
    pub allowlist: Option<BTreeSet<String>>,
    pub longest: Option<Duration>,
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
    pub(crate) cost: SchemaCost,
    validator: OnceLock<Option<Validator>>,
    output_schema: Option<Value>,
    output_validator: OnceLock<Option<(SchemaCost, Validator)>>,
    pub(crate) redactor: Redactor,
    pub(crate) concurrency: Option<Arc<Semaphore>>,
    pub(crate) under_way: Arc<UnderWay>,
    pub(crate) rate: Option<Limit>,
    pub(crate) total_rate: Option<Limit>,
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
        let mut guards: BTreeMap<Kind, HashMap<String, Arc<Guard>>> = BTreeMap::new();
        for tool in gate.catalog().all() {
            guards.entry(tool.kind).or_default().insert(tool.name.to_string(), Arc::new(Guard::of(tool)?));
        }
        let sources = sources.into_iter().map(|source| (Arc::from(source.name()), source)).collect();
        let rules = hex(&gate.rulebook().digest()).into();
        let (plain, flows, who) = (Redactor::default(), BTreeMap::new(), Who::default());
        let is_undo = |tool: &&Arc<Tool>| &*tool.source == "spine" && tool.own_name.as_str() == "undo";
        let undo_tool = gate.catalog().tools().find(is_undo).cloned();
        let (receipt_notes, check_limit) = (true, CheckLimit::default());
        Ok(Self { gate, sources, guards, defaults, plain, rules, flows, who, undo_tool, receipt_notes, check_limit })
    }

    /// With flows that can be opened by name.
    pub fn with_flows(self, flows: BTreeMap<String, NamedFlow>) -> Self {
        Self { flows, ..self }
    }

    /// Whether the answers of writes name their receipts in a block of text.
    pub fn with_receipt_notes(self, receipt_notes: bool) -> Self {
        Self { receipt_notes, ..self }
    }

    /// Some source offers more than tools.
    pub(crate) fn has_more(&self) -> bool {
        self.sources.values().any(|source| source.has_more())
    }

    pub fn gate(&self) -> &Arc<Gate> {
        &self.gate
    }

    /// A refusal as a result: for programs in `structuredContent` where the tool's output schema has room for it, else in
    /// `_meta`.
    pub(crate) fn failure(&self, tool: &Tool, value: &impl Serialize, text: &str) -> ToolAnswer {
        let json = serde_json::to_value(value).unwrap_or_default();
        if self.guard(tool).is_none_or(|guard| guard.admits(&json)) {
            return ToolAnswer::failure(&json, text);
        }
        let plain = ToolAnswer::error(text);
        match to_raw_value(&json) {
            Ok(raw) => plain.with_meta("toolgate/denial", &raw),
            Err(_) => plain,
        }
    }

    /// Digest of a definition, the same however its source writes it down: what was accepted before a server answers and
    /// what it then says are one.
    pub(crate) fn digest_of(&self, tool: &Tool) -> Option<[u8; 32]> {
        Canonical::of(tool.definition.get()).ok().map(|canonical| canonical.digest().into())
    }

    pub(crate) fn guard(&self, tool: &Tool) -> Option<&Arc<Guard>> {
        self.guards.get(&tool.kind)?.get(tool.name.as_str())
    }
}

/// Whether a house could hold this tool. One that is foreign is left out rather than let down all the others.
pub fn check_tool(tool: &Tool) -> Result<(), HouseProblem> {
    Guard::of(tool).map(drop)
}

impl Guard {
    pub(crate) fn of(tool: &Tool) -> Result<Self, HouseProblem> {
        let refused = |reason: String| HouseProblem::Schema { tool: tool.name.to_string(), reason };
        let mut definition: Value =
            serde_json::from_str(tool.definition.get()).map_err(|fault| refused(fault.to_string()))?;
        let schema = match tool.kind {
            Kind::Tool => definition.get_mut("inputSchema").map(Value::take).unwrap_or_default(),
            // what else there is has no schema: its source alone knows what it takes
            _ => Value::Object(serde_json::Map::new()),
        };
        if !schema.is_object() {
            return Err(refused("it is not an object".to_owned()));
        }
        let cost = SchemaCost::of(&schema).map_err(|fault| refused(fault.to_string()))?;
        if let Some(pattern) = outside_reference(&schema) {
            return Err(refused(format!("it refers to '{pattern}', and nothing is fetched")));
        }
        let limits = &tool.facts.limits;
        let pointers = tool.facts.redact.iter().map(|pointer| pointer.parse()).collect::<Result<_, _>>();
        let pointers = pointers.map_err(|fault: BadPointer| refused(fault.to_string()))?;
        Ok(Self {
            redactor: Redactor::new(pointers),
            schema,
            cost,
            validator: OnceLock::new(),
            output_schema: definition.get_mut("outputSchema").map(Value::take).filter(Value::is_object),
            output_validator: OnceLock::new(),
            concurrency: limits
                .concurrency
                .map(|most| Arc::new(Semaphore::new(usize::try_from(most).unwrap_or(usize::MAX >> 4)))),
            under_way: Arc::default(),
            rate: limits.per_minute.map(Limit::per_minute),
            total_rate: limits.total_per_minute.map(Limit::per_minute),
        })
    }

    /// Whether the tool's own output schema has room for this. A client may check it on failures too, and then drop what
    /// does not fit.
    fn admits(&self, value: &Value) -> bool {
        let Some(schema) = &self.output_schema else { return true };
        let checked = self.output_validator.get_or_init(|| {
            let cost = SchemaCost::of(schema).ok().filter(|_| outside_reference(schema).is_none())?;
            options().build(schema).ok().map(|validator| (cost, validator))
        });
        // what a refusal has to say is small
        checked
            .as_ref()
            .is_some_and(|(cost, validator)| cost.is_inline(&ValueSize::of(value)) && validator.is_valid(value))
    }

    /// `None` where the schema does not compile: such a tool refuses every call rather than run unchecked.
    pub(crate) fn validator(&self) -> Option<&Validator> {
        self.validator.get_or_init(|| options().build(&self.schema).ok()).as_ref()
    }

    /// Whether the schema itself declares a top-level argument.
    pub(crate) fn declares(&self, argument: &str) -> bool {
        self.schema.get("properties").is_some_and(|properties| properties.get(argument).is_some())
    }
}

/// Bytes of a compiled pattern: matching takes time in proportion to them and to the text.
const PATTERN_BYTES: usize = 256 << 10;

/// Patterns in linear time, so that one can't be made to run for ever.
fn options() -> jsonschema::ValidationOptions<'static> {
    jsonschema::options().with_pattern_options(PatternOptions::regex().size_limit(PATTERN_BYTES))
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
