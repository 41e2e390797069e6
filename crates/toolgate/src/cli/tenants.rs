//! Tenants, users, overrides and the catalogue on the command line.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use toolgate_core::caller::Role;

use super::{Output, Place};

/// What every change takes.
#[derive(Debug, Args)]
pub struct Changing {
    /// Show what would change, and change nothing.
    #[arg(long)]
    pub dry_run: bool,
    /// Who does it; without it, the user of the operating system.
    #[arg(long, value_name = "NAME")]
    pub by: Option<String>,
    #[command(flatten)]
    pub place: Place,
    #[command(flatten)]
    pub output: Output,
}

/// What every look takes.
#[derive(Debug, Args)]
pub struct Looking {
    #[command(flatten)]
    pub place: Place,
    #[command(flatten)]
    pub output: Output,
}

#[derive(Debug, Args)]
pub struct Most {
    /// At most so many.
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..))]
    pub limit: u32,
}

#[derive(Debug, Subcommand)]
#[allow(clippy::large_enum_variant, reason = "one is made, once")]
pub enum TenantCommand {
    /// Add a tenant.
    Add {
        /// A short id of your own.
        id: String,
        /// The name people read; without it, the id.
        #[arg(long)]
        name: Option<String>,
        /// A configured plan; without it, the lowest.
        #[arg(long)]
        plan: Option<String>,
        /// Its first owner.
        #[arg(long, value_name = "USER")]
        owner: Option<String>,
        #[command(flatten)]
        changing: Changing,
    },
    /// List tenants, newest first.
    List {
        #[command(flatten)]
        most: Most,
        #[command(flatten)]
        looking: Looking,
    },
    /// Show a tenant and which tools it has.
    Show {
        /// The tenant.
        id: String,
        #[command(flatten)]
        looking: Looking,
    },
    /// Give a tenant another name or plan.
    Change {
        /// The tenant.
        id: String,
        /// The name people read.
        #[arg(long)]
        name: Option<String>,
        /// A configured plan.
        #[arg(long)]
        plan: Option<String>,
        #[command(flatten)]
        changing: Changing,
    },
    /// Remove a tenant with its members and overrides.
    Remove {
        /// The tenant.
        id: String,
        #[command(flatten)]
        changing: Changing,
    },
    /// Who belongs to a tenant, and as what.
    #[command(subcommand)]
    Member(MemberCommand),
}

#[derive(Debug, Subcommand)]
pub enum MemberCommand {
    /// Make somebody a member, or give a member another role.
    Set {
        /// The tenant.
        tenant: String,
        /// The user: NAME, or ISSUER/SUBJECT.
        user: String,
        /// The role: owner, admin, billing or member.
        #[arg(long, default_value = "member")]
        role: Role,
        #[command(flatten)]
        changing: Changing,
    },
    /// Take somebody out of a tenant.
    Remove {
        /// The tenant.
        tenant: String,
        /// The user: NAME, or ISSUER/SUBJECT.
        user: String,
        #[command(flatten)]
        changing: Changing,
    },
    /// List members, newest first.
    List {
        /// The tenant.
        tenant: String,
        #[command(flatten)]
        most: Most,
        #[command(flatten)]
        looking: Looking,
    },
}

