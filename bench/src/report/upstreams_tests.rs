use super::*;
use crate::report::verdicts;
use crate::run::Outcome;

fn detour(era: Era, direct_us: f64, gate_us: f64) -> Detour {
    Detour { era, direct_us, gate_us, raw_us: 40.0, limit_us: 67.0 }
}

fn start(way: Way, settled_cpu_ms: f64, settled_mib: f64) -> Start {
    Start {
        way,
        listed_ms: 120.0,
        listed_cpu_ms: 90.0,
        listed_mib: 30.0,
        reached_ms: 200.0,
        settled_cpu_ms,
        settled_mib,
    }
}

#[test]
fn what_is_added_is_the_median_of_differences() {
    // The differences are 50, 10 and 90; the medians, 60 and 100, would say 40.
    let detours =
        [(50.0, 100.0), (60.0, 70.0), (70.0, 160.0)].map(|(direct, gate)| detour(Era::Stateless, direct, gate));
    let line = detour_lines(&detours);
    let expected = "- W4 added p50, 2026 callers, 1 connection: **50 µs** (10 to 90; through the gate 100, direct 60); \
                    the limit adds 27 µs (67 and 40)\n";
    assert_eq!(line, expected);
}

#[test]
fn what_was_not_measured_has_no_line() {
    assert_eq!(detour_lines(&[]), "");
    assert_eq!(start_lines(&[]), "");
    assert_eq!(of_era(&[detour(Era::Sessions, 1.0, 2.0)], Era::Stateless, Detour::gate_added), None);
}

#[test]
fn a_start_is_told_for_each_kind_of_upstream() {
    let starts = [start(Way::Http, 400.0, 50.0), start(Way::Children, 500.0, 55.0)];
    let lines = start_lines(&starts);
    assert_eq!(lines.lines().count(), 2);
    assert!(lines.starts_with("- start with 20 HTTP upstreams, 1000 tools: all listed after 120 ms"), "{lines}");
    assert!(lines.contains("settled: 500 ms own CPU, 55.0 MiB"), "{lines}");
}

#[test]
fn targets_are_held_for_each_era_and_kind() {
    let outcome = Outcome {
        detours: vec![detour(Era::Sessions, 50.0, 100.0), detour(Era::Stateless, 50.0, 120.0)],
        starts: vec![start(Way::Http, 2100.0, 50.0), start(Way::Children, 500.0, 61.0)],
        ..Outcome::default()
    };
    let verdicts = verdicts(&outcome);
    let missed: Vec<&str> =
        verdicts.iter().filter(|verdict| verdict.missed()).map(|verdict| verdict.target.as_str()).collect();
    assert_eq!(missed, ["W4 added p50 µs (2026)", "start CPU ms (20 HTTP)", "start MiB (20 child)"]);
}
