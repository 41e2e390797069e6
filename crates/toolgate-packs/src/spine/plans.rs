//! The tools for plans: what they take, and what they answer.

use std::{collections::BTreeSet, sync::Arc};

use serde::{Deserialize, Serialize};
use serde_json::json;
use toolgate_core::{Caller, Lang};
use toolgate_spine::{
    Execution, OnFailure, PlanProblem, PlanShown, ProposedCall, Recorded, SourceFault, Spine, TakenBack, ToolAnswer,
};

use super::read;

const MINUTE_MS: u64 = 60_000;

#[derive(Deserialize)]
struct Proposing {
    calls: Vec<ProposedCall>,
    name: Option<String>,
}

#[derive(Deserialize)]
struct Named {
    plan: String,
}

#[derive(Deserialize)]
struct Executing {
    plan: String,
    #[serde(default)]
    on_failure: OnFailure,
}

/// Each step has its own limit. A plan may also wait an hour for a person before its first.
pub(super) fn timeout_ms(tool: &str) -> Option<u64> {
    match tool {
        "plan.preview" => Some(10 * MINUTE_MS),
        "plan.execute" => Some(120 * MINUTE_MS),
        _ => None,
    }
}

/// What a step's own tool takes out of records is not known here: so its arguments, and words that may repeat them, are
/// left to the records of the step.
pub(super) fn redacted(tool: &str) -> BTreeSet<String> {
    let pointers: &[&str] = match tool {
        "plan.propose" => &["/calls/*/arguments", "/content", "/structuredContent/error"],
        "plan.preview" | "plan.execute" | "plan.show" => &["/content", "/structuredContent/steps/*/reason"],
        _ => &[],
    };
    pointers.iter().map(|&pointer| pointer.to_owned()).collect()
}

pub(super) async fn propose(spine: &Spine, call: &Recorded) -> Result<ToolAnswer, SourceFault> {
    let Proposing { calls, name } = read(call)?;
    let caller = Arc::new(call.caller().clone());
    shown(spine.propose_plan(&caller, name, calls, call.lang()).await, |_| false)
}

pub(super) async fn preview(spine: &Spine, call: &Recorded) -> Result<ToolAnswer, SourceFault> {
    let Named { plan } = read(call)?;
    match spine.preview_plan(&Arc::new(call.caller().clone()), &plan, call.lang()).await {
        Ok(preview) => answer(&preview, false),
        Err(problem) => refused(problem),
    }
}

pub(super) async fn execute(spine: &Spine, call: &Recorded) -> Result<ToolAnswer, SourceFault> {
    let Executing { plan, on_failure } = read(call)?;
    let how = Execution { on_failure, wait: call.wait(), client: call.client().clone(), lang: call.lang() };
    let executed = spine.execute_plan(&Arc::new(call.caller().clone()), &plan, how).await;
    shown(executed, |shown| !shown.is_done())
}

pub(super) async fn show(spine: &Spine, call: &Recorded) -> Result<ToolAnswer, SourceFault> {
    let Named { plan } = read(call)?;
    shown(spine.show_plan(&Arc::new(call.caller().clone()), &plan).await, |_| false)
}

/// As the tool `undo` answers for any receipts.
pub(super) async fn undo(
    spine: &Spine,
    caller: &Arc<Caller>,
    plan: &str,
    lang: Lang,
) -> Result<ToolAnswer, SourceFault> {
    match spine.undo_plan(caller, plan, lang).await {
        Ok(TakenBack { undone, receipts, failed }) => {
            let failed = failed.map(|(receipt, reason)| (receipt.unwrap_or_default(), reason));
            super::undo_answer(&undone, &receipts, failed)
        }
        Err(problem) => super::failure(problem),
    }
}

fn shown(
    plan: Result<PlanShown, PlanProblem>,
    is_error: impl Fn(&PlanShown) -> bool,
) -> Result<ToolAnswer, SourceFault> {
    match plan {
        Ok(plan) => answer(&plan, is_error(&plan)),
        Err(problem) => refused(problem),
    }
}

fn answer(value: &impl Serialize, is_error: bool) -> Result<ToolAnswer, SourceFault> {
    ToolAnswer::structured(value, is_error).map_err(|fault| SourceFault::unavailable(fault.to_string()))
}

/// A person's yes that is missing is told as for any call; all else is an answer of the tool.
fn refused(problem: PlanProblem) -> Result<ToolAnswer, SourceFault> {
    let text = problem.to_string();
    let mut value = json!({ "error": text, "code": problem.code() });
    let (step, rule, remedy) = match problem {
        PlanProblem::NeedsApproval { denial, approval } => {
            return Err(SourceFault::NeedsApproval { denial, approval });
        }
        PlanProblem::Step { step, reason } => (Some(step), reason.rule, reason.remedy),
        PlanProblem::Denied(denial) => (None, Some(denial.rule), denial.remedy),
        _ => (None, None, None),
    };
    if let Some(members) = value.as_object_mut() {
        step.into_iter().for_each(|step| drop(members.insert("step".to_owned(), step.into())));
        for (name, said) in [("rule", rule), ("remedy", remedy)] {
            said.into_iter().for_each(|said| drop(members.insert(name.to_owned(), said.into())));
        }
    }
    Ok(ToolAnswer::failure(&value, &text))
}
