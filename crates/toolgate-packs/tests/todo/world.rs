//! A spine with the todo pack on a database of its own, on either engine.

use std::{future::Future, panic::resume_unwind, sync::Arc, time::Duration};

use serde_json::{Value, value::to_raw_value};
use tempfile::TempDir;
use toolgate_core::{Blueprint, Caller, Gate, Kind, Lang, Tool, ToolName, caller::UserId};
use toolgate_packs::todo::{TodoPack, offered};
use toolgate_spine::{Call, House, LimitDefaults, Outcome, Spine};
use toolgate_store::{Location, Store};

#[path = "../../../toolgate/tests/command/bed/database.rs"]
mod database;

use database::Database;

#[derive(Clone)]
pub struct World {
    pub spine: Arc<Spine>,
    pub store: Store,
}

impl World {
    pub async fn on_sqlite<F: Future<Output = ()> + Send + 'static>(check: impl FnOnce(World) -> F) {
        let folder: TempDir = tempfile::tempdir().unwrap();
        let location = Location::Sqlite(folder.path().join("toolgate.db"));
        Self::run(&location, check).await;
    }

    pub async fn on_postgres<F: Future<Output = ()> + Send + 'static>(check: impl FnOnce(World) -> F) {
        let database = Database::create();
        Self::run(&database.url().parse().unwrap(), check).await;
    }

    async fn run<F: Future<Output = ()> + Send + 'static>(location: &Location, check: impl FnOnce(World) -> F) {
        let world = Self::new(Store::open(location).await.unwrap());
        let store = world.store.clone();
        let outcome = tokio::spawn(tokio::time::timeout(Duration::from_secs(90), check(world))).await;
        store.close().await;
        match outcome {
            Ok(finished) => finished.expect("the test takes too long"),
            Err(failed) => resume_unwind(failed.into_panic()),
        }
    }

    /// The pack as the command loads it.
    pub fn new(store: Store) -> Self {
        Self::with(store, LimitDefaults::default().result_bytes)
    }

    /// The same with another limit of results.
    pub fn with(store: Store, result_bytes: u64) -> Self {
        let limits = LimitDefaults { result_bytes, ..LimitDefaults::default() };
        Self { spine: Spine::new(Self::limited(&store, limits)), store }
    }

    pub fn house(store: &Store) -> House {
        Self::limited(store, LimitDefaults::default())
    }

    fn limited(store: &Store, limits: LimitDefaults) -> House {
        let tool = |offer: toolgate_spine::ToolOffer| {
            let name = ToolName::new(&offer.name).unwrap();
            Tool {
                kind: Kind::Tool,
                wire_name: name.clone(),
                own_name: name.clone(),
                name,
                source: "todo".into(),
                definition: offer.definition.into(),
                facts: offer.facts,
            }
        };
        let tools = offered().unwrap().into_iter().map(tool).collect();
        let gate = Gate::new(Blueprint { tools, ..Blueprint::default() }).unwrap();
        let pack = Arc::new(TodoPack::new(store.clone()).unwrap());
        House::new(gate, vec![pack], limits).unwrap()
    }

    pub async fn call(&self, caller: &Caller, tool: &str, arguments: Value) -> Outcome {
        let arguments = to_raw_value(&arguments).unwrap();
        let call = Call::of(Kind::Tool, tool, Some(&arguments), Lang::En);
        self.spine.call(&Arc::new(caller.clone()), call).await
    }

    /// The bytes a user gets.
    pub async fn bytes(&self, user: &str, tool: &str, arguments: Value) -> Vec<u8> {
        match self.call(&user_named(user), tool, arguments).await {
            Outcome::Answered(bytes) => bytes.to_vec(),
            Outcome::Refused { answer, .. } => answer.into_bytes().to_vec(),
            other => panic!("{other:?}"),
        }
    }

    /// The structured content of a success, which must keep to the tool's output schema.
    pub async fn good(&self, user: &str, tool: &str, arguments: Value) -> Value {
        let result: Value = serde_json::from_slice(&self.bytes(user, tool, arguments.clone()).await).unwrap();
        assert_eq!(result["isError"], false, "{tool} {arguments}: {result}");
        let content = result["structuredContent"].clone();
        assert_fits(tool, &content);
        content
    }

    /// The structured content of a failure, which must keep to the one shape all failures have.
    pub async fn bad(&self, user: &str, tool: &str, arguments: Value) -> Value {
        let result: Value = serde_json::from_slice(&self.bytes(user, tool, arguments.clone()).await).unwrap();
        assert_eq!(result["isError"], true, "{tool} {arguments}: {result}");
        let content = result["structuredContent"].clone();
        let text: Value = serde_json::from_str(result["content"][0]["text"].as_str().unwrap()).unwrap();
        assert_eq!(text, content, "the text says the same");
        assert_fits(tool, &content);
        let keys: Vec<&String> = content.as_object().unwrap().keys().collect();
        let is_named = content.get("task_id").is_some();
        assert_eq!(keys, if is_named { vec!["error", "code", "task_id"] } else { vec!["error", "code"] });
        assert!(["validation", "not_found", "internal"].contains(&content["code"].as_str().unwrap()), "{content}");
        assert_eq!(is_named, content["code"] == "not_found", "{content}");
        content
    }

    /// The `error` of a failure.
    pub async fn error(&self, user: &str, tool: &str, arguments: Value) -> String {
        self.bad(user, tool, arguments).await["error"].as_str().unwrap().to_owned()
    }

    /// Adds a task and gives its id.
    pub async fn add(&self, user: &str, title: &str) -> i64 {
        self.good(user, "add_task", serde_json::json!({ "title": title })).await["task_id"].as_i64().unwrap()
    }

    /// Titles of a user's list, in its order.
    pub async fn titles(&self, user: &str, arguments: Value) -> Vec<String> {
        let listed = self.good(user, "list_tasks", arguments).await;
        let tasks = listed["tasks"].as_array().unwrap();
        tasks.iter().map(|task| task["title"].as_str().unwrap().to_owned()).collect()
    }
}

pub fn user_named(name: &str) -> Caller {
    Caller { user: Some(UserId::own(name).unwrap()), ..Caller::default() }
}

/// Structured content keeps to the tool's output schema, whatever came of the call.
pub fn assert_fits(tool: &str, content: &Value) {
    let offer = offered().unwrap().into_iter().find(|offer| offer.name == tool).unwrap();
    let definition: Value = serde_json::from_str(offer.definition.get()).unwrap();
    let schema = jsonschema::validator_for(&definition["outputSchema"]).unwrap();
    assert!(schema.is_valid(content), "{tool}: {content} does not fit {}", definition["outputSchema"]);
}
