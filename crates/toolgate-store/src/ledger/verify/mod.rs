//! Verifying: reads the chains and finds every edit, deletion, insertion and move, and truncation back to a checkpoint.

mod check;
mod finding;
mod hashing;

pub(crate) use self::check::{Checker, StoredRow};
pub use self::finding::{Finding, Verification, Wrong};
use super::{Head, Trusted};

/// How much to verify.
#[derive(Debug, Clone)]
pub enum Scope {
    /// Everything. Without a checkpoint nobody can tell that the newest records of a writer were cut off.
    Whole,
    /// Only what came after this checkpoint, and that the records it lists are still there.
    Since(Trusted),
    /// Everything, and that each record listed by any of these is there.
    Against(Vec<Trusted>),
}

/// Rows to read, in the order in which the checker wants them.
pub(crate) enum Scan {
    /// All, by position.
    Everything,
    /// One writer's from this number on, by number.
    Writer { writer: String, from: i64 },
}

/// What to read for a scope, and who looks at it.
pub(super) fn plan(scope: &Scope, heads: &[Head]) -> (Checker, Vec<Scan>) {
    let mut checker = Checker::default();
    match scope {
        Scope::Whole => (checker, vec![Scan::Everything]),
        Scope::Against(checkpoints) => {
            for trusted in checkpoints {
                checker.expect(trusted.checkpoint());
            }
            (checker, vec![Scan::Everything])
        }
        Scope::Since(trusted) => {
            let checkpoint = trusted.checkpoint();
            checker.expect(checkpoint);
            checker.start_at(checkpoint.heads());
            let from =
                |writer: &str| checkpoint.heads().iter().find(|head| head.writer == writer).map_or(0, |head| head.seq);
            let scan = |head: &Head| Scan::Writer { writer: head.writer.clone(), from: from(&head.writer) };
            (checker, heads.iter().map(scan).collect())
        }
    }
}
