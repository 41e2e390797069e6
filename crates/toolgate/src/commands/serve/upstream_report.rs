//! A line for each upstream whenever its state or the number of its waiting tools changes: on standard output, and in the
//! log where tools wait.

use std::{collections::BTreeMap, time::Instant};

use toolgate_core::{line_escape, pin::Lock};
use toolgate_upstream::{State, Status};

use super::{super::say, start_report::tools};
use crate::upstreams::Upstreams;

/// The reports so far, so that nothing is reported twice.
pub struct UpstreamReport {
    seen: BTreeMap<String, SeenUpstream>,
    prints: bool,
}

struct SeenUpstream {
    since: Instant,
    has_connected: bool,
    waiting: usize,
    reported: String,
}

impl UpstreamReport {
    /// `prints` is false where standard output is the client's.
    pub fn new(prints: bool) -> Self {
        Self { seen: BTreeMap::new(), prints }
    }

    /// Reports what is new since the last time.
    pub fn update(&mut self, upstreams: &Upstreams, lock: &Lock) {
        self.seen.retain(|name, _| upstreams.get(name).is_some());
        for name in upstreams.names() {
            let Some(upstream) = upstreams.get(name) else { continue };
            let (status, waiting) = (upstream.status(), upstreams.waiting(name, lock));
            let seen = self.seen.entry(name.to_owned()).or_insert_with(SeenUpstream::new);
            seen.log_waiting(name, waiting);
            if let Some(line) = seen.line(name, &status, waiting)
                && self.prints
            {
                // a reader that has gone is no fault
                let _ = say(&format!("  {name}: {}\n", line_escape(&line)));
            }
        }
    }
}

impl SeenUpstream {
    fn new() -> Self {
        Self { since: Instant::now(), has_connected: false, waiting: 0, reported: String::new() }
    }

    fn log_waiting(&mut self, upstream: &str, waiting: usize) {
        if std::mem::replace(&mut self.waiting, waiting) != waiting && waiting > 0 {
            tracing::warn!(
                upstream,
                waiting,
                "tools wait to be accepted: toolgate upstream diff, toolgate upstream accept"
            );
        }
    }

    /// The line to print, if it says anything that the last one did not.
    fn line(&mut self, name: &str, status: &Status, waiting: usize) -> Option<String> {
        let (state, detail) = match &status.state {
            State::Up => ("connected", tool_counts(name, status.tools, waiting)),
            State::Down(fault) => ("not connected, trying again", fault.to_string()),
            State::Starting | State::Stopped => return None,
        };
        let reported = format!("{state}: {detail}");
        if self.reported == reported {
            return None;
        }
        self.reported = reported;
        let is_first = status.state == State::Up && !std::mem::replace(&mut self.has_connected, true);
        let took = if is_first { format!(" in {:.1} s", self.since.elapsed().as_secs_f64()) } else { String::new() };
        Some(format!("{state}{took}: {detail}"))
    }
}

fn tool_counts(name: &str, offered: usize, waiting: usize) -> String {
    match waiting {
        0 => format!("{}, all accepted", tools(offered)),
        waiting => {
            format!("{}, {waiting} waiting for acceptance: toolgate upstream accept {name}", tools(offered))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tools_that_wait_come_with_the_command_that_accepts_them() {
        assert_eq!(tool_counts("time", 2, 0), "2 tools, all accepted");
        assert_eq!(tool_counts("time", 1, 1), "1 tool, 1 waiting for acceptance: toolgate upstream accept time");
    }
}
