//! Who makes summaries: Toolgate itself, or a program of the operator's. A summary that can't be made is none, never an
//! error.

use std::time::Duration;

use super::summary;
use crate::child::{self, Limits};

const LIMITS: Limits = Limits { output: 8_192, time: Duration::from_secs(20) };

pub(super) struct Summarizer {
    /// Empty: Toolgate itself.
    command: Vec<String>,
}

impl Summarizer {
    pub(super) fn of(command: &[String]) -> Self {
        Self { command: command.to_vec() }
    }

    pub(super) async fn summary(&self, text: &str) -> Option<String> {
        let Some((name, arguments)) = self.command.split_first() else { return summary::of(text) };
        let mut command = child::program(name);
        command.args(arguments);
        let why = match child::run(command, text, &LIMITS).await {
            Ok(done) if done.success => {
                let made = String::from_utf8_lossy(&done.output).trim().replace('\0', "");
                return Some(made).filter(|made| !made.is_empty());
            }
            Ok(done) => format!("it failed: {}", done.said),
            Err(fault) => fault.to_string(),
        };
        tracing::warn!(target: "toolgate::workspace", program = name, why, "a summary could not be made");
        None
    }
}
