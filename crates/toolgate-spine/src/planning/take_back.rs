//! Taking back what the steps of a plan did, newest first, by the same undo as any. It stops where one can't be taken back:
//! what came before it may build on it.

use toolgate_store::{Plan, ReceiptState, Scope, StepState};

use super::{PlanProblem, run::Run, show::Stopped};
use crate::UndoProblem;

pub(super) async fn take_back(run: &Run<'_>, mut plan: Plan) -> Result<(Plan, Option<Stopped>), PlanProblem> {
    let done: Vec<_> = plan.steps.iter().rev().filter(|step| step.state == StepState::Done).cloned().collect();
    let plans = run.books.store.plans();
    for step in done {
        let problem = match &step.receipt {
            Some(receipt) => run.spine.undo(run.caller, receipt, run.lang).await.err(),
            // it changed nothing that could be taken back
            None => None,
        };
        let stopped = |problem: &UndoProblem| Some(Stopped { step: step.index + 1, reason: problem.to_string() });
        match problem {
            None => plan = plans.step_undone(&plan.id, step.index).await?,
            Some(problem @ UndoProblem::Unknown(_)) => {
                plan = plans.step_undo_unknown(&plan.id, step.index).await?;
                return Ok((plan, stopped(&problem)));
            }
            Some(problem) => match state_of(run, step.receipt.as_deref()).await? {
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

async fn state_of(run: &Run<'_>, receipt: Option<&str>) -> Result<Option<ReceiptState>, PlanProblem> {
    let Some(receipt) = receipt else { return Ok(None) };
    let found = run.books.store.receipts().get(&Scope::Everything, receipt).await?;
    Ok(found.map(|receipt| receipt.state))
}
