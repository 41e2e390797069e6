//! What the rulebook answers.

use std::{str::FromStr, sync::Arc};

use serde::Serialize;

/// The answer to "may this caller do this", with the reason people read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Decision {
    Allow,
    /// Nothing but a human's yes is missing.
    NeedsApproval(Denial),
    Deny(Denial),
}

/// Which rule said no, for programs (`code`) and for people (`message`, `remedy`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Denial {
    pub code: String,
    pub message: String,
    pub rule: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub remedy: Option<String>,
    /// The rule's place in the tenant cascade, if it has one: `global_disabled`, `plan_restriction`, `tenant_override`,
    /// `default`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<Box<str>>,
}

/// The same answer before it is put into words: indexes of the rules that failed, lowest order first.
///
/// Equal for every tool and caller of one class, so it is what caches hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    Allow,
    NeedsApproval(Arc<[usize]>),
    Deny {
        /// Those that refuse before those that only ask. Empty where no rule failed but the evaluation did, or where no rule permits.
        failed: Arc<[usize]>,
        /// A condition that hides is among them.
        concealed: bool,
        fault: Option<Fault>,
    },
}

impl Verdict {
    /// A call would pass, or needs only an approval.
    pub fn is_callable(&self) -> bool {
        !matches!(self, Self::Deny { .. })
    }

    pub fn is_concealed(&self) -> bool {
        matches!(self, Self::Deny { concealed: true, .. })
    }
}

/// Why there is a denial without a failed rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// A rule could not be evaluated; whatever it would have said, the answer is no.
    Evaluation,
    /// No rule permits anything.
    NoRule,
    /// An argument that a rule reads has no exact value of the rule's type.
    Argument,
}

/// The language of what people read. Codes never change with it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum Lang {
    #[default]
    En,
    Ja,
}

impl Lang {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::En => "en",
            Self::Ja => "ja",
        }
    }
}

impl FromStr for Lang {
    type Err = crate::caller::BadFact;

    fn from_str(word: &str) -> Result<Self, Self::Err> {
        match word {
            "en" => Ok(Self::En),
            "ja" => Ok(Self::Ja),
            _ => Err(crate::caller::BadFact::new("language", word, "one of: en ja")),
        }
    }
}
