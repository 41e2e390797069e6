//! The arguments of `upstream`.

use clap::Subcommand;

use super::{Output, Place};

#[derive(Debug, Subcommand)]
pub enum UpstreamCommand {
    /// List upstreams and the state of their tools.
    List {
        #[command(flatten)]
        place: Place,
        #[command(flatten)]
        output: Output,
    },
    /// Show what is new and what changed since it was accepted. Exit code 1: something waits.
    Diff {
        /// One upstream; without it, all.
        name: Option<String>,
        #[command(flatten)]
        place: Place,
        #[command(flatten)]
        output: Output,
    },
    /// Accept tools as they are offered now, and write toolgate.lock.
    Accept {
        /// The upstream.
        name: String,
        /// Tools by the upstream's own names.
        #[arg(required_unless_present = "all")]
        tools: Vec<String>,
        /// All of them, and forget those that are gone.
        #[arg(long, conflicts_with = "tools")]
        all: bool,
        #[command(flatten)]
        place: Place,
        #[command(flatten)]
        output: Output,
    },
}
