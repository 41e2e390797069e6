//! What a runner asks for: processes and their tasks.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use toolgate_store::ProcessState;

use super::{Output, Place};

#[derive(Debug, Subcommand)]
pub enum ProcessCommand {
    /// Start a process as a file defines it, and print its id.
    Start {
        /// A definition in TOML, YAML or JSON.
        file: PathBuf,
        /// The user its tasks work for.
        #[arg(long, value_name = "USER")]
        owner: Option<String>,
        /// The tenant whose knowledge its tasks share.
        #[arg(long)]
        tenant: Option<String>,
        #[command(flatten)]
        folder: FolderArgs,
        #[command(flatten)]
        place: Place,
        #[command(flatten)]
        output: Output,
    },
    /// Show a process with its steps, tasks and decisions.
    Show {
        /// The process's id, as `process list` shows it.
        id: String,
        #[command(flatten)]
        place: Place,
        #[command(flatten)]
        output: Output,
    },
    /// List processes, newest first.
    List {
        /// Only those in this state: running, completed, failed or aborted.
        #[arg(long, value_parser = process_state)]
        state: Option<ProcessState>,
        /// At most so many.
        #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..))]
        limit: u32,
        #[command(flatten)]
        place: Place,
        #[command(flatten)]
        output: Output,
    },
    /// Say what comes next. Exit code 1: nothing can start now.
    Next {
        /// The process's id.
        id: String,
        #[command(flatten)]
        place: Place,
        #[command(flatten)]
        output: Output,
    },
}

#[derive(Debug, Subcommand)]
pub enum TaskCommand {
    /// Start a task and print its id and its key; the key is shown once. In a process, it takes what is next.
    Start(Box<StartTaskArgs>),
    /// Finish a task; its rights and its children's end. Exit code 1: no such task runs.
    Finish(Box<FinishArgs>),
    /// Show a task.
    Show {
        /// The task's public id.
        id: String,
        #[command(flatten)]
        place: Place,
        #[command(flatten)]
        output: Output,
    },
    /// Note a commit that a task made.
    Commit {
        /// The task's public id.
        id: String,
        /// The commit's hash: 7 to 64 hexadecimal digits.
        hash: String,
        #[command(flatten)]
        place: Place,
        #[command(flatten)]
        output: Output,
    },
}

#[derive(Debug, Args)]
pub struct StartTaskArgs {
    /// The user the task works for.
    #[arg(long)]
    pub owner: Option<String>,
    /// The process it belongs to. One that was started with 'process start' says itself what the task is.
    #[arg(long, value_name = "ID")]
    pub process: Option<String>,
    /// What the task does, in a few words.
    #[arg(long)]
    pub name: Option<String>,
    /// The task this one is a part of.
    #[arg(long, value_name = "ID")]
    pub parent: Option<String>,
    /// It orchestrates its process.
    #[arg(long)]
    pub orchestrator: bool,
    #[command(flatten)]
    pub folder: FolderArgs,
    #[command(flatten)]
    pub setting: SettingArgs,
    #[command(flatten)]
    pub place: Place,
    #[command(flatten)]
    pub output: Output,
}

/// Where tasks work.
#[derive(Debug, Args)]
pub struct FolderArgs {
    /// The branch to work on.
    #[arg(long)]
    pub branch: Option<String>,
    /// The folder to work in.
    #[arg(long, value_name = "DIR")]
    pub worktree: Option<PathBuf>,
    /// The repository that the worktree belongs to, where that is another folder.
    #[arg(long, value_name = "DIR")]
    pub main_repo: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub struct SettingArgs {
    /// The program that runs the model.
    #[arg(long)]
    pub engine: Option<String>,
    /// The model the task runs on.
    #[arg(long)]
    pub model: Option<String>,
    /// The engine's own name for its session.
    #[arg(long)]
    pub session: Option<String>,
    /// What the task was told to do.
    #[arg(long, value_name = "TEXT")]
    pub prompt: Option<String>,
}

#[derive(Debug, Args)]
pub struct FinishArgs {
    /// The task's public id.
    pub id: String,
    /// It failed. Without this, an exit code other than 0 says so.
    #[arg(long)]
    pub failed: bool,
    /// The exit code of the task's program.
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub exit_code: Option<i64>,
    /// What went wrong.
    #[arg(long, value_name = "TEXT")]
    pub error: Option<String>,
    /// How long it ran, in milliseconds.
    #[arg(long, value_name = "N")]
    pub duration_ms: Option<u32>,
    /// What it cost, in the currency you count in.
    #[arg(long, value_name = "X")]
    pub cost: Option<f64>,
    /// Tokens that the model read.
    #[arg(long, value_name = "N")]
    pub input_tokens: Option<u32>,
    /// Tokens that the model wrote.
    #[arg(long, value_name = "N")]
    pub output_tokens: Option<u32>,
    /// The engine's own name for its session.
    #[arg(long)]
    pub session: Option<String>,
    /// A commit it made; repeat for more.
    #[arg(long = "commit", value_name = "HASH")]
    pub commits: Vec<String>,
    #[command(flatten)]
    pub place: Place,
    #[command(flatten)]
    pub output: Output,
}

fn process_state(word: &str) -> Result<ProcessState, String> {
    let known = || ProcessState::ALL.iter().map(|state| state.as_str()).collect::<Vec<_>>().join(", ");
    ProcessState::parse(word).ok_or_else(|| format!("use one of: {}", known()))
}
