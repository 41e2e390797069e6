//! `token`: Toolgate's own tokens.

use clap::Subcommand;

use super::{FactArgs, Output, Place};

#[derive(Debug, Subcommand)]
#[allow(clippy::large_enum_variant, reason = "one is made, once")]
pub enum TokenCommand {
    /// Make a token and print it alone.
    Mint {
        #[command(flatten)]
        facts: FactArgs,
        /// How long it lasts: 90s, 15m, 1h, 7d.
        #[arg(long, default_value = "1h")]
        ttl: String,
        #[command(flatten)]
        place: Place,
        #[command(flatten)]
        output: Output,
    },
    /// Say what a token or an API key stands for, and whether it would be accepted. Exit code 1: it would not.
    Show {
        /// The token; without it, the first line of standard input, where no list of processes shows it.
        token: Option<String>,
        #[command(flatten)]
        place: Place,
        #[command(flatten)]
        output: Output,
    },
    /// End tokens before they expire: one, all of a subject, or all that were made before a time.
    Revoke {
        /// The token's id, as `token mint --json` prints it, or the token itself.
        #[arg(required_unless_present_any = ["subject", "all_before"])]
        id: Option<String>,
        /// All tokens made so far of a subject: user:NAME, agent:NAME or task:ID.
        #[arg(long, conflicts_with = "id")]
        subject: Option<String>,
        /// All tokens made before a time: 2026-01-31T12:00:00Z, or 90s, 15m, 1h, 7d ago.
        #[arg(long, value_name = "TIME", conflicts_with_all = ["id", "subject"])]
        all_before: Option<String>,
        #[command(flatten)]
        place: Place,
        #[command(flatten)]
        output: Output,
    },
    /// List what was revoked.
    Revoked {
        #[command(flatten)]
        place: Place,
        #[command(flatten)]
        output: Output,
    },
}
