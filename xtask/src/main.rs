//! `cargo xtask`: what a developer and the test machine both run, so that neither has a way of its own.
#![allow(clippy::print_stdout, reason = "a command: what it finds is its output")]

mod bench;
mod cache;
mod command;
mod fault;
mod needs;
mod repository;
mod steps;
mod tidy;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::{repository::Repository, steps::Step};

#[derive(Parser)]
#[command(name = "cargo xtask", about = "Tests and benchmarks of Toolgate")]
struct Arguments {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Check everything: installs what the tests need, then runs every step in order.
    Test {
        /// Run this step alone; may be given more than once.
        #[arg(long, value_name = "STEP")]
        only: Vec<Step>,
        /// Print the steps and what each one does.
        #[arg(long)]
        list: bool,
    },
    /// Build the release binary and hand it to the benchmark; arguments after `bench` are the benchmark's.
    Bench {
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<String>,
    },
}

fn main() -> ExitCode {
    let task = Arguments::parse().task;
    let done = Repository::find().and_then(|repository| match task {
        Task::Test { list: true, .. } => {
            steps::list();
            Ok(true)
        }
        Task::Test { only, list: false } => Ok(steps::run(&repository, &only)),
        Task::Bench { arguments } => bench::run(&repository, &arguments).map(|()| true),
    });
    match done {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(fault) => {
            println!("{fault}");
            ExitCode::FAILURE
        }
    }
}
