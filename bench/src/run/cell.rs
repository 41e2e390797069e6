//! One cell of the table: the limit and the server under test, one right after the other.

use std::process::Stdio;

use clap::ValueEnum;
use serde::Serialize;

use super::machine::{Machine, Side};
use super::server::Server;
use crate::TOKEN_VARIABLE;
use crate::failure::{Doing, Failure};
use crate::load::Measured;
use crate::workload::{Era, Work, Workload};

/// What is asked in one cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Question {
    pub(crate) workload: Workload,
    pub(crate) era: Era,
    pub(crate) connections: usize,
}

/// The two windows of one repetition.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Pair {
    pub(crate) limit: Measured,
    pub(crate) gate: Measured,
}

#[derive(Clone, Debug, Serialize)]
pub(crate) struct Cell {
    #[serde(flatten)]
    pub(crate) question: Question,
    pub(crate) pairs: Vec<Pair>,
}

/// Milliseconds of warming up and of measuring.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Window {
    pub(crate) warm: u64,
    pub(crate) measured: u64,
}

/// The limit is always asked raw; a static one answers with an id of its own.
pub(crate) async fn ask_limit(
    machine: &Machine,
    limit: &Server,
    question: Question,
    window: Window,
) -> Result<Measured, Failure> {
    let raw = Question { era: Era::Raw, ..question };
    let fixed_id = question.workload.work() == Work::List;
    ask(machine, limit, None, raw, fixed_id, window).await
}

pub(crate) async fn ask_gate(
    machine: &Machine,
    gate: &Server,
    token: &str,
    question: Question,
    window: Window,
) -> Result<Measured, Failure> {
    ask(machine, gate, Some(token), question, false, window).await
}

/// The upstream itself, asked without a gate before it.
pub(crate) async fn ask_upstream(
    machine: &Machine,
    upstream: &Server,
    question: Question,
    window: Window,
) -> Result<Measured, Failure> {
    ask(machine, upstream, None, question, false, window).await
}

async fn ask(
    machine: &Machine,
    server: &Server,
    token: Option<&str>,
    question: Question,
    fixed_id: bool,
    window: Window,
) -> Result<Measured, Failure> {
    let this = std::env::current_exe().doing("finding this program")?;
    let mut command = machine.command(Side::Load, this);
    command.arg("load").stdin(Stdio::null());
    let work = question.workload.work().to_possible_value();
    for (option, value) in [
        ("--address", server.address.to_string()),
        ("--pid", server.pid.to_string()),
        ("--era", question.era.name().to_owned()),
        ("--work", work.map(|work| work.get_name().to_owned()).unwrap_or_default()),
        ("--tools", question.workload.tools().to_string()),
        ("--connections", question.connections.to_string()),
        ("--warm-ms", window.warm.to_string()),
        ("--window-ms", window.measured.to_string()),
    ] {
        command.arg(option).arg(value);
    }
    if fixed_id {
        command.arg("--fixed-id");
    }
    command.env_remove(TOKEN_VARIABLE);
    if let Some(token) = token {
        command.env(TOKEN_VARIABLE, token);
    }
    let output = command.output().await.doing("starting the load")?;
    if !output.status.success() {
        let (title, era) = (question.workload.title(), question.era.name());
        return Err(Failure::Part {
            part: format!("{title}, {era}, {} connections", question.connections),
            said: String::from_utf8_lossy(&output.stderr).trim().to_owned(),
        });
    }
    serde_json::from_slice(&output.stdout).doing("reading the load's figures")
}
