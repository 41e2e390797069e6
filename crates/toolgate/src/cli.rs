//! The command line. Names here are a contract: people and scripts rely on them.

mod books;
mod clients;
mod command_line;
mod database;
mod examples;
mod groups;
mod keys;
mod mistakes;
mod running;
mod team;
mod team_work;
mod tenants;
mod tokens;
mod upstreams;
#[cfg(test)]
mod words;
pub mod wrap;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

pub use self::books::{
    ApprovalsCommand, ExportFormat, FilterArgs, LedgerCommand, PlansCommand, ReceiptsCommand, ReplayArgs, UndoArgs,
};
pub use self::clients::{Client, ConnectArgs, ImportArgs};
pub use self::command_line::{EXIT_CODES, Parsed, definition, parse};
pub use self::database::StoreCommand;
pub use self::examples::EXAMPLES;
pub use self::groups::GROUPS;
pub use self::keys::KeyCommand;
pub use self::running::{FinishArgs, ProcessCommand, StartTaskArgs, TaskCommand};

pub use self::team::{AddAgent, AgentCommand, ProjectCommand, SetAgent, SignIn};
pub use self::team_work::ProjectTaskCommand;
pub use self::tenants::{
    CatalogCommand, Changing, FileArgs, FileFormat, Looking, MemberCommand, Most, OverrideCommand, Position,
    TenantCommand, UserCommand,
};
pub use self::tokens::TokenCommand;
pub use self::upstreams::{AcceptArgs, AddArgs, UpstreamCommand};

#[derive(Debug, Parser)]
#[command(
    name = "toolgate",
    version,
    about = "Stands between AI agents and their tools: shows each caller only what it may use, and checks every call again."
)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Command,
}

/// Where everything is; every command takes these.
#[derive(Debug, Clone, Args)]
pub struct Place {
    /// Configuration file. Without one: ./toolgate.toml if it exists, else the built-in configuration.
    #[arg(long, env = "TOOLGATE_CONFIG", value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Folder for the key and the embedded database.
    #[arg(long, env = "TOOLGATE_DATA", value_name = "DIR", default_value = ".toolgate")]
    pub data: PathBuf,
    /// Database: sqlite:FILE or postgres://… Without one: SQLite in the data folder.
    #[arg(long, env = "TOOLGATE_DATABASE", value_name = "URL", hide_env_values = true)]
    pub database: Option<String>,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Serve MCP over HTTP.
    Serve {
        #[command(flatten)]
        place: Place,
        /// Address and port, instead of the configured one.
        #[arg(long, env = "TOOLGATE_LISTEN", value_name = "ADDR")]
        listen: Option<String>,
        /// Accept the tools of an upstream that nobody has accepted anything of yet.
        #[arg(long)]
        accept_new: bool,
    },
    /// Serve one MCP client on standard input and output.
    Stdio {
        #[command(flatten)]
        place: Place,
        /// The client's token.
        #[arg(long, env = "TOOLGATE_TOKEN", hide_env_values = true)]
        token: Option<String>,
        #[command(flatten)]
        sign_in: SignIn,
        /// Accept the tools of an upstream that nobody has accepted anything of yet.
        #[arg(long)]
        accept_new: bool,
    },
    /// Write a toolgate.toml to start from.
    Init {
        #[command(flatten)]
        place: Place,
        #[command(flatten)]
        output: Output,
    },
    /// Check configuration and rules without serving.
    Check {
        #[command(flatten)]
        place: Place,
        /// Print the JSON Schema of toolgate.toml instead.
        #[arg(long)]
        schema: bool,
        #[command(flatten)]
        output: Output,
    },
    /// Say whether a caller may use a tool, and why. Exit code 1: it may not.
    Explain {
        /// The tool, by the name it is listed under or its canonical name.
        tool: String,
        #[command(flatten)]
        caller: AsCaller,
        /// Ask for a dry run.
        #[arg(long)]
        dry_run: bool,
        /// Arguments of the call as JSON, for rules that read them.
        #[arg(long, value_name = "JSON")]
        arguments: Option<String>,
        /// Ask instead whether the caller may approve a call of it that this principal asked for: "user:ann agent:scribe".
        #[arg(long, value_name = "PRINCIPAL", conflicts_with_all = ["dry_run", "arguments"])]
        approving: Option<String>,
        #[command(flatten)]
        place: Place,
        #[command(flatten)]
        output: Output,
    },
    /// Show who sees and may call what.
    Matrix {
        /// A caller of your own as a column: user=alice,tenant=acme; repeat for more. None: a column for each kind of caller.
        #[arg(long = "as", value_name = "KEY=VALUE,…")]
        callers: Vec<String>,
        /// Only tools whose name fits; * stands for any characters.
        #[arg(long, value_name = "PATTERN")]
        tool: Option<String>,
        /// Only tools that not all of these callers may use alike.
        #[arg(long)]
        differs: bool,
        #[command(flatten)]
        place: Place,
        #[command(flatten)]
        output: Output,
    },
    /// Run policy tests. Exit code 1: one failed.
    Test {
        /// Test files; without any, every *.test.toml beside the configuration.
        files: Vec<PathBuf>,
        #[command(flatten)]
        place: Place,
        #[command(flatten)]
        output: Output,
    },
    /// Tokens of Toolgate's own.
    #[command(subcommand)]
    Token(TokenCommand),
    /// Add an MCP server to toolgate.toml: a command to start, or an address.
    Add(Box<AddArgs>),
    /// MCP servers behind the gate, and which of their tools were accepted.
    #[command(subcommand)]
    Upstream(UpstreamCommand),
    /// API keys.
    #[command(subcommand)]
    Key(KeyCommand),
    /// Tasks that agents run under.
    #[command(subcommand)]
    Task(TaskCommand),
    /// Agents of a team, and how they prove who they are.
    #[command(subcommand)]
    Agent(AgentCommand),
    /// Projects that agents work in.
    #[command(subcommand)]
    Project(ProjectCommand),
    /// Tenants, what they bought, and who belongs to them.
    #[command(subcommand)]
    Tenant(TenantCommand),
    /// Users that tenants have.
    #[command(subcommand)]
    User(UserCommand),
    /// Tools that a tenant switched on or off.
    #[command(subcommand)]
    Override(OverrideCommand),
    /// What is said of tools for everybody: group, default, lowest plan, disabled.
    #[command(subcommand)]
    Catalog(CatalogCommand),
    /// Processes: steps that tasks run one after the other, with an orchestrator's word between.
    #[command(subcommand)]
    Process(ProcessCommand),
    /// Calls that wait for a person's yes, and the answer to them.
    #[command(subcommand)]
    Approvals(ApprovalsCommand),
    /// Records of every call: read them, check them.
    #[command(subcommand)]
    Ledger(LedgerCommand),
    /// Decide every recorded call again under other rules, and say what would change. Exit code 1: something would.
    Replay(Box<ReplayArgs>),
    /// What every write left behind.
    #[command(subcommand)]
    Receipts(ReceiptsCommand),
    /// Lists of calls that are approved and run as one.
    #[command(subcommand)]
    Plans(PlansCommand),
    /// Take back what a receipt stands for, or all of a flow or a plan. Exit code 1: it was not, or not all of it.
    Undo(Box<UndoArgs>),
    /// Turn a client's MCP servers into upstreams of toolgate.toml, secrets moved out.
    Import(Box<ImportArgs>),
    /// Point a client at Toolgate: shows the change, keeps a backup, and takes it back with --undo.
    Connect(Box<ConnectArgs>),
    /// Bring the database up to date. Only this, serve, and stdio on SQLite do so.
    Migrate {
        #[command(flatten)]
        place: Place,
        #[command(flatten)]
        output: Output,
    },
    /// The database itself.
    #[command(subcommand)]
    Store(StoreCommand),
    /// Show what a caller noted with events.log, newest first.
    Events {
        /// Who noted it, the whole word: "user:ann".
        principal: String,
        /// At most so many.
        #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..))]
        limit: u32,
        #[command(flatten)]
        place: Place,
        #[command(flatten)]
        output: Output,
    },
    /// Print completions for a shell.
    Completions {
        /// The shell.
        shell: clap_complete::Shell,
    },
    /// Write a man page for every command, or one page of them all.
    Man {
        /// The folder for them; it is made if it is not there.
        #[arg(long, value_name = "DIR")]
        out: PathBuf,
        /// What is written.
        #[arg(long, value_enum, default_value_t = ManualFormat::Man)]
        format: ManualFormat,
    },
    /// Look for what would keep Toolgate from working here. Exit code 1: something would.
    Doctor {
        /// Address and port that `serve` is to have, instead of the configured one.
        #[arg(long, env = "TOOLGATE_LISTEN", value_name = "ADDR")]
        listen: Option<String>,
        #[command(flatten)]
        place: Place,
        #[command(flatten)]
        output: Output,
    },
}

