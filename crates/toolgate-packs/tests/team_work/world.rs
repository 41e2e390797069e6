//! A spine with the team pack on a database of its own, and a small team: `boss` with `ann` and `bob` under it, `eve`
//! elsewhere in the project, `hana` a person above `boss`, `far` in another project.

use std::{
    future::Future,
    panic::resume_unwind,
    sync::{
        Arc,
        atomic::{AtomicI64, AtomicU8, Ordering},
    },
    time::Duration,
};

use serde_json::{Value, json, value::to_raw_value};
use tempfile::TempDir;
use toolgate_core::{
    Blueprint, Caller, Gate, Kind, Lang, Tool, ToolName,
    caller::{Agent, AgentKind, Purpose},
};
use toolgate_packs::team::{Clock, TeamConfig, TeamPack, offered};
use toolgate_spine::{Call, House, LimitDefaults, Outcome, Spine};
use toolgate_store::{
    Location, Store,
    team::{self, AgentType, Hierarchy, NewAgent, NewProject, NewSession, NewTeamTask, StatusChange, TeamTask},
};

#[path = "../../../toolgate/tests/command/bed/database.rs"]
mod database;

use database::Database;

#[derive(Clone)]
pub struct World {
    pub spine: Arc<Spine>,
    pub store: Store,
    pub clock: Arc<AtomicI64>,
    pub location: Location,
    /// PostgreSQL alone.
    pub database: Option<Arc<Database>>,
}

impl World {
    pub async fn on_sqlite<F: Future<Output = ()> + Send + 'static>(check: impl FnOnce(World) -> F) {
        let folder: TempDir = tempfile::tempdir().unwrap();
        Self::run(Location::Sqlite(folder.path().join("toolgate.db")), None, check).await;
    }

    pub async fn on_postgres<F: Future<Output = ()> + Send + 'static>(check: impl FnOnce(World) -> F) {
        let database = Arc::new(Database::create());
        Self::run(database.url().parse().unwrap(), Some(database), check).await;
    }

    async fn run<F: Future<Output = ()> + Send + 'static>(
        location: Location,
        database: Option<Arc<Database>>,
        check: impl FnOnce(World) -> F,
    ) {
        let store = Store::open(&location).await.unwrap();
        let world = Self::new(store.clone(), location, database).await;
        let outcome = tokio::spawn(tokio::time::timeout(Duration::from_secs(90), check(world))).await;
        store.close().await;
        match outcome {
            Ok(finished) => finished.expect("the test takes too long"),
            Err(failed) => resume_unwind(failed.into_panic()),
        }
    }

    async fn new(store: Store, location: Location, database: Option<Arc<Database>>) -> Self {
        let clock = Arc::new(AtomicI64::new(1_800_000_000_000));
        let world = Self { spine: spine(&store, &clock), store, clock, location, database };
        let team = world.store.team();
        for project in ["p", "q"] {
            let new = NewProject { id: project.into(), name: project.into(), working_directory: None, created_at: 1 };
            team.projects().add(new).await.unwrap();
        }
        for (id, parent, hierarchy, agent_type) in [
            ("hana", None, Hierarchy::Manager, AgentType::Human),
            ("boss", Some("hana"), Hierarchy::Manager, AgentType::Ai),
            ("ann", Some("boss"), Hierarchy::Worker, AgentType::Ai),
            ("bob", Some("boss"), Hierarchy::Worker, AgentType::Ai),
            ("eve", None, Hierarchy::Manager, AgentType::Ai),
            ("far", None, Hierarchy::Worker, AgentType::Ai),
        ] {
            let agent = NewAgent {
                id: id.into(),
                name: id.to_uppercase(),
                role: String::new(),
                agent_type,
                hierarchy,
                parent: parent.map(str::to_owned),
                max_parallel_tasks: 1,
                capabilities: vec![],
                system_prompt: None,
                provider: None,
                model_id: None,
                owner: None,
                created_at: 1,
            };
            team.agents().add(agent).await.unwrap();
            team.assignments().assign(id, if id == "far" { "q" } else { "p" }, 1).await.unwrap();
        }
        world
    }

    pub fn now(&self) -> i64 {
        self.clock.load(Ordering::SeqCst)
    }

    pub fn later(&self, minutes: i64) {
        self.clock.fetch_add(minutes * 60_000, Ordering::SeqCst);
    }

    pub async fn call(&self, caller: &Caller, tool: &str, arguments: Value) -> Outcome {
        self.call_in(Lang::En, caller, tool, arguments).await
    }

    pub async fn call_in(&self, lang: Lang, caller: &Caller, tool: &str, arguments: Value) -> Outcome {
        let arguments = to_raw_value(&arguments).unwrap();
        let call = Call::of(Kind::Tool, tool, Some(&arguments), lang);
        // on the heap, as the server has it: the path is long, and so are these tests
        Box::pin(self.spine.call(&Arc::new(caller.clone()), call)).await
    }

    async fn result(&self, caller: &Caller, tool: &str, arguments: Value) -> Value {
        match self.call(caller, tool, arguments).await {
            Outcome::Answered(bytes) => serde_json::from_slice(&bytes).unwrap(),
            Outcome::Refused { answer, .. } => serde_json::from_slice(&answer.into_bytes()).unwrap(),
            Outcome::Denied { tool, denial, .. } => serde_json::from_slice(&self.spine.denied(&tool, &denial)).unwrap(),
            other => panic!("{tool}: {other:?}"),
        }
    }

    /// The structured content of a success, which must keep to the tool's output schema.
    pub async fn good(&self, caller: &Caller, tool: &str, arguments: Value) -> Value {
        let result = self.result(caller, tool, arguments.clone()).await;
        assert_eq!(result["isError"], false, "{tool} {arguments}: {result}");
        assert_fits(tool, &result["structuredContent"]);
        result["structuredContent"].clone()
    }

    /// The words of a failure, which must keep to the tool's output schema too.
    pub async fn bad(&self, caller: &Caller, tool: &str, arguments: Value) -> String {
        let result = self.result(caller, tool, arguments.clone()).await;
        assert_eq!(result["isError"], true, "{tool} {arguments}: {result}");
        let content = &result["structuredContent"];
        assert_fits(tool, content);
        assert_eq!(content["success"], false, "{content}");
        content["error"].as_str().unwrap().to_owned()
    }

    /// The words of a denial by the rules.
    pub async fn denied(&self, caller: &Caller, tool: &str) -> String {
        match self.call(caller, tool, json!({})).await {
            Outcome::Denied { denial, .. } => denial.message,
            other => panic!("{tool}: {other:?}"),
        }
    }

    /// What `get_next_action` says, without waiting.
    pub async fn next(&self, caller: &Caller) -> Value {
        self.good(caller, "get_next_action", json!({"timeout_seconds": 0})).await
    }

    pub async fn action(&self, caller: &Caller) -> String {
        self.next(caller).await["action"].as_str().unwrap().to_owned()
    }

    /// A task of the project, given by `boss`.
    pub async fn add(&self, assignee: Option<&str>, parent: Option<&str>) -> String {
        let new = NewTeamTask {
            id: team::TeamTasks::new_id().unwrap(),
            title: "paint".into(),
            description: "the door".into(),
            status: team::TaskStatus::Todo,
            priority: team::TaskPriority::Medium,
            assignee: assignee.map(str::to_owned),
            created_by: "boss".into(),
            parent: parent.map(str::to_owned),
            needs: vec![],
            requester: None,
            approval: team::TaskApproval::Approved,
        };
        self.tasks().create(&[new], None, self.now()).await.unwrap().remove(0).id
    }

    /// The same, in progress.
    pub async fn begun(&self, assignee: &str, parent: Option<&str>) -> String {
        let id = self.add(Some(assignee), parent).await;
        let change = StatusChange { to: team::TaskStatus::InProgress, by: "boss".into(), reason: None, report: None };
        self.tasks().change(&id, &change, self.now()).await.unwrap();
        id
    }

    pub fn tasks(&self) -> team::TeamTasks {
        self.store.team().tasks("p").unwrap()
    }

    pub async fn task(&self, id: &str) -> TeamTask {
        self.tasks().get(id).await.unwrap().unwrap()
    }

    /// In a task session about this task.
    pub async fn at_task(&self, agent: &str, task: &str) -> Caller {
        self.session(agent, team::Purpose::Task, Some(task)).await;
        caller(agent, Purpose::Task)
    }

    pub async fn in_chat(&self, agent: &str) -> Caller {
        self.session(agent, team::Purpose::Chat, None).await;
        caller(agent, Purpose::Chat)
    }

    async fn session(&self, agent: &str, purpose: team::Purpose, task: Option<&str>) {
        static NEXT: AtomicU8 = AtomicU8::new(0);
        let new = NewSession {
            token_hash: [NEXT.fetch_add(1, Ordering::Relaxed); 32],
            agent: agent.into(),
            project: "p".into(),
            purpose,
            task: task.map(str::to_owned),
        };
        let sessions = self.store.team().sessions();
        let session = sessions.open(new, self.now()).await.unwrap().expect("no such session is live");
        sessions.report_model(&session.id, "acme", "m1", true).await.unwrap();
    }

    pub async fn live(&self, agent: &str, purpose: team::Purpose) -> Option<team::AgentSession> {
        self.store.team().sessions().live(agent, "p", purpose, self.now()).await.unwrap()
    }
}

