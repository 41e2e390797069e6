//! A database that was restored from an older copy.

use std::fmt;

/// A database that lost writes which its ledger knows of: an older copy took its place. What was taken away since that
/// copy is back in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RestoredDatabase {
    /// Writes that the database has.
    pub writes: i64,
    /// Writes that it had when the ledger last heard of it; `None` where the ledger's folder lost that number.
    pub known: Option<i64>,
}

impl RestoredDatabase {
    /// The number of writes that are gone, where it is known.
    pub fn missing(&self) -> Option<i64> {
        self.known.map(|known| known.saturating_sub(self.writes))
    }
}

impl fmt::Display for RestoredDatabase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.missing(), self.known) {
            (Some(missing), Some(known)) => {
                write!(f, "the database is an older copy of itself: {missing} of {known} writes are missing")?;
            }
            _ => f.write_str(
                "the database may be an older copy of itself: its ledger has records, and the file 'store.writes' in the \
                 ledger's folder, which says how many writes the database had, is missing or holds no number. Writes may \
                 be missing",
            )?,
        }
        f.write_str(
            ", so that keys and tokens revoked, members removed and approvals used in them are back. Put the newest \
             database in its place; or look up in `toolgate ledger tail` what these were, accept this database with \
             `toolgate store accept-restore`, and revoke them again before serving",
        )
    }
}