/// How the manual is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ManualFormat {
    /// A man page for each command.
    Man,
    /// One page in Markdown, commands.md.
    Markdown,
}

#[derive(Debug, Clone, Copy, Args)]
pub struct Output {
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Clone, Args)]
pub struct AsCaller {
    /// A fact of the caller, e.g. --as user=alice --as tenant=acme --as role=admin. None: a stranger.
    #[arg(long = "as", value_name = "KEY=VALUE")]
    pub facts: Vec<String>,
}

/// Every fact a token or key can carry.
#[derive(Debug, Clone, Default, Args)]
pub struct FactArgs {
    /// The user: a name of your own.
    #[arg(long, value_name = "NAME")]
    pub user: Option<String>,
    /// The tenant the user acts for.
    #[arg(long, value_name = "ID")]
    pub tenant: Option<String>,
    /// The user's role in the tenant: owner, admin, billing or member.
    #[arg(long)]
    pub role: Option<String>,
    /// The tenant's plan, one of the configured ones.
    #[arg(long)]
    pub plan: Option<String>,
    /// The agent that calls.
    #[arg(long, value_name = "ID")]
    pub agent: Option<String>,
    /// The agent's kind: coordinator, manager or worker.
    #[arg(long)]
    pub kind: Option<String>,
    /// The project the agent works in.
    #[arg(long, value_name = "ID")]
    pub project: Option<String>,
    /// What the agent's session is for: task or chat.
    #[arg(long)]
    pub purpose: Option<String>,
    /// The task that calls, by its public id.
    #[arg(long, value_name = "ID")]
    pub task: Option<String>,
    /// The flow that the calls belong to; one that is configured brings its allowlist.
    #[arg(long, value_name = "ID")]
    pub flow: Option<String>,
    /// A tool the flow is limited to; repeat for more.
    #[arg(long, value_name = "TOOL", requires = "flow")]
    pub allow: Vec<String>,
    /// Where the caller runs: server or client.
    #[arg(long)]
    pub runtime: Option<String>,
    /// An OAuth scope; repeat for more.
    #[arg(long = "scope", value_name = "SCOPE")]
    pub scopes: Vec<String>,
    /// An operator of this Toolgate, who may read metrics and administer tenants and tools.
    #[arg(long)]
    pub operator: bool,
}
