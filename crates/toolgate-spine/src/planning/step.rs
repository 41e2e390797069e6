//! One step: a call along the one path, on the plan's yes, and what its ending means for the plan.

use std::{
    borrow::Cow,
    collections::HashMap,
    sync::{Arc, Mutex, OnceLock, PoisonError},
};

use bytes::Bytes;
use serde_json::value::{RawValue, to_raw_value};
use toolgate_core::{Caller, redact::cut, tool::Effect};
use toolgate_store::{Approval, Binding, Plan, Receipt, StepEnd};

use super::{Reason, approve::binding, call::PlannedCall, reference::Kept};
use crate::{House, Outcome, answer::said, approving::Yes, exact_numbers::exact_value, receipts::is_error};

/// Longest result of a step that is shown whole.
const SHOWN: usize = 8 << 10;

/// The plan that a call is a step of.
pub(crate) struct StepOf<'a> {
    pub(super) caller: &'a Caller,
    pub(super) plan: &'a Plan,
    pub(super) calls: &'a [PlannedCall],
    pub(super) approval: Option<&'a Approval>,
    /// True where arguments were filled since the plan was approved.
    pub(super) is_filled: bool,
    /// The approval of this call alone, until it is taken.
    pub(super) own: Mutex<Option<Yes>>,
    pub(super) receipt: Arc<OnceLock<String>>,
}

/// Ties a receipt to the plan that its call is a step of, also when nobody waits for the call any more.
pub(crate) struct PlanLink {
    pub(crate) plan: String,
    receipt: Arc<OnceLock<String>>,
}

impl PlanLink {
    /// The receipt that the step left.
    pub(crate) fn left(&self, receipt: &Receipt) {
        let _ = self.receipt.set(receipt.id.clone());
    }
}

impl StepOf<'_> {
    pub(crate) fn plan(&self) -> &str {
        &self.plan.id
    }

    pub(crate) fn link(&self) -> PlanLink {
        PlanLink { plan: self.plan.id.clone(), receipt: Arc::clone(&self.receipt) }
    }

    /// The approval that the call runs on: its own where it was filled, else the plan's, if that is still to what stands
    /// here. `bound` is what an approval of this very call is bound to.
    pub(crate) fn yes(&self, house: &House, bound: Option<&Binding>) -> Option<Yes> {
        if self.is_filled {
            let mut own = self.own.lock().unwrap_or_else(PoisonError::into_inner);
            return own.take_if(|yes| bound.is_some_and(|bound| yes.approval().covers(bound)));
        }
        let approval = self.approval.filter(|approval| self.is_covered(house, approval))?;
        Some(Yes::ToItsPlan(Box::new(approval.clone())))
    }

    /// The approval of this call alone, where the call has not taken it.
    pub(super) fn take_own(&self) -> Option<Yes> {
        self.own.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Whether the approval is to this plan under these rules and with these tools.
    pub(crate) fn is_covered(&self, house: &House, approval: &Approval) -> bool {
        binding(house, self.caller, self.plan, self.calls).is_some_and(|bound| bound == approval.binding)
    }
}

/// How a step ended, for the plan and for its caller.
pub(super) struct Ended {
    pub(super) end: StepEnd,
    /// The tool's own result, redacted.
    pub(super) result: Option<Box<RawValue>>,
}

impl Ended {
    /// `paths` are what later steps ask of the result.
    pub(super) fn of<'a>(
        house: &House,
        call: &PlannedCall,
        outcome: &Outcome,
        receipt: Option<String>,
        paths: impl Iterator<Item = &'a str>,
    ) -> Self {
        let tool = house.gate.catalog().find(&call.tool);
        let redactor = tool.and_then(|tool| house.guard(tool)).map_or(&house.plain, |guard| &guard.redactor);
        if let Outcome::Answered(result) = outcome
            && !is_error(result)
        {
            let content = content_text(result);
            let shown = to_raw_value(&exact_value(&cut(redactor.json(&content), SHOWN))).ok();
            let kept = serde_json::from_str(&content).ok().and_then(|content: &RawValue| Kept::of(content, paths));
            return Self { end: StepEnd::Done { receipt, result: kept }, result: shown };
        }
        let mut reason = Reason::of(outcome, &call.tool).unwrap_or_else(|| {
            let Outcome::Answered(result) = outcome else { return Reason::new("tool_failed", "the tool failed") };
            Reason::new("tool_failed", said(result).unwrap_or_else(|| "the tool failed".to_owned()))
        });
        reason.message = redactor.text(&reason.message).into_owned();
        if matches!(outcome, Outcome::NeedsApproval { .. }) {
            reason.message.push_str(" The plan's approval does not cover it; propose the plan again.");
        }
        let result = serde_json::to_string(&reason).ok();
        let writes = tool.is_none_or(|tool| tool.facts.effect != Effect::Read);
        let end = if writes && outcome.may_have_taken_effect() {
            StepEnd::Unknown { receipt, result }
        } else {
            StepEnd::Failed { result }
        };
        Self { end, result: None }
    }

    /// It could not even be called.
    pub(super) fn refused(reason: &Reason) -> Self {
        Self { end: StepEnd::Failed { result: serde_json::to_string(reason).ok() }, result: None }
    }

    /// Begun by a process that is gone.
    pub(super) fn lost() -> StepEnd {
        let what = "the process that ran it ended before it was known what came of it; look before doing it again";
        StepEnd::Unknown { receipt: None, result: serde_json::to_string(&Reason::new("unknown", what)).ok() }
    }
}

/// The structured content of a result as text, with every digit of its numbers; the whole result where there is none.
pub(super) fn content_text(result: &Bytes) -> Cow<'_, str> {
    let structured = member_text(result, &["structuredContent"]).filter(|content| content != "null");
    structured.unwrap_or_else(|| String::from_utf8_lossy(result))
}

/// The text of a member of a result, by the names on the way to it.
pub(super) fn member_text<'a>(result: &'a Bytes, way: &[&str]) -> Option<Cow<'a, str>> {
    let mut text = std::str::from_utf8(result).ok()?;
    for name in way {
        let members: HashMap<Cow<'a, str>, &'a RawValue> = serde_json::from_str(text).ok()?;
        text = members.get(*name)?.get();
    }
    Some(Cow::Borrowed(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_result_of_a_step_keeps_its_digits() {
        let result = Bytes::from_static(
            br#"{"content":[],"structuredContent":{"n":123456789012345678901},"_meta":{"toolgate/preview":1e3}}"#,
        );
        assert_eq!(content_text(&result), r#"{"n":123456789012345678901}"#);
        assert_eq!(member_text(&result, &["_meta", "toolgate/preview"]).as_deref(), Some("1e3"));
        let plain = Bytes::from_static(br#"{"content":[],"structuredContent":null}"#);
        assert_eq!(content_text(&plain), r#"{"content":[],"structuredContent":null}"#);
    }
}
