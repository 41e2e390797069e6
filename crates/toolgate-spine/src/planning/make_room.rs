//! Room for one more plan of a caller. A plan that was proposed and can't run any more must not stand in the way of new
//! ones: the oldest such plan is forgotten. What was decided about it stays in the ledger.

use std::sync::Arc;

use toolgate_core::Caller;
use toolgate_store::{Binding, Paging, Plan, PlanFilter, PlanState, Scope};

use super::{PlanProblem, approve::binding, call};
use crate::{
    Books, House,
    book_limits::has_room,
    books::{now, scope_of},
};

/// Refuses one more plan only where every plan of the caller that has not run could still do so.
pub(super) async fn make_room(books: &Books, house: &House, caller: &Arc<Caller>) -> Result<(), PlanProblem> {
    let usage = books.store.usage().plans(&caller.principal()).await?;
    if has_room(usage.count, books.settings.limits.open_plans) {
        return Ok(());
    }
    let mut open = open_plans(books, caller, PlanState::Proposed).await?;
    open.extend(open_plans(books, caller, PlanState::Approved).await?);
    open.sort_by(|one, other| (one.created, &one.id).cmp(&(other.created, &other.id)));
    for plan in &open {
        if !can_still_run(books, house, caller, plan).await? && books.store.plans().forget(&plan.id).await? {
            return Ok(());
        }
    }
    let message = format!("{} plans of this caller have not run; run some of them before", usage.count);
    Err(PlanProblem::Unfit(message))
}

async fn open_plans(books: &Books, caller: &Caller, state: PlanState) -> Result<Vec<Plan>, PlanProblem> {
    let filter = PlanFilter { state: Some(state), flow: None };
    let (mut found, mut paging) = (Vec::new(), Paging::default());
    loop {
        let page = books.store.plans().list(&scope_of(caller), &filter, &paging).await?;
        found.extend(page.items);
        match page.next {
            Some(mark) => paging.after = Some(mark),
            None => return Ok(found),
        }
    }
}

/// False where the plan's flow is over, its approval has run out or is for other rules, or it was denied.
async fn can_still_run(books: &Books, house: &House, caller: &Caller, plan: &Plan) -> Result<bool, PlanProblem> {
    let at = now();
    if let Some(flow) = &plan.flow
        && let Some(flow) = books.store.flows().get(&Scope::Everything, flow).await?
        && !flow.is_open(at)
    {
        return Ok(false);
    }
    let Ok(calls) = call::kept(plan) else { return Ok(false) };
    // an approval of the plan is bound to the caller as it is within the plan's flow
    let Some(bound) = binding(house, caller, plan, &calls) else { return Ok(false) };
    let bound = Binding { flow: plan.flow.clone(), ..bound };
    let approvals = books.store.approvals();
    if let Some(id) = &plan.approval {
        let given = approvals.get(&Scope::Everything, id, at).await?;
        return Ok(given.is_some_and(|given| given.expires > at && given.binding == bound));
    }
    let denied = approvals.denied_since(&bound, false, 0).await?.is_some();
    Ok(!denied || approvals.asked(&bound, false, at).await?.is_some())
}
