//! The command line of `store`.

use clap::Subcommand;

use super::{Output, Place};

#[derive(Debug, Subcommand)]
pub enum StoreCommand {
    /// Accept a database that was restored from an older copy, on record in the ledger. Until then nothing is served from it
    /// and nothing is written to it.
    AcceptRestore {
        /// Who does so; without it, the user of the operating system.
        #[arg(long, value_name = "NAME")]
        by: Option<String>,
        #[command(flatten)]
        place: Place,
        #[command(flatten)]
        output: Output,
    },
}
