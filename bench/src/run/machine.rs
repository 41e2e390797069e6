//! Where the parts run: the server under test on one CPU, the load on another, so that figures are per core.

use std::ffi::OsStr;
use std::process::Stdio;

use tokio::process::Command;

/// A side of the measurement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    Server,
    Load,
}

#[derive(Debug)]
pub(crate) struct Machine {
    /// CPUs of the load and of the server; none when the parts run unpinned.
    pins: Option<(usize, usize)>,
    note: String,
}

impl Machine {
    /// Finds two CPUs and pins the run itself to the load's, so that it never disturbs the server's.
    pub(crate) async fn look() -> Self {
        let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
        let allowed = allowed_cpus(&status);
        let mut two = allowed.iter().copied();
        let (Some(load), Some(server)) = (two.next(), two.next()) else {
            return Self::unpinned("only one CPU");
        };
        let this = std::process::id().to_string();
        let pinned = Command::new("taskset")
            .args(["-cp", &load.to_string(), &this])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()
            .await;
        if !pinned.is_ok_and(|status| status.success()) {
            return Self::unpinned("no working taskset");
        }
        let note = format!("{} CPUs, {}; server under test on CPU {server}, load on CPU {load}", allowed.len(), busy());
        Self { pins: Some((load, server)), note }
    }

    fn unpinned(reason: &str) -> Self {
        Self {
            pins: None,
            note: format!("**unpinned ({reason}): server and load share CPUs, ratios are rough**; {}", busy()),
        }
    }

    /// A sentence for the report.
    pub(crate) fn note(&self) -> &str {
        &self.note
    }

    /// The command, on its side's CPU, ended when it is dropped.
    pub(crate) fn command(&self, side: Side, program: impl AsRef<OsStr>) -> Command {
        let mut command = match (self.pins, side) {
            (None, _) => Command::new(program),
            (Some((load, _)), Side::Load) => on_cpu(load, program),
            (Some((_, server)), Side::Server) => on_cpu(server, program),
        };
        command.kill_on_drop(true);
        command
    }
}

/// How much else was running when the run began.
fn busy() -> String {
    let averages = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let last_minute = averages.split(' ').next().unwrap_or_default();
    format!("load average {last_minute} before the run")
}

// taskset replaces itself by the program, so the child's id is the program's.
fn on_cpu(cpu: usize, program: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new("taskset");
    command.arg("-c").arg(cpu.to_string()).arg(program);
    command
}

/// The CPUs of a line such as `Cpus_allowed_list: 0-2,5`.
fn allowed_cpus(status: &str) -> Vec<usize> {
    let list = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"));
    list.unwrap_or_default()
        .split(',')
        .filter_map(|part| {
            let (first, last) = part.split_once('-').unwrap_or((part, part));
            Some(first.trim().parse().ok()?..=last.trim().parse().ok()?)
        })
        .flatten()
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_and_single_cpus_are_read() {
        assert_eq!(allowed_cpus("Name: x\nCpus_allowed_list:\t0-2,5\n"), [0, 1, 2, 5]);
        assert_eq!(allowed_cpus("Cpus_allowed_list:\t3\n"), [3]);
        assert!(allowed_cpus("Name: x\n").is_empty());
    }
}
