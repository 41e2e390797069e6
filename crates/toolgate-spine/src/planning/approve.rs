//! A plan as one thing that a person says yes to.
//!
//! INVARIANT: the yes is to this plan of this caller: its calls, the definitions of their tools, and the rulebook. If any of
//! these is another, it covers nothing.

use std::sync::Arc;

use aws_lc_rs::digest::{Context, SHA256};
use serde_json::{Value, json};
use toolgate_core::{Caller, Denial, pin::Canonical};
use toolgate_store::{Approval, Binding, Plan, PlanState};

use super::{
    PlanProblem,
    call::{self, PlannedCall},
    check::Checked,
    plan_now,
};
use crate::{
    Approver, Books, House, Say,
    approving::{NoYes, Patience, no_in_words},
    asking::{PLAN, Question, owner_of, shown_of_plan},
    books::{now, scope_of},
};

/// What the yes is bound to. `None` where a tool is not here any more.
pub(super) fn binding(house: &House, caller: &Caller, plan: &Plan, calls: &[PlannedCall]) -> Option<Binding> {
    let mut definitions = Context::new(&SHA256);
    for call in calls {
        let tool = house.gate.catalog().find(&call.tool)?;
        definitions.update(&house.digest_of(tool)?);
    }
    let mut tool_digest = [0; 32];
    tool_digest.copy_from_slice(definitions.finish().as_ref());
    let whole = json!({ "plan": plan.id, "calls": Canonical::of(&plan.calls).ok()?.as_str() }).to_string();
    Some(Binding {
        asked_by: caller.principal(),
        tenant: caller.tenant.as_ref().map(|tenant| tenant.id.clone()),
        flow: caller.flow.as_ref().map(|flow| flow.id.clone()),
        tool: PLAN.to_owned(),
        tool_digest,
        arguments_digest: Canonical::of(&whole).ok()?.digest().into(),
        rulebook_digest: house.gate.rulebook().digest(),
    })
}

/// A plan as it is put to an approver.
pub(super) struct PlanQuestion<'a> {
    pub(super) plan: &'a Plan,
    pub(super) calls: &'a [PlannedCall],
    pub(super) checked: &'a [Checked],
    /// What each step would do, as far as that is known.
    pub(super) previews: Vec<Value>,
}

/// Reports that a person must be asked, and nobody has been yet.
pub(super) async fn needs_question(
    books: &Books,
    house: &House,
    caller: &Caller,
    (plan, calls): (&Plan, &[PlannedCall]),
    checked: &[Checked],
) -> Result<bool, PlanProblem> {
    if checked.iter().all(|step| step.needs.is_none()) {
        return Ok(false);
    }
    let Some(bound) = binding(house, caller, plan, calls) else { return Ok(false) };
    let asked = books.store.approvals().asked(&bound, false, now()).await;
    Ok(asked.map_err(|fault| PlanProblem::Unavailable(fault.to_string()))?.is_none())
}

/// The one yes to a plan that was proposed, which is approved by it; `None` where no step needs one.
pub(super) async fn yes(
    books: &Books,
    house: &House,
    caller: &Arc<Caller>,
    PlanQuestion { plan, calls, checked, previews }: PlanQuestion<'_>,
    patience: Patience<'_>,
) -> Result<Option<Approval>, PlanProblem> {
    let needing = checked.iter().enumerate().find_map(|(index, step)| Some((index + 1, step.needs.as_ref()?)));
    let Some((step, needs)) = needing else { return Ok(None) };
    let message = format!("Plan '{}' requires approval: step {step}: {}", plan.id, needs.message);
    let denial = Denial { message, ..needs.clone() };
    let gone = || PlanProblem::Unfit(format!("plan '{}' can't be bound to an approval", plan.id));
    let redacted = |call: &PlannedCall| {
        let guard = house.gate.catalog().find(&call.tool).and_then(|tool| house.guard(tool));
        let redactor = guard.map_or_else(|| house.plain.clone(), |guard| guard.redactor.clone());
        redactor.with_digests(&books.redaction_key).json(call.arguments.get())
    };
    let bare = call::shown(calls, redacted);
    let mut full = bare.clone();
    for (call, preview) in full.iter_mut().zip(previews) {
        if let Some(members) = call.as_object_mut() {
            members.insert("preview".to_owned(), preview);
        }
    }
    let shown = |calls: Vec<Value>, previews: Option<&str>| {
        let mut arguments = json!({ "plan": plan.id, "name": plan.name, "calls": calls });
        if let (Some(previews), Some(members)) = (previews, arguments.as_object_mut()) {
            members.insert("previews".to_owned(), previews.into());
        }
        shown_of_plan(&arguments, &denial.message)
    };
    let shown = vec![shown(full, None), shown(bare, Some("left out: they are too large to be shown"))];
    let bound = binding(house, caller, plan, calls).ok_or_else(gone)?;
    let scope = scope_of(caller);
    let question = Question::Plan {
        plan,
        scope: &scope,
        owner: owner_of(caller),
        shown,
        four_eyes: checked.iter().any(|step| step.tool.facts.four_eyes),
    };
    match books.yes_to(&bound, &question, patience).await {
        Ok(yes) => Ok(Some(yes.approval().clone())),
        Err(NoYes::Unavailable(message)) => Err(PlanProblem::Unavailable(message)),
        Err(NoYes::TooMany(message)) => Err(PlanProblem::Unfit(message)),
        Err(NoYes::Unaskable(fault)) => Err(PlanProblem::Unavailable(fault.to_string())),
        Err(NoYes::Denied(approval)) => {
            let (code, message) = no_in_words(&approval, &format!("Plan '{}'", plan.id));
            Err(PlanProblem::Denied(Denial { code: code.to_owned(), message, remedy: None, ..denial }))
        }
        Err(NoYes::Pending(approval)) => {
            withdraw_if_started(books, house, caller, plan, &approval).await?;
            Err(PlanProblem::NeedsApproval { denial, approval: Some(approval) })
        }
    }
}

/// Another may have used the yes in the meantime: then nobody is to be asked for a second one.
async fn withdraw_if_started(
    books: &Books,
    house: &House,
    caller: &Arc<Caller>,
    plan: &Plan,
    question: &Approval,
) -> Result<(), PlanProblem> {
    if plan_now(books, &plan.id).await?.state == PlanState::Proposed {
        return Ok(());
    }
    let no = Say::No { reason: Some("the plan was started meanwhile".to_owned()) };
    let principal = caller.principal();
    let approver = Approver { by: &principal, who: caller, rules: &house.rules };
    let _ = books.answer(&scope_of(caller), question, &approver, no).await;
    Err(PlanProblem::Busy(plan.id.clone()))
}