fn spine(store: &Store, clock: &Arc<AtomicI64>) -> Arc<Spine> {
    let tool = |offer: toolgate_spine::ToolOffer| {
        let name = ToolName::new(&offer.name).unwrap();
        Tool {
            kind: Kind::Tool,
            wire_name: name.clone(),
            own_name: name.clone(),
            name,
            source: "team".into(),
            definition: offer.definition.into(),
            facts: offer.facts,
        }
    };
    let tools = offered(TeamConfig::default()).unwrap().into_iter().map(tool).collect();
    let gate = Gate::new(Blueprint { tools, ..Blueprint::default() }).unwrap();
    let clock = Arc::clone(clock);
    let pack = TeamPack::new(store.clone(), TeamConfig::default()).unwrap();
    let pack = pack.with_clock(Clock::of(move || clock.load(Ordering::SeqCst)));
    Spine::new(House::new(gate, vec![Arc::new(pack)], LimitDefaults::default()).unwrap())
}

/// Whoever says so; sessions are another matter.
pub fn caller(agent: &str, purpose: Purpose) -> Caller {
    let kind = if ["boss", "eve", "hana"].contains(&agent) { AgentKind::Manager } else { AgentKind::Worker };
    let agent = Agent { id: agent.into(), kind, project: Some("p".into()), purpose: Some(purpose), session: None };
    Caller { agent: Some(agent), ..Caller::default() }
}

fn assert_fits(tool: &str, content: &Value) {
    let offer = offered(TeamConfig::default()).unwrap().into_iter().find(|offer| offer.name == tool).unwrap();
    let definition: Value = serde_json::from_str(offer.definition.get()).unwrap();
    let schema = jsonschema::validator_for(&definition["outputSchema"]).unwrap();
    assert!(schema.is_valid(content), "{tool}: {content} does not fit {}", definition["outputSchema"]);
}
