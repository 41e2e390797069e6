//! A spine with the fitness pack on a database and a folder of its own, on either engine.

use std::{
    fs,
    future::Future,
    panic::resume_unwind,
    path::PathBuf,
    sync::{Arc, Mutex},
    time::Duration,
};

use async_trait::async_trait;
use base64::{Engine, engine::general_purpose::STANDARD};
use serde_json::{
    Value, json,
    value::{RawValue, to_raw_value},
};
use tempfile::TempDir;
use toolgate_core::{
    Blueprint, Caller, Gate, Kind, Lang, Tool, ToolName,
    caller::{Role, Tenant, UserId},
};
use toolgate_packs::fitness::{FitnessConfig, FitnessPack, offered};
use toolgate_spine::{
    Call, House, LimitDefaults, Outcome, Previewed, Recorded, SourceFault, Spine, ToolAnswer, ToolOffer, ToolSource,
    Undo,
};
use toolgate_store::{Location, Store};

#[path = "../../../toolgate/tests/command/bed/database.rs"]
mod database;

use database::Database;

#[derive(Clone)]
pub struct World {
    pub spine: Arc<Spine>,
    pub store: Store,
    /// The folder of activity files.
    pub files: PathBuf,
    kept: Arc<Kept>,
    _folder: Arc<TempDir>,
}

/// The pack, with what its answers say of taking them back kept for the test.
struct Kept {
    pack: FitnessPack,
    undo: Mutex<Option<Undo>>,
    /// The next call is not run: this is taken back instead.
    back: Mutex<Option<Box<RawValue>>>,
}

#[async_trait]
impl ToolSource for Kept {
    fn name(&self) -> &str {
        "fitness"
    }

    fn tools(&self) -> Vec<ToolOffer> {
        self.pack.tools()
    }

    async fn run(&self, call: Recorded) -> Result<ToolAnswer, SourceFault> {
        let back = self.back.lock().unwrap().take();
        let answer = match back {
            Some(back) => self.pack.undo(call, &back).await?,
            None => self.pack.run(call).await?,
        };
        *self.undo.lock().unwrap() = Some(answer.undo().clone());
        Ok(answer)
    }

    async fn preview(&self, call: &Previewed) -> Result<Option<ToolAnswer>, SourceFault> {
        self.pack.preview(call).await
    }

