//! A server under test: a child process that listens on loopback.

use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::process::Stdio;
use std::time::{Duration, Instant};

use tokio::process::{Child, Command};

use super::machine::{Machine, Side};
use crate::failure::{Doing, Failure};
use crate::limit::Mode;
use crate::wire::Connection;

/// How long a server may take to start.
const PATIENCE: Duration = Duration::from_secs(60);
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

    /// Starts a limit and waits until it listens.
    pub(crate) async fn limit(machine: &Machine, mode: Mode, tools: usize) -> Result<Self, Failure> {
        let this = std::env::current_exe().doing("finding this program")?;
        let address = free_address()?;
        let mode = match mode {
            Mode::Static => "static",
            Mode::Echo => "echo",
        };
        let mut command = machine.command(Side::Server, this);
        command
            .args(["limit", "--mode", mode, "--listen", &address.to_string()])
            .args(["--tools", &tools.to_string()])
            .stdin(Stdio::piped());
        let mut server = Self::spawn("the limit", address, &mut command)?;
        let started = Instant::now();
        while Connection::open(address).await.is_err() {
            server.pause("the limit", started).await?;
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

    pub(crate) async fn stop(mut self) -> Result<(), Failure> {
        self.child.kill().await.doing("stopping a server")
    }
}

/// A loopback address that nobody listens on at this moment.
pub(crate) fn free_address() -> Result<SocketAddr, Failure> {
    TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).and_then(|listener| listener.local_addr()).doing("finding a free port")
}

fn ended(name: &str) -> Failure {
    Failure::Part { part: name.to_owned(), said: "it ended before it answered".to_owned() }
}
