//! Last step: what came of a run, within the limits of its tool.

use std::{sync::Arc, time::Duration};

use serde::Serialize;
use serde_json::Value;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use toolgate_core::{Caller, Denial, Tool, tool::Limits};

use crate::{
    House, Outcome, SourceFault, ToolAnswer,
    answer::{OUTCOME_UNKNOWN, said},
    limits::Place,
};

/// Seconds after which a tool that is busy may be free again.
const SHORTLY: u64 = 1;

/// A place among the calls that may run at once, held while one does.
pub(crate) struct Slot {
    _own: Option<Place>,
    _shared: Option<OwnedSemaphorePermit>,
}

/// The code of an answer to a call whose tool panicked.
pub(crate) const INTERNAL: &str = "internal_error";

/// A failure's own sentence, or else its text.
fn error_text(result: &[u8]) -> Option<String> {
    let value: Value = serde_json::from_slice(result).ok()?;
    let error = value.pointer("/structuredContent/error").and_then(Value::as_str).map(str::to_owned);
    error.or_else(|| said(result))
}

impl House {
    pub(crate) fn timeout(&self, tool: &Tool) -> Duration {
        Duration::from_millis(tool.facts.limits.timeout_ms.unwrap_or(self.defaults.timeout_ms))
    }

    pub(crate) fn result_bytes(&self, tool: &Tool) -> u64 {
        tool.facts.limits.result_bytes.unwrap_or(self.defaults.result_bytes)
    }

    /// A place among the calls that may run at once.
    pub(crate) fn slot(&self, tool: &Arc<Tool>, caller: &Caller) -> Result<Slot, Box<Outcome>> {
        let Some(guard) = self.guard(tool) else { return Err(Box::new(Outcome::Unknown)) };
        let busy = |message: String| Box::new(self.refused(tool, "overloaded", message, Some(SHORTLY)));
        let own = match caller_share(&tool.facts.limits) {
            None => None,
            Some(most) => Some(guard.under_way.enter(caller.principal(), most).ok_or_else(|| {
                busy(format!("{} runs {most} calls of yours already. Try again shortly.", tool.called()))
            })?),
        };
        let shared = guard.concurrency.clone().map(Semaphore::try_acquire_owned).transpose();
        let shared = shared.map_err(|_| busy(format!("{} is busy. Try again shortly.", tool.called())))?;
        Ok(Slot { _own: own, _shared: shared })
    }

    /// `None` is a run that took too long.
    pub(crate) fn conclude(
        &self,
        tool: &Arc<Tool>,
        result: Option<Result<ToolAnswer, SourceFault>>,
        timeout: Duration,
    ) -> Outcome {
        let most = self.result_bytes(tool);
        let tool = Arc::clone(tool);
        match result {
            Some(Ok(answer)) if answer.is_outcome_unknown() => {
                let message = error_text(answer.bytes()).unwrap_or_default();
                Outcome::Refused { tool, code: OUTCOME_UNKNOWN, message, answer }
            }
            Some(Ok(answer)) if answer.len() as u64 > most => {
                let message = format!("The result of {} '{}' is larger than {most} bytes.", tool.kind, tool.wire_name);
                self.refused(&tool, "result_too_large", message, None)
            }
            Some(Ok(answer)) => Outcome::Answered(answer.into_bytes()),
            Some(Err(SourceFault::Unavailable(message))) => Outcome::Unavailable { tool, message },
            Some(Err(SourceFault::Failed)) => {
                let message = format!("{} failed unexpectedly. The operator's log has the details.", tool.called());
                self.refused(&tool, INTERNAL, message, None)
            }
            Some(Err(SourceFault::Conflict(message))) => self.refused(&tool, "conflict", message, None),
            Some(Err(SourceFault::Rejected { code, message, data })) => Outcome::Rejected { tool, code, message, data },
            Some(Err(SourceFault::InputRequired(input))) => Outcome::InputRequired { tool, input },
            Some(Err(SourceFault::NeedsApproval { denial, approval })) => {
                Outcome::NeedsApproval { tool, denial, approval }
            }
            None => {
                let message = format!("{} did not answer within {} ms.", tool.called(), timeout.as_millis());
                self.refused(&tool, "timed_out", message, None)
            }
        }
    }

    /// A limit's no, with how many seconds to wait where that helps.
    pub(crate) fn refused(
        &self,
        tool: &Arc<Tool>,
        code: &'static str,
        message: String,
        retry_after_seconds: Option<u64>,
    ) -> Outcome {
        #[derive(Serialize)]
        #[serde(rename_all = "camelCase")]
        struct Refused<'a> {
            #[serde(flatten)]
            denial: &'a Denial,
            #[serde(skip_serializing_if = "Option::is_none")]
            retry_after_seconds: Option<u64>,
        }
        let denial = Denial { code: code.to_owned(), message, rule: "limits".to_owned(), remedy: None, source: None };
        let answer = self.failure(tool, &Refused { denial: &denial, retry_after_seconds }, &denial.message);
        Outcome::Refused { tool: Arc::clone(tool), code, message: denial.message, answer }
    }
}

/// The calls of one caller that a tool runs at once: half of all, where nobody says otherwise, and one at least.
fn caller_share(limits: &Limits) -> Option<u32> {
    limits.caller_concurrency.or_else(|| limits.concurrency.map(|most| (most / 2).max(1)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_caller_has_all_places_of_a_tool_unless_somebody_says_so() {
        let share = |concurrency, caller_concurrency| {
            caller_share(&Limits { concurrency, caller_concurrency, ..Limits::default() })
        };
        assert_eq!((share(None, None), share(Some(8), None), share(Some(1), None)), (None, Some(4), Some(1)));
        assert_eq!((share(Some(8), Some(8)), share(None, Some(2))), (Some(8), Some(2)));
    }
}
