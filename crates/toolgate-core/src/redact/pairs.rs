//! Objects that name a value in another member: `{"name": "Authorization", "value": "X"}`.

use std::ops::Range;

/// The part that a member has in such a pair.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    Name,
    Value,
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
    /// A member names a secret: its value is one.
    pub(super) is_named: bool,
    /// Values that came before their name: where they stand in the output and in the text.
    pub(super) values: Vec<(Range<usize>, Range<usize>)>,
}
