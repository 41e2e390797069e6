//! The steps of `cargo xtask test`, in order. The first that fails ends the run.

mod book;
mod checks;
mod end_to_end;
mod suites;

use std::time::Instant;

use clap::{ValueEnum, builder::PossibleValue};

use crate::{fault::Outcome, repository::Repository, tidy};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Step {
    Format,
    Tidy,
    Clippy,
    Doc,
    Book,
    Test,
    Build,
    Examples,
    Snippets,
    EndToEnd,
}

/// How many tests passed and failed; a step that is one question is one test.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub(crate) struct Tally {
    pub(crate) passed: u64,
    pub(crate) failed: u64,
}

impl Tally {
    const ONE: Self = Self { passed: 1, failed: 0 };

    fn add(&mut self, other: Self) {
        self.passed += other.passed;
        self.failed += other.failed;
    }
}

impl Step {
    /// Cheap and telling ones first.
    const ALL: [Self; 10] = [
        Self::Format,
        Self::Tidy,
        Self::Clippy,
        Self::Doc,
        Self::Book,
        Self::Test,
        Self::Build,
        Self::Examples,
        Self::Snippets,
        Self::EndToEnd,
    ];

    fn name(self) -> &'static str {
        match self {
            Self::Format => "fmt",
            Self::Tidy => "tidy",
            Self::Clippy => "clippy",
            Self::Doc => "doc",
            Self::Book => "book",
            Self::Test => "test",
            Self::Build => "build",
            Self::Examples => "examples",
            Self::Snippets => "snippets",
            Self::EndToEnd => "e2e",
        }
    }

    fn about(self) -> &'static str {
        match self {
            Self::Format => "the code is formatted",
            Self::Tidy => "the house rules hold (file sizes, names, layers, links, where SQL lives)",
            Self::Clippy => "no lint warns, tests and benches included",
            Self::Doc => "the documentation of the crates builds without a warning",
            Self::Book => "the book in docs/ builds without a warning, and its links lead somewhere",
            Self::Test => "every Rust test, with a PostgreSQL of its own",
            Self::Build => "the toolgate binary builds",
            Self::Examples => "each example shows what it claims",
            Self::Snippets => "the commands in README and book print what the page says, on a terminal too",
            Self::EndToEnd => "real MCP clients against the binary",
        }
    }

    fn run(self, repository: &Repository) -> Outcome<Tally> {
        match self {
            Self::Format => checks::format(repository),
            Self::Tidy => tidy::check(repository),
            Self::Clippy => checks::clippy(repository),
            Self::Doc => checks::doc(repository),
            Self::Book => book::build(repository),
            Self::Test => suites::rust(repository),
            Self::Build => end_to_end::build(repository).map(|_| Tally::ONE),
            Self::Examples => end_to_end::examples(repository),
            Self::Snippets => end_to_end::snippets(repository),
            Self::EndToEnd => end_to_end::run(repository),
        }
    }
}

impl ValueEnum for Step {
    fn value_variants<'a>() -> &'a [Self] {
        &Self::ALL
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(PossibleValue::new(self.name()).help(self.about()))
    }
}

pub(crate) fn list() {
    for step in Step::ALL {
        println!("{:<10}{}", step.name(), step.about());
    }
}

/// Runs the steps named in `only`, or all of them, and says whether every one passed.
pub(crate) fn run(repository: &Repository, only: &[Step]) -> bool {
    let mut total = Tally::default();
    for step in Step::ALL.into_iter().filter(|step| only.is_empty() || only.contains(step)) {
        println!("run   {}: {}", step.name(), step.about());
        let started = Instant::now();
        let outcome = step.run(repository);
        let seconds = started.elapsed().as_secs_f64();
        match outcome {
            Ok(tally) => {
                println!("ok    {} ({seconds:.1} s, {} passed)", step.name(), tally.passed);
                total.add(tally);
            }
            Err(fault) => {
                total.add(fault.tally());
                println!("FAIL  {} ({seconds:.1} s)", step.name());
                println!("{fault}");
                println!("  again:      cargo xtask test --only {}", step.name());
                println!("{} passed, {} failed", total.passed, total.failed);
                return false;
            }
        }
    }
    println!("{} passed, {} failed", total.passed, total.failed);
    true
}
