//! The `toolgate` command. Exit codes: 0 done, 1 the answer is no, 2 wrong use or it could not be carried out.

mod bounded_file;
mod caller_facts;
mod catalog;
mod child_programs;
mod cli;
mod commands;
mod config;
mod data_folder;
mod gateway_files;
mod ground;
#[cfg(test)]
#[path = "../../toolgate-core/tests/linear.rs"]
mod linear;
mod logging;
mod more;
mod operator;
mod program_search;
mod progress;
mod raise;
mod rule_files;
mod sample;
mod server_limits;
mod taken_names;
mod terminal;
mod tool_attributes;
mod upstream_connections;
mod upstreams;
mod webhooks;

use std::process::ExitCode;

/// A call is some hundred small pieces of memory that live as long as it does.
#[global_allocator]
static MEMORY: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// What a command comes to.
pub(crate) enum Ending {
    Good,
    /// Denied, failed, found wanting.
    No,
}

/// A command could not be carried out as asked.
pub(crate) type Misuse = Box<dyn std::error::Error + Send + Sync>;

pub(crate) type CommandResult = Result<Ending, Misuse>;

fn main() -> ExitCode {
    match std::env::args_os().nth(1) {
        Some(argument) if argument == child_programs::REAPER_ARGUMENT => return toolgate_upstream::reap_groups(),
        Some(argument) if argument == child_programs::LAUNCHER_ARGUMENT => {
            return toolgate_upstream::run_confined(std::env::args_os().skip(2));
        }
        _ => {}
    }
    let cli::Parsed { command, config } = match cli::parse(std::env::args_os().skip(1)) {
        Ok(parsed) => parsed,
        // with 2 on wrong use, with 0 for help
        Err(error) => error.exit(),
    };
    let result = match runtime() {
        Ok(runtime) => runtime.block_on(commands::run(command)),
        Err(fault) => Err(fault.into()),
    };
    match result {
        Ok(Ending::Good) => ExitCode::SUCCESS,
        Ok(Ending::No) => ExitCode::from(1),
        Err(misuse) => {
            eprintln!("toolgate: {}", config::with_place(config.as_deref(), &misuse.to_string()));
            ExitCode::from(2)
        }
    }
}

/// On one core, handing work between threads only costs.
fn runtime() -> std::io::Result<tokio::runtime::Runtime> {
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let mut builder = match cores {
        1 => tokio::runtime::Builder::new_current_thread(),
        _ => tokio::runtime::Builder::new_multi_thread(),
    };
    builder.enable_all().build()
}
