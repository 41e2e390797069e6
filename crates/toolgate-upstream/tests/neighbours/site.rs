//! A gate over one upstream, which is the fixture server in one of its moods.

use std::{
    collections::BTreeMap,
    io::{BufRead, BufReader},
    path::PathBuf,
    process::{Child, Command, Stdio},
    sync::Arc,
    time::{Duration, Instant},
};

use serde_json::{Value, value::RawValue};
use tempfile::TempDir;
use tokio::sync::mpsc;
use toolgate_core::{
    Blueprint, Caller, Facts, Gate, Kind, Tool, ToolName,
    tool::{Effect, Permission},
};
use toolgate_spine::{Call, Client, House, LimitDefaults, Line, LogLevel, Outcome, Said, Spine};
use toolgate_upstream::{SecretText, Transport, Upstream, UpstreamConfig};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    Stdio,
    Http,
}

/// Every transport in every era.
pub const KINDS: [(Way, &str); 4] =
    [(Way::Stdio, "modern"), (Way::Stdio, "legacy"), (Way::Http, "modern"), (Way::Http, "legacy")];

pub struct Site {
    pub upstream: Arc<Upstream>,
    pub spine: Arc<Spine>,
    pub fixture: Fixture,
}

/// The fixture's place, and its process where the upstream does not start it.
pub struct Fixture {
    directory: TempDir,
    args: Vec<String>,
    server: Option<Child>,
}

impl Drop for Fixture {
    fn drop(&mut self) {
        self.kill();
    }
}

impl Fixture {
    /// From the next list on, these are the tools.
    pub fn define(&self, definitions: &[String]) {
        let file = self.log_file().with_extension("definitions");
        std::fs::write(file, definitions.join("\n")).unwrap();
    }

    /// Serves at a port, 0 for any, and says at which.
    pub fn serve(&mut self, port: &str) -> String {
        let mut command = Command::new("python3");
        command.args(&self.args).env("FIXTURE_LOG", self.log_file()).env("FIXTURE_PORT", port);
        let mut server = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap();
        let mut port = String::new();
        BufReader::new(server.stdout.take().unwrap()).read_line(&mut port).unwrap();
        self.server = Some(server);
        port.trim().to_owned()
    }

    pub fn kill(&mut self) {
        if let Some(mut server) = self.server.take() {
            let _ = server.kill();
            let _ = server.wait();
        }
    }

    fn log_file(&self) -> PathBuf {
        self.directory.path().join("log")
    }

    /// Everything that reached the fixture.
    pub fn log(&self) -> String {
        std::fs::read_to_string(self.log_file()).unwrap_or_default()
    }

    /// The messages that reached it, of one method.
    pub fn messages(&self, method: &str) -> Vec<Value> {
        let lines = self.log();
        let bodies = lines.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        let messages = bodies.filter_map(|line| serde_json::from_str::<Value>(line["body"].as_str()?).ok());
        messages.filter(|message| message["method"] == method).collect()
    }

    pub fn calls(&self, tool: &str) -> usize {
        self.messages("tools/call").iter().filter(|call| call["params"]["name"] == tool).count()
    }
}

/// The fixture and a configuration that leads to it.
pub fn fixture(way: Way, era: &str, flags: &[&str]) -> (Fixture, UpstreamConfig) {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixture/server.py");
    let word = if way == Way::Stdio { "stdio" } else { "http" };
    let args: Vec<String> = [script, word, era].iter().chain(flags).map(|arg| (*arg).to_owned()).collect();
    let mut fixture = Fixture { directory: TempDir::new().unwrap(), args: Vec::new(), server: None };
    let log = fixture.log_file();
    let transport = if way == Way::Stdio {
        let env = BTreeMap::from([("FIXTURE_LOG".to_owned(), SecretText::new(log.to_str().unwrap()))]);
        Transport::Child {
            command: "python3".to_owned(),
            args,
            env,
            cwd: None,
            user: None,
            sandbox: None,
            reaper: None,
        }
    } else {
        fixture.args = args;
        let port = fixture.serve("0");
        let headers = vec![("Authorization".to_owned(), SecretText::new("Bearer the-gates-own"))];
        Transport::Http { url: format!("http://127.0.0.1:{}/mcp", port), headers, auth: None }
    };
    let mut config = UpstreamConfig::new("fix", transport);
    config.ask = toolgate_spine::Asking::ALL.to_vec();
    config.timeout_ms = 10_000;
    config.patience.reconnect = (Duration::from_millis(50), Duration::from_millis(500));
    config.patience.farewell = Duration::from_millis(300);
    config.patience.relist = Duration::from_millis(300);
    (fixture, config)
}

