//! The page that a run prints, in Markdown.

use std::fmt::Write;

use super::growth::growth_lines;
use super::statistics::{Spread, median};
use super::targets::{Verdict, ratios};
use super::tenants::tenants_line;
use super::upstreams::{detour_lines, start_lines};
use crate::run::{Cell, Life, Outcome, Pair};
use crate::workload::COLD_TOOLS;

const PEERS: &str = "\
Peers, measured on another day on a 2-core machine, 16 connections, CPU multiple of the same kind of limit for W1 / W2 / W3 / W4: \
rmcp 3.8.0 with JWT and filter 7.7 / 12.6 / 6.3 / –; agentgateway 1.4.1 with JWT and rules 52 / 120 / – / 7.2, and 216 µs \
added to a call's p50 on one connection.
";

pub(crate) fn page(outcome: &Outcome, verdicts: &[Verdict]) -> String {
    let mut page = format!("{}; medians of {} repetitions.\n", outcome.machine, outcome.repetitions);
    if !outcome.cells.is_empty() {
        page.push('\n');
        page.push_str(&header(outcome.subject));
    }
    for cell in &outcome.cells {
        page.push_str(&row(cell));
    }
    let lines = lines(outcome);
    if !lines.is_empty() {
        for part in ["\n", &lines, &targets_line(verdicts), "\n", PEERS] {
            page.push_str(part);
        }
    }
    page
}

/// Everything that is not a cell of the table.
fn lines(outcome: &Outcome) -> String {
    let mut lines = String::new();
    let mut sizes: Vec<usize> = outcome.lives.iter().map(|life| life.tools).collect();
    sizes.sort_unstable();
    sizes.dedup();
    for tools in sizes {
        lines.push_str(&life_line(tools, &outcome.lives));
    }
    lines.push_str(&cold_line(outcome));
    lines.push_str(&detour_lines(&outcome.detours));
    lines.push_str(&start_lines(&outcome.starts));
    lines.push_str(&growth_lines(&outcome.growth));
    lines.push_str(&tenants_line(outcome.tenants.as_ref()));
    lines
}

fn header(subject: &str) -> String {
    let columns = [
        "workload",
        "era",
        "connections",
        "CPU µs per request: limit",
        subject,
        "CPU × (least to most)",
        "requests/s",
        "of the limit's",
        "p50 µs",
        "×",
        "p99 µs",
        "×",
    ];
    let rule = "---:|".repeat(columns.len() - 2);
    format!("| {} |\n|---|---|{rule}\n", columns.join(" | "))
}

fn row(cell: &Cell) -> String {
    let middle = |figure: &dyn Fn(&Pair) -> f64| median(&cell.pairs.iter().map(figure).collect::<Vec<f64>>());
    let ratio = |figure: &dyn Fn(&Pair) -> (f64, f64)| median(&ratios(&cell.pairs, figure));
    let asked = cell.question;
    format!(
        "| {} | {} | {} | {:.1} | {:.1} | {} | {:.0} | {:.2} | {:.0} | {:.2} | {:.0} | {:.2} |\n",
        asked.workload.title(),
        asked.era.name(),
        asked.connections,
        middle(&|pair| pair.limit.cpu_us),
        middle(&|pair| pair.gate.cpu_us),
        spread(&ratios(&cell.pairs, |pair| (pair.gate.cpu_us, pair.limit.cpu_us))),
        middle(&|pair| pair.gate.per_second),
        ratio(&|pair| (pair.gate.per_second, pair.limit.per_second)),
        middle(&|pair| pair.gate.p50_us),
        ratio(&|pair| (pair.gate.p50_us, pair.limit.p50_us)),
        middle(&|pair| pair.gate.p99_us),
        ratio(&|pair| (pair.gate.p99_us, pair.limit.p99_us)),
    )
}

fn spread(values: &[f64]) -> String {
    Spread::of(values).map_or_else(
        || "–".to_owned(),
        |Spread { least, median, most }| format!("**{median:.2}** ({least:.2} to {most:.2})"),
    )
}

fn life_line(tools: usize, lives: &[Life]) -> String {
    let middle = |figure: fn(&Life) -> f64| {
        let same = lives.iter().filter(|life| life.tools == tools);
        median(&same.map(figure).collect::<Vec<f64>>())
    };
    format!(
        "- {tools} tools: first answer {:.0} ms after start; memory {:.1} MiB idle, {:.1} MiB after load\n",
        middle(|life| life.first_answer_ms),
        middle(|life| life.idle_mib),
        middle(|life| life.loaded_mib),
    )
}

fn cold_line(outcome: &Outcome) -> String {
    let of = |figure: fn(&crate::run::Cold) -> f64| median(&outcome.cold.iter().map(figure).collect::<Vec<f64>>());
    let Some(cold) = outcome.cold.first() else {
        return String::new();
    };
    format!(
        "- cold view of {COLD_TOOLS} tools: {:.1} ms (first list {:.1} ms, next ones {:.1} ms; {} tools on the first page)\n",
        of(|cold| cold.added_ms()),
        of(|cold| cold.first_ms),
        of(|cold| cold.later_ms),
        cold.tools,
    )
}

fn targets_line(verdicts: &[Verdict]) -> String {
    let mut line = "- targets: ".to_owned();
    for (number, verdict) in verdicts.iter().enumerate() {
        let separator = if number == 0 { "" } else { "; " };
        let Verdict { target, measured, most } = verdict;
        let said = match measured {
            None => "not measured".to_owned(),
            Some(measured) if verdict.missed() => format!("{measured:.2} > {most} **missed**"),
            Some(measured) => format!("{measured:.2} ≤ {most} met"),
        };
        // Writing to a string cannot fail.
        let _ = write!(line, "{separator}{target} {said}");
    }
    line.push('\n');
    line
}

#[cfg(test)]
#[path = "report_tests.rs"]
mod tests;
