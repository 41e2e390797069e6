//! `toolgate-bench`: what Toolgate costs, as a multiple of what is physically needed. The method is in README.md.

mod failure;
mod limit;
mod load;
mod report;
mod rpc;
mod run;
mod serving;
mod tools;
mod upstream;
mod wire;
mod workload;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use tokio::task::LocalSet;

use failure::{Doing, Failure};
use report::Verdict;
use run::Plan;
use workload::Workload;

/// How the load is told its token, so that no command line shows it.
const TOKEN_VARIABLE: &str = "TOOLGATE_BENCH_TOKEN";

/// Measures Toolgate against the physical limit, on loopback
#[derive(Debug, Parser)]
#[command(version, subcommand_negates_reqs = true, args_conflicts_with_subcommands = true)]
struct Command {
    /// The toolgate binary to measure
    #[arg(long, value_name = "PATH", required_unless_present = "noise")]
    toolgate: Option<PathBuf>,
    /// Measure the limit against itself: how far ratios lie from 1 by chance
    #[arg(long, conflicts_with_all = ["toolgate", "check"])]
    noise: bool,
    /// 16 connections only
    #[arg(long)]
    quick: bool,
    /// How often each cell is measured; an even number gives each era every turn equally often
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u8).range(1..=50))]
    repetitions: u8,
    /// Only these workloads
    #[arg(long, value_name = "W1,W2,…", value_delimiter = ',')]
    only: Vec<Workload>,
    /// Write every figure to a file
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Exit with 1 when a target is missed
    #[arg(long)]
    check: bool,
    #[command(subcommand)]
    part: Option<Part>,
}

/// The parts that a run starts as processes of their own.
#[derive(Debug, Subcommand)]
enum Part {
    #[command(hide = true)]
    Limit(limit::Options),
    #[command(hide = true)]
    Upstream(upstream::Options),
    #[command(hide = true)]
    Load(load::Options),
}

fn main() -> ExitCode {
    let command = Command::parse();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let ended = runtime.doing("starting").and_then(|runtime| LocalSet::new().block_on(&runtime, act(command)));
    match ended {
        Ok(code) => code,
        Err(failure) => {
            eprintln!("toolgate-bench: {failure}");
            ExitCode::from(2)
        }
    }
}

#[allow(clippy::print_stdout, reason = "the report is what this program prints")]
async fn act(command: Command) -> Result<ExitCode, Failure> {
    match command.part {
        Some(Part::Limit(options)) => limit::serve(options).await?,
        Some(Part::Upstream(options)) => upstream::serve(options).await?,
        Some(Part::Load(options)) => {
            let measured = load::run(options).await?;
            let line = serde_json::to_string(&measured).doing("writing the figures")?;
            println!("{line}");
        }
        None => {
            let (page, missed) = measure(&command).await?;
            print!("{page}");
            if missed && command.check {
                return Ok(ExitCode::from(1));
            }
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// The page, and whether a target was missed.
async fn measure(command: &Command) -> Result<(String, bool), Failure> {
    let plan = Plan { quick: command.quick, repetitions: command.repetitions.into(), only: command.only.clone() };
    let outcome = match &command.toolgate {
        Some(toolgate) => run::run(toolgate, &plan).await?,
        None => run::noise(&plan).await?,
    };
    let verdicts = report::verdicts(&outcome);
    if let Some(file) = &command.json {
        let all = serde_json::json!({ "outcome": outcome, "targets": verdicts });
        let doing = || format!("writing {}", file.display());
        let text = serde_json::to_string_pretty(&all).doing(doing())?;
        std::fs::write(file, text).doing(doing())?;
    }
    let missed = verdicts.iter().any(Verdict::missed);
    Ok((report::page(&outcome, &verdicts), missed))
}
