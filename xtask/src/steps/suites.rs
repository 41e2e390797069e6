//! Suites that count: the Rust tests, and reading what a test runner says of its counts.

use super::Tally;
use crate::{command::Program, fault::Outcome, needs::postgres::Postgres, repository::Repository};

pub(super) fn rust(repository: &Repository) -> Outcome<Tally> {
    let postgres = Postgres::start()?;
    let cargo = repository.cargo().args(["test", "--workspace", "--no-fail-fast"]);
    let cargo = cargo.env("TOOLGATE_TEST_POSTGRES", postgres.url());
    counted(
        cargo,
        "run the failing test alone: cargo test --package NAME -- TEST (set TOOLGATE_TEST_POSTGRES if it needs one)",
        |line| line.strip_prefix("test result: ").map(counts),
    )
}

/// Runs a suite, adding up the lines that `summary` recognises.
pub(super) fn counted(suite: Program, remedy: &str, summary: impl Fn(&str) -> Option<Tally>) -> Outcome<Tally> {
    let mut tally = Tally::default();
    let ended = suite.watch(|line| {
        if let Some(counts) = summary(line) {
            tally.add(counts);
        }
    })?;
    ended.map_err(|fault| fault.remedy(remedy).counted(tally))?;
    Ok(tally)
}

/// The numbers before `passed` and `failed` (or `error`), as cargo and pytest both write them.
pub(super) fn counts(line: &str) -> Tally {
    let words: Vec<&str> = line.split([' ', ';', ',', '.']).filter(|word| !word.is_empty()).collect();
    let mut tally = Tally::default();
    for (number, what) in words.iter().zip(words.iter().skip(1)) {
        let Ok(number) = number.parse::<u64>() else {
            continue;
        };
        match *what {
            "passed" => tally.passed += number,
            "failed" | "error" | "errors" => tally.failed += number,
            _ => {}
        }
    }
    tally
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cargos_summary_is_read() {
        let line = "ok. 12 passed; 3 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.10s";
        assert_eq!(counts(line), Tally { passed: 12, failed: 3 });
    }

    #[test]
    fn pytests_summary_is_read() {
        assert_eq!(counts("57 failed, 332 passed, 2 errors in 288.20s (0:04:48)"), Tally { passed: 332, failed: 59 });
        assert_eq!(counts("7 passed in 0.02s"), Tally { passed: 7, failed: 0 });
    }
}
