//! A process that outlives the gateway by a moment, to end what the gateway leaves behind.
//!
//! A gateway that is killed ends nothing itself, and a child that does not mind the end of its input would live on beside
//! the children of the next gateway. The reaper is told the process group of every child. It reads from a pipe that the
//! gateway alone holds, so the pipe closes when the gateway goes, however it goes.
//!
//! `PR_SET_PDEATHSIG` is not used: it is set between fork and exec, which takes `unsafe`, it ends one process and not its
//! group, and it fires when the *thread* that started the child ends.

use std::{
    collections::BTreeSet,
    ffi::OsStr,
    io::{self, BufRead, Write},
    os::unix::process::CommandExt,
    process::{ChildStdin, Command, ExitCode, Stdio},
    sync::{Arc, Mutex, PoisonError},
};

use rustix::process::{Pid, Signal, kill_process_group};

/// The way to the reaper's process.
#[derive(Debug)]
pub struct Reaper {
    pipe: Mutex<ChildStdin>,
}

impl Reaper {
    /// Starts the reaper: a program that calls [`reap_groups`] when it gets the given argument.
    pub fn start(program: impl AsRef<OsStr>, argument: &str) -> io::Result<Arc<Self>> {
        let mut command = Command::new(program);
        command.arg(argument).env_clear().process_group(0);
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        let pipe = command.spawn()?.stdin.take().ok_or_else(|| io::Error::other("it has no standard input"))?;
        Ok(Arc::new(Self { pipe: Mutex::new(pipe) }))
    }

    /// Has a group ended with the gateway, until the returned value goes.
    pub(super) fn watch(self: &Arc<Self>, group: Pid) -> WatchedGroup {
        self.tell('+', group);
        WatchedGroup { reaper: Arc::clone(self), group }
    }

    fn tell(&self, sign: char, group: Pid) {
        let line = format!("{sign}{}\n", group.as_raw_nonzero());
        let told = self.pipe.lock().unwrap_or_else(PoisonError::into_inner).write_all(line.as_bytes());
        if let Err(error) = told {
            tracing::warn!(target: "toolgate::upstream", %error, "children would outlive a killed gateway: their reaper is gone");
        }
    }
}

pub(super) struct WatchedGroup {
    reaper: Arc<Reaper>,
    group: Pid,
}

impl Drop for WatchedGroup {
    fn drop(&mut self) {
        self.reaper.tell('-', self.group);
    }
}

/// The reaper's own process: notes the groups it is told, and ends those that are left when its input does.
pub fn reap_groups() -> ExitCode {
    let mut groups = BTreeSet::new();
    for line in io::stdin().lock().lines() {
        let Ok(line) = line else { break };
        let group = |text: &str| text.parse::<i32>().ok().filter(|id| *id > 1);
        match line.split_at_checked(1) {
            Some(("+", id)) => groups.extend(group(id)),
            Some(("-", id)) => groups.retain(|known| Some(*known) != group(id)),
            _ => {}
        }
    }
    for group in groups.into_iter().filter_map(Pid::from_raw) {
        let _ = kill_process_group(group, Signal::KILL);
    }
    ExitCode::SUCCESS
}
