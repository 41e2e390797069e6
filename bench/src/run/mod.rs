//! One run: every cell as often as asked, the repetitions far apart in time.

mod catalogue;
mod cell;
mod cold;
mod gate;
mod growth;
mod machine;
mod noise;
mod passing;
mod policy;
mod process;
mod server;
mod start;
mod tenants;

use std::path::Path;
use std::time::Duration;

use serde::Serialize;

pub(crate) use cell::{Cell, Pair, Question};
pub(crate) use cold::Cold;
pub(crate) use growth::{Cost, Growth, Read, Size};
pub(crate) use noise::noise;
pub(crate) use passing::Detour;
pub(crate) use process::cpu_time;
pub(crate) use start::{Start, Way};
pub(crate) use tenants::Tenants;

use catalogue::Catalogue;
use cell::{Window, ask_gate, ask_limit};
use gate::Home;
use machine::Machine;
use server::Server;

use crate::failure::Failure;
use crate::limit::Mode;
use crate::workload::{CONNECTIONS, Era, HEADLINE, Work, Workload};

const LIMIT_WINDOW: Window = Window { warm: 300, measured: 1_200 };
const GATE_WINDOW: Window = Window { warm: 700, measured: 2_500 };
/// A server is left alone this long before its idle memory is read.
const IDLE: Duration = Duration::from_secs(1);

/// What to measure.
#[derive(Debug)]
pub(crate) struct Plan {
    pub(crate) quick: bool,
    pub(crate) repetitions: usize,
    pub(crate) only: Vec<Workload>,
}

/// One started Toolgate, from its start to the end of its load.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Life {
    pub(crate) tools: usize,
    pub(crate) first_answer_ms: f64,
    pub(crate) idle_mib: f64,
    pub(crate) loaded_mib: f64,
}

#[derive(Debug, Default, Serialize)]
pub(crate) struct Outcome {
    /// What is held against the limit.
    pub(crate) subject: &'static str,
    pub(crate) machine: String,
    pub(crate) repetitions: usize,
    pub(crate) cells: Vec<Cell>,
    pub(crate) lives: Vec<Life>,
    pub(crate) cold: Vec<Cold>,
    pub(crate) detours: Vec<Detour>,
    pub(crate) starts: Vec<Start>,
    pub(crate) growth: Growth,
    pub(crate) tenants: Option<Tenants>,
}

impl Plan {
    fn asks(&self, workload: Workload) -> bool {
        self.only.is_empty() || self.only.contains(&workload)
    }

    /// The questions to one server, workload by workload.
    fn questions(&self, workloads: &[Workload], eras: &[Era]) -> Vec<Question> {
        let connections: &[usize] = if self.quick { &[HEADLINE] } else { &CONNECTIONS };
        let mut questions = Vec::new();
        for &workload in workloads {
            if !self.asks(workload) {
                continue;
            }
            // An older upstream is noted, not examined.
            let connections = if workload == Workload::W4Old { &[HEADLINE] } else { connections };
            for &era in eras {
                questions.extend(connections.iter().map(|&connections| Question { workload, era, connections }));
            }
        }
        questions
    }
}

impl Outcome {
    fn add(&mut self, question: Question, pair: Pair) {
        match self.cells.iter_mut().find(|cell| cell.question == question) {
            Some(cell) => cell.pairs.push(pair),
            None => self.cells.push(Cell { question, pairs: vec![pair] }),
        }
    }
}

/// Measures Toolgate against the limit.
pub(crate) async fn run(toolgate: &Path, plan: &Plan) -> Result<Outcome, Failure> {
    let machine = Machine::look().await;
    let mut outcome = Outcome {
        subject: "Toolgate",
        machine: machine.note().to_owned(),
        repetitions: plan.repetitions,
        ..Outcome::default()
    };
    for repetition in 1..=plan.repetitions {
        let eras = Era::turns(repetition);
        for workloads in Workload::LOADED {
            let questions = plan.questions(workloads, &eras);
            if let Some(tools) = questions.first().map(|question| question.workload.tools()) {
                eprintln!("repetition {repetition}: {tools} tools");
                life(&machine, toolgate, tools, &questions, &mut outcome).await?;
            }
        }
        for workload in Workload::PASSED_ON {
            let questions = plan.questions(&[workload], &eras);
            if !questions.is_empty() {
                eprintln!("repetition {repetition}: {}", workload.title());
                passing::measure(&machine, toolgate, workload, &questions, &mut outcome).await?;
            }
        }
        if plan.asks(Workload::W0) {
            eprintln!("repetition {repetition}: cold view");
            outcome.cold.push(cold::measure(&machine, toolgate).await?);
        }
        if plan.asks(Workload::W5) {
            for way in Way::ALL {
                eprintln!("repetition {repetition}: start with {} upstreams", way.title());
                outcome.starts.push(start::measure(&machine, toolgate, way).await?);
            }
        }
    }
    // once: what it shows is how the sizes of one run compare
    if plan.asks(Workload::W6) {
        outcome.growth = growth::measure(plan.quick).await?;
    }
    if plan.asks(Workload::W7) || plan.asks(Workload::W7Call) {
        outcome.tenants = Some(tenants::measure(&machine, toolgate, plan.quick, &mut outcome).await?);
    }
    outcome.cells.sort_by_key(|cell| cell.question.workload);
    Ok(outcome)
}

async fn life(
    machine: &Machine,
    toolgate: &Path,
    tools: usize,
    questions: &[Question],
    outcome: &mut Outcome,
) -> Result<(), Failure> {
    let home = Home::prepare(machine, toolgate, &Catalogue::Pack { tools }).await?;
    let gate = home.start(machine).await?;
    let first_answer = home.first_answer(&gate).await?;
    tokio::time::sleep(IDLE).await;
    let idle_mib = process::memory(gate.server.pid)?;
    policy::prove(&home).await?;
    for &question in questions {
        let limit = limit_of(machine, question.workload).await?;
        let pair = Pair {
            limit: ask_limit(machine, &limit, question, LIMIT_WINDOW).await?,
            gate: ask_gate(machine, &gate.server, &home.token, question, GATE_WINDOW).await?,
        };
        limit.stop().await?;
        outcome.add(question, pair);
    }
    outcome.lives.push(Life {
        tools,
        first_answer_ms: first_answer.as_secs_f64() * 1e3,
        idle_mib,
        loaded_mib: process::memory(gate.server.pid)?,
    });
    gate.server.stop().await
}

/// The limit of a workload without upstreams.
async fn limit_of(machine: &Machine, workload: Workload) -> Result<Server, Failure> {
    let mode = match workload.work() {
        Work::Call => Mode::Echo,
        Work::List => Mode::Static,
    };
    Server::limit(machine, mode, workload.tools(), None).await
}
