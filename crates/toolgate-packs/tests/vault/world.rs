//! A spine with the vault pack on a folder and a database of its own, on either engine.

use std::{
    collections::BTreeMap,
    fs,
    future::Future,
    panic::resume_unwind,
    path::{Path, PathBuf},
    sync::{Arc, Mutex},
    time::Duration,
};

use async_trait::async_trait;
use serde_json::{
    Value, json,
    value::{RawValue, to_raw_value},
};
use tempfile::TempDir;
use toolgate_core::{Blueprint, Caller, Gate, Kind, Lang, RuleFile, Tool, ToolName, caller::UserId, tool::Approval};
use toolgate_packs::vault::{VaultConfig, VaultPack, offered};
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
    pub location: Location,
    /// The vault's folder.
    pub root: PathBuf,
    /// Beside it: what must never be reached.
    pub outside: PathBuf,
    kept: Arc<Kept>,
    _folder: Arc<TempDir>,
}

/// The pack, with what its answers say of taking them back kept for the test.
struct Kept {
    pack: VaultPack,
    undo: Mutex<Option<Undo>>,
    /// The next call is not run: this is taken back instead.
    back: Mutex<Option<Box<RawValue>>>,
}

#[async_trait]
impl ToolSource for Kept {
    fn name(&self) -> &str {
        "vault"
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
        let location = Location::Sqlite(folder.path().join("toolgate.db"));
        Self::run(&location, check).await;
    }

