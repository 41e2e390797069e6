//! The targets, and whether a run met them.

use serde::Serialize;

use super::statistics::median;
use super::upstreams::{of_era, of_way};
use crate::run::{Cell, Detour, Life, Outcome, Pair, Start, Tenants, Way};
use crate::workload::{Era, HEADLINE, UPSTREAMS, Workload};

/// A call with its record in the ledger.
const CALL: f64 = 3.0;
/// CPU multiples of the limit at 16 connections, in both eras.
const CPU: [(Workload, f64); 4] =
    [(Workload::W1, 1.8), (Workload::W2, 1.25), (Workload::W3, CALL), (Workload::W4, 2.0)];
/// What passing a call on adds to its median time, on one connection.
const ADDED_US: f64 = 60.0;
const COLD_MS: f64 = 10.0;
/// The first list of a tenant nobody asked for yet, of 1,000 tools.
const TENANT_COLD_MS: f64 = 25.0;
const IDLE_MIB: f64 = 25.0;
const FIRST_ANSWER_MS: f64 = 150.0;
/// Starting with 20 upstreams: CPU time and memory of Toolgate itself, once all is quiet.
const START_CPU_MS: f64 = 2_000.0;
const START_MIB: f64 = 60.0;

#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Verdict {
    pub(crate) target: String,
    /// None when the run did not measure it.
    pub(crate) measured: Option<f64>,
    pub(crate) most: f64,
}

impl Verdict {
    pub(crate) fn missed(&self) -> bool {
        // A figure that is no number meets nothing.
        self.measured.is_some_and(|measured| measured.is_nan() || measured > self.most)
    }
}

pub(crate) fn verdicts(outcome: &Outcome) -> Vec<Verdict> {
    let mut verdicts = Vec::new();
    for (workload, most) in CPU {
        for era in Era::SPOKEN {
            verdicts.push(Verdict {
                target: format!("{workload:?} CPU × ({})", era.name()),
                measured: headline(&outcome.cells, workload, era),
                most,
            });
        }
    }
    for era in Era::SPOKEN {
        verdicts.push(Verdict {
            target: format!("W4 added p50 µs ({})", era.name()),
            measured: of_era(&outcome.detours, era, Detour::gate_added),
            most: ADDED_US,
        });
    }
    let cold: Vec<f64> = outcome.cold.iter().map(|cold| cold.added_ms()).collect();
    let others = [
        ("cold view ms", (!cold.is_empty()).then(|| median(&cold)), COLD_MS),
        ("idle MiB", worst(&outcome.lives, |life| life.idle_mib), IDLE_MIB),
        ("first answer ms", worst(&outcome.lives, |life| life.first_answer_ms), FIRST_ANSWER_MS),
    ];
    verdicts.extend(others.map(|(target, measured, most)| Verdict { target: target.to_owned(), measured, most }));
    let of_tenants = |figure: fn(&Tenants) -> f64| outcome.tenants.as_ref().map(figure);
    verdicts.push(Verdict {
        target: "new tenant's list ms".to_owned(),
        measured: of_tenants(|of| of.cold_ms),
        most: TENANT_COLD_MS,
    });
    for workload in [Workload::W7, Workload::W7Call] {
        let most = if workload == Workload::W7 { 1.25 } else { CALL };
        let measured = headline(&outcome.cells, workload, Era::Stateless);
        verdicts.push(Verdict { target: format!("{workload:?} CPU ×"), measured, most });
    }
    for way in Way::ALL {
        let mut add = |what: &str, figure: fn(&Start) -> f64, most: f64| {
            let target = format!("start {what} ({UPSTREAMS} {})", way.title());
            verdicts.push(Verdict { target, measured: of_way(&outcome.starts, way, figure), most });
        };
        add("CPU ms", |start| start.settled_cpu_ms, START_CPU_MS);
        add("MiB", |start| start.settled_mib, START_MIB);
    }
    verdicts
}

/// What the gate's figure is of the limit's, repetition by repetition.
pub(super) fn ratios(pairs: &[Pair], figure: impl Fn(&Pair) -> (f64, f64)) -> Vec<f64> {
    let divided = |pair| {
        let (gate, limit) = figure(pair);
        gate / limit
    };
    pairs.iter().map(divided).collect()
}

/// The median over repetitions of the CPU multiple at 16 connections.
fn headline(cells: &[Cell], workload: Workload, era: Era) -> Option<f64> {
    let cell = cells.iter().find(|cell| {
        let asked = cell.question;
        asked.workload == workload && asked.era == era && asked.connections == HEADLINE
    })?;
    Some(median(&ratios(&cell.pairs, |pair| (pair.gate.cpu_us, pair.limit.cpu_us))))
}

/// The median over repetitions, of the catalogue size that does worst.
fn worst(lives: &[Life], figure: impl Fn(&Life) -> f64) -> Option<f64> {
    let sizes = [Workload::W1.tools(), Workload::W2.tools()];
    let medians = sizes.iter().filter_map(|&tools| {
        let same = lives.iter().filter(|life| life.tools == tools);
        let figures: Vec<f64> = same.map(&figure).collect();
        (!figures.is_empty()).then(|| median(&figures))
    });
    medians.max_by(f64::total_cmp)
}