    fn word(&self, tool: &Tool, fault: &toolgate_spine::ArgumentFault) -> Option<ToolAnswer> {
        self.pack.word(tool, fault)
    }
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
        let folder = tempfile::tempdir().unwrap();
        let files = folder.path().join("files");
        fs::create_dir(&files).unwrap();
        let store = Store::open(location).await.unwrap();
        let config = FitnessConfig { files: files.clone(), must_exist: true };
        let pack = FitnessPack::new(store.clone(), &config).unwrap();
        let kept = Arc::new(Kept { pack, undo: Mutex::default(), back: Mutex::default() });
        let house = House::new(gate(), vec![kept.clone()], LimitDefaults::default()).unwrap();
        let world = Self { spine: Spine::new(house), store: store.clone(), files, kept, _folder: Arc::new(folder) };
        let outcome = tokio::spawn(tokio::time::timeout(Duration::from_secs(120), check(world))).await;
        store.close().await;
        match outcome {
            Ok(finished) => finished.expect("the test takes too long"),
            Err(failed) => resume_unwind(failed.into_panic()),
        }
    }

    pub async fn call(&self, caller: &Caller, tool: &str, arguments: Value, dry_run: bool) -> Outcome {
        let arguments = to_raw_value(&arguments).unwrap();
        let call = Call { dry_run, ..Call::of(Kind::Tool, tool, Some(&arguments), Lang::En) };
        self.spine.call(&Arc::new(caller.clone()), call).await
    }

    /// The whole result, which must keep to the tool's output schema.
    pub async fn result(&self, user: &str, tool: &str, arguments: Value, dry_run: bool) -> Value {
        let result: Value = match self.call(&user_named(user), tool, arguments.clone(), dry_run).await {
            Outcome::Answered(bytes) => serde_json::from_slice(&bytes).unwrap(),
            Outcome::Refused { answer, .. } => serde_json::from_slice(&answer.into_bytes()).unwrap(),
            other => panic!("{tool} {arguments}: {other:?}"),
        };
        assert_fits(tool, &result["structuredContent"]);
        result
    }

    /// The structured content of a success.
    pub async fn good(&self, user: &str, tool: &str, arguments: Value) -> Value {
        let result = self.result(user, tool, arguments.clone(), false).await;
        assert_eq!(result["isError"], false, "{tool} {arguments}: {result}");
        result["structuredContent"].clone()
    }

    /// Error and code of a failure, which has nothing else.
    pub async fn bad(&self, user: &str, tool: &str, arguments: Value) -> (String, String) {
        let result = self.result(user, tool, arguments.clone(), false).await;
        assert_eq!(result["isError"], true, "{tool} {arguments}: {result}");
        let content = &result["structuredContent"];
        let keys: Vec<&String> = content.as_object().unwrap().keys().collect();
        assert_eq!(keys, ["error", "code"], "{result}");
        assert!(!result.to_string().contains(self.files.to_str().unwrap()), "no path of this machine: {result}");
        (content["error"].as_str().unwrap().to_owned(), content["code"].as_str().unwrap().to_owned())
    }

    pub async fn error(&self, user: &str, tool: &str, arguments: Value) -> String {
        self.bad(user, tool, arguments).await.0
    }

    pub async fn preview(&self, user: &str, tool: &str, arguments: Value) -> Value {
        let result = self.result(user, tool, arguments, true).await;
        assert_eq!(result["isError"], false, "{result}");
        assert_eq!(result["structuredContent"]["dryRun"], true, "{result}");
        result["structuredContent"].clone()
    }

    /// What the last answer needs to be taken back.
    pub fn undo(&self) -> Box<RawValue> {
        match self.kept.undo.lock().unwrap().clone() {
            Some(Undo::Native(undo)) => undo,
            other => panic!("nothing to take back: {other:?}"),
        }
    }

    pub fn last_is_final(&self) -> bool {
        matches!(self.kept.undo.lock().unwrap().as_ref(), Some(Undo::Impossible(_)))
    }

    /// Takes back, as somebody who is not the owner: an operator may. The text of a conflict where that can't be.
    pub async fn take_back(&self, tool: &str, undo: &RawValue) -> Result<Value, String> {
        *self.kept.back.lock().unwrap() = Some(undo.to_owned());
        // arguments that fit; not looked at
        let arguments = match tool {
            "connect_provider" | "disconnect_provider" => json!({"provider": "files"}),
            "set_goal" => json!({"goal_type": "time", "target_value": 1}),
            "save_recipe" => json!({"name": "x", "servings": 1, "instructions": [], "ingredients": [{"name": "x"}]}),
            "delete_recipe" => json!({"recipe_id": "x"}),
            _ => json!({"profile": "default"}),
        };
        match self.call(&user_named("operator"), tool, arguments, false).await {
            Outcome::Answered(bytes) => {
                let result: Value = serde_json::from_slice(&bytes).unwrap();
                assert_eq!(result["isError"], false, "{result}");
                assert_fits(tool, &result["structuredContent"]);
                Ok(result["structuredContent"].clone())
            }
            Outcome::Refused { code: "conflict", message, .. } => Err(message),
            other => panic!("{other:?}"),
        }
    }

    /// A file in a user's own folder.
    pub fn put(&self, folder: &str, name: &str, content: impl AsRef<[u8]>) {
        fs::create_dir_all(self.files.join(folder)).unwrap();
        fs::write(self.files.join(folder).join(name), content).unwrap();
    }

    /// Sends files in a call.
    pub async fn send(&self, user: &str, files: &[(&str, Vec<u8>)]) -> Value {
        self.good(user, "connect_provider", json!({"provider": "files", "files": sent(files)})).await
    }

    /// Ids of a user's activities, newest first.
    pub async fn ids(&self, user: &str) -> Vec<String> {
        let listed = self.good(user, "get_activities", json!({"limit": 400})).await;
        listed["activities"]
            .as_array()
            .unwrap()
            .iter()
            .map(|activity| activity["id"].as_str().unwrap().to_owned())
            .collect()
    }

    pub fn listed(&self, caller: &Caller) -> Vec<Value> {
        let listing = self.spine.gate().listing(caller).unwrap();
        serde_json::from_slice(&listing.page(Kind::Tool, 0).unwrap().items).unwrap()
    }
}

pub fn sent(files: &[(&str, Vec<u8>)]) -> Value {
    files.iter().map(|(name, content)| json!({"name": name, "data": STANDARD.encode(content)})).collect()
}

/// The pack's tools as the command loads them.
fn gate() -> Arc<Gate> {
    let tool = |offer: ToolOffer| {
        let name = ToolName::new(&offer.name).unwrap();
        Tool {
            kind: Kind::Tool,
            wire_name: name.clone(),
            own_name: name.clone(),
            name,
            source: "fitness".into(),
            definition: offer.definition.into(),
            facts: offer.facts,
        }
    };
    let plans = ["starter", "professional", "enterprise"].map(str::to_owned).to_vec();
    let tools = offered().unwrap().into_iter().map(tool).collect();
    Gate::new(Blueprint { tools, plans, ..Blueprint::default() }).unwrap()
}

/// Of a tenant whose plan has every tool; with a slash, of an issuer.
pub fn user_named(name: &str) -> Caller {
    let plan = Some("professional".into());
    let tenant = Tenant { id: "acme".into(), role: Role::default(), plan, overrides: Arc::default() };
    let user = match name.split_once('/') {
        Some((issuer, subject)) => UserId::of_issuer(issuer, subject),
        None => UserId::own(name),
    };
    Caller { user: Some(user.unwrap()), tenant: Some(tenant), ..Caller::default() }
}

/// Structured content keeps to the tool's output schema, whatever came of the call.
pub fn assert_fits(tool: &str, content: &Value) {
    let offer = offered().unwrap().into_iter().find(|offer| offer.name == tool).unwrap();
    let definition: Value = serde_json::from_str(offer.definition.get()).unwrap();
    let schema = jsonschema::validator_for(&definition["outputSchema"]).unwrap();
    let faults: Vec<String> = schema.iter_errors(content).map(|fault| fault.to_string()).collect();
    assert!(faults.is_empty(), "{tool}: {content} does not fit: {faults:?}");
}