impl Site {
    pub async fn new(way: Way, era: &str, flags: &[&str]) -> Self {
        Self::with(way, era, flags, |_| {}).await
    }

    pub async fn with(way: Way, era: &str, flags: &[&str], change: impl FnOnce(&mut UpstreamConfig)) -> Self {
        let (fixture, mut config) = fixture(way, era, flags);
        change(&mut config);
        let upstream = Upstream::start(config);
        upstream.ready(Duration::from_secs(20)).await.unwrap();
        let spine = raise(&upstream);
        Self { upstream, spine, fixture }
    }

    pub async fn outcome(&self, tool: &str, arguments: &str, client: Client) -> Outcome {
        ask(&self.spine, tool, arguments, client).await
    }

    /// The result's text, or the fault's.
    pub async fn call(&self, tool: &str) -> String {
        said(self.outcome(tool, "{}", Client::default()).await)
    }

    /// Whether a plain call works.
    pub async fn works(&self) -> bool {
        self.call("echo").await.contains(r#""text": "echo""#)
    }

    /// Waits until a plain call works again.
    pub async fn recovers(&self) {
        within(10, "a call works again", async || self.works().await).await;
    }
}

/// A gate that lets everybody call everything.
pub fn raise(upstream: &Arc<Upstream>) -> Arc<Spine> {
    let facts = Facts { permission: Permission::Unauthenticated, effect: Effect::Read, ..Facts::default() };
    let tool = |kind: Kind| {
        let facts = facts.clone();
        move |definition: toolgate_upstream::Definition| {
            let name = if kind == Kind::Tool { ToolName::new } else { ToolName::free };
            let name = name(&definition.name).unwrap();
            let wire_name = if kind == Kind::Tool { name.to_wire() } else { name.clone() };
            let (own_name, definition) = (name.clone(), definition.raw);
            Tool { kind, name, wire_name, own_name, source: "fix".into(), definition, facts: facts.clone() }
        }
    };
    let tools = upstream.definitions().into_iter().map(tool(Kind::Tool));
    let prompts = upstream.prompts().into_iter().map(tool(Kind::Prompt));
    let resources = upstream.resources().into_iter().map(tool(Kind::Resource));
    let templates = upstream.templates().into_iter().map(tool(Kind::Template));
    let tools = tools.chain(prompts).chain(resources).chain(templates).collect();
    let gate = Gate::new(Blueprint { tools, page_size: 1000, ..Blueprint::default() }).unwrap();
    let defaults = LimitDefaults { result_bytes: 64 << 20, ..LimitDefaults::default() };
    Spine::new(House::new(gate, vec![upstream.clone()], defaults).unwrap())
}

pub async fn ask(spine: &Arc<Spine>, tool: &str, arguments: &str, client: Client) -> Outcome {
    let arguments = raw(arguments);
    let call = Call { client, ..Call::of(Kind::Tool, tool, Some(&arguments), spine.gate().lang()) };
    spine.call(&Arc::new(Caller::anonymous()), call).await
}

/// Gets a prompt or reads a resource.
pub async fn get(site: &Site, kind: Kind, name: &str, arguments: &str) -> Outcome {
    let arguments = raw(arguments);
    let call = Call::of(kind, name, Some(&arguments), site.spine.gate().lang());
    site.spine.call(&Arc::new(Caller::anonymous()), call).await
}

pub fn raw(json: &str) -> Box<RawValue> {
    RawValue::from_string(json.to_owned()).unwrap()
}

/// A client and what it hears.
pub fn client(capabilities: &str, log: Option<LogLevel>) -> (Client, mpsc::Receiver<Said>) {
    let (said, heard) = mpsc::channel(64);
    (Client::on(Line { said, wants_progress: false, log, capabilities: raw(capabilities), address: None }), heard)
}

pub fn said(outcome: Outcome) -> String {
    match outcome {
        Outcome::Answered(result) => String::from_utf8(result.to_vec()).unwrap(),
        Outcome::Unavailable { message, .. } => message,
        Outcome::Refused { code, .. } => format!("refused: {code}"),
        Outcome::Unknown => "unknown".to_owned(),
        Outcome::Rejected { code, message, data, .. } => format!("{code} {message} {}", data.unwrap_or_default()),
        _ => "something else".to_owned(),
    }
}

/// Waits until something is so.
pub async fn within(seconds: u64, what: &str, mut is_so: impl AsyncFnMut() -> bool) {
    let start = Instant::now();
    while !is_so().await {
        assert!(start.elapsed() < Duration::from_secs(seconds), "not within {seconds} s: {what}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// A process that is there and not merely waiting to be reaped.
pub fn is_alive(process: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    stat.rsplit(')').next().is_some_and(|rest| !rest.trim().is_empty() && !rest.trim_start().starts_with('Z'))
}
