//! How a value in JSON is known to be a secret, and which values that covers.

use super::{names::NameKind, token_run::is_token_run};

/// What is known of a value before it is read.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Secret {
    /// What its name says.
    ByName(NameKind),
    /// What its name says, where the caller chose the name and an approver must see what runs.
    InCallersWords(NameKind),
    /// A fact says so.
    ByFact,
}

impl Secret {
    pub(super) const NO: Self = Self::ByName(NameKind::Plain);

    /// Whether an object or array is one whole.
    pub(super) fn covers_nest(self) -> bool {
        match self {
            Self::InCallersWords(_) => false,
            Self::ByName(kind) => kind.is_certain(),
            Self::ByFact => true,
        }
    }

    pub(super) fn covers_number(self) -> bool {
        matches!(self, Self::ByFact | Self::ByName(NameKind::Typed) | Self::InCallersWords(NameKind::Typed))
    }

    pub(super) fn covers_text(self, text: &str) -> bool {
        match self {
            Self::ByName(kind) => kind.covers(text),
            Self::InCallersWords(kind) => is_token_run(text) && kind.covers(text),
            Self::ByFact => true,
        }
    }
}
