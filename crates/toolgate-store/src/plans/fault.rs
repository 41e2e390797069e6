//! Why a plan or a step of it did not change.

use super::{Plan, PlanState, StepState};
use crate::{StoreError, error::Fault};

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PlanFault {
    #[error("there is no plan '{id}' here; list your plans to see their ids")]
    Unknown { id: String },
    #[error("plan '{id}' is {state}, so it can't become {wanted}")]
    State { id: String, state: PlanState, wanted: PlanState },
    #[error("plan '{id}' is run by another process now; leave it to that one")]
    Elsewhere { id: String },
    #[error("plan '{id}' can't become {wanted}: its step {step} is {state}")]
    Steps { id: String, wanted: PlanState, step: u32, state: StepState },
    #[error("plan '{id}' has {steps} step(s), so no step {step}")]
    NoStep { id: String, steps: usize, step: u32 },
    #[error("step {step} of plan '{id}' is {state}, so it can't become {wanted}")]
    Step { id: String, step: u32, state: StepState, wanted: StepState },
    #[error("step {step} of plan '{id}' can't begin: step {before} is {state}, and steps run in order")]
    Order { id: String, step: u32, before: u32, state: StepState },
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl PlanFault {
    pub(super) fn unknown(id: &str) -> Self {
        PlanFault::Unknown { id: id.chars().take(100).collect() }
    }

    pub(super) fn state(plan: Plan, wanted: PlanState) -> Self {
        PlanFault::State { id: plan.id, state: plan.state, wanted }
    }

    /// The plan looks as if the change were possible: something else changed it in between.
    pub(super) fn unexplained(operation: &'static str) -> Self {
        Fault::Other("it changed at the same time; look at it again".to_owned()).during(operation).into()
    }
}
