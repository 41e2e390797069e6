//! The lines about upstreams: what passing a call on adds in time, and what starting with many of them takes.

use super::statistics::{Spread, median};
use crate::run::{Detour, Start, Way};
use crate::workload::{Era, TOOLS_EACH, UPSTREAMS};

/// The median over repetitions of a figure of one era; none when it was not measured.
pub(super) fn of_era(detours: &[Detour], era: Era, figure: impl Fn(&Detour) -> f64) -> Option<f64> {
    middle(detours.iter().filter(|detour| detour.era == era).map(figure))
}

/// The median over repetitions of a figure of one kind of upstream; none when it was not measured.
pub(super) fn of_way(starts: &[Start], way: Way, figure: impl Fn(&Start) -> f64) -> Option<f64> {
    middle(starts.iter().filter(|start| start.way == way).map(figure))
}

fn middle(figures: impl Iterator<Item = f64>) -> Option<f64> {
    let figures: Vec<f64> = figures.collect();
    (!figures.is_empty()).then(|| median(&figures))
}

/// One line for each era that was asked.
pub(super) fn detour_lines(detours: &[Detour]) -> String {
    let line = |era: Era| {
        let added: Vec<f64> = detours.iter().filter(|detour| detour.era == era).map(Detour::gate_added).collect();
        let Spread { least, median, most } = Spread::of(&added)?;
        let of = |figure: fn(&Detour) -> f64| of_era(detours, era, figure).unwrap_or(f64::NAN);
        Some(format!(
            "- W4 added p50, {} callers, 1 connection: **{median:.0} µs** ({least:.0} to {most:.0}; through the gate {:.0}, \
             direct {:.0}); the limit adds {:.0} µs ({:.0} and {:.0})\n",
            era.name(),
            of(|detour| detour.gate_us),
            of(|detour| detour.direct_us),
            of(Detour::limit_added),
            of(|detour| detour.limit_us),
            of(|detour| detour.raw_us),
        ))
    };
    Era::SPOKEN.into_iter().filter_map(line).collect()
}

/// One line for each kind of upstream.
pub(super) fn start_lines(starts: &[Start]) -> String {
    let line = |way: Way| {
        let of = |figure: fn(&Start) -> f64| of_way(starts, way, figure);
        Some(format!(
            "- start with {UPSTREAMS} {} upstreams, {} tools: all listed after {:.0} ms ({:.0} ms own CPU, {:.1} MiB), every \
             upstream answers after {:.0} ms; settled: {:.0} ms own CPU, {:.1} MiB\n",
            way.title(),
            UPSTREAMS * TOOLS_EACH,
            of(|start| start.listed_ms)?,
            of(|start| start.listed_cpu_ms)?,
            of(|start| start.listed_mib)?,
            of(|start| start.reached_ms)?,
            of(|start| start.settled_cpu_ms)?,
            of(|start| start.settled_mib)?,
        ))
    };
    Way::ALL.into_iter().filter_map(line).collect()
}

#[cfg(test)]
#[path = "upstreams_tests.rs"]
mod tests;
