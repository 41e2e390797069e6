//! A server under test: a child process that listens on loopback.

use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::process::Stdio;
use std::time::{Duration, Instant};

use clap::ValueEnum;
use rustix::process::{Pid, Signal, kill_process};
use tokio::process::{Child, Command};

use super::machine::{Machine, Side};
use crate::failure::{Doing, Failure};
use crate::limit::Mode;
use crate::upstream::Speaks;
use crate::wire::Connection;

/// How long a server may take to start.
const PATIENCE: Duration = Duration::from_secs(60);
/// How long it may take to end when it is asked to.
const FAREWELL: Duration = Duration::from_secs(10);
const PAUSE: Duration = Duration::from_millis(1);

pub(crate) struct Server {
    child: Child,
    pub(crate) pid: u32,
    pub(crate) address: SocketAddr,
}

impl Server {
    pub(crate) fn spawn(name: &str, address: SocketAddr, command: &mut Command) -> Result<Self, Failure> {
        let child = command.spawn().doing(format!("starting {name}"))?;
        let pid = child.id().ok_or_else(|| ended(name))?;
        Ok(Self { child, pid, address })
    }

    /// Starts a limit; a proxy is told where its upstream is.
    pub(crate) async fn limit(
        machine: &Machine,
        mode: Mode,
        tools: usize,
        upstream: Option<SocketAddr>,
    ) -> Result<Self, Failure> {
        let mut options = vec!["--mode".to_owned(), word(mode), "--tools".to_owned(), tools.to_string()];
        options.extend(upstream.map(|upstream| format!("--upstream={upstream}")));
        Self::part(machine, Side::Server, "limit", &options).await
    }

    /// Starts an MCP server of the bench's own.
    pub(crate) async fn upstream(machine: &Machine, side: Side, tools: usize, speaks: Speaks) -> Result<Self, Failure> {
        let options = ["--tools".to_owned(), tools.to_string(), "--speaks".to_owned(), word(speaks)];
        Self::part(machine, side, "upstream", &options).await
    }

    /// Starts a part of this program and waits until it listens.
    async fn part(machine: &Machine, side: Side, name: &str, options: &[String]) -> Result<Self, Failure> {
        let this = std::env::current_exe().doing("finding this program")?;
        let address = free_address()?;
        let mut command = machine.command(side, this);
        command.args([name, "--listen", &address.to_string()]).args(options).stdin(Stdio::piped());
        let mut server = Self::spawn(name, address, &mut command)?;
        let started = Instant::now();
        while Connection::open(address).await.is_err() {
            server.pause(name, started).await?;
        }
        Ok(server)
    }

    /// A moment's wait during start; fails when the process has ended or the time is over.
    pub(crate) async fn pause(&mut self, name: &str, started: Instant) -> Result<(), Failure> {
        if self.child.try_wait().doing("waiting")?.is_some() {
            return Err(ended(name));
        }
        if started.elapsed() > PATIENCE {
            return Err(Failure::Late(format!("the start of {name}")));
        }
        tokio::time::sleep(PAUSE).await;
        Ok(())
    }

    /// Asks a server to end, so that it ends its own children first.
    pub(crate) async fn dismiss(mut self) -> Result<(), Failure> {
        let pid = self.child.id().and_then(|pid| Pid::from_raw(i32::try_from(pid).ok()?));
        if let Some(pid) = pid {
            kill_process(pid, Signal::TERM).map_err(io::Error::from).doing("ending a server")?;
        }
        match tokio::time::timeout(FAREWELL, self.child.wait()).await {
            Ok(ended) => ended.map(|_| ()).doing("ending a server"),
            Err(_) => self.stop().await,
        }
    }

    pub(crate) async fn stop(mut self) -> Result<(), Failure> {
        self.child.kill().await.doing("stopping a server")
    }
}

/// A loopback address that nobody listens on at this moment.
pub(crate) fn free_address() -> Result<SocketAddr, Failure> {
    TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).and_then(|listener| listener.local_addr()).doing("finding a free port")
}

/// How an option's value is written.
fn word(value: impl ValueEnum) -> String {
    value.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default()
}

fn ended(name: &str) -> Failure {
    Failure::Part { part: name.to_owned(), said: "it ended before it answered".to_owned() }
}
