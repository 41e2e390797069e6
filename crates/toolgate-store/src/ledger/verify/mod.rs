//! Verifying: reads the chains and finds every edit, deletion, insertion and move, and truncation back to a checkpoint.

mod check;
mod finding;
mod hashing;
mod recovered;
mod witness;
mod writer_state;

pub use self::finding::{Finding, Verification, Wrong};
pub(crate) use self::{
    check::{Checker, StoredRow},
    witness::Witness,
};
use super::{Head, Trusted};

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

/// What to read for a scope, and who looks at it.
pub(super) fn plan(scope: &Scope, known: &[Head]) -> (Checker, Vec<Scan>) {
    match scope {
        Scope::Since(trusted) => {
            let checkpoint = trusted.checkpoint();
            let (heads, witness) = (checkpoint.heads(), Witness::Checkpoint(checkpoint.time()));
            let mut checker = Checker::resume(heads);
            let after = checker.position();
            checker.expect(known, &Witness::Store);
            (
                checker,
                vec![
                    Scan::Heads(heads.to_vec(), witness),
                    Scan::After(if heads.is_empty() { i64::MIN } else { after }),
                ],
            )
        }
        Scope::Whole | Scope::Against(_) => {
            let mut checker = Checker::default();
            if let Scope::Against(checkpoints) = scope {
                for checkpoint in checkpoints.iter().map(Trusted::checkpoint) {
                    checker.expect(checkpoint.heads(), &Witness::Checkpoint(checkpoint.time()));
                }
            }
            checker.expect(known, &Witness::Store);
            (checker, vec![Scan::After(i64::MIN)])
        }
    }
}
