//! Archives: parts of the ledger that were moved away, each with a signed seal.
//!
//! An archive is a file of records and, beside it, its seal. The seal names the file's digest and the heads of all chains
//! before and after the part, so that the file can be verified alone ([`Archive::verify`]), and the ledger without it: what
//! is left of the ledger begins where the newest seal ends. Each seal names the one before it, the ledger records each
//! archive, and checkpoints name the newest seal.
//!
//! INVARIANT: a part leaves the ledger only after its file and its seal are on the disk, the ledger has a record of them, and
//! the store has the seal.

mod create;
mod open;
mod seal;
mod seal_table;
mod sealed_part;

pub use self::{
    create::{ArchiveError, ArchiveRequest},
    open::{Archive, OpenArchiveError},
    seal::{ArchiveSeal, SealError},
};
pub(crate) use self::{
    create::{CopiedPart, temporary},
    sealed_part::{ArchivedHead, SealedPart},
};
pub(super) use self::{open::read_all, seal_table::SealTable};