#[derive(Debug, Subcommand)]
#[allow(clippy::large_enum_variant, reason = "one is made, once")]
pub enum UserCommand {
    /// Make a user known before it is a member of any tenant.
    Add {
        /// The user: NAME, or ISSUER/SUBJECT.
        user: String,
        /// The name people read.
        #[arg(long)]
        name: Option<String>,
        /// The user's e-mail address.
        #[arg(long)]
        email: Option<String>,
        #[command(flatten)]
        changing: Changing,
    },
    /// List users, newest first.
    List {
        #[command(flatten)]
        most: Most,
        #[command(flatten)]
        looking: Looking,
    },
    /// Show a user and its tenants.
    Show {
        /// The user: NAME, or ISSUER/SUBJECT.
        user: String,
        #[command(flatten)]
        looking: Looking,
    },
    /// Change a user. An empty text takes a value away.
    Change {
        /// The user: NAME, or ISSUER/SUBJECT.
        user: String,
        /// The name people read.
        #[arg(long)]
        name: Option<String>,
        /// The user's e-mail address.
        #[arg(long)]
        email: Option<String>,
        #[command(flatten)]
        changing: Changing,
    },
    /// Take a user out of every tenant and forget it.
    Remove {
        /// The user: NAME, or ISSUER/SUBJECT.
        user: String,
        #[command(flatten)]
        changing: Changing,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Position {
    /// The tenant has the tool.
    On,
    /// The tenant does not have the tool.
    Off,
}

#[derive(Debug, Subcommand)]
#[allow(clippy::large_enum_variant, reason = "one is made, once")]
pub enum OverrideCommand {
    /// Switch a tool on or off for a tenant.
    Set {
        /// The tenant.
        tenant: String,
        /// The tool, by either of its names.
        tool: String,
        /// Whether the tenant has it.
        position: Position,
        /// Why; shown beside it.
        #[arg(long, value_name = "TEXT")]
        reason: Option<String>,
        #[command(flatten)]
        changing: Changing,
    },
    /// Take an override away: the tool follows its default again.
    Remove {
        /// The tenant.
        tenant: String,
        /// The tool, by either of its names.
        tool: String,
        #[command(flatten)]
        changing: Changing,
    },
    /// List a tenant's overrides.
    List {
        /// The tenant.
        tenant: String,
        #[command(flatten)]
        looking: Looking,
    },
    /// Set the overrides of a file, all of them or none. Those it does not name stay.
    Import {
        #[command(flatten)]
        file: FileArgs,
        #[command(flatten)]
        changing: Changing,
    },
    /// Print every tenant's overrides, as import takes them.
    Export {
        /// The file's format.
        #[arg(long, value_enum, default_value = "toml")]
        format: FileFormat,
        #[command(flatten)]
        looking: Looking,
    },
}

#[derive(Debug, Subcommand)]
#[allow(clippy::large_enum_variant, reason = "one is made, once")]
pub enum CatalogCommand {
    /// List every tool: group, default, lowest plan, disabled.
    List {
        #[command(flatten)]
        looking: Looking,
    },
    /// Show one tool.
    Show {
        /// The tool, by either of its names.
        tool: String,
        #[command(flatten)]
        looking: Looking,
    },
    /// Say something of a tool, for everybody. An empty text takes a word back.
    Set {
        /// The tool, by either of its names.
        tool: String,
        /// The name people read.
        #[arg(long, value_name = "TEXT")]
        display_name: Option<String>,
        /// The category it is listed under.
        #[arg(long)]
        group: Option<String>,
        /// On for tenants that have not switched it: true or false.
        #[arg(long, value_name = "BOOL")]
        enabled_by_default: Option<bool>,
        /// The lowest plan that has it.
        #[arg(long, value_name = "PLAN")]
        min_plan: Option<String>,
        /// Why; shown beside it.
        #[arg(long, value_name = "TEXT")]
        reason: Option<String>,
        #[command(flatten)]
        changing: Changing,
    },
    /// Take back all that was said of a tool.
    Reset {
        /// The tool, by either of its names.
        tool: String,
        #[command(flatten)]
        changing: Changing,
    },
    /// Switch a tool off for everybody.
    Disable {
        /// The tool, by either of its names.
        tool: String,
        /// Why; shown beside it.
        #[arg(long, value_name = "TEXT")]
        reason: Option<String>,
        #[command(flatten)]
        changing: Changing,
    },
    /// End a disable.
    Enable {
        /// The tool, by either of its names.
        tool: String,
        #[command(flatten)]
        changing: Changing,
    },
    /// Say what a file says of tools, all of it or nothing. Tools it does not name stay as they are.
    Import {
        #[command(flatten)]
        file: FileArgs,
        #[command(flatten)]
        changing: Changing,
    },
    /// Print all that was said of tools, as import takes it.
    Export {
        /// The file's format.
        #[arg(long, value_enum, default_value = "toml")]
        format: FileFormat,
        #[command(flatten)]
        looking: Looking,
    },
}

#[derive(Debug, Args)]
pub struct FileArgs {
    /// The file, as `export` writes it.
    pub file: PathBuf,
    /// The file's format; without it, by the file's ending.
    #[arg(long, value_enum)]
    pub format: Option<FileFormat>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum FileFormat {
    /// For people.
    Toml,
    /// For spreadsheets.
    Csv,
}
