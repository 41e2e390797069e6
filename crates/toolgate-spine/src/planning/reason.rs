//! Why a step did not do what it should, in the words that the call itself would get.

use serde::{Deserialize, Serialize};
use toolgate_core::Denial;

use crate::{Outcome, answer::said};

/// A tool may say much.
const LONGEST: usize = 2_000;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reason {
    pub code: String,
    pub message: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remedy: Option<String>,
}

impl Reason {
    pub(super) fn new(code: &str, message: impl Into<String>) -> Self {
        let message = message.into().chars().take(LONGEST).collect();
        Self { code: code.to_owned(), message, rule: None, remedy: None }
    }

    /// `None` for an answer. `asked` is the name that the caller gave.
    pub(crate) fn of(outcome: &Outcome, asked: &str) -> Option<Self> {
        Some(match outcome {
            Outcome::Answered(_) => return None,
            Outcome::Denied { denial, .. } | Outcome::NeedsApproval { denial, .. } => denial.clone().into(),
            Outcome::Refused { code, answer, message, .. } => {
                let said = said(&answer.clone().into_bytes());
                Self::new(code, said.unwrap_or_else(|| message.clone()))
            }
            Outcome::Unknown => {
                Self::new("unknown_tool", format!("Unknown tool: {}", asked.chars().take(140).collect::<String>()))
            }
            Outcome::Unbound { argument, .. } => {
                Self::new("unbound_argument", format!("nothing known of this caller fills the argument '{argument}'"))
            }
            Outcome::Unavailable { message, .. } => Self::new("unavailable", message.clone()),
            Outcome::Rejected { message, .. } => Self::new("rejected", message.clone()),
            Outcome::Unrecorded { message } => Self::new("unrecorded", message.clone()),
            Outcome::InputRequired { .. } => {
                Self::new("input_required", "it asks for more input, which a step of a plan can't be given")
            }
        })
    }
}

impl From<Denial> for Reason {
    fn from(denial: Denial) -> Self {
        let Denial { code, message, rule, remedy, .. } = denial;
        Self { code, message, rule: Some(rule).filter(|rule| !rule.is_empty()), remedy }
    }
}
