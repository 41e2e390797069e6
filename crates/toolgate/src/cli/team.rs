//! Agents and projects on the command line.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use toolgate_store::team::{AgentStatus, AgentType, Hierarchy, ProjectStatus};

use super::{Output, Place, ProjectTaskCommand};

#[derive(Debug, Subcommand)]
pub enum AgentCommand {
    /// Add an agent and print its passkey, once.
    Add(Box<AddAgent>),
    /// List agents, newest first.
    List {
        /// At most so many.
        #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..))]
        limit: u32,
        #[command(flatten)]
        place: Place,
        #[command(flatten)]
        output: Output,
    },
    /// Show an agent and its projects.
    Show {
        /// The agent's id.
        id: String,
        #[command(flatten)]
        place: Place,
        #[command(flatten)]
        output: Output,
    },
    /// Change an agent. An empty text takes a value away.
    Set(Box<SetAgent>),
    /// Give an agent a new passkey and end its sessions.
    Passkey {
        /// The agent's id.
        id: String,
        /// A file with the passkey; without it one is made and printed, once.
        #[arg(long, value_name = "FILE")]
        passkey_file: Option<PathBuf>,
        #[command(flatten)]
        place: Place,
        #[command(flatten)]
        output: Output,
    },
    /// Let an agent work in a project.
    Assign {
        /// The agent.
        id: String,
        /// The project it is to work in.
        project: String,
        #[command(flatten)]
        place: Place,
        #[command(flatten)]
        output: Output,
    },
    /// List an agent's live sessions.
    Sessions {
        /// The agent's id.
        id: String,
        #[command(flatten)]
        place: Place,
        #[command(flatten)]
        output: Output,
    },
    /// End one session of an agent.
    EndSession {
        /// The session's id, as `agent sessions` lists it.
        session: String,
        #[command(flatten)]
        place: Place,
        #[command(flatten)]
        output: Output,
    },
    /// Take an agent out of a project; its sessions there end.
    Unassign {
        /// The agent.
        id: String,
        /// The project it works in.
        project: String,
        #[command(flatten)]
        place: Place,
        #[command(flatten)]
        output: Output,
    },
}

#[derive(Debug, Args)]
pub struct AddAgent {
    /// A short id of your own, for commands, rules and messages.
    pub id: String,
    /// The name people read; without it, the id.
    #[arg(long)]
    pub name: Option<String>,
    /// What it does in the team.
    #[arg(long, default_value = "")]
    pub role: String,
    /// What it is: ai or human.
    #[arg(long = "type", value_name = "TYPE", default_value = "ai", value_parser = agent_type)]
    pub agent_type: AgentType,
    /// Its place in the team: manager or worker.
    #[arg(long, default_value = "worker", value_parser = hierarchy)]
    pub hierarchy: Hierarchy,
    #[command(flatten)]
    pub more: AgentFields,
    /// A project to work in; repeat for more.
    #[arg(long = "project", value_name = "ID")]
    pub projects: Vec<String>,
    /// A file with the passkey; without it one is made and printed, once.
    #[arg(long, value_name = "FILE")]
    pub passkey_file: Option<PathBuf>,
    #[command(flatten)]
    pub place: Place,
    #[command(flatten)]
    pub output: Output,
}

#[derive(Debug, Args)]
pub struct SetAgent {
    /// The agent's id.
    pub id: String,
    /// The name people read.
    #[arg(long)]
    pub name: Option<String>,
    /// What it does in the team.
    #[arg(long)]
    pub role: Option<String>,
    /// Its place in the team: manager or worker.
    #[arg(long, value_parser = hierarchy)]
    pub hierarchy: Option<Hierarchy>,
    /// Its status: active, inactive, suspended or archived.
    #[arg(long, value_parser = agent_status)]
    pub status: Option<AgentStatus>,
    #[command(flatten)]
    pub more: AgentFields,
    #[command(flatten)]
    pub place: Place,
    #[command(flatten)]
    pub output: Output,
}

