//! What `connect` says: the change as a diff, and notes on what it comes to.

use std::path::Path;

use serde::Serialize;
use serde_json::{Map, Value, json};
use toolgate_core::terminal_escape;

use super::{BACKUP, diff, masked};
use crate::{
    Misuse,
    cli::Output,
    commands::{client_file, print},
};

/// What is done to a file, for people to see before and after.
pub struct Change<'c> {
    pub path: &'c Path,
    pub before: &'c str,
    /// `None`: the file is removed.
    pub after: Option<&'c str>,
    /// The token in the entry, which is not shown.
    pub token: Option<&'c str>,
    /// What was done, and what would be.
    pub done: &'static str,
    pub next: &'static str,
}

/// Notes for people, and the same as data.
#[derive(Default)]
pub struct Report {
    notes: Vec<String>,
    data: Map<String, Value>,
}

impl Report {
    pub fn note(&mut self, note: String) {
        self.notes.push(note);
    }

    pub fn set(&mut self, name: &str, value: impl Serialize) {
        self.data.insert(name.to_owned(), serde_json::to_value(value).unwrap_or_default());
    }
}

impl Change<'_> {
    pub fn told(&self, dry_run: bool, changed: bool, output: Output, report: Report) -> Result<(), Misuse> {
        let shown = self.path.display().to_string();
        let diff = diff::unified(&shown, self.before, self.after);
        let diff = terminal_escape(&masked::masked(&diff, &[self.before, self.after.unwrap_or("")], self.token));
        let mut text = match (changed, dry_run) {
            (false, _) => format!("{shown} is as wanted already\n"),
            (true, true) => format!("{diff}\ndry run: nothing was changed\n"),
            (true, false) => format!("{diff}\n{}: {shown}; {}\n", self.done, self.next),
        };
        for note in &report.notes {
            text.push_str(&format!("{}\n", terminal_escape(note)));
        }
        let backup = client_file::beside(self.path, BACKUP);
        let mut value = json!({
            "file": shown,
            "changed": changed && !dry_run,
            "would_change": changed,
            "dry_run": dry_run,
            "diff": diff,
            "backup": backup.exists().then(|| backup.display().to_string()),
            "notes": report.notes,
        });
        if let Some(members) = value.as_object_mut() {
            members.extend(report.data);
        }
        print(output, &value, &text)
    }
}
