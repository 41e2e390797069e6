//! The bench's own MCP server, to stand behind a gate: it lists the bench's tools, and any of them echoes.

mod host;
mod http;
mod stdio;

use std::net::SocketAddr;

use clap::ValueEnum;

use crate::failure::Failure;
use host::Host;

/// What the server speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Speaks {
    /// 2026-07-28, and 2025-11-25 with whoever asks for it.
    Both,
    /// 2026-07-28 only.
    Newer,
    /// 2025-11-25 only.
    Older,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// Serve over HTTP at this address; without one, over the standard streams
    #[arg(long)]
    listen: Option<SocketAddr>,
    #[arg(long)]
    tools: usize,
    #[arg(long, default_value = "both")]
    speaks: Speaks,
}

pub(crate) async fn serve(options: Options) -> Result<(), Failure> {
    let host = Host::new(options.tools, options.speaks);
    match options.listen {
        Some(address) => http::serve(address, host).await,
        None => stdio::serve(&host).await,
    }
}
