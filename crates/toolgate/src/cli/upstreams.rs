//! The arguments of `add` and `upstream`.

use clap::{Args, Subcommand};

use super::{Output, Place};
use crate::config::Writes;

#[derive(Debug, Args)]
#[command(
    override_usage = "toolgate add [OPTIONS] <NAME> <URL>\n       toolgate add [OPTIONS] <NAME> -- <COMMAND> [ARGS]..."
)]
pub struct AddArgs {
    /// Short name of the server: of a-z, 0-9, - and _.
    pub name: String,
    /// The MCP address of a server that runs already.
    #[arg(required_unless_present = "command", conflicts_with = "command")]
    pub url: Option<String>,
    /// The program to start, with its arguments, after --.
    #[arg(last = true)]
    pub command: Vec<String>,
    /// A header of every request to the address: 'Authorization: Bearer …'. A secret goes into a file of its own.
    #[arg(long = "header", value_name = "NAME: VALUE", conflicts_with = "command")]
    pub headers: Vec<String>,
    /// A variable of the program: GITHUB_TOKEN=…; '${VAR}' as the value reads it from Toolgate's own environment. A secret
    /// goes into a file of its own.
    #[arg(long = "env", value_name = "NAME=VALUE", conflicts_with = "url")]
    pub env: Vec<String>,
    /// Put before every name of its tools.
    #[arg(long, default_value = "")]
    pub prefix: String,
    /// Calls of tools that are not known to read: "ask" waits for approval, "allow" runs them.
    #[arg(long, value_enum, default_value_t = Writes::Ask)]
    pub writes: Writes,
    /// Overwrite secret files that hold something else.
    #[arg(long)]
    pub force: bool,
    #[command(flatten)]
    pub place: Place,
    #[command(flatten)]
    pub output: Output,
}

#[derive(Debug, Args)]
pub struct AcceptArgs {
    /// Servers, by name; without any, every server.
    pub names: Vec<String>,
    /// All tools that the servers offer, and forget those that are gone.
    #[arg(long, conflicts_with = "tools")]
    pub all: bool,
    /// A tool by the server's own name for it; repeat for more. For one server.
    #[arg(long = "tool", value_name = "TOOL")]
    pub tools: Vec<String>,
    /// Ask nothing.
    #[arg(long)]
    pub yes: bool,
    /// Show whole definitions of new tools.
    #[arg(long)]
    pub full: bool,
    /// Write the attributes that the servers claim for their tools to the configuration.
    #[arg(long)]
    pub attributes: bool,
    #[command(flatten)]
    pub place: Place,
    #[command(flatten)]
    pub output: Output,
}

#[derive(Debug, Subcommand)]
pub enum UpstreamCommand {
    /// List upstreams and the state of their tools. Exit code 1: one does not answer.
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
        /// Show whole definitions of new tools.
        #[arg(long)]
        full: bool,
        #[command(flatten)]
        place: Place,
        #[command(flatten)]
        output: Output,
    },
    /// Review tools, accept them as they are offered now, and write toolgate.lock. Exit code 1: not all of them were accepted.
    Accept(Box<AcceptArgs>),
}
