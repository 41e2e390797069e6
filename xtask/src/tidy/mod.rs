//! The house rules as a test. Each rule is one file; each breach is one line, `file:line: what, and what to do`.

mod addresses;
mod decisions;
mod layers;
mod links;
mod long_files;
mod names;
mod sql;

use std::fmt;

use crate::{
    fault::{Fault, Outcome},
    repository::Repository,
    steps::Tally,
};

/// Ends a line that breaks a line rule on purpose; the reason stands before it.
const ALLOWED: &str = "tidy: allow";

/// One breach of one rule.
#[derive(Debug, PartialEq, Eq)]
struct Breach {
    file: String,
    line: usize,
    what: String,
}

impl Breach {
    fn new(file: &str, line: usize, what: impl Into<String>) -> Self {
        Self { file: file.to_owned(), line, what: what.into() }
    }
}

impl fmt::Display for Breach {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}:{}: {}", self.file, self.line, self.what)
    }
}

/// A text file of the repository.
struct Source {
    file: String,
    text: String,
}

impl Source {
    fn is_rust(&self) -> bool {
        self.file.ends_with(".rs")
    }

    /// The lines that no one has allowed, numbered from one.
    fn lines(&self) -> impl Iterator<Item = (usize, &str)> {
        (1..).zip(self.text.lines()).filter(|(_, line)| !line.contains(ALLOWED))
    }
}

pub(crate) fn check(repository: &Repository) -> Outcome<Tally> {
    let mut sources = Vec::new();
    let files = repository.files()?;
    for file in &files {
        if let Some(text) = repository.text(file)? {
            sources.push(Source { file: file.clone(), text });
        }
    }
    let rules = [
        long_files::breaches(&sources),
        names::breaches(&sources),
        addresses::breaches(&sources),
        sql::breaches(&sources),
        layers::breaches(repository)?,
        decisions::breaches(&sources),
        links::breaches(&sources, &files),
    ];
    let kept = rules.iter().filter(|breaches| breaches.is_empty()).count();
    let broken = rules.len() - kept;
    let tally = Tally { passed: count(kept), failed: count(broken) };
    if broken == 0 {
        return Ok(tally);
    }
    let lines: Vec<String> = rules.iter().flatten().map(ToString::to_string).collect();
    let remedy = format!("mend each line above (a line that must stay as it is ends with its reason and `{ALLOWED}`)");
    Err(Fault::new(lines.join("\n")).remedy(remedy).counted(tally))
}

fn count(number: usize) -> u64 {
    u64::try_from(number).unwrap_or(u64::MAX)
}

#[cfg(test)]
fn source(file: &str, text: &str) -> Source {
    Source { file: file.to_owned(), text: text.to_owned() }
}
