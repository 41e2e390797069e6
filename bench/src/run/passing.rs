//! W4: a call that is passed on to an upstream, against a bare proxy to the same one, and what the detour adds in time.
//!
//! The upstream runs with the load, so that the server's CPU is the gate's alone. Calls without a gate go to a second one
//! on the server's CPU: they cross from one CPU to the other once each way, as calls to a gate do, so the difference is the
//! gate and its own way to the upstream.

use std::path::Path;

use serde::Serialize;

use super::catalogue::{Catalogue, Place, Upstream};
use super::cell::{Pair, Question, ask_gate, ask_limit, ask_upstream};
use super::gate::{Gate, Home};
use super::machine::{Machine, Side};
use super::server::Server;
use super::{GATE_WINDOW, IDLE, LIMIT_WINDOW, Outcome, policy};
use crate::failure::Failure;
use crate::limit::Mode;
use crate::upstream::Speaks;
use crate::workload::{Era, Workload};

/// Median times of a call on one connection, in microseconds.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Detour {
    pub(crate) era: Era,
    /// Straight to the upstream as the caller of the gate asks, and through the gate.
    pub(crate) direct_us: f64,
    pub(crate) gate_us: f64,
    /// Straight to the upstream as the limit is asked, and through the limit.
    pub(crate) raw_us: f64,
    pub(crate) limit_us: f64,
}

impl Detour {
    pub(crate) fn gate_added(&self) -> f64 {
        self.gate_us - self.direct_us
    }

    pub(crate) fn limit_added(&self) -> f64 {
        self.limit_us - self.raw_us
    }
}

/// The upstream of a workload that has one. It speaks one era only, so that the gate has no choice.
pub(crate) async fn upstream_of(machine: &Machine, workload: Workload) -> Result<Server, Failure> {
    let speaks = if workload == Workload::W4Old { Speaks::Older } else { Speaks::Newer };
    Server::upstream(machine, Side::Load, workload.tools(), speaks).await
}

/// The bare proxy before an upstream.
pub(crate) async fn proxy(machine: &Machine, workload: Workload, upstream: &Server) -> Result<Server, Failure> {
    Server::limit(machine, Mode::Proxy, workload.tools(), Some(upstream.address)).await
}

pub(crate) async fn measure(
    machine: &Machine,
    toolgate: &Path,
    workload: Workload,
    questions: &[Question],
    outcome: &mut Outcome,
) -> Result<(), Failure> {
    let upstream = upstream_of(machine, workload).await?;
    let behind = Upstream { name: "bench".to_owned(), prefix: String::new(), place: Place::Http(upstream.address) };
    let catalogue = Catalogue::Upstreams { all: vec![behind], tools_each: workload.tools() };
    let home = Home::prepare(machine, toolgate, &catalogue).await?;
    let gate = home.start(machine).await?;
    home.first_answer(&gate).await?;
    tokio::time::sleep(IDLE).await;
    policy::prove(&home).await?;
    for &question in questions {
        let limit = proxy(machine, workload, &upstream).await?;
        let pair = Pair {
            limit: ask_limit(machine, &limit, question, LIMIT_WINDOW).await?,
            gate: ask_gate(machine, &gate.server, &home.token, question, GATE_WINDOW).await?,
        };
        limit.stop().await?;
        outcome.add(question, pair);
    }
    if workload == Workload::W4 {
        let mut eras: Vec<Era> = questions.iter().map(|question| question.era).collect();
        eras.dedup();
        for era in eras {
            outcome.detours.push(detour(machine, &home, &gate, &upstream, era).await?);
        }
    }
    gate.server.stop().await?;
    upstream.stop().await
}

/// The four windows follow each other closely: differences of medians that lie minutes apart would say little.
async fn detour(machine: &Machine, home: &Home, gate: &Gate, upstream: &Server, era: Era) -> Result<Detour, Failure> {
    let workload = Workload::W4;
    let question = Question { workload, era, connections: 1 };
    let direct = Server::upstream(machine, Side::Server, workload.tools(), Speaks::Both).await?;
    let limit = proxy(machine, workload, upstream).await?;
    let detour = Detour {
        era,
        raw_us: ask_limit(machine, &direct, question, LIMIT_WINDOW).await?.p50_us,
        limit_us: ask_limit(machine, &limit, question, LIMIT_WINDOW).await?.p50_us,
        direct_us: ask_upstream(machine, &direct, question, LIMIT_WINDOW).await?.p50_us,
        gate_us: ask_gate(machine, &gate.server, &home.token, question, LIMIT_WINDOW).await?.p50_us,
    };
    limit.stop().await?;
    direct.stop().await?;
    Ok(detour)
}
