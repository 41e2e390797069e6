//! The steps of a process, in order: those it began with, and those injected since.

use super::StepDefinition;
use crate::{
    error::Fault,
    statement::{FromRow, Row, Statement, Value},
};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProcessStep {
    /// Never changes, while the index does when steps are injected before.
    pub number: i64,
    pub task: String,
    pub prompt: Option<String>,
    pub engine: Option<String>,
    pub model: Option<String>,
    pub tools: Option<Vec<String>>,
    pub skip_orchestrator: bool,
    /// Absent for an original step.
    pub injected: Option<Injected>,
}

/// Where an injected step comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Injected {
    /// The number of the original step it was injected before.
    pub origin: i64,
    /// The orchestrator's task that asked for it.
    pub by: String,
}

pub(super) const LIST: &str =
    "SELECT number, task, prompt, engine, model, tools, skip_orchestrator, origin, injected_by
    FROM process_steps WHERE process = $1 ORDER BY place, number";
macro_rules! insert {
    ($guard:literal) => {
        concat!(
            "INSERT INTO process_steps
                (process, number, place, task, prompt, engine, model, tools, skip_orchestrator, origin, injected_by)
            SELECT $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11",
            $guard
        )
    };
}
pub(super) const INSERT: &str = insert!("");
pub(super) const INSERT_IN_TURN: &str = insert!(" WHERE EXISTS (SELECT 1 FROM processes WHERE id = $1 AND turn = $12)");

impl ProcessStep {
    pub(super) fn new(number: i64, step: StepDefinition, injected: Option<Injected>) -> Self {
        let StepDefinition { task, prompt, engine, model, tools, skip_orchestrator } = step;
        Self { number, task, prompt, engine, model, tools, skip_orchestrator, injected }
    }

    /// The number of the original step that injections here count for.
    pub fn original(&self) -> i64 {
        self.injected.as_ref().map_or(self.number, |injected| injected.origin)
    }

    /// Puts it at this place of its process; in a turn, only if that turn was taken.
    pub(super) fn stored(&self, process: &str, place: i64, turn: Option<&str>) -> Result<Statement, Fault> {
        let tools = self.tools.as_ref().map(serde_json::to_string).transpose();
        let mut values = vec![
            Value::id(process),
            Value::int(self.number),
            Value::int(place),
            Value::id(&self.task),
            Value::maybe_text(self.prompt.as_deref()),
            Value::maybe_text(self.engine.as_deref()),
            Value::maybe_text(self.model.as_deref()),
            Value::Text(tools.map_err(|fault| Fault::Other(fault.to_string()))?),
            Value::Bool(self.skip_orchestrator),
            Value::Int(self.injected.as_ref().map(|injected| injected.origin)),
            Value::maybe_id(self.injected.as_ref().map(|injected| injected.by.as_str())),
        ];
        values.extend(turn.map(Value::id));
        Ok(Statement::new(if turn.is_some() { INSERT_IN_TURN } else { INSERT }, values))
    }
}

impl FromRow for ProcessStep {
    fn from_row(row: &mut Row) -> Result<Self, Fault> {
        let (number, task) = (row.int()?, row.text()?);
        let (prompt, engine, model, tools) =
            (row.maybe_text()?, row.maybe_text()?, row.maybe_text()?, row.maybe_text()?);
        let unreadable = |_| Fault::Other("a stored step's tools are not a list of names".to_owned());
        let tools = tools.map(|tools| serde_json::from_str(&tools)).transpose().map_err(unreadable)?;
        let (skip_orchestrator, origin, by) = (row.bool()?, row.maybe_int()?, row.maybe_text()?);
        let injected = origin.zip(by).map(|(origin, by)| Injected { origin, by });
        Ok(ProcessStep { number, task, prompt, engine, model, tools, skip_orchestrator, injected })
    }
}
