//! The arguments of `connect` and `import`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::{Output, Place};
use crate::config::Writes;

#[derive(Debug, Args)]
pub struct ConnectArgs {
    /// The client to point at Toolgate. Without one: the clients of this machine, and whether they are connected.
    pub client: Option<Client>,
    /// The user the client acts for: an API key is made for it and written into the client's file.
    #[arg(long, value_name = "NAME", requires = "client", conflicts_with = "token")]
    pub user: Option<String>,
    /// Take the servers that are upstreams of Toolgate out of the client's file; --undo brings them back.
    #[arg(long, requires = "client")]
    pub replace: bool,
    /// Show the change without making it.
    #[arg(long, requires = "client")]
    pub dry_run: bool,
    /// Put the client's file back as it was, and revoke the key that was made for the client.
    #[arg(long, requires = "client", conflicts_with_all = ["url", "token", "stdio", "user", "replace"])]
    pub undo: bool,
    /// With --undo: also where the file was changed since.
    #[arg(long, requires = "undo")]
    pub force: bool,
    /// The client's file, instead of the usual one.
    #[arg(long, value_name = "FILE", requires = "client")]
    pub file: Option<PathBuf>,
    /// The MCP address, instead of the configured one.
    #[arg(long, requires = "client", conflicts_with = "stdio")]
    pub url: Option<String>,
    /// A token or key the client is to send, instead of --user; it is written into the client's file.
    #[arg(long, requires = "client")]
    pub token: Option<String>,
    /// Let the client start Toolgate itself, on standard input and output.
    #[arg(long, requires = "client")]
    pub stdio: bool,
    #[command(flatten)]
    pub place: Place,
    #[command(flatten)]
    pub output: Output,
}

/// A client whose file is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Client {
    ClaudeDesktop,
    ClaudeCode,
    Cursor,
    #[value(name = "vscode")]
    VsCode,
    Windsurf,
    Zed,
    GeminiCli,
}

impl Client {
    /// The name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::ClaudeDesktop => "claude-desktop",
            Self::ClaudeCode => "claude-code",
            Self::Cursor => "cursor",
            Self::VsCode => "vscode",
            Self::Windsurf => "windsurf",
            Self::Zed => "zed",
            Self::GeminiCli => "gemini-cli",
        }
    }
}

#[derive(Debug, Args)]
pub struct ImportArgs {
    /// The file of Claude Desktop, Claude Code, Cursor, VS Code or Windsurf.
    pub file: PathBuf,
    /// Write the configuration and the secrets. Without it they are only shown, secrets never.
    #[arg(long)]
    pub write: bool,
    /// Put each server's name before its tools' names. Done by itself where there is more than one server.
    #[arg(long, conflicts_with = "no_prefix")]
    pub prefix: bool,
    /// Leave the tools' names as they are, even where two servers may have the same.
    #[arg(long)]
    pub no_prefix: bool,
    /// Calls of tools that are not known to read: "ask" waits for approval, "allow" runs them.
    #[arg(long, value_enum, default_value_t = Writes::Ask)]
    pub writes: Writes,
    /// Overwrite secret files that hold something else.
    #[arg(long, requires = "write")]
    pub force: bool,
    #[command(flatten)]
    pub place: Place,
    #[command(flatten)]
    pub output: Output,
}
