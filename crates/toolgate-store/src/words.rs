//! Closed sets of words, stored as the words themselves.

/// An enum of which each variant is one word in the database and in answers.
macro_rules! words {
    ($(#[$about:meta])* $name:ident { $($(#[$doc:meta])* $variant:ident = $word:literal),+ $(,)? }) => {
        $(#[$about])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum $name {
            $($(#[$doc])* $variant,)+
        }

        impl $name {
            pub const ALL: &[Self] = &[$(Self::$variant),+];

            pub fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $word,)+
                }
            }

            pub fn parse(word: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|known| known.as_str() == word)
            }

            #[allow(dead_code, reason = "not every word is read from a column that always has one")]
            pub(crate) fn from_cell(row: &mut crate::statement::Row) -> Result<Self, crate::error::Fault> {
                let word = row.text()?;
                let other = || format!("a stored row says '{word}' where it has no such word; the database was changed");
                Self::parse(&word).ok_or_else(|| crate::error::Fault::Other(other()))
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                out.write_str(self.as_str())
            }
        }
    };
}
