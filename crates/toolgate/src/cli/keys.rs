//! The arguments of `key`.

use clap::Subcommand;

use super::{FactArgs, Output, Place};

#[derive(Debug, Subcommand)]
#[allow(clippy::large_enum_variant, reason = "one is made, once")]
pub enum KeyCommand {
    /// Make an API key and print it, once.
    Create {
        /// What the key is for.
        #[arg(long, default_value = "")]
        name: String,
        #[command(flatten)]
        facts: FactArgs,
        /// How long it lasts; without it, until it is revoked.
        #[arg(long)]
        ttl: Option<String>,
        #[command(flatten)]
        place: Place,
        #[command(flatten)]
        output: Output,
    },
    /// List keys, never the keys themselves.
    List {
        #[command(flatten)]
        place: Place,
        #[command(flatten)]
        output: Output,
    },
    /// End a key; the next request with it is an anonymous caller's.
    Revoke {
        /// The key's id, as `key list` shows it.
        id: String,
        #[command(flatten)]
        place: Place,
        #[command(flatten)]
        output: Output,
    },
}
