//! A spine with the team pack on a database of its own, a clock that stands still, and a small team: `boss`, and under it
//! `ann` and `bob`, all in the project `p`.

use std::{
    future::Future,
    net::IpAddr,
    panic::resume_unwind,
    sync::{
        Arc,
        atomic::{AtomicI64, Ordering},
    },
    time::Duration,
};

use serde_json::{
    Value, json,
    value::{RawValue, to_raw_value},
};
use tempfile::TempDir;
use tokio::sync::mpsc;
use toolgate_core::{
    Blueprint, Caller, Gate, Kind, Lang, Tool, ToolName,
    caller::{Agent, AgentKind, Purpose},
};
use toolgate_packs::{
    gate::GatePack,
    team::{Clock, TeamConfig, TeamPack, offered},
};
use toolgate_spine::{Call, Client, House, LimitDefaults, Line, Outcome, Spine, ToolOffer, ToolSource};
use toolgate_store::{
    Location, Store,
    team::{
        self, AgentType, Hierarchy, NewAgent, NewMessage, NewProject, NewTeamTask, Passkey, SessionToken, StatusChange,
        TaskApproval, TaskPriority, TaskStatus, TeamTasks,
    },
};

#[path = "../../../toolgate/tests/command/bed/database.rs"]
mod database;

use database::Database;

/// Of everybody.
pub const PASSKEY: &str = "open sesame, please";

#[derive(Clone)]
pub struct World {
    pub spine: Arc<Spine>,
    pub store: Store,
    clock: Arc<AtomicI64>,
    pub address: Option<IpAddr>,
    pub lang: Lang,
}

