//! Last step: what came of a run, within the limits of its tool.

use std::{sync::Arc, time::Duration};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use toolgate_core::{Denial, Tool};

use crate::{House, Outcome, SourceFault, ToolAnswer};

impl House {
    pub(crate) fn timeout(&self, tool: &Tool) -> Duration {
        Duration::from_millis(tool.facts.limits.timeout_ms.unwrap_or(self.defaults.timeout_ms))
    }

    /// A place among the calls that may run at once; `None` where there is no limit.
    pub(crate) fn slot(&self, tool: &Arc<Tool>) -> Result<Option<OwnedSemaphorePermit>, Box<Outcome>> {
        let Some(guard) = self.guard(tool) else { return Err(Box::new(Outcome::Unknown)) };
        let busy = |_| {
            let message = format!("{} is busy. Try again shortly.", tool.called());
            Box::new(self.refused(tool, "overloaded", message))
        };
        guard.concurrency.clone().map(Semaphore::try_acquire_owned).transpose().map_err(busy)
    }

    /// `None` is a run that took too long.
    pub(crate) fn conclude(
        &self,
        tool: &Arc<Tool>,
        result: Option<Result<ToolAnswer, SourceFault>>,
        timeout: Duration,
    ) -> Outcome {
        let most = tool.facts.limits.result_bytes.unwrap_or(self.defaults.result_bytes);
        let tool = Arc::clone(tool);
        match result {
            Some(Ok(answer)) if answer.len() as u64 > most => {
                let message = format!("The result of {} '{}' is larger than {most} bytes.", tool.kind, tool.wire_name);
                self.refused(&tool, "result_too_large", message)
            }
            Some(Ok(answer)) => Outcome::Answered(answer.into_bytes()),
            Some(Err(SourceFault::Unavailable(message))) => Outcome::Unavailable { tool, message },
            Some(Err(SourceFault::Conflict(message))) => self.refused(&tool, "conflict", message),
            Some(Err(SourceFault::Rejected { code, message, data })) => Outcome::Rejected { tool, code, message, data },
            Some(Err(SourceFault::InputRequired(input))) => Outcome::InputRequired { tool, input },
            Some(Err(SourceFault::NeedsApproval { denial, approval })) => {
                Outcome::NeedsApproval { tool, denial, approval }
            }
            None => {
                let message = format!("{} did not answer within {} ms.", tool.called(), timeout.as_millis());
                self.refused(&tool, "timed_out", message)
            }
        }
    }

    fn refused(&self, tool: &Arc<Tool>, code: &'static str, message: String) -> Outcome {
        let denial = Denial { code: code.to_owned(), message, rule: "limits".to_owned(), remedy: None };
        let answer = self.failure(tool, &denial, &denial.message);
        Outcome::Refused { tool: Arc::clone(tool), code, message: denial.message, answer }
    }
}
