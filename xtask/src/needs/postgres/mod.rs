//! A PostgreSQL of our own: a new cluster in a temporary directory, on a free loopback port, gone when dropped.

mod account;
mod binaries;

use std::{
    net::TcpListener,
    path::Path,
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use tempfile::TempDir;

use self::account::Account;
use crate::{
    command::Program,
    fault::{Fault, Outcome, on_path},
};

const READY_WITHIN: Duration = Duration::from_secs(30);
const STOPPED_WITHIN: Duration = Duration::from_secs(10);
const POLL: Duration = Duration::from_millis(50);

/// Durability is not what these tests test, and there are many of them.
const SETTINGS: [&str; 6] = [
    "fsync=off",
    "synchronous_commit=off",
    "full_page_writes=off",
    "max_connections=200",
    "log_min_messages=warning",
    "listen_addresses=127.0.0.1",
];

/// A running server. Dropping it stops the server and removes its files.
pub(crate) struct Postgres {
    server: Child,
    port: u16,
    _files: TempDir,
}

impl Postgres {
    pub(crate) fn start() -> Outcome<Self> {
        let binaries = binaries::directory()?;
        let account = Account::fit();
        let files = tempfile::Builder::new().prefix("toolgate-postgres-").tempdir();
        let files = files.map_err(|error| Fault::new(format!("can't make a temporary directory: {error}")))?;
        account.own(files.path())?;

        let data = files.path().join("data");
        let initdb = ["--username=postgres", "--auth=trust", "--encoding=UTF8", "--locale=C", "--no-sync", "--pgdata"];
        account.program(&binaries.join("initdb"), files.path()).args(initdb).args([&data]).output()?;

        let port = free_port()?;
        let log = files.path().join("log");
        let output = on_path(std::fs::File::create(&log), "write", &log)?;
        let complaints = on_path(output.try_clone(), "write", &log)?;
        let mut line: Command = account
            .program(&binaries.join("postgres"), files.path())
            .args(["-D".as_ref(), data.as_os_str(), "-k".as_ref(), files.path().as_os_str()])
            .args(["-p", &port.to_string()])
            .args(SETTINGS.iter().flat_map(|setting| ["-c", setting]))
            .into_inner();
        let server = line.stdin(Stdio::null()).stdout(output).stderr(complaints).spawn();
        let server = server.map_err(|error| Fault::new(format!("can't start postgres: {error}")))?;

        let mut postgres = Self { server, port, _files: files };
        postgres.wait_until_ready(&binaries, &log)?;
        Ok(postgres)
    }

    pub(crate) fn url(&self) -> String {
        format!("postgres://postgres@127.0.0.1:{}/postgres", self.port)
    }

    fn wait_until_ready(&mut self, binaries: &Path, log: &Path) -> Outcome<()> {
        let said = || std::fs::read_to_string(log).unwrap_or_default();
        let deadline = Instant::now() + READY_WITHIN;
        while Instant::now() < deadline {
            if let Ok(Some(status)) = self.server.try_wait() {
                return Err(Fault::new(format!("postgres ended with {status}:\n{}", said())));
            }
            let port = self.port.to_string();
            let ready = Program::new(binaries.join("pg_isready")).args(["-q", "-h", "127.0.0.1", "-p", &port]);
            if ready.output().is_ok() {
                return Ok(());
            }
            thread::sleep(POLL);
        }
        Err(Fault::new(format!("postgres was not ready in {} s:\n{}", READY_WITHIN.as_secs(), said())))
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        // SIGINT is PostgreSQL's fast shutdown: open sessions are ended, children waited for.
        let _ = Program::new("kill").args(["-INT", &self.server.id().to_string()]).output();
        let deadline = Instant::now() + STOPPED_WITHIN;
        while Instant::now() < deadline {
            if !matches!(self.server.try_wait(), Ok(None)) {
                return;
            }
            thread::sleep(POLL);
        }
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

fn free_port() -> Outcome<u16> {
    let port = TcpListener::bind(("127.0.0.1", 0)).and_then(|listener| listener.local_addr());
    port.map(|address| address.port()).map_err(|error| Fault::new(format!("no free loopback port: {error}")))
}
