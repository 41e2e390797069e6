//! Running a plan that is in hand: its steps in order, and how it ends.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, OnceLock},
    time::Duration,
};

use serde_json::value::RawValue;
use toolgate_core::{Caller, Kind, Lang};
use toolgate_store::{Approval, Plan, PlanEnd, StepState};

use super::{
    OnFailure, PlanProblem, Reason,
    call::PlannedCall,
    hold::Hold,
    own_approval::OwnApproval,
    reference::filled,
    show::Stopped,
    step::{Ended, StepOf},
    take_back::{TakingBack, take_back, undoable},
};
use crate::{Books, Call, Client, Spine, approving::Yes, books::scope_of};

pub(super) struct Run<'a> {
    pub(super) spine: &'a Spine,
    pub(super) books: &'a Books,
    pub(super) caller: &'a Arc<Caller>,
    pub(super) calls: &'a [PlannedCall],
    pub(super) approval: Option<&'a Approval>,
    pub(super) hold: Hold,
    /// The client of the call that executes the plan.
    pub(super) client: &'a Client,
    /// How long to wait for a person where one must say yes to a filled step.
    pub(super) wait: Option<Duration>,
    pub(super) lang: Lang,
    /// True where the plan's flow ended while the plan ran: no further step is made.
    pub(super) flow_is_over: bool,
}

/// What came of it, beside what the plan itself says.
#[derive(Default)]
pub(super) struct Came {
    /// Results by step, redacted.
    pub(super) results: BTreeMap<u32, Box<RawValue>>,
    /// Where taking back came to a stop.
    pub(super) stopped: Option<Stopped>,
}

impl Run<'_> {
    pub(super) async fn to_its_end(&self, mut plan: Plan, on_failure: OnFailure) -> Result<(Plan, Came), PlanProblem> {
        let mut came = Came::default();
        for (index, call) in (0_u32..).zip(self.calls) {
            let state = plan.steps.iter().find(|step| step.index == index).map(|step| step.state);
            plan = match state {
                Some(StepState::Done) => continue,
                Some(StepState::Waiting) if self.flow_is_over => {
                    self.hold.begin(index).await?;
                    self.hold.end(index, Ended::refused(&flow_over(&plan)).end).await?
                }
                Some(StepState::Waiting) => self.step(&plan, (index, call), &mut came).await?,
                // what a process that is gone left behind
                Some(StepState::Running) => self.hold.end(index, Ended::lost()).await?,
                _ => break,
            };
            if plan.steps.iter().any(|step| step.index == index && step.state != StepState::Done) {
                break;
            }
        }
        // a plan without steps is one that is being forgotten
        let all_done = !plan.steps.is_empty() && plan.steps.iter().all(|step| step.state == StepState::Done);
        if !all_done && on_failure == OnFailure::Undo {
            let (spine, books, caller, lang) = (self.spine, self.books, self.caller, self.lang);
            let by = TakingBack { spine, books, scope: &scope_of(caller), caller, lang };
            (plan, came.stopped) = take_back(&by, plan).await?;
        }
        let any = |state: StepState| plan.steps.iter().any(|step| step.state == state);
        let end = if all_done {
            PlanEnd::Done
        } else if any(StepState::Unknown) {
            PlanEnd::Unknown
        } else if on_failure == OnFailure::Undo && undoable(&plan).is_empty() {
            PlanEnd::Undone
        } else {
            PlanEnd::Failed
        };
        Ok((self.hold.finish(end).await?, came))
    }

    async fn step(
        &self,
        plan: &Plan,
        (index, call): (u32, &PlannedCall),
        came: &mut Came,
    ) -> Result<Plan, PlanProblem> {
        let results: Vec<Option<&str>> = plan.steps.iter().map(|step| step.result.as_deref()).collect();
        let filled = filled(&call.arguments, &call.references, &results);
        // asked before the step begins: what has begun is never begun again
        let own = match &filled {
            Ok(arguments) if !call.references.is_empty() => {
                let asked = (self.client, self.wait);
                self.spine.own_approval(self.caller, (call, &**arguments), asked, self.lang).await?
            }
            _ => OwnApproval::Begin(None),
        };
        let begun = async {
            let caller = self.current_caller(plan).await?;
            Ok::<_, PlanProblem>((caller, self.hold.begin(index).await?))
        };
        let (caller, plan) = match begun.await {
            Ok(begun) => begun,
            Err(problem) => {
                if let OwnApproval::Begin(own) = own {
                    self.spine.give_back(own).await;
                }
                return Err(problem);
            }
        };
        let ended = match (filled, own) {
            (Err(reason), _) | (_, OwnApproval::Refuse(reason)) => Ended::refused(&reason),
            (Ok(arguments), OwnApproval::Begin(own)) => {
                self.call((&caller, &plan), (index, call), &arguments, own).await
            }
        };
        if let Some(result) = ended.result {
            came.results.insert(index, result);
        }
        Ok(self.hold.end(index, ended.end).await?)
    }

    /// The caller as of now, within the plan's flow: a person may have taken long to approve the plan or a step.
    async fn current_caller(&self, plan: &Plan) -> Result<Arc<Caller>, PlanProblem> {
        let current = self.client.current_caller(self.caller).await.map_err(|loss| match loss.denial() {
            Some(denial) => PlanProblem::Denied(denial),
            None => PlanProblem::Unavailable(loss.to_string()),
        })?;
        self.spine.within_flow_of(&current, plan).await
    }

    async fn call(
        &self,
        (caller, plan): (&Arc<Caller>, &Plan),
        (index, call): (u32, &PlannedCall),
        arguments: &RawValue,
        own: Option<Yes>,
    ) -> Ended {
        let (calls, approval, receipt) = (self.calls, self.approval, Arc::new(OnceLock::new()));
        let (is_filled, own) = (!call.references.is_empty(), Mutex::new(own));
        let step = StepOf { caller, plan, calls, approval, is_filled, own, receipt };
        let house = self.spine.house();
        let made = Call::of(Kind::Tool, &call.tool, Some(arguments), self.lang);
        let outcome = Box::pin(self.spine.call_within(caller, made, Some(&step))).await;
        // what the call did not come to take is not used up
        self.spine.give_back(step.take_own()).await;
        let later = self.calls.iter().flat_map(|call| &call.references);
        let asked = later.filter(|reference| u32::try_from(reference.from) == Ok(index));
        let paths = asked.map(|reference| reference.path.as_str());
        Ended::of(&house, call, &outcome, step.receipt.get().cloned(), paths)
    }
}

fn flow_over(plan: &Plan) -> Reason {
    let flow = plan.flow.as_deref().unwrap_or_default();
    Reason::new("flow_over", format!("flow '{flow}', which the plan belongs to, is not open any more"))
}
