//! The approval of a step whose arguments are filled when the plan runs. Whoever approved the plan saw where the values come
//! from and not the values, so that the plan's approval does not cover such a step: where its call needs one, a person is
//! asked about the call with the values it runs with.

use std::{sync::Arc, time::Duration};

use serde_json::value::RawValue;
use toolgate_core::{Caller, Kind, Lang};

use super::{PlanProblem, Reason, call::PlannedCall};
use crate::{Call, Client, Decided, Guarded, Outcome, Spine, approving::Yes};

/// What is known before a filled step begins.
pub(super) enum OwnApproval {
    /// The step may begin. An approval is there if the call needs one and was given it.
    Begin(Option<Yes>),
    /// The step ends without having run.
    Refuse(Reason),
}

impl Spine {
    /// Takes the approval of a filled step, or asks for it. While nobody has answered, the plan stays where it is, and
    /// goes on from there when it is executed again.
    pub(super) async fn own_approval(
        &self,
        caller: &Arc<Caller>,
        (planned, arguments): (&PlannedCall, &RawValue),
        (client, wait): (&Client, Option<Duration>),
        lang: Lang,
    ) -> Result<OwnApproval, PlanProblem> {
        // the client's place among the calls that run is free while a person thinks
        let client = client.clone();
        let call = Call { client, wait, ..Call::of(Kind::Tool, &planned.tool, Some(arguments), lang) };
        let house = self.house();
        let fitted = Decided::decide(&house, caller, &call).and_then(|decided| decided.fitted(Some(arguments), &[]));
        // what is refused is refused again, and recorded, by the call itself
        let Ok((decided, arguments)) = fitted else { return Ok(OwnApproval::Begin(None)) };
        let guarded = Guarded::to_be_approved(decided, arguments);
        match self.approved(&guarded, &call, None).await {
            Ok(yes) => Ok(OwnApproval::Begin(yes)),
            Err(outcome) => match *outcome {
                Outcome::NeedsApproval { denial, approval, .. } => Err(PlanProblem::NeedsApproval { denial, approval }),
                outcome => Ok(OwnApproval::Refuse(
                    Reason::of(&outcome, &planned.tool)
                        .unwrap_or_else(|| Reason::new("unavailable", "its approval can't be looked up")),
                )),
            },
        }
    }
}
