//! The arguments of `connect` and `import`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::{Output, Place};

#[derive(Debug, Args)]
pub struct ConnectArgs {
    /// The client.
    pub client: Client,
    /// Show the change without making it.
    #[arg(long)]
    pub dry_run: bool,
    /// Put the client's file back as it was.
    #[arg(long, conflicts_with_all = ["url", "token", "stdio"])]
    pub undo: bool,
    /// With --undo: also where the file was changed since.
    #[arg(long, requires = "undo")]
    pub force: bool,
    /// The client's file, instead of the usual one.
    #[arg(long, value_name = "FILE")]
    pub file: Option<PathBuf>,
    /// The MCP address, instead of the configured one.
    #[arg(long, conflicts_with = "stdio")]
    pub url: Option<String>,
    /// The token the client is to show; it is written into the client's file.
    #[arg(long)]
    pub token: Option<String>,
    /// Let the client start Toolgate itself, on standard input and output.
    #[arg(long)]
    pub stdio: bool,
    #[command(flatten)]
    pub place: Place,
    #[command(flatten)]
    pub output: Output,
}

/// A client whose file we know.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Client {
    ClaudeDesktop,
    ClaudeCode,
    Cursor,
    #[value(name = "vscode")]
    VsCode,
    Windsurf,
}

#[derive(Debug, Args)]
pub struct ImportArgs {
    /// The file of Claude Desktop, Claude Code, Cursor, VS Code or Windsurf.
    pub file: PathBuf,
    /// Write the configuration and the secrets. Without it they are only shown, secrets never.
    #[arg(long)]
    pub write: bool,
    /// Put each server's name before its tools' names.
    #[arg(long)]
    pub prefix: bool,
    /// Overwrite secret files that hold something else.
    #[arg(long, requires = "write")]
    pub force: bool,
    #[command(flatten)]
    pub place: Place,
    #[command(flatten)]
    pub output: Output,
}
