use super::*;
use crate::load::Measured;
use crate::report::verdicts;
use crate::run::{Cold, Question};
use crate::workload::{Era, HEADLINE, Workload};

fn measured(cpu_us: f64) -> Measured {
    Measured {
        requests: 1,
        seconds: 1.0,
        cpu_us,
        per_second: 1e6 / cpu_us,
        p50_us: cpu_us * 10.0,
        p99_us: cpu_us * 20.0,
        answer_bytes: 1,
    }
}

/// W1, stateless, with these pairs of CPU times (limit, gate).
fn outcome(pairs: &[(f64, f64)]) -> Outcome {
    let question = Question { workload: Workload::W1, era: Era::Stateless, connections: HEADLINE };
    let pairs = pairs.iter().map(|&(limit, gate)| Pair { limit: measured(limit), gate: measured(gate) });
    Outcome {
        subject: "Toolgate",
        machine: "2 CPUs".to_owned(),
        repetitions: 3,
        cells: vec![Cell { question, pairs: pairs.collect() }],
        lives: vec![Life { tools: 20, first_answer_ms: 12.0, idle_mib: 30.0, loaded_mib: 40.0 }],
        ..Outcome::default()
    }
}

#[test]
fn the_ratio_is_the_median_of_ratios_not_the_ratio_of_medians() {
    // The ratios are 3, 1 and 5; the medians, 10 and 25, would say 2.5.
    let outcome = outcome(&[(10.0, 30.0), (20.0, 20.0), (5.0, 25.0)]);
    let row = outcome.cells.first().map(row);
    let expected =
        "| W1 list 20 | 2026 | 16 | 10.0 | 25.0 | **3.00** (1.00 to 5.00) | 40000 | 0.33 | 250 | 3.00 | 500 | 3.00 |\n";
    assert_eq!(row.as_deref(), Some(expected));
}

#[test]
fn a_row_has_as_many_columns_as_the_header() {
    let columns = |line: &str| line.matches('|').count();
    let rows = outcome(&[(1.0, 2.0)]);
    let page = page(&rows, &verdicts(&rows));
    let lines: Vec<&str> = page.lines().filter(|line| line.starts_with('|')).collect();
    assert_eq!(lines.len(), 3);
    assert!(lines.iter().all(|line| columns(line) == 13), "{page}");
}

#[test]
fn targets_are_met_missed_or_not_measured() {
    let mut outcome = outcome(&[(10.0, 18.0)]);
    outcome.cold.push(Cold { first_ms: 19.0, later_ms: 8.0, tools: 10_000 });
    let line = targets_line(&verdicts(&outcome));
    for said in [
        "W1 CPU × (2025) not measured",
        "W1 CPU × (2026) 1.80 ≤ 1.8 met",
        "cold view ms 11.00 > 10 **missed**",
        "idle MiB 30.00 > 25 **missed**",
        "first answer ms 12.00 ≤ 150 met",
    ] {
        assert!(line.contains(said), "{said} is not in {line}");
    }
}

#[test]
fn a_figure_that_is_no_number_is_a_miss() {
    let outcome = outcome(&[(0.0, 0.0)]);
    let missed = verdicts(&outcome).into_iter().filter(Verdict::missed);
    let named: Vec<String> = missed.map(|verdict| verdict.target).collect();
    assert_eq!(named, ["W1 CPU × (2026)", "idle MiB"]);
}

#[test]
fn a_run_without_cells_has_no_table() {
    let mut outcome = outcome(&[]);
    outcome.cells.clear();
    let page = page(&outcome, &verdicts(&outcome));
    assert!(!page.contains("| workload"), "{page}");
    assert!(page.contains("repetitions.\n\n- 20 tools"), "{page}");
}