impl World {
    pub async fn on_sqlite<F: Future<Output = ()> + Send + 'static>(check: impl FnOnce(World) -> F) {
        let folder: TempDir = tempfile::tempdir().unwrap();
        Self::run(&Location::Sqlite(folder.path().join("toolgate.db")), check).await;
    }

    pub async fn on_postgres<F: Future<Output = ()> + Send + 'static>(check: impl FnOnce(World) -> F) {
        let database = Database::create();
        Self::run(&database.url().parse().unwrap(), check).await;
    }

    async fn run<F: Future<Output = ()> + Send + 'static>(location: &Location, check: impl FnOnce(World) -> F) {
        let world = Self::new(Store::open(location).await.unwrap());
        world.staff().await;
        let store = world.store.clone();
        let outcome = tokio::spawn(tokio::time::timeout(Duration::from_secs(90), check(world))).await;
        store.close().await;
        match outcome {
            Ok(finished) => finished.expect("the test takes too long"),
            Err(failed) => resume_unwind(failed.into_panic()),
        }
    }

    /// The packs as the command loads them.
    fn new(store: Store) -> Self {
        let clock = Arc::new(AtomicI64::new(1_800_000_000_000));
        let told = Arc::clone(&clock);
        let config = TeamConfig::default();
        let pack = TeamPack::new(store.clone(), config).unwrap();
        let pack = pack.with_clock(Clock::of(move || told.load(Ordering::SeqCst)));
        let help = GatePack::new().unwrap();
        let mut tools: Vec<Tool> = help.tools().into_iter().map(|offer| tool("gate", offer)).collect();
        tools.extend(offered(config).unwrap().into_iter().map(|offer| tool("team", offer)));
        let gate = Gate::new(Blueprint { tools, ..Blueprint::default() }).unwrap();
        let house = House::new(gate, vec![Arc::new(pack), Arc::new(help)], LimitDefaults::default()).unwrap();
        Self { spine: Spine::new(house), store, clock, address: None, lang: Lang::En }
    }

    async fn staff(&self) {
        let team = self.store.team();
        let project = NewProject {
            id: "p".into(),
            name: "Project p".into(),
            working_directory: Some("/srv/p".into()),
            created_at: 1,
        };
        team.projects().add(project).await.unwrap();
        let hash = Passkey::new(PASSKEY).unwrap().hash().unwrap();
        for (id, parent) in [("boss", None), ("ann", Some("boss")), ("bob", Some("boss"))] {
            let agent = NewAgent {
                id: id.into(),
                name: id.to_uppercase(),
                role: "tester".into(),
                agent_type: AgentType::Ai,
                hierarchy: if parent.is_some() { Hierarchy::Worker } else { Hierarchy::Manager },
                parent: parent.map(str::to_owned),
                max_parallel_tasks: 1,
                capabilities: vec!["rust".into()],
                system_prompt: (id == "ann").then(|| "Be brief.".into()),
                provider: (id == "ann").then(|| "anthropic".into()),
                model_id: (id == "ann").then(|| "m-1".into()),
                owner: None,
                created_at: 1_700_000_000_000,
            };
            team.agents().add(agent).await.unwrap();
            team.credentials().set(id, &hash, 1).await.unwrap();
            team.assignments().assign(id, "p", 1).await.unwrap();
        }
    }

    pub fn now(&self) -> i64 {
        self.clock.load(Ordering::SeqCst)
    }

    pub fn pass(&self, millis: i64) {
        self.clock.fetch_add(millis, Ordering::SeqCst);
    }

    pub fn at(&self, address: &str) -> Self {
        Self { address: Some(address.parse().unwrap()), ..self.clone() }
    }

    pub fn speaking(&self, lang: Lang) -> Self {
        Self { lang, ..self.clone() }
    }

    /// A task that this agent has in progress.
    pub async fn give_task(&self, agent: &str) -> String {
        let tasks = self.store.team().tasks("p").unwrap();
        let new = NewTeamTask {
            id: TeamTasks::new_id().unwrap(),
            title: "paint".into(),
            description: "the door".into(),
            status: TaskStatus::Todo,
            priority: TaskPriority::Medium,
            assignee: Some(agent.into()),
            created_by: "boss".into(),
            parent: None,
            needs: vec![],
            requester: None,
            approval: TaskApproval::Approved,
        };
        let task = tasks.create(&[new], None, self.now()).await.unwrap().remove(0);
        let begun = StatusChange { to: TaskStatus::InProgress, by: "boss".into(), reason: None, report: None };
        tasks.change(&task.id, &begun, self.now()).await.unwrap().id
    }

    /// Something that this agent has not read.
    pub async fn write_to(&self, agent: &str) {
        let message = NewMessage { to: Some(agent.into()), content: "hello".into(), task: None, conversation: None };
        self.store.team().conversations("p", "boss").send(&message, self.now()).await.unwrap();
    }

    pub async fn call(&self, caller: &Caller, tool: &str, arguments: &Value) -> Outcome {
        let arguments = to_raw_value(arguments).unwrap();
        let line = Line {
            said: mpsc::channel(1).0,
            wants_progress: false,
            log: None,
            capabilities: RawValue::from_string("{}".to_owned()).unwrap(),
            address: self.address,
        };
        let call = Call { client: Client::on(line), ..Call::of(Kind::Tool, tool, Some(&arguments), self.lang) };
        self.spine.call(&Arc::new(caller.clone()), call).await
    }

    pub async fn dry_run(&self, caller: &Caller, tool: &str) -> Outcome {
        let call = Call { dry_run: true, ..Call::of(Kind::Tool, tool, None, self.lang) };
        self.spine.call(&Arc::new(caller.clone()), call).await
    }

    /// The structured content of whatever came of a call that ran, which must keep to the tool's output schema.
    pub async fn content(&self, caller: &Caller, tool: &str, arguments: Value) -> Value {
        let bytes = match self.call(caller, tool, &arguments).await {
            Outcome::Answered(bytes) => bytes,
            Outcome::Refused { answer, .. } => answer.into_bytes(),
            other => panic!("{tool}: {other:?}"),
        };
        let result: Value = serde_json::from_slice(&bytes).unwrap();
        let content = result["structuredContent"].clone();
        assert_eq!(result["isError"], !content["success"].as_bool().unwrap(), "{tool}: {result}");
        let text: Value = serde_json::from_str(result["content"][0]["text"].as_str().unwrap()).unwrap();
        assert_eq!(text, content, "the text says the same");
        assert_fits(tool, &content);
        content
    }

    pub async fn good(&self, caller: &Caller, tool: &str, arguments: Value) -> Value {
        let content = self.content(caller, tool, arguments).await;
        assert_eq!(content["success"], true, "{tool}: {content}");
        content
    }

    pub async fn bad(&self, caller: &Caller, tool: &str, arguments: Value) -> Value {
        let content = self.content(caller, tool, arguments).await;
        assert_eq!(content["success"], false, "{tool}: {content}");
        content
    }

    pub async fn authenticate(&self, agent: &str, passkey: &str) -> Value {
        let arguments = json!({"agent_id": agent, "passkey": passkey, "project_id": "p"});
        self.content(&Caller::anonymous(), "authenticate", arguments).await
    }

    /// Signs in, and gives what identity would make of the token.
    pub async fn sign_in(&self, agent: &str) -> Caller {
        let answer = self.authenticate(agent, PASSKEY).await;
        let token = answer["session_token"].as_str().unwrap_or_else(|| panic!("{agent}: {answer}"));
        self.caller(token).await.unwrap()
    }

    pub async fn caller(&self, token: &str) -> Option<Caller> {
        let session =
            self.store.team().sessions().by_token(&SessionToken::hash_of(token), self.now()).await.unwrap()?;
        let (kind, purpose) = (session.hierarchy.as_str().parse().unwrap(), session.purpose.as_str().parse().unwrap());
        Some(agent(&session.agent, kind, Some(purpose)))
    }

    /// What signing in does.
    pub async fn session(&self, agent: &str, purpose: team::Purpose) -> Option<team::AgentSession> {
        self.store.team().sessions().live(agent, "p", purpose, self.now()).await.unwrap()
    }
}

pub fn coordinator() -> Caller {
    Caller {
        agent: Some(Agent {
            id: "coordinator".into(),
            kind: AgentKind::Coordinator,
            project: None,
            purpose: None,
            session: None,
        }),
        ..Caller::default()
    }
}

pub fn agent(id: &str, kind: AgentKind, purpose: Option<Purpose>) -> Caller {
    Caller {
        agent: Some(Agent { id: id.into(), kind, project: Some("p".into()), purpose, session: None }),
        ..Caller::default()
    }
}

fn tool(source: &str, offer: ToolOffer) -> Tool {
    let name = ToolName::new(&offer.name).unwrap();
    Tool {
        kind: Kind::Tool,
        wire_name: name.clone(),
        own_name: name.clone(),
        name,
        source: source.into(),
        definition: offer.definition.into(),
        facts: offer.facts,
    }
}

fn assert_fits(tool: &str, content: &Value) {
    let offer = offered(TeamConfig::default()).unwrap().into_iter().find(|offer| offer.name == tool).unwrap();
    let definition: Value = serde_json::from_str(offer.definition.get()).unwrap();
    let schema = jsonschema::validator_for(&definition["outputSchema"]).unwrap();
    assert!(schema.is_valid(content), "{tool}: {content} does not fit {}", definition["outputSchema"]);
}
