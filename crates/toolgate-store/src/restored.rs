//! A database that was restored from an older copy.

use std::fmt;

/// A database that lost writes which its ledger knows of: an older copy took its place. What was taken away since that
/// copy is back in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RestoredDatabase {
    /// Writes that the database has.
    pub writes: i64,
    /// Writes that it had when the ledger last heard of it.
    pub known: i64,
}

impl fmt::Display for RestoredDatabase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { writes, known } = self;
        write!(
            f,
            "the database is an older copy of itself: {} of {known} writes are missing, so that keys and tokens revoked, \
             members removed and approvals used in them are back. Put the newest database in its place; or look up in \
             `toolgate ledger tail` what these were, accept this database with `toolgate store accept-restore`, and \
             revoke them again before serving",
            known - writes
        )
    }
}
