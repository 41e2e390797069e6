//! A plan as its caller sees it: redacted as in the ledger.

use std::sync::Arc;

use serde::Serialize;
use serde_json::value::{RawValue, to_raw_value};
use toolgate_core::{Caller, pin::Canonical};
use toolgate_store::{Approval, Plan, PlanState, Scope, Step, StepState, Store};

use super::{
    PlanProblem, Reason,
    call::{self, PlannedCall},
    plan_of,
    run::Came,
};
use crate::{House, Spine, books::now, exact_numbers::exact_value};

#[derive(Debug, Serialize)]
pub struct PlanShown {
    pub plan: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    pub state: &'static str,
    /// Of the calls.
    pub digest: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flow: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub approval: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub approved_by: Option<String>,
    pub steps: Vec<StepShown>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub undo_stopped: Option<Stopped>,
    /// What can be done now.
    pub next: &'static str,
}

#[derive(Debug, Serialize)]
pub struct StepShown {
    /// Counted from 1.
    pub step: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    pub tool: String,
    pub arguments: Box<RawValue>,
    pub state: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub receipt: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result: Option<Box<RawValue>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<Reason>,
}

/// Where taking back came to a stop, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Stopped {
    /// Counted from 1.
    pub step: u32,
    pub reason: String,
}

impl Spine {
    /// A plan of the caller's own.
    pub async fn show_plan(&self, caller: &Arc<Caller>, id: &str) -> Result<PlanShown, PlanProblem> {
        let books = self.plan_books()?;
        let plan = plan_of(books, caller, id).await?;
        let calls = call::kept(&plan)?;
        let approval = yes_of(&books.store, &plan).await?;
        Ok(shown(&self.house(), &plan, &calls).approved(approval.as_ref()))
    }
}

/// Anybody's plan as its caller would see it, for whoever runs this Toolgate.
pub async fn plan_for_operator(
    house: &House,
    store: &Store,
    id: &str,
) -> Result<Option<(Plan, PlanShown)>, PlanProblem> {
    let Some(plan) = store.plans().get(&Scope::Everything, id).await? else { return Ok(None) };
    let shown = shown(house, &plan, &call::kept(&plan)?).approved(yes_of(store, &plan).await?.as_ref());
    Ok(Some((plan, shown)))
}

async fn yes_of(store: &Store, plan: &Plan) -> Result<Option<Approval>, PlanProblem> {
    match &plan.approval {
        Some(id) => Ok(store.approvals().get(&Scope::Everything, id, now()).await?),
        None => Ok(None),
    }
}

pub(super) fn shown(house: &House, plan: &Plan, calls: &[PlannedCall]) -> PlanShown {
    let steps = plan.steps.iter().zip(calls).map(|(step, call)| StepShown {
        step: step.index + 1,
        id: call.id.clone(),
        tool: call.tool.clone(),
        arguments: redacted(house, call),
        state: step.state.as_str(),
        receipt: step.receipt.clone(),
        result: None,
        reason: reason(step),
    });
    PlanShown {
        plan: plan.id.clone(),
        name: plan.name.clone(),
        state: plan.state.as_str(),
        digest: Canonical::of(&plan.calls).map(|calls| calls.digest().to_string()).unwrap_or_default(),
        flow: plan.flow.clone(),
        approval: plan.approval.clone(),
        approved_by: None,
        steps: steps.collect(),
        undo_stopped: None,
        next: next(plan.state),
    }
}

/// The arguments of a call without their secrets, with their numbers as an approver sees them.
pub(super) fn redacted(house: &House, call: &PlannedCall) -> Box<RawValue> {
    let guard = house.gate.catalog().find(&call.tool).and_then(|tool| house.guard(tool));
    let redactor = guard.map_or(&house.plain, |guard| &guard.redactor);
    to_raw_value(&exact_value(&redactor.json(call.arguments.get()))).unwrap_or_default()
}

fn reason(step: &Step) -> Option<Reason> {
    let ended_badly = matches!(step.state, StepState::Failed | StepState::Unknown);
    step.result.as_deref().filter(|_| ended_badly).and_then(|reason| serde_json::from_str(reason).ok())
}

impl PlanShown {
    pub fn is_done(&self) -> bool {
        self.state == PlanState::Done.as_str()
    }

    pub(super) fn approved(mut self, approval: Option<&Approval>) -> Self {
        self.approved_by = approval.and_then(|approval| approval.answered_by.clone());
        self
    }

    pub(super) fn having(mut self, came: Came) -> Self {
        let Came { mut results, stopped } = came;
        for step in &mut self.steps {
            step.result = results.remove(&(step.step - 1));
        }
        self.undo_stopped = stopped;
        self
    }
}

fn next(state: PlanState) -> &'static str {
    match state {
        PlanState::Proposed => {
            "plan.preview shows what each step would do; plan.execute runs them, and asks for one approval of the whole plan if any step needs one."
        }
        PlanState::Approved => "plan.execute runs it.",
        PlanState::Running => {
            "It is being executed, or its process ended in the middle: look again, or let plan.execute go on where it stopped."
        }
        PlanState::Done => "Every step is done. undo takes back a step by its receipt, or the whole plan.",
        PlanState::Failed => {
            "It stopped at a step that failed. What is done stays done; undo takes back a step by its receipt. Propose a new plan for the rest."
        }
        PlanState::Undone => {
            "It stopped at a step that failed, and what was done is taken back. Propose a new plan to try again."
        }
        PlanState::Unknown => {
            "Nobody knows what came of the step that is unknown, and nothing is tried again. Look, then propose a new plan for the rest."
        }
    }
}
