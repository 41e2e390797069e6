//! The protocol versions served, and the two eras they fall into.

/// A protocol version this crate speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Version {
    V2025_06_18,
    V2025_11_25,
    V2026_07_28,
}

impl Version {
    /// Newest first, as clients are told.
    pub const ALL: [Self; 3] = [Self::V2026_07_28, Self::V2025_11_25, Self::V2025_06_18];

    /// What `initialize` answers to a version we do not know.
    pub const NEWEST_LEGACY: Self = Self::V2025_11_25;

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::V2025_06_18 => "2025-06-18",
            Self::V2025_11_25 => "2025-11-25",
            Self::V2026_07_28 => "2026-07-28",
        }
    }

    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|version| version.as_str() == word)
    }

    /// Stateless, with its facts in every request's `_meta`; the others begin with `initialize`.
    pub const fn is_modern(self) -> bool {
        matches!(self, Self::V2026_07_28)
    }
}

/// `["2026-07-28",…]`
pub(crate) fn supported_json() -> String {
    let quoted = Version::ALL.map(|version| format!("\"{}\"", version.as_str()));
    format!("[{}]", quoted.join(","))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_listed_newest_first() {
        assert_eq!(supported_json(), r#"["2026-07-28","2025-11-25","2025-06-18"]"#);
        assert!(Version::ALL.is_sorted_by(|a, b| a > b));
        assert_eq!(Version::parse("2024-11-05"), None);
    }
}
