//! Plans: a list of calls that is proposed, looked at, approved and run as one.
//!
//! INVARIANT: a step is a call like any other, decided and recorded when it runs; what runs is what was proposed, with the
//! values filled in that the plan says come from earlier steps; no step runs twice, whoever takes the plan up.

mod approve;
mod call;
mod check;
mod execute;
mod hold;
mod make_room;
mod own_approval;
mod preview;
mod propose;
mod raw_places;
mod reason;
mod reference;
mod run;
mod show;
mod step;
mod take_back;

use std::sync::Arc;

use toolgate_core::{Caller, Denial};
use toolgate_store::{Approval, Plan, PlanFault, PlanState, Scope, StoreError};

pub use self::{
    call::ProposedCall,
    execute::{Execution, OnFailure},
    preview::PlanPreview,
    reason::Reason,
    show::{PlanShown, plan_for_operator},
    take_back::TakenBack,
};
pub(crate) use self::{
    hold::Planning,
    step::{PlanLink, StepOf},
};
use crate::{Books, FlowProblem, Spine, books::scope_of};

/// Why nothing came of it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PlanProblem {
    /// Never proposed, or by another caller: one branch.
    #[error("there is no plan '{0}' here; plan.propose makes one")]
    Unknown(String),
    #[error("{0}")]
    Unfit(String),
    /// Counted from 1. The reason is the one that the call itself would get.
    #[error("step {step}: {}", reason.message)]
    Step { step: usize, reason: Reason },
    #[error("{}", denial.message)]
    NeedsApproval { denial: Denial, approval: Option<Box<Approval>> },
    #[error("{}", .0.message)]
    Denied(Denial),
    #[error("plan '{0}' is being executed already; plan.show tells how far it is")]
    Busy(String),
    #[error("plan '{plan}' is {state}, and nothing was run again; plan.show tells what came of it")]
    Over { plan: String, state: PlanState },
    #[error("{0}")]
    Unavailable(String),
}

impl PlanProblem {
    /// For programs.
    pub fn code(&self) -> &str {
        match self {
            Self::Unknown(_) => "unknown_plan",
            Self::Unfit(_) => "invalid_plan",
            Self::Step { reason, .. } => &reason.code,
            Self::NeedsApproval { denial, .. } | Self::Denied(denial) => &denial.code,
            Self::Busy(_) => "plan_busy",
            Self::Over { .. } => "plan_over",
            Self::Unavailable(_) => "unavailable",
        }
    }
}

impl From<StoreError> for PlanProblem {
    /// Why is the operator's to know, not a caller's.
    fn from(fault: StoreError) -> Self {
        tracing::error!(%fault, "plans can't be kept");
        Self::Unavailable("plans can't be looked up now; try again, and tell the operator if it stays".to_owned())
    }
}

impl From<PlanFault> for PlanProblem {
    fn from(fault: PlanFault) -> Self {
        match fault {
            PlanFault::Unknown { id } => Self::Unknown(id),
            PlanFault::Elsewhere { id } => Self::Busy(id),
            PlanFault::State { id, state: PlanState::Approved | PlanState::Running, .. } => Self::Busy(id),
            PlanFault::State { id, state, .. } => Self::Over { plan: id, state },
            PlanFault::Store(fault) => fault.into(),
            fault => Self::Unavailable(fault.to_string()),
        }
    }
}

impl Spine {
    fn plan_books(&self) -> Result<&Books, PlanProblem> {
        self.books.as_ref().ok_or_else(|| PlanProblem::Unavailable("nothing keeps plans here".to_owned()))
    }
}

impl Spine {
    /// The caller within the flow that the plan was proposed in: the plan runs there, or not at all.
    async fn within_flow_of(&self, caller: &Arc<Caller>, plan: &Plan) -> Result<Arc<Caller>, PlanProblem> {
        let Some(flow) = &plan.flow else { return Ok(Arc::clone(caller)) };
        self.enter_flow(caller, flow).await.map_err(|problem| match problem {
            FlowProblem::Unavailable(fault) => PlanProblem::Unavailable(fault),
            _ => PlanProblem::Unfit(format!(
                "plan '{}' was proposed in flow '{flow}', which is not open any more; propose it again in an open flow",
                plan.id
            )),
        })
    }
}

/// A plan of this caller's own: another's does not exist.
async fn plan_of(books: &Books, caller: &Arc<Caller>, id: &str) -> Result<Plan, PlanProblem> {
    let unknown = || PlanProblem::Unknown(id.chars().take(100).collect());
    books.store.plans().get(&scope_of(caller), id).await?.ok_or_else(unknown)
}

/// The plan as it is now, for whoever was let in to it before.
async fn plan_now(books: &Books, id: &str) -> Result<Plan, PlanProblem> {
    let found = books.store.plans().get(&Scope::Everything, id).await?;
    found.ok_or_else(|| PlanProblem::Unknown(id.to_owned()))
}