/// What can be said of an agent both when it is added and later.
#[derive(Debug, Args)]
pub struct AgentFields {
    /// The agent it stands under.
    #[arg(long, value_name = "ID")]
    pub parent: Option<String>,
    /// Tasks it may have in progress at the same time.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub max_parallel_tasks: Option<u32>,
    /// Something it can do; repeat for more.
    #[arg(long = "capability", value_name = "TEXT")]
    pub capabilities: Vec<String>,
    /// What its model is told first.
    #[arg(long, value_name = "TEXT")]
    pub system_prompt: Option<String>,
    /// Who provides its model.
    #[arg(long)]
    pub provider: Option<String>,
    /// The model it is meant to run on.
    #[arg(long, value_name = "ID")]
    pub model: Option<String>,
    /// The user it works for.
    #[arg(long, value_name = "USER")]
    pub owner: Option<String>,
}

#[derive(Debug, Subcommand)]
pub enum ProjectCommand {
    /// Add a project.
    Add {
        /// A short id of your own.
        id: String,
        /// The name people read; without it, the id.
        #[arg(long)]
        name: Option<String>,
        /// The folder its agents work in.
        #[arg(long, value_name = "DIR")]
        working_directory: Option<String>,
        #[command(flatten)]
        place: Place,
        #[command(flatten)]
        output: Output,
    },
    /// List projects, newest first.
    List {
        /// At most so many.
        #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..))]
        limit: u32,
        #[command(flatten)]
        place: Place,
        #[command(flatten)]
        output: Output,
    },
    /// Show a project and its agents.
    Show {
        /// The project's id.
        id: String,
        #[command(flatten)]
        place: Place,
        #[command(flatten)]
        output: Output,
    },
    /// Change a project. An empty folder takes it away.
    Set {
        /// The project's id.
        id: String,
        /// The name people read.
        #[arg(long)]
        name: Option<String>,
        /// Its status: active, paused or archived.
        #[arg(long, value_parser = project_status)]
        status: Option<ProjectStatus>,
        /// The folder its agents work in.
        #[arg(long, value_name = "DIR")]
        working_directory: Option<String>,
        #[command(flatten)]
        place: Place,
        #[command(flatten)]
        output: Output,
    },
    /// What its agents work on.
    #[command(subcommand)]
    Task(ProjectTaskCommand),
    /// Write to an agent as a person of the project.
    Tell {
        /// The project.
        project: String,
        /// The agent that is written to.
        agent: String,
        /// The message.
        text: String,
        /// The person: an agent of the type human.
        #[arg(long, value_name = "AGENT")]
        from: String,
        #[command(flatten)]
        place: Place,
        #[command(flatten)]
        output: Output,
    },
}

/// An agent that `stdio` signs in as.
#[derive(Debug, Clone, Args)]
pub struct SignIn {
    /// Sign in as this agent of the team, and out when the client has gone.
    #[arg(long, value_name = "ID", requires_all = ["project", "passkey_file"], conflicts_with = "token")]
    pub agent: Option<String>,
    /// The project to sign in to.
    #[arg(long, value_name = "ID", requires = "agent")]
    pub project: Option<String>,
    /// A file with the agent's passkey.
    #[arg(long, value_name = "FILE", requires = "agent")]
    pub passkey_file: Option<PathBuf>,
}

fn agent_type(text: &str) -> Result<AgentType, String> {
    AgentType::parse(text).ok_or_else(|| "write ai or human".to_owned())
}

fn hierarchy(text: &str) -> Result<Hierarchy, String> {
    Hierarchy::parse(text).ok_or_else(|| "write manager or worker".to_owned())
}

fn agent_status(text: &str) -> Result<AgentStatus, String> {
    AgentStatus::parse(text).ok_or_else(|| "write active, inactive, suspended or archived".to_owned())
}

fn project_status(text: &str) -> Result<ProjectStatus, String> {
    ProjectStatus::parse(text).ok_or_else(|| "write active, paused or archived".to_owned())
}
