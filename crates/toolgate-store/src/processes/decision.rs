//! Decisions of orchestrators: appended, never changed. The last one of a task counts.

use serde::{Deserialize, Serialize};

use crate::{
    Phase,
    error::Fault,
    statement::{FromRow, Row},
};

words! {
    DecisionKind { Proceed = "proceed", Inject = "inject", Abort = "abort" }
}

words! {
    /// What a decision leads to.
    Effect {
        Proceed = "proceed",
        Inject = "inject",
        Abort = "abort",
        /// It stands in the log alone: it was not made before a step.
        None = "none",
    }
}

/// A step that an orchestrator asks for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct InjectedStep {
    pub task_name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompt: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewDecision {
    pub decision: DecisionKind,
    pub reasoning: String,
    /// Empty unless the decision is to inject.
    pub injected_steps: Vec<InjectedStep>,
    pub at: i64,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decision {
    /// Counted over all processes.
    pub number: i64,
    pub task_id: String,
    pub phase: Phase,
    /// The current step when it was made.
    pub step_index: i64,
    pub decision: DecisionKind,
    pub reasoning: String,
    pub injected_steps: Vec<InjectedStep>,
    pub effect: Effect,
    pub created_at: i64,
}

macro_rules! columns {
    () => {
        "number, task_id, phase, step_index, decision, reasoning, injected_steps, effect, created_at"
    };
}
pub(super) const LIST: &str =
    concat!("SELECT ", columns!(), " FROM process_decisions WHERE process = $1 ORDER BY number");
pub(super) const ADD: &str = concat!(
    "INSERT INTO process_decisions
        (process, task_id, phase, step_index, decision, reasoning, injected_steps, effect, created_at)
    SELECT $1, $2, $3, $4, $5, $6, $7, $8, $9
    WHERE EXISTS (SELECT 1 FROM processes WHERE id = $1 AND turn = $10) RETURNING ",
    columns!()
);

impl FromRow for Decision {
    fn from_row(row: &mut Row) -> Result<Self, Fault> {
        let (number, task_id) = (row.int()?, row.text()?);
        let (phase, step_index, decision) = (Phase::from_cell(row)?, row.int()?, DecisionKind::from_cell(row)?);
        let (reasoning, steps) = (row.text()?, row.maybe_text()?);
        let unreadable = |_| Fault::Other("a stored decision's steps can't be read".to_owned());
        let injected_steps =
            steps.map(|steps| serde_json::from_str(&steps)).transpose().map_err(unreadable)?.unwrap_or_default();
        let (effect, created_at) = (Effect::from_cell(row)?, row.int()?);
        Ok(Decision { number, task_id, phase, step_index, decision, reasoning, injected_steps, effect, created_at })
    }
}
