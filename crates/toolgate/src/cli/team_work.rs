//! What the agents of a project work on, on the command line.

use clap::Subcommand;
use toolgate_store::team::{TaskPriority, TaskStatus};

use super::{Output, Place};

#[derive(Debug, Subcommand)]
pub enum ProjectTaskCommand {
    /// Add a task to a project.
    Add {
        /// The project.
        project: String,
        /// The task in a line.
        title: String,
        /// What is to be done.
        #[arg(long, default_value = "")]
        description: String,
        /// How urgent it is: low, medium, high or urgent.
        #[arg(long, default_value = "medium", value_parser = priority)]
        priority: TaskPriority,
        /// Give it to an agent of the project.
        #[arg(long, value_name = "AGENT")]
        assign: Option<String>,
        /// Start it: the agent gets a task session when it signs in.
        #[arg(long, requires = "assign")]
        start: bool,
        #[command(flatten)]
        place: Place,
        #[command(flatten)]
        output: Output,
    },
    /// List a project's tasks, newest first.
    List {
        /// The project.
        project: String,
        /// Only tasks of this status.
        #[arg(long, value_parser = status)]
        status: Option<TaskStatus>,
        /// Only tasks of this agent.
        #[arg(long, value_name = "AGENT")]
        assignee: Option<String>,
        /// At most so many.
        #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..))]
        limit: u32,
        #[command(flatten)]
        place: Place,
        #[command(flatten)]
        output: Output,
    },
    /// Change a task's status. Exit code 1: that is no step from where it is, or something stands in the way.
    Set {
        /// The project.
        project: String,
        /// The task's id, as `project task list` shows it.
        id: String,
        /// The new status: backlog, todo, in_progress, blocked, done or cancelled.
        #[arg(long, value_parser = status)]
        status: TaskStatus,
        /// Why, where it is blocked.
        #[arg(long)]
        reason: Option<String>,
        #[command(flatten)]
        place: Place,
        #[command(flatten)]
        output: Output,
    },
    /// Give a task to an agent of the project, or without one to nobody.
    Assign {
        /// The project.
        project: String,
        /// The task's id, as `project task list` shows it.
        id: String,
        /// The agent; without one the task is nobody's.
        agent: Option<String>,
        #[command(flatten)]
        place: Place,
        #[command(flatten)]
        output: Output,
    },
}

fn status(text: &str) -> Result<TaskStatus, String> {
    let all: Vec<&str> = TaskStatus::ALL.iter().map(|status| status.as_str()).collect();
    TaskStatus::parse(text).ok_or_else(|| format!("write one of: {}", all.join(", ")))
}

fn priority(text: &str) -> Result<TaskPriority, String> {
    TaskPriority::parse(text).ok_or_else(|| "write low, medium, high or urgent".to_owned())
}
