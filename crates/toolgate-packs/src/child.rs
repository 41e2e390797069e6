//! A program run for its answer: text in, text out, within a time and a size. INVARIANT: when the run is over, however it
//! ended, so is every process of its group.

use std::{ffi::OsStr, io, process::Stdio, time::Duration};

use rustix::process::{Pid, Signal, kill_process_group};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt, copy, sink},
    process::Command,
};

/// What a program needs of our environment to run at all. Nothing else is handed down: secrets live there.
const HANDED_DOWN: [&str; 4] = ["PATH", "HOME", "LANG", "TMPDIR"];
/// Of what it says about itself.
const MOST_SAID: u64 = 4_096;

pub(crate) struct Limits {
    pub(crate) output: usize,
    pub(crate) time: Duration,
}

pub(crate) struct Done {
    pub(crate) success: bool,
    pub(crate) output: Vec<u8>,
    pub(crate) said: String,
}

#[derive(Debug, thiserror::Error)]
pub(crate) enum NoAnswer {
    #[error("it can't be started: {0}")]
    NotStarted(#[from] io::Error),
    #[error("it takes too long")]
    TooSlow,
}

/// A program with nothing of our environment but what every program needs.
pub(crate) fn program(name: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new(name);
    command.env_clear();
    command.envs(HANDED_DOWN.iter().filter_map(|name| Some((name, std::env::var_os(name)?))));
    command
}

pub(crate) async fn run(mut command: Command, input: &str, limits: &Limits) -> Result<Done, NoAnswer> {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.process_group(0).kill_on_drop(true);
    let mut child = command.spawn()?;
    let group = Group(child.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw));
    let (Some(mut to), Some(mut from), Some(mut beside)) =
        (child.stdin.take(), child.stdout.take(), child.stderr.take())
    else {
        return Err(io::Error::other("its standard streams are missing").into());
    };
    let tell = async move {
        // a program that has read enough closes its input
        let _ = to.write_all(input.as_bytes()).await;
        drop(to);
    };
    let hear = async {
        let mut output = Vec::new();
        let most = u64::try_from(limits.output).unwrap_or(u64::MAX);
        // one character more than is kept, so that none is cut in two
        let _ = (&mut from).take(most.saturating_add(4)).read_to_end(&mut output).await;
        let cut = output.len() > limits.output;
        if cut {
            group.end();
        }
        (output, cut)
    };
    let overhear = async {
        let mut said = Vec::new();
        let _ = (&mut beside).take(MOST_SAID).read_to_end(&mut said).await;
        let _ = copy(&mut beside, &mut sink()).await;
        String::from_utf8_lossy(&said).trim().to_owned()
    };
    let whole = async {
        let ((), (output, cut), said) = tokio::join!(tell, hear, overhear);
        let success = cut || child.wait().await.is_ok_and(|status| status.success());
        Done { success, output, said }
    };
    tokio::time::timeout(limits.time, whole).await.map_err(|_| NoAnswer::TooSlow)
}

struct Group(Option<Pid>);

impl Group {
    fn end(&self) {
        if let Some(group) = self.0 {
            // who is gone already is gone
            let _ = kill_process_group(group, Signal::KILL);
        }
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.end();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Command {
        let mut command = program("sh");
        command.args(["-c", script]);
        command
    }

    #[tokio::test]
    async fn a_program_answers_what_it_was_told() {
        let limits = Limits { output: 100, time: Duration::from_secs(20) };
        let done = run(shell("cat; echo oops >&2; exit 3"), "text", &limits).await.unwrap();
        assert_eq!((done.success, done.output.as_slice(), done.said.as_str()), (false, &b"text"[..], "oops"));
        let done = run(shell("echo \"$TOOLGATE_TOKEN$GIT_DIR\""), "", &limits).await.unwrap();
        assert_eq!(done.output, b"\n", "nothing of our environment");
    }

    #[tokio::test]
    async fn one_that_never_stops_is_cut_off_or_ended() {
        let limits = Limits { output: 1000, time: Duration::from_secs(20) };
        let done = run(shell("while :; do echo yes; done"), "", &limits).await.unwrap();
        assert!(done.success && done.output.len() > 1000);
        let limits = Limits { output: 10, time: Duration::from_millis(200) };
        let slow = run(shell("sleep 600 & sleep 600"), "", &limits).await;
        assert!(matches!(slow, Err(NoAnswer::TooSlow)));
        assert!(matches!(run(program("/no/such/program"), "", &limits).await, Err(NoAnswer::NotStarted(_))));
    }
}
