//! What another call of the same caller would get, without making it: decided and fitted as any, and no further.

use serde_json::value::RawValue;
use toolgate_core::{Denial, Kind};

use crate::{Call, Decided, Outcome, Reason, Recorded};

/// What it would get.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Evaluated {
    Allowed,
    NeedsApproval(Denial),
    /// By a rule, or since its arguments do not fit.
    Refused(Reason),
    /// There is no such tool for this caller.
    Unknown,
}

impl Recorded {
    /// Without arguments, what can be said before they are known.
    pub fn evaluate(&self, tool: &str, arguments: Option<&RawValue>) -> Evaluated {
        let call = Call::of(Kind::Tool, tool, arguments, self.lang());
        let decided = Decided::decide(self.house(), self.shared_caller(), &call);
        let fitted = decided.and_then(|decided| match arguments {
            Some(_) => decided.fitted(arguments, &[]).map(|(decided, _)| decided),
            None => Ok(decided),
        });
        match fitted {
            Ok(decided) if decided.dry_run => Evaluated::Allowed,
            Ok(decided) => decided.needs.map_or(Evaluated::Allowed, Evaluated::NeedsApproval),
            Err(outcome) => match *outcome {
                Outcome::Unknown => Evaluated::Unknown,
                outcome => Reason::of(&outcome, tool).map_or(Evaluated::Allowed, Evaluated::Refused),
            },
        }
    }
}
