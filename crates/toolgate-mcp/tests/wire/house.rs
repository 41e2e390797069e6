//! A small house to stand behind the wire: one source with a tool for each thing that can happen.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use async_trait::async_trait;
use bytes::Bytes;
use serde_json::{Value, json, value::to_raw_value};
use tokio::sync::watch;
use toolgate_core::{
    Blueprint, Caller, Facts, Gate, Kind, Tool, ToolName,
    caller::{Agent, AgentKind, UserId},
    tool::{Approval, Binding, Effect, Permission, WhenDenied},
};
use toolgate_mcp::{Credentials, Identified, Identify, IdentityUnavailable, ProcessMemory, Wire, WireConfig};
use toolgate_spine::{
    House, LimitDefaults, ProgressNote, Recorded, SourceFault, Spine, ToolAnswer, ToolOffer, ToolSource,
};

/// Everything a test can turn.
pub struct Site {
    pub wire: Wire,
    pub spine: Arc<Spine>,
    pub names: Arc<Names>,
    pub fixture: Arc<Fixture>,
    pub down: watch::Sender<bool>,
}

impl Site {
    pub fn new() -> Self {
        Self::with(|_| {})
    }

    pub fn with(change: impl FnOnce(&mut WireConfig)) -> Self {
        let fixture = Arc::new(Fixture::default());
        let names = Arc::new(Names::default());
        let spine = Spine::new(house(&fixture, tools(), 1000));
        let (down, shutdown) = watch::channel(false);
        let mut config = WireConfig::new(b"a key for tests".to_vec(), shutdown);
        change(&mut config);
        let wire = Wire::new(spine.clone(), names.clone(), Arc::new(ProcessMemory::default()), config);
        Self { wire, spine, names, fixture, down }
    }

    /// Puts a house with these tools in force.
    pub fn replace(&self, tools: Vec<Tool>, page_size: usize) {
        self.spine.replace(house(&self.fixture, tools, page_size));
    }
}

fn house(fixture: &Arc<Fixture>, tools: Vec<Tool>, page_size: usize) -> House {
    let gate = Gate::new(Blueprint { tools, page_size, ..Blueprint::default() }).unwrap();
    House::new(gate, vec![fixture.clone()], LimitDefaults::default()).unwrap()
}

fn tool(name: &str, properties: Value, facts: Facts) -> Tool {
    let definition = json!({"name": name, "inputSchema": {"type": "object", "properties": properties}});
    let name = ToolName::new(name).unwrap();
    Tool {
        kind: Kind::Tool,
        wire_name: name.to_wire(),
        own_name: name.clone(),
        name,
        source: "fixture".into(),
        definition: to_raw_value(&definition).unwrap().into(),
        facts,
    }
}

pub fn tools() -> Vec<Tool> {
    let open = || Facts { permission: Permission::Unauthenticated, effect: Effect::Read, ..Facts::default() };
    let explained = || Facts { when_denied: WhenDenied::Explained, ..Facts::default() };
    let mirrored = || json!({"region": {"type": "string", "x-mcp-header": "Region"}});
    let scopes: BTreeSet<String> = ["files:write".to_owned()].into();
    vec![
        tool("echo", json!({}), open()),
        tool("region", mirrored(), open()),
        tool("raw", json!({}), open()),
        tool("steps", json!({}), open()),
        tool("forever", json!({}), open()),
        tool("broken", json!({}), open()),
        tool("write", json!({}), Facts { effect: Effect::Write, ..open() }),
        tool("bound", json!({}), Facts { bind: BTreeMap::from([("user_id".to_owned(), Binding::User)]), ..open() }),
        tool("diary", json!({}), explained()),
        tool("hidden", mirrored(), Facts::default()),
        tool("scoped", json!({}), Facts { oauth_scopes: scopes, ..explained() }),
        tool("asking", json!({}), Facts { approval: Approval::Required, ..explained() }),
    ]
}

/// Runs the tools.
#[derive(Default)]
pub struct Fixture {
    /// Calls of `forever` that were dropped before their end.
    pub dropped: Arc<AtomicUsize>,
    pub runs: AtomicUsize,
}

struct OnDrop(Arc<AtomicUsize>);

impl Drop for OnDrop {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

#[async_trait]
impl ToolSource for Fixture {
    fn name(&self) -> &str {
        "fixture"
    }

    fn tools(&self) -> Vec<ToolOffer> {
        Vec::new()
    }

    async fn run(&self, call: Recorded) -> Result<ToolAnswer, SourceFault> {
        self.runs.fetch_add(1, Ordering::SeqCst);
        match call.tool().name.as_str() {
            "broken" => Err(SourceFault::Unavailable("the fixture is broken".to_owned())),
            "raw" => Ok(ToolAnswer::raw(Bytes::from_static(
                br#"{"content":[{"type":"hologram","odd":1.50}],"unheardOf":{"b":1,"a":2},"isError":false}"#,
            ))),
            "steps" => {
                for step in 1..=3 {
                    call.client().report(ProgressNote { progress: f64::from(step), total: Some(3.0), message: None });
                    tokio::time::sleep(Duration::from_millis(5)).await;
                }
                Ok(ToolAnswer::text("done"))
            }
            "forever" => {
                let _dropped = OnDrop(self.dropped.clone());
                call.client().report(ProgressNote { progress: 1.0, total: None, message: None });
                std::future::pending().await
            }
            _ => Ok(ToolAnswer::text(call.arguments().get())),
        }
    }
}

/// Knows a caller by the token's text: `user:NAME`, `agent:NAME`; anything else is not valid.
#[derive(Default)]
pub struct Names {
    /// Where credentials were found, newest last.
    pub seen: Mutex<Vec<String>>,
    /// Tokens that no longer count.
    pub revoked: Mutex<BTreeSet<String>>,
    pub out_of_order: std::sync::atomic::AtomicBool,
}

#[async_trait]
impl Identify for Names {
    async fn identify(&self, found: Credentials<'_>) -> Result<Identified, IdentityUnavailable> {
        if self.out_of_order.load(Ordering::SeqCst) {
            return Err(IdentityUnavailable { reason: "disk 7 is full".to_owned() });
        }
        let places = [
            ("bearer", found.bearer),
            ("meta", found.meta_token.as_deref()),
            ("params", found.params_token.as_deref()),
            ("session", found.session_token.as_deref()),
            ("coordinator", found.coordinator_token.as_deref()),
            ("task", found.task_keys.first().copied()),
        ];
        let mut caller = Caller::anonymous();
        let mut rejected = false;
        for (place, token) in places {
            let Some(token) = token else { continue };
            self.seen.lock().unwrap().push(format!("{place}={token}"));
            let revoked = self.revoked.lock().unwrap().contains(token);
            match token.split_once(':').filter(|_| !revoked) {
                Some(("user", name)) => caller.user = Some(UserId::own(name).unwrap()),
                Some(("agent", id)) => {
                    caller.agent =
                        Some(Agent { id: id.to_owned(), kind: AgentKind::Worker, project: None, purpose: None });
                }
                _ => rejected = true,
            }
        }
        if found.browser {
            self.seen.lock().unwrap().push("browser".to_owned());
        }
        Ok(Identified { caller: Arc::new(caller), rejected })
    }
}
