use super::*;
use crate::report::verdicts;
use crate::run::Outcome;

fn detour(era: Era, direct_us: f64, gate_us: f64) -> Detour {
    Detour { era, direct_us, gate_us, raw_us: 40.0, limit_us: 67.0 }
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
    assert_eq!(of_era(&[detour(Era::Sessions, 1.0, 2.0)], Era::Stateless, Detour::gate_added), None);
}

#[test]
fn targets_are_held_for_each_era() {
    let outcome = Outcome {
        detours: vec![detour(Era::Sessions, 50.0, 100.0), detour(Era::Stateless, 50.0, 120.0)],
        ..Outcome::default()
    };
    let verdicts = verdicts(&outcome);
    let missed: Vec<&str> =
        verdicts.iter().filter(|verdict| verdict.missed()).map(|verdict| verdict.target.as_str()).collect();
    assert_eq!(missed, ["W4 added p50 µs (2026)"]);
}
