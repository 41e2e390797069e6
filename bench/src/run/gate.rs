//! Toolgate under test: a configuration of its own, a token, a started server.

use std::fs::File;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

use tempfile::TempDir;

use super::catalogue::Catalogue;
use super::machine::{Machine, Side};
use super::server::{Server, free_address};
use crate::failure::{Doing, Failure};
use crate::load::Expected;
use crate::tools;
use crate::wire::{Caller, Connection, FIRST_ID, Session};
use crate::workload::{Era, Work};

/// A directory that holds everything one Toolgate needs; it goes when it is dropped.
pub(crate) struct Home {
    directory: TempDir,
    toolgate: PathBuf,
    address: SocketAddr,
    pub(crate) tools: usize,
    pub(crate) token: String,
}

/// A running Toolgate that says it is ready.
pub(crate) struct Gate {
    pub(crate) server: Server,
    pub(crate) started: Instant,
}

impl Home {
    /// Writes the configuration, mints a token, and accepts the tools of the upstreams, which must run by now.
    pub(crate) async fn prepare(machine: &Machine, toolgate: &Path, catalogue: &Catalogue) -> Result<Self, Failure> {
        let toolgate = toolgate.canonicalize().doing(format!("finding {}", toolgate.display()))?;
        let mut home = Self {
            directory: TempDir::with_prefix("toolgate-bench-").doing("making a directory")?,
            toolgate,
            address: free_address()?,
            tools: catalogue.tools(),
            token: String::new(),
        };
        let write = |name: &str, text: String| std::fs::write(home.path(name), text).doing(format!("writing {name}"));
        write("toolgate.toml", catalogue.configuration(home.address))?;
        if let Catalogue::Pack { tools } = catalogue {
            write("tools.json", tools::definitions(*tools))?;
        }
        home.token = home.mint(machine).await?;
        for upstream in catalogue.upstreams() {
            home.toolgate(machine, &["upstream", "accept", &upstream.name, "--all"]).await?;
        }
        Ok(home)
    }

    pub(crate) fn caller(&self, era: Era, token: Option<String>) -> Caller {
        Caller { address: self.address, token, era }
    }

    /// Starts the server and waits until it is ready.
    pub(crate) async fn start(&self, machine: &Machine) -> Result<Gate, Failure> {
        let log = File::create(self.path("serve.log")).doing("writing serve.log")?;
        let copy = log.try_clone().doing("writing serve.log")?;
        let mut command = machine.command(Side::Server, &self.toolgate);
        command
            .arg("serve")
            .args(self.places())
            .current_dir(self.directory.path())
            .stdin(Stdio::null())
            .stdout(log)
            .stderr(copy);
        let started = Instant::now();
        let mut server = Server::spawn("toolgate serve", self.address, &mut command)?;
        while !self.ready().await {
            let waited = server.pause("toolgate serve", started).await;
            waited.map_err(|failure| self.with_log(failure))?;
        }
        Ok(Gate { server, started })
    }

    /// Asks for the first list and says how long after the start it was there.
    pub(crate) async fn first_answer(&self, gate: &Gate) -> Result<Duration, Failure> {
        let caller = self.caller(Era::Stateless, Some(self.token.clone()));
        let mut session = Session::open(caller).await?;
        let request = session.request(Work::List);
        let answer = session.ask(&request).await?;
        let answered = gate.started.elapsed();
        let expected = Expected { work: Work::List, tools: self.tools, fixed_id: false };
        expected.check_first(&answer, FIRST_ID)?;
        Ok(answered)
    }

    async fn ready(&self) -> bool {
        let Ok(mut connection) = Connection::open(self.address).await else {
            return false;
        };
        let asked = format!("GET /readyz HTTP/1.1\r\nHost: {}\r\n\r\n", self.address);
        let answer = connection.exchange(asked.as_bytes()).await;
        answer.is_ok_and(|answer| answer.head.status == 200)
    }

    async fn mint(&self, machine: &Machine) -> Result<String, Failure> {
        self.mint_for(machine, "bench").await
    }

    pub(crate) async fn mint_for(&self, machine: &Machine, user: &str) -> Result<String, Failure> {
        let token = self.toolgate(machine, &["token", "mint", "--user", user]).await?;
        if token.is_empty() || token.contains(char::is_whitespace) {
            return Err(Failure::Part { part: "toolgate token mint".to_owned(), said: "it gave no token".to_owned() });
        }
        Ok(token)
    }

    /// Runs a command of Toolgate's to its end. What it said on standard output.
    async fn toolgate(&self, machine: &Machine, arguments: &[&str]) -> Result<String, Failure> {
        let part = format!("toolgate {}", arguments.join(" "));
        let output = machine
            .command(Side::Load, &self.toolgate)
            .args(arguments)
            .args(self.places())
            .current_dir(self.directory.path())
            .stdin(Stdio::null())
            .output()
            .await
            .doing(part.as_str())?;
        if !output.status.success() {
            return Err(Failure::Part { part, said: String::from_utf8_lossy(&output.stderr).trim().to_owned() });
        }
        Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
    }

    fn places(&self) -> [PathBuf; 4] {
        let (config, data) = (self.path("toolgate.toml"), self.path("data"));
        ["--config".into(), config, "--data".into(), data]
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    fn with_log(&self, failure: Failure) -> Failure {
        let log = std::fs::read_to_string(self.path("serve.log")).unwrap_or_default();
        match failure {
            Failure::Part { part, said } => Failure::Part { part, said: format!("{said}\n{log}") },
            other => other,
        }
    }
}