    pub async fn on_postgres<F: Future<Output = ()> + Send + 'static>(check: impl FnOnce(World) -> F) {
        let database = Database::create();
        Self::run(&database.url().parse().unwrap(), check).await;
    }

    async fn run<F: Future<Output = ()> + Send + 'static>(location: &Location, check: impl FnOnce(World) -> F) {
        let world = Self::new(location, |_| {}).await;
        let store = world.store.clone();
        let outcome = tokio::spawn(tokio::time::timeout(Duration::from_secs(120), check(world))).await;
        store.close().await;
        match outcome {
            Ok(finished) => finished.expect("the test takes too long"),
            Err(failed) => resume_unwind(failed.into_panic()),
        }
    }

    /// Every call looks at the folder, so that no test waits.
    pub async fn new(location: &Location, change: impl FnOnce(&mut VaultConfig)) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let (root, outside) = (folder.path().join("vault"), folder.path().join("outside"));
        fs::create_dir(&root).unwrap();
        fs::create_dir(&outside).unwrap();
        fs::write(outside.join("secret.txt"), "outside").unwrap();
        Self::at(location, root, outside, Arc::new(folder), change).await
    }

    async fn at(
        location: &Location,
        root: PathBuf,
        outside: PathBuf,
        folder: Arc<TempDir>,
        change: impl FnOnce(&mut VaultConfig),
    ) -> Self {
        let mut config = VaultConfig { rescan: Duration::ZERO, ..VaultConfig::new(&root) };
        change(&mut config);
        let store = Store::open(location).await.unwrap();
        let pack = VaultPack::new(store.clone(), &config).unwrap();
        let kept = Arc::new(Kept { pack, undo: Mutex::default(), back: Mutex::default() });
        // approvals are granted elsewhere: what runs here has them
        let gate = gate(Approval::None, vec![]);
        let house = House::new(gate, vec![kept.clone()], LimitDefaults::default()).unwrap();
        let location = location.clone();
        Self { spine: Spine::new(house), store, location, root, outside, kept, _folder: folder }
    }

    /// Another process on the same folder and database.
    pub async fn again(&self, change: impl FnOnce(&mut VaultConfig)) -> Self {
        Self::at(&self.location, self.root.clone(), self.outside.clone(), self._folder.clone(), change).await
    }

    pub async fn call(&self, caller: &Caller, tool: &str, arguments: Value, dry_run: bool) -> Outcome {
        let arguments = to_raw_value(&arguments).unwrap();
        let call = Call { dry_run, ..Call::of(Kind::Tool, tool, Some(&arguments), Lang::En) };
        self.spine.call(&Arc::new(caller.clone()), call).await
    }

    /// The whole result that Ann gets.
    pub async fn result(&self, tool: &str, arguments: Value, dry_run: bool) -> Value {
        let result = match self.call(&user_named("ann"), tool, arguments.clone(), dry_run).await {
            Outcome::Answered(bytes) => serde_json::from_slice::<Value>(&bytes).unwrap(),
            Outcome::Refused { answer, .. } => serde_json::from_slice(&answer.into_bytes()).unwrap(),
            other => panic!("{tool} {arguments}: {other:?}"),
        };
        if !result["structuredContent"].is_null() {
            assert_fits(tool, &result["structuredContent"]);
        }
        result
    }

    /// The structured content of a success.
    pub async fn good(&self, tool: &str, arguments: Value) -> Value {
        let result = self.result(tool, arguments.clone(), false).await;
        assert_eq!(result["isError"], false, "{tool} {arguments}: {result}");
        result["structuredContent"].clone()
    }

    /// The code of a failure, which must keep to the one shape all failures have.
    pub async fn bad(&self, tool: &str, arguments: Value) -> String {
        let result = self.result(tool, arguments.clone(), false).await;
        assert_eq!(result["isError"], true, "{tool} {arguments}: {result}");
        let content = &result["structuredContent"];
        let keys: Vec<&String> = content.as_object().unwrap().keys().collect();
        assert_eq!(keys, ["error", "code"], "{result}");
        assert!(!content["error"].as_str().unwrap().contains(self.root.to_str().unwrap()), "{result}");
        content["code"].as_str().unwrap().to_owned()
    }

    pub async fn preview(&self, tool: &str, arguments: Value) -> Value {
        self.result(tool, arguments, true).await
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

    /// Takes back; the text of a conflict where that can't be.
    pub async fn take_back(&self, tool: &str, undo: &RawValue) -> Result<Value, String> {
        *self.kept.back.lock().unwrap() = Some(undo.to_owned());
        // the arguments of the call that was made; not looked at
        let arguments = match tool {
            "vault.move" => json!({"id": "x", "toFolderId": "root"}),
            "vault.rename" => json!({"id": "x", "newName": "x"}),
            _ => json!({"id": "x"}),
        };
        match self.call(&user_named("ann"), tool, arguments, false).await {
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

    pub fn write(&self, path: &str, content: impl AsRef<[u8]>) {
        let path = self.root.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    pub fn folder(&self, path: &str) {
        fs::create_dir_all(self.root.join(path)).unwrap();
    }

    /// The id of what is at a path.
    pub async fn id(&self, path: &str) -> String {
        self.find(path).await.unwrap_or_else(|| panic!("nothing at {path}"))
    }

    pub async fn find(&self, path: &str) -> Option<String> {
        let mut folder = "root".to_owned();
        for name in path.split('/') {
            let mut cursor = Value::Null;
            folder = loop {
                let mut arguments = json!({"folderId": folder, "limit": 200});
                if !cursor.is_null() {
                    arguments["cursor"] = cursor;
                }
                let page = self.good("vault.list", arguments).await;
                let item = page["items"].as_array().unwrap().iter().find(|item| item["name"] == name);
                if let Some(item) = item {
                    break item["id"].as_str().unwrap().to_owned();
                }
                cursor = page["nextCursor"].clone();
                if cursor.is_null() {
                    return None;
                }
            };
        }
        Some(folder)
    }

    /// Names in a folder, in the order of the list.
    pub async fn names(&self, arguments: Value) -> Vec<String> {
        names(&self.good("vault.list", arguments).await)
    }

    /// Everything on disk: paths with contents and times, inside and outside the vault.
    pub fn disk(&self) -> BTreeMap<PathBuf, (Vec<u8>, std::time::SystemTime)> {
        let mut found = BTreeMap::new();
        gather(self.root.parent().unwrap(), &mut found);
        found
    }
}

fn gather(folder: &Path, found: &mut BTreeMap<PathBuf, (Vec<u8>, std::time::SystemTime)>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let metadata = fs::symlink_metadata(&path).unwrap();
        let content = if metadata.is_file() { fs::read(&path).unwrap() } else { Vec::new() };
        found.insert(path.clone(), (content, metadata.modified().unwrap()));
        if metadata.is_dir() {
            gather(&path, found);
        }
    }
}

/// The pack's tools as the command loads them, but for their approval and some rules.
pub fn gate(approval: Approval, rules: Vec<RuleFile>) -> Arc<Gate> {
    let tool = |offer: ToolOffer| {
        let name = ToolName::new(&offer.name).unwrap();
        let mut facts = offer.facts;
        if approval == Approval::None {
            facts.approval = Approval::None;
        }
        Tool {
            kind: Kind::Tool,
            wire_name: name.to_wire(),
            own_name: name.clone(),
            name,
            source: "vault".into(),
            definition: offer.definition.into(),
            facts,
        }
    };
    let tools = offered().unwrap().into_iter().map(tool).collect();
    Gate::new(Blueprint { tools, rules, ..Blueprint::default() }).unwrap()
}

impl World {
    /// The same vault behind a gate with the approvals its facts ask for, and these rules.
    pub fn guarded(&self, rules: Vec<RuleFile>) -> Arc<Spine> {
        self.behind(gate(Approval::Required, rules))
    }

    pub fn behind(&self, gate: Arc<Gate>) -> Arc<Spine> {
        Spine::new(House::new(gate, vec![self.kept.clone()], LimitDefaults::default()).unwrap())
    }
}

pub fn names(listed: &Value) -> Vec<String> {
    let items = listed["items"].as_array().unwrap();
    items.iter().map(|item| item["name"].as_str().unwrap().to_owned()).collect()
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

/// What is asked of a database, by name: statements are data here.
pub fn question(name: &str) -> String {
    let questions: Value = serde_json::from_str(include_str!("questions.json")).unwrap();
    questions[name].as_str().unwrap().to_owned()
}
