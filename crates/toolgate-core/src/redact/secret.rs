//! How a value in JSON is known to be a secret, and which values that covers.

use super::{
    names::NameKind,
    token_run::{is_token_run, looks_secret},
};

/// What is known of a value before it is read.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Secret {
    /// What its name says.
    ByName(NameKind),
    /// What its name says, where the caller chose the name and an approver must see what runs.
    InCallersWords(NameKind),
    /// Somewhere below a secret's name, for an approver, who must see what runs.
    Below(NameKind),
    /// `USER:PASSWORD`, after an option that takes both.
    UserInfo,
    /// A fact says so.
    ByFact,
}

impl Secret {
    pub(super) const NO: Self = Self::ByName(NameKind::Plain);

    /// Returns true if an object or array is one whole. An approver sees its structure, unless a fact says that it is a secret.
    pub(super) fn covers_nest(self, for_approver: bool) -> bool {
        match self {
            Self::ByName(kind) => kind.is_certain() && !for_approver,
            Self::InCallersWords(_) | Self::Below(_) | Self::UserInfo => false,
            Self::ByFact => true,
        }
    }

    /// The secret that an object or array, of which the structure is shown, makes of what it holds.
    pub(super) fn below(self, for_approver: bool) -> Self {
        match self {
            Self::ByName(kind) | Self::InCallersWords(kind) | Self::Below(kind)
                if for_approver && kind.is_certain() =>
            {
                Self::Below(kind)
            }
            _ => Self::NO,
        }
    }

    /// This, or what a value says of itself or of its neighbour where that is more.
    pub(super) fn or(self, own: Self) -> Self {
        match own {
            Self::ByName(kind) | Self::InCallersWords(kind) if !kind.is_certain() && self != Self::NO => self,
            own => own,
        }
    }

    pub(super) fn covers_number(self) -> bool {
        matches!(
            self,
            Self::ByFact
                | Self::ByName(NameKind::Typed)
                | Self::InCallersWords(NameKind::Typed)
                | Self::Below(NameKind::Typed)
        )
    }

    pub(super) fn covers_text(self, text: &str) -> bool {
        match self {
            Self::ByName(kind) => kind.covers(text),
            Self::InCallersWords(kind) => is_token_run(text) && kind.covers(text),
            Self::Below(_) => looks_secret(text),
            Self::UserInfo => false,
            Self::ByFact => true,
        }
    }
}
