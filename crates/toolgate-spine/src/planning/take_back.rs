//! Taking back what the steps of a plan did, newest first, by the same undo as any. It stops where one can't be taken back:
//! what came before it may build on it.

use std::sync::Arc;

use toolgate_core::{Caller, Lang};
use toolgate_store::{Plan, PlanState, ReceiptState, Scope, Step, StepState};

use super::{PlanProblem, show::Stopped};
use crate::{Books, Spine, UndoProblem, books::scope_of};

/// In whose name, and among whose receipts.
pub(super) struct TakingBack<'a> {
    pub(super) spine: &'a Spine,
    pub(super) books: &'a Books,
    pub(super) scope: &'a Scope,
    pub(super) caller: &'a Arc<Caller>,
    pub(super) lang: Lang,
}

pub(super) async fn take_back(by: &TakingBack<'_>, mut plan: Plan) -> Result<(Plan, Option<Stopped>), PlanProblem> {
    let plans = by.books.store.plans();
    for (step, receipt) in undoable(&plan) {
        let problem = by.spine.undo_within(by.scope, by.caller, &receipt, by.lang).await.err();
        let stopped = |problem: &UndoProblem| Some(Stopped { step: step.index + 1, reason: problem.to_string() });
        match problem {
            None => plan = plans.step_undone(&plan.id, step.index).await?,
            Some(problem @ UndoProblem::Unknown(_)) => {
                plan = plans.step_undo_unknown(&plan.id, step.index).await?;
                return Ok((plan, stopped(&problem)));
            }
            Some(problem) => match state_of(by.books, &receipt).await? {
                // by a process that did not live to say so
                Some(ReceiptState::Undone) => plan = plans.step_undone(&plan.id, step.index).await?,
                Some(ReceiptState::Undoing | ReceiptState::Unknown) => {
                    plan = plans.step_undo_unknown(&plan.id, step.index).await?;
                    return Ok((plan, stopped(&problem)));
                }
                _ => return Ok((plan, stopped(&problem))),
            },
        }
    }
    Ok((plan, None))
}

/// The steps that are done and left a receipt, newest first. A step that read or logged left none, and stays done.
pub(super) fn undoable(plan: &Plan) -> Vec<(Step, String)> {
    let done = plan.steps.iter().rev().filter(|step| step.state == StepState::Done);
    done.filter_map(|step| Some((step.clone(), step.receipt.clone()?))).collect()
}

async fn state_of(books: &Books, receipt: &str) -> Result<Option<ReceiptState>, PlanProblem> {
    let found = books.store.receipts().get(&Scope::Everything, receipt).await?;
    Ok(found.map(|receipt| receipt.state))
}

/// What came of taking back a plan that is over.
#[derive(Debug, PartialEq, Eq)]
pub struct TakenBack {
    /// Receipts, in that order.
    pub undone: Vec<String>,
    /// The receipts that the undos themselves left.
    pub receipts: Vec<String>,
    /// Where it came to a stop, and why.
    pub failed: Option<(Option<String>, String)>,
}

impl Spine {
    /// Takes back what the steps of a plan of the caller's own did, newest first.
    pub async fn undo_plan(&self, caller: &Arc<Caller>, id: &str, lang: Lang) -> Result<TakenBack, PlanProblem> {
        self.undo_plan_within(&scope_of(caller), caller, id, lang).await
    }

    /// The same for whoever runs this Toolgate: anybody's plan, in the operator's own name.
    pub async fn undo_plan_as_operator(
        &self,
        operator: &Arc<Caller>,
        id: &str,
        lang: Lang,
    ) -> Result<TakenBack, PlanProblem> {
        self.undo_plan_within(&Scope::Everything, operator, id, lang).await
    }

    async fn undo_plan_within(
        &self,
        scope: &Scope,
        caller: &Arc<Caller>,
        id: &str,
        lang: Lang,
    ) -> Result<TakenBack, PlanProblem> {
        let books = self.plan_books()?;
        let unknown = || PlanProblem::Unknown(id.chars().take(100).collect());
        let plan = books.store.plans().get(scope, id).await?.ok_or_else(unknown)?;
        if plan.state == PlanState::Running {
            return Err(PlanProblem::Busy(plan.id));
        }
        let done = undoable(&plan);
        if done.is_empty() {
            return Err(PlanProblem::Unfit(format!("nothing of plan '{}' can be taken back", plan.id)));
        }
        let by = TakingBack { spine: self, books, scope, caller, lang };
        let (plan, stopped) = take_back(&by, plan).await?;
        if matches!(plan.state, PlanState::Done | PlanState::Failed)
            && undoable(&plan).is_empty()
            && !plan.steps.iter().any(|step| step.state == StepState::Unknown)
        {
            books.store.plans().undone(&plan.id).await?;
        }
        let is_undone =
            |index: u32| plan.steps.iter().any(|step| step.index == index && step.state == StepState::Undone);
        let failed = stopped.map(|Stopped { step: number, reason }| {
            let receipt = done.iter().find(|(step, _)| step.index + 1 == number).map(|(_, receipt)| receipt.clone());
            (receipt, reason)
        });
        let (mut undone, mut receipts) = (Vec::new(), Vec::new());
        for (step, receipt) in done {
            if is_undone(step.index) {
                let kept = books.store.receipts().get(&Scope::Everything, &receipt).await?;
                receipts.extend(kept.and_then(|kept| kept.undone_by));
                undone.push(receipt);
            }
        }
        Ok(TakenBack { undone, receipts, failed })
    }
}
