//! Values that another value names: `{"name": "Authorization", "value": "X"}`, `["Authorization", "X"]`.

use std::ops::Range;

use super::{names::name_kind, secret::Secret};

/// Longest name that is looked at in a list of two.
const LONGEST_LABEL: usize = 64;
/// Shorter texts of letters alone may be a second name: `["password", "user_name"]`.
const SHORTEST_TEXT: usize = 24;

/// The part that a member has in such a pair.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    Name,
    Value,
    /// A value that may be a whole document, which is no secret for its name.
    Content,
    Other,
}

impl Role {
    pub(super) fn of(member: &str) -> Self {
        const NAMES: [&str; 8] = ["name", "key", "k", "header", "field", "param", "parameter", "variable"];
        const VALUES: [&str; 4] = ["value", "val", "v", "values"];
        let is = |word: &&str| member.eq_ignore_ascii_case(word);
        // most members are neither by their first letter
        match member.as_bytes() {
            [b'v' | b'V', ..] if VALUES.iter().any(is) => Self::Value,
            [b'c' | b'C', ..] if is(&"content") => Self::Content,
            [b'n' | b'N' | b'k' | b'K' | b'h' | b'H' | b'f' | b'F' | b'p' | b'P' | b'v' | b'V', ..]
                if NAMES.iter().any(is) =>
            {
                Self::Name
            }
            _ => Self::Other,
        }
    }
}

/// What is known of one object so far.
#[derive(Default)]
pub(super) struct Pair {
    /// The member that names a secret, if one does: its value is one.
    pub(super) label: Option<Label>,
    /// Values that came before their name.
    pub(super) values: Vec<EarlyValue>,
}

/// The name of a secret in a pair.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Label {
    /// One word, as settings and headers have.
    Word,
    /// Anything else: a title, the name of a file.
    Title,
}

impl Label {
    /// The label, where it names a secret.
    pub(super) fn of(text: &str) -> Option<Self> {
        let is_word = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-') || byte >= 0x80;
        name_kind(text).is_certain().then(|| if text.bytes().all(is_word) { Self::Word } else { Self::Title })
    }

    /// Returns true if the label makes a secret of a value in this role.
    pub(super) fn names(self, role: Role) -> bool {
        match role {
            Role::Value => true,
            Role::Content => self == Self::Word,
            Role::Name | Role::Other => false,
        }
    }
}

/// A value that came before its name: its role, and where it stands in the output and in the text.
pub(super) struct EarlyValue {
    pub(super) role: Role,
    pub(super) written: Range<usize>,
    pub(super) source: Range<usize>,
}

/// Returns true if a text can be the first of two in a list, the name of a secret.
pub(super) fn can_name_second(name: &str) -> bool {
    name.len() <= LONGEST_LABEL && Label::of(name) == Some(Label::Word)
}

/// Returns true if the text after the name of a secret, in a list of two, is that secret. `is_listed`: the list of two is itself an
/// item of a list, as headers and forms are written.
pub(super) fn is_second(value: &str, is_listed: bool) -> bool {
    let is_letter = |byte: u8| byte.is_ascii_alphabetic() || matches!(byte, b'_' | b'-');
    let is_name = value.len() < SHORTEST_TEXT && value.bytes().all(is_letter);
    !value.is_empty() && (is_listed || !is_name)
}

impl Secret {
    /// The secret that a label makes of its value: of a document's content only one run of characters.
    pub(super) fn labelled(self, role: Role) -> Self {
        match (role, self) {
            (Role::Content, Self::ByName(kind)) => Self::InCallersWords(kind),
            (_, secret) => secret,
        }
    }
}
