//! Verifying: reads the chains and finds every edit, deletion, insertion and move, and truncation back to a checkpoint.

mod archived;
mod check;
mod finding;
mod hashing;
mod recovered;
mod witness;
mod writer_state;

pub use self::finding::{ArchivedRecords, Finding, Verification, Wrong};
pub(crate) use self::{
    check::{Checker, StoredRow},
    recovered::RecordedLosses,
    witness::Witness,
};
use super::{Head, SealedPart, Trusted};

/// How much to verify.
#[derive(Debug, Clone)]
pub enum Scope {
    /// Everything, and that the records are there which the store last saw. Without a checkpoint nobody can tell that
    /// somebody who can also write to the store cut off the newest records of a writer.
    Whole,
    /// Only what came after this checkpoint, and that the records it lists are still there.
    Since(Trusted),
    /// Everything, and that each record listed by any of these is there.
    Against(Vec<Trusted>),
}

/// Rows to read, in the order in which the checker wants them.
pub(crate) enum Scan {
    /// All after a position, by position.
    After(i64),
    /// One writer's after a position or from this number on, by number.
    Writer { writer: String, after: i64, from: i64 },
    /// The records that these heads name, each at its place.
    Heads(Vec<Head>, Witness),
}

/// The rows to read for a scope, and the checker that looks at them. Where a part of the ledger was archived, what is left is
/// read from there on.
pub(super) fn plan(scope: &Scope, known: &[Head], sealed: Option<&SealedPart>) -> (Checker, Vec<Scan>) {
    let (mut checker, scans) = match scope {
        Scope::Since(trusted) if sealed.is_none_or(|sealed| sealed.until < newest_position(trusted)) => {
            since(trusted, sealed)
        }
        // An archive made after the checkpoint holds what came after it, too.
        Scope::Since(trusted) => against(std::slice::from_ref(trusted), sealed),
        Scope::Whole => against(&[], sealed),
        Scope::Against(checkpoints) => against(checkpoints, sealed),
    };
    checker.expect_beside_archive(known, &Witness::Store, sealed);
    (checker, scans)
}

/// The checker for archives and ledger together, which are read from the first record on.
pub(super) fn plan_with_archives(checkpoints: &[Trusted], known: &[Head], sealed: Option<&SealedPart>) -> Checker {
    let mut checker = Checker::default();
    for checkpoint in checkpoints.iter().map(Trusted::checkpoint) {
        checker.expect(checkpoint.heads(), &Witness::Checkpoint(checkpoint.time()));
        checker.expect_seal(checkpoint, sealed);
    }
    checker.expect(known, &Witness::Store);
    checker
}

fn newest_position(trusted: &Trusted) -> i64 {
    trusted.checkpoint().heads().iter().map(|head| head.position).max().unwrap_or(i64::MIN)
}

fn since(trusted: &Trusted, sealed: Option<&SealedPart>) -> (Checker, Vec<Scan>) {
    let checkpoint = trusted.checkpoint();
    let mut checker = Checker::resume(checkpoint.heads());
    let after = if checkpoint.heads().is_empty() { i64::MIN } else { checker.position() };
    let mut heads = checkpoint.heads().to_vec();
    if let Some(sealed) = sealed {
        checker.begin_after(sealed);
        heads.retain(|head| head.position > sealed.until);
    }
    checker.expect_seal(checkpoint, sealed);
    (checker, vec![Scan::Heads(heads, Witness::Checkpoint(checkpoint.time())), Scan::After(after)])
}

fn against(checkpoints: &[Trusted], sealed: Option<&SealedPart>) -> (Checker, Vec<Scan>) {
    let mut checker = Checker::default();
    if let Some(sealed) = sealed {
        checker = Checker::resume(&sealed.ends);
        checker.begin_after(sealed);
    }
    for trusted in checkpoints {
        let checkpoint = trusted.checkpoint();
        checker.expect_beside_archive(checkpoint.heads(), &Witness::Checkpoint(checkpoint.time()), sealed);
        checker.expect_seal(checkpoint, sealed);
    }
    (checker, vec![Scan::After(sealed.map_or(i64::MIN, |sealed| sealed.until))])
}
