//! Executing: one yes to the whole plan, then its steps; or taking up what a process that is gone left.

use std::{sync::Arc, time::Duration};

use serde::Deserialize;
use toolgate_core::{Caller, Lang};
use toolgate_store::{Approval, Plan, PlanState, Scope};

use super::{
    PlanProblem, PlanShown,
    approve::{PlanQuestion, binding, needs_question, yes},
    call::{self, PlannedCall},
    check::check,
    hold::{Hold, InHand},
    plan_now, plan_of,
    run::Run,
    show,
};
use crate::{
    Books, Client, Spine,
    approving::Patience,
    books::{now, scope_of},
};

/// What becomes of the steps that are done when a later one fails.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum OnFailure {
    /// They stay done.
    #[default]
    Stop,
    /// They are taken back, newest first.
    Undo,
}

/// How a plan is executed.
#[derive(Debug, Clone)]
pub struct Execution {
    pub on_failure: OnFailure,
    /// How long to wait for a person where one must say yes.
    pub wait: Option<Duration>,
    /// The client of the call that executes it.
    pub client: Client,
    pub lang: Lang,
}

impl Spine {
    /// Runs a plan of the caller's to its end, whichever that is. A plan that a process left unfinished goes on where that
    /// one stopped.
    pub async fn execute_plan(&self, caller: &Arc<Caller>, id: &str, how: Execution) -> Result<PlanShown, PlanProblem> {
        let books = self.plan_books()?;
        let plan = plan_of(books, caller, id).await?;
        let in_hand = self.planning.take_in_hand(&plan.id).ok_or_else(|| PlanProblem::Busy(plan.id.clone()))?;
        // as it is now that nobody else here has it
        let plan = plan_now(books, &plan.id).await?;
        let calls = call::kept(&plan)?;
        let within = match plan.state {
            PlanState::Proposed | PlanState::Approved => Some(self.within_flow_of(caller, &plan).await?),
            PlanState::Running => match self.within_flow_of(caller, &plan).await {
                Ok(within) => Some(within),
                // nothing more of it runs, and it must have an end all the same
                Err(PlanProblem::Unfit(_)) => None,
                Err(problem) => return Err(problem),
            },
            _ => Some(Arc::clone(caller)),
        };
        let flow_is_over = within.is_none();
        let caller = &within.unwrap_or_else(|| Arc::clone(caller));
        let (hold, plan) = self.held(books, caller, (plan, &calls), &in_hand, &how).await?;
        let approval = approval(books, &plan).await?;
        let (spine, approval, lang) = (self, approval.as_ref(), how.lang);
        let (client, wait) = (&how.client, how.wait);
        let run = Run { spine, books, caller, calls: &calls, approval, hold, client, wait, lang, flow_is_over };
        let (plan, came) = run.to_its_end(plan, how.on_failure).await?;
        drop(run);
        let shown = show::shown(&self.house(), &plan, &calls).approved(approval);
        Ok(shown.having(came))
    }

    /// The plan, running and this process's.
    async fn held(
        &self,
        books: &Books,
        caller: &Arc<Caller>,
        (plan, calls): (Plan, &[PlannedCall]),
        in_hand: &InHand<'_>,
        how: &Execution,
    ) -> Result<(Hold, Plan), PlanProblem> {
        match plan.state {
            PlanState::Proposed => {
                let house = self.house();
                let checked = check(&house, caller, calls, how.lang)?;
                let previews = match needs_question(books, &house, caller, (&plan, calls), &checked).await? {
                    true => self.previews_for_approver(&house, caller, calls, how.lang).await,
                    false => Vec::new(),
                };
                let asked = PlanQuestion { plan: &plan, calls, checked: &checked, previews };
                let patience = Patience::new(books, (&how.client, caller), how.wait);
                if yes(books, &house, caller, asked, patience).await?.is_none() {
                    books.store.plans().approve(&scope_of(caller), &plan.id, None).await?;
                }
                in_hand.start(books, caller).await
            }
            PlanState::Approved => {
                let fits = match (&plan.approval, approval(books, &plan).await?) {
                    (None, _) => true,
                    (Some(_), None) => false,
                    (Some(_), Some(approval)) => {
                        binding(&self.house(), caller, &plan, calls).is_some_and(|bound| bound == approval.binding)
                    }
                };
                if !fits {
                    let what = "has run out, or is for other rules, tools or another flow; propose the plan again";
                    return Err(PlanProblem::Unfit(format!("the approval of plan '{}' {what}", plan.id)));
                }
                in_hand.start(books, caller).await
            }
            PlanState::Running => in_hand.take_up(books, plan).await,
            state => Err(PlanProblem::Over { plan: plan.id, state }),
        }
    }
}

/// The yes that the plan was given, while it lasts.
async fn approval(books: &Books, plan: &Plan) -> Result<Option<Approval>, PlanProblem> {
    let Some(id) = &plan.approval else { return Ok(None) };
    let found = books.store.approvals().get(&Scope::Everything, id, now()).await?;
    Ok(found.filter(|approval| approval.expires > now()))
}
