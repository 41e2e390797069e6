//! A spine with the packs `workspace` and `process` on a database of its own, on either engine, and tasks to call them.

use std::{
    future::Future,
    panic::resume_unwind,
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
    time::Duration,
};

use serde_json::{Value, value::to_raw_value};
use tempfile::TempDir;
use toolgate_core::{Blueprint, Caller, Gate, Kind, Lang, Tool, ToolName, caller::Task};
use toolgate_packs::{
    process::{self, ProcessPack},
    workspace::{self, WorkspaceConfig, WorkspacePack},
};
use toolgate_spine::{Call, House, LimitDefaults, Outcome, Spine, ToolOffer, ToolSource};
use toolgate_store::{Location, NewTask, Store, TaskSetting};

#[path = "../../../toolgate/tests/command/bed/database.rs"]
mod database;

use database::Database;

#[derive(Clone)]
pub struct World {
    pub spine: Arc<Spine>,
    pub store: Store,
    count: Arc<AtomicU32>,
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
        let world = Self::new(Store::open(location).await.unwrap(), &WorkspaceConfig::default());
        let store = world.store.clone();
        let outcome = tokio::spawn(tokio::time::timeout(Duration::from_secs(90), check(world))).await;
        store.close().await;
        match outcome {
            Ok(finished) => finished.expect("the test takes too long"),
            Err(failed) => resume_unwind(failed.into_panic()),
        }
    }

    /// The packs as the command loads them.
    pub fn new(store: Store, config: &WorkspaceConfig) -> Self {
        let tools = |source: &'static str, offers: Vec<ToolOffer>| {
            offers.into_iter().map(move |offer| {
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
            })
        };
        let all = tools("workspace", workspace::offered(config.open).unwrap())
            .chain(tools("process", process::offered().unwrap()))
            .collect();
        let gate = Gate::new(Blueprint { tools: all, ..Blueprint::default() }).unwrap();
        let packs: Vec<Arc<dyn ToolSource>> = vec![
            Arc::new(WorkspacePack::new(store.clone(), config).unwrap()),
            Arc::new(ProcessPack::new(store.clone()).unwrap()),
        ];
        let house = House::new(gate, packs, LimitDefaults::default()).unwrap();
        Self { spine: Spine::new(house), store, count: Arc::default() }
    }

    #[allow(dead_code, reason = "one of the suites needs it")]
    /// The same store behind packs that are configured otherwise.
    pub fn with(&self, config: &WorkspaceConfig) -> Self {
        Self { count: self.count.clone(), ..Self::new(self.store.clone(), config) }
    }

    /// Starts a task that is no part of a run.
    pub async fn task(&self, process: Option<&str>, name: Option<&str>, setting: TaskSetting) -> Caller {
        let number = self.count.fetch_add(1, Ordering::Relaxed);
        let task_id = format!("task_{number}");
        let mut key_hash = [7; 32];
        key_hash[..4].copy_from_slice(&number.to_be_bytes());
        let process = process.map(str::to_owned);
        let new = NewTask {
            task_id: task_id.clone(),
            key_hash,
            process: process.clone(),
            name: name.map(str::to_owned),
            is_orchestrator: true,
            setting,
            created_at: i64::from(number),
            ..NewTask::default()
        };
        self.store.tasks().start(new).await.unwrap();
        calling(&task_id, process.as_deref(), false)
    }

    pub async fn call(&self, caller: &Caller, tool: &str, arguments: Value) -> Outcome {
        let arguments = to_raw_value(&arguments).unwrap();
        let call = Call::of(Kind::Tool, tool, Some(&arguments), Lang::En);
        self.spine.call(&Arc::new(caller.clone()), call).await
    }

    pub async fn result(&self, caller: &Caller, tool: &str, arguments: Value) -> Value {
        let bytes = match self.call(caller, tool, arguments).await {
            Outcome::Answered(bytes) => bytes,
            Outcome::Refused { answer, .. } => answer.into_bytes(),
            other => panic!("{tool}: {other:?}"),
        };
        serde_json::from_slice(&bytes).unwrap()
    }

    /// The structured content of a success, which must keep to the tool's output schema.
    pub async fn good(&self, caller: &Caller, tool: &str, arguments: Value) -> Value {
        let result = self.result(caller, tool, arguments.clone()).await;
        assert_eq!(result["isError"], false, "{tool} {arguments}: {result}");
        fitting(tool, &result)
    }

    /// The error and the code of a failure, which has nothing else.
    pub async fn bad(&self, caller: &Caller, tool: &str, arguments: Value) -> (String, String) {
        let result = self.result(caller, tool, arguments.clone()).await;
        assert_eq!(result["isError"], true, "{tool} {arguments}: {result}");
        let content = fitting(tool, &result);
        let keys: Vec<&String> = content.as_object().unwrap().keys().collect();
        assert_eq!(keys, ["error", "code"], "{tool} {arguments}");
        (content["error"].as_str().unwrap().to_owned(), content["code"].as_str().unwrap().to_owned())
    }

    /// The words of a failure.
    pub async fn error(&self, caller: &Caller, tool: &str, arguments: Value) -> String {
        self.bad(caller, tool, arguments).await.0
    }

    /// Code and message of a denial by the gate.
    pub async fn denied(&self, caller: &Caller, tool: &str) -> (String, String) {
        match self.call(caller, tool, serde_json::json!({})).await {
            Outcome::Denied { denial, .. } => (denial.code, denial.message),
            other => panic!("{tool}: {other:?}"),
        }
    }

    pub fn listed(&self, caller: &Caller) -> Vec<String> {
        let listing = self.spine.gate().listing(caller).unwrap();
        let page: Value = serde_json::from_slice(&listing.page(Kind::Tool, 0).unwrap().items).unwrap();
        page.as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
    }
}

pub fn calling(task: &str, process: Option<&str>, orchestrator: bool) -> Caller {
    let task = Task { id: task.to_owned(), process: process.map(str::to_owned), orchestrator };
    Caller { task: Some(task), ..Caller::default() }
}

fn fitting(tool: &str, result: &Value) -> Value {
    let content = result["structuredContent"].clone();
    let text: Value = serde_json::from_str(result["content"][0]["text"].as_str().unwrap()).unwrap();
    assert_eq!(text, content, "the text says the same");
    let offers = workspace::offered(false).unwrap().into_iter().chain(process::offered().unwrap());
    let offer = offers.into_iter().find(|offer| offer.name == tool).unwrap();
    let definition: Value = serde_json::from_str(offer.definition.get()).unwrap();
    let schema = jsonschema::validator_for(&definition["outputSchema"]).unwrap();
    assert!(schema.is_valid(&content), "{tool}: {content} does not fit {}", definition["outputSchema"]);
    content
}
