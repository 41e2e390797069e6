//! The way of a step: waiting → running → its end; what is done may be undone.

use super::{Plan, PlanFault, PlanState, Plans, run::HOLD};
use crate::{
    Scope,
    engine::Write,
    statement::{Statement, Value},
};

words! {
    StepState {
        Waiting = "waiting",
        Running = "running",
        Done = "done",
        Failed = "failed",
        Undone = "undone",
        Unknown = "unknown",
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// Counted from 0.
    pub index: u32,
    pub state: StepState,
    pub receipt: Option<String>,
    /// What later steps may refer to, or why it failed, as JSON.
    pub result: Option<String>,
}

/// How a step ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StepEnd {
    /// A step that only reads leaves no receipt.
    Done { receipt: Option<String>, result: Option<String> },
    /// It provably had no effect.
    Failed { result: Option<String> },
    /// It may have had one; never run again.
    Unknown { receipt: Option<String>, result: Option<String> },
}

const BEGIN: &str = "UPDATE plan_steps SET state = 'running' WHERE plan = $1 AND step = $2 AND state = 'waiting'
    AND EXISTS (SELECT 1 FROM plans WHERE id = $1 AND state = 'running' AND executor = $3)
    AND NOT EXISTS (SELECT 1 FROM plan_steps AS earlier
        WHERE earlier.plan = $1 AND earlier.step < $2 AND earlier.state <> 'done')
    RETURNING step";
const END: &str = "UPDATE plan_steps SET state = $3, receipt = $4, result = $5
    WHERE plan = $1 AND step = $2 AND state = 'running' RETURNING step";
const UNDO: &str = "UPDATE plan_steps SET state = $3 WHERE plan = $1 AND step = $2 AND state = 'done' RETURNING step";

impl Plans {
    /// From waiting to running: for one caller, once, if the plan is this process's and every step
    /// before is done.
    pub async fn begin_step(&self, id: &str, executor: &str, step: u32) -> Result<Plan, PlanFault> {
        let values = [Value::id(id), Value::int(i64::from(step)), Value::id(executor)];
        let (plan, moved) = self.move_step(id, Statement::new(BEGIN, values)).await?;
        if moved {
            return Ok(plan);
        }
        if plan.state != PlanState::Running {
            return Err(PlanFault::state(plan, PlanState::Running));
        }
        if plan.executor.as_deref() != Some(executor) {
            return Err(PlanFault::Elsewhere { id: plan.id });
        }
        let before = plan.steps.iter().find(|earlier| earlier.index < step && earlier.state != StepState::Done);
        Err(match before.map(|earlier| (earlier.index, earlier.state)) {
            Some((before, state))
                if plan.steps.iter().any(|known| known.index == step && known.state == StepState::Waiting) =>
            {
                PlanFault::Order { id: plan.id, step, before, state }
            }
            _ => standing(plan, step, StepState::Running),
        })
    }

    /// From running to its end. Also by a process that the plan was taken from meanwhile: what it
    /// knows is true, as long as nobody has said otherwise.
    pub async fn end_step(&self, id: &str, step: u32, end: StepEnd) -> Result<Plan, PlanFault> {
        let (state, receipt, result) = match end {
            StepEnd::Done { receipt, result } => (StepState::Done, receipt, result),
            StepEnd::Failed { result } => (StepState::Failed, None, result),
            StepEnd::Unknown { receipt, result } => (StepState::Unknown, receipt, result),
        };
        let values = [
            Value::id(id),
            Value::int(i64::from(step)),
            Value::text(state.as_str()),
            Value::maybe_id(receipt.as_deref()),
            Value::Text(result),
        ];
        let (plan, moved) = self.move_step(id, Statement::new(END, values)).await?;
        if moved { Ok(plan) } else { Err(standing(plan, step, state)) }
    }

    /// From done to undone.
    pub async fn step_undone(&self, id: &str, step: u32) -> Result<Plan, PlanFault> {
        self.undo_step(id, step, StepState::Undone).await
    }

    /// From done to unknown: nobody knows whether the undo took effect.
    pub async fn step_undo_unknown(&self, id: &str, step: u32) -> Result<Plan, PlanFault> {
        self.undo_step(id, step, StepState::Unknown).await
    }

    async fn undo_step(&self, id: &str, step: u32, state: StepState) -> Result<Plan, PlanFault> {
        let values = [Value::id(id), Value::int(i64::from(step)), Value::text(state.as_str())];
        let (plan, moved) = self.move_step(id, Statement::new(UNDO, values)).await?;
        if moved { Ok(plan) } else { Err(standing(plan, step, state)) }
    }

    async fn move_step(&self, id: &str, statement: Statement) -> Result<(Plan, bool), PlanFault> {
        let write = Write::new(Statement::new(HOLD, [Value::id(id)])).then(statement);
        self.change(&Scope::Everything, id, write).await
    }
}

fn standing(plan: Plan, step: u32, wanted: StepState) -> PlanFault {
    let steps = plan.steps.len();
    match plan.steps.into_iter().find(|known| known.index == step) {
        Some(known) => PlanFault::Step { id: plan.id, step, state: known.state, wanted },
        None => PlanFault::NoStep { id: plan.id, steps, step },
    }
}
