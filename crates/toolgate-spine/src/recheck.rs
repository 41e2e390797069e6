//! A call that was approved, looked at once more before it runs. Time has passed since it was decided: rules, tools and
//! the caller's credentials may be others.
//!
//! INVARIANT: what runs is allowed by the policy in force now, to the caller as of now, and the approval it runs on was
//! given under that policy.

use std::sync::Arc;

use toolgate_core::Denial;

use crate::{
    Call, Decided, Guarded, Outcome, Spine,
    approving::{Yes, binding},
    planning::StepOf,
};

impl Spine {
    /// The same call, decided and fitted under what holds now.
    pub(crate) async fn rechecked(
        &self,
        guarded: Guarded,
        call: &Call<'_>,
        step: Option<&StepOf<'_>>,
        yes: &Yes,
    ) -> Result<Guarded, Box<Outcome>> {
        self.caught_up().await?;
        let house = self.house();
        let before = &guarded.decided;
        let current = before.client.current_caller(&before.caller).await;
        let caller = current.map_err(|loss| loss.outcome(&before.tool))?;
        if house.gate.revision() == before.house.gate.revision() && *caller == *before.caller {
            return Ok(guarded);
        }
        let (decided, arguments) = Decided::decide(&house, &caller, call)?.fitted(call.arguments, &[])?;
        let again = Guarded::fitted_again(decided, arguments);
        let covers = match (yes, step) {
            (Yes::ToThisCall(taken), _) => binding(&again).is_some_and(|bound| taken.approval().covers(&bound)),
            (Yes::ToItsPlan(approval), Some(step)) => step.is_covered(&house, approval),
            (Yes::ToItsPlan(_), None) => false,
        };
        if covers {
            return Ok(again);
        }
        let tool = Arc::clone(&again.decided.tool);
        let denial = Denial {
            code: "approval_mismatch".to_owned(),
            message: format!(
                "The rules or the definition of {} changed while its approval was waited for, so that it did not run.",
                tool.called()
            ),
            rule: again.decided.needs.map(|needs| needs.rule).unwrap_or_default(),
            remedy: Some("Call again to be decided by the rules as they are now.".to_owned()),
            source: None,
        };
        Err(Box::new(Outcome::Denied { tool, denial, needs_identity: false, missing_scopes: Vec::new() }))
    }

    /// The decision for the caller as of now, where the client of the call has been asked something meanwhile.
    pub(crate) async fn redecided(&self, decided: Decided, call: &Call<'_>) -> Result<Decided, Box<Outcome>> {
        let current = decided.client.current_caller(&decided.caller).await;
        let caller = current.map_err(|loss| loss.outcome(&decided.tool))?;
        if *caller == *decided.caller { Ok(decided) } else { Decided::decide(&decided.house, &caller, call) }
    }
}
