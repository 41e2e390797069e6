//! A child process in a group of its own. INVARIANT: when this value goes, so does every process of the group.

use std::{process::Stdio, time::Duration};

use rustix::process::{Pid, Signal, kill_process_group};
use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command};

use super::{descriptor_limit, identity::ChildUser, reaper::WatchedGroup, sandbox::TemporaryFolder};
use crate::{config::Transport, fault::Fault};

/// What a program needs of our environment to run at all. Nothing else is handed down: secrets live there.
const HANDED_DOWN: [&str; 12] = [
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "TERM",
    "LANG",
    "LC_ALL",
    "LC_CTYPE",
    "TZ",
    "TMPDIR",
    "XDG_RUNTIME_DIR",
];

pub(super) struct Process {
    child: Child,
    group: Option<Pid>,
    watched: Option<WatchedGroup>,
    /// Removed after the group has ended.
    _temporary: Option<TemporaryFolder>,
}

pub(super) struct Streams {
    pub(super) stdin: ChildStdin,
    pub(super) stdout: ChildStdout,
    pub(super) stderr: ChildStderr,
}

impl Process {
    pub(super) fn start(transport: &Transport) -> Result<(Self, Streams), Fault> {
        let Transport::Child { command: program, args, env, cwd, user, sandbox, reaper } = transport else {
            return Err(Fault::Misconfigured { why: "it has no command".to_owned() });
        };
        if let Some(cwd) = cwd.as_ref().filter(|cwd| !cwd.is_dir()) {
            return Err(Fault::Misconfigured { why: format!("there is no directory '{}'", cwd.display()) });
        }
        let temporary = sandbox.as_ref().map(|_| TemporaryFolder::create(*user)).transpose();
        let temporary = temporary
            .map_err(|fault| Fault::Unreachable { why: format!("its temporary folder can't be made: {fault}") })?;
        let mut command = match sandbox.as_ref().zip(temporary.as_ref()) {
            None => Command::new(program),
            Some((sandbox, temporary)) => {
                let mut command = Command::new(&sandbox.launcher);
                command.args(sandbox.launch(program, temporary.path())?);
                command
            }
        };
        command.args(args).env_clear();
        command.envs(HANDED_DOWN.iter().filter_map(|name| Some((name, std::env::var_os(name)?))));
        command.envs(temporary.as_ref().map(|folder| ("TMPDIR", folder.path())));
        command.envs(env.iter().map(|(name, value)| (name, value.reveal())));
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.process_group(0).kill_on_drop(true);
        if let Some(cwd) = cwd {
            command.current_dir(cwd);
        }
        if let Some(ChildUser { uid, gid }) = user {
            // as root this also drops the gateway's other groups
            command.gid(*gid).uid(*uid);
        }
        let wrong = |fault: std::io::Error| match fault.kind() {
            std::io::ErrorKind::NotFound | std::io::ErrorKind::PermissionDenied => {
                Fault::Misconfigured { why: format!("program '{program}' can't be started ({fault})") }
            }
            _ => Fault::Unreachable { why: format!("program '{program}' does not start: {fault}") },
        };
        let mut child = command.spawn().map_err(wrong)?;
        let group = child.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw);
        group.into_iter().for_each(descriptor_limit::restore);
        let streams = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let watched = reaper.as_ref().zip(group).map(|(reaper, group)| reaper.watch(group));
        let process = Self { child, group, watched, _temporary: temporary };
        let (Some(stdin), Some(stdout), Some(stderr)) = streams else {
            return Err(Fault::Unreachable { why: "its standard streams are missing".to_owned() });
        };
        Ok((process, Streams { stdin, stdout, stderr }))
    }

    pub(super) fn id(&self) -> Option<u32> {
        self.child.id()
    }

    /// Waits for the end of the program and ends what it left behind.
    pub(super) async fn ended(&mut self) -> String {
        let status = self.child.wait().await;
        self.signal(Signal::KILL);
        self.group = None;
        drop(self.watched.take());
        match status {
            Ok(status) => format!("its program ended: {status}"),
            Err(fault) => format!("its program ended: {fault}"),
        }
    }

    /// Waits for it to end by itself, asks it to, and ends it.
    pub(super) async fn stop(mut self, farewell: Duration) {
        if self.child.id().is_none() {
            return;
        }
        for signal in [Signal::TERM, Signal::KILL] {
            if tokio::time::timeout(farewell, self.ended()).await.is_ok() {
                return;
            }
            self.signal(signal);
        }
        self.ended().await;
    }

    fn signal(&self, signal: Signal) {
        if let Some(group) = self.group {
            let _ = kill_process_group(group, signal);
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.signal(Signal::KILL);
    }
}
