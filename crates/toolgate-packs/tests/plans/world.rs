//! A spine with the spine's own pack and a stage, on a database of its own, on either engine.

use std::{future::Future, panic::resume_unwind, sync::Arc, time::Duration};

use serde_json::{Value, json, value::to_raw_value};
use toolgate_core::{
    Blueprint, Caller, Gate, Kind, Lang, RuleFile, Tool, ToolName,
    caller::{Flow, UserId},
};
use toolgate_packs::spine::{SpinePack, offered as spine_offered};
use toolgate_spine::{
    BookLimits, BookSettings, Books, Call, House, LimitDefaults, Outcome, Spine, SpineDoor, ToolOffer, ToolSource,
};
use toolgate_store::{Answer, Approval, ApprovalFilter, Location, Paging, ReceiptFilter, Scope, Store};

#[path = "../../../toolgate/tests/command/bed/database.rs"]
mod database;

use database::Database;

use crate::stage::{self, Stage};

/// One process.
#[derive(Clone)]
pub struct World {
    pub spine: Arc<Spine>,
    pub store: Store,
    pub stage: Arc<Stage>,
    location: Location,
    door: Arc<SpineDoor>,
}

impl World {
    pub async fn on_sqlite<F: Future<Output = ()> + Send + 'static>(check: impl FnOnce(World) -> F) {
        let folder = tempfile::tempdir().unwrap();
        Self::run(Location::Sqlite(folder.path().join("toolgate.db")), check).await;
    }

    pub async fn on_postgres<F: Future<Output = ()> + Send + 'static>(check: impl FnOnce(World) -> F) {
        let database = Database::create();
        Self::run(database.url().parse().unwrap(), check).await;
    }

    async fn run<F: Future<Output = ()> + Send + 'static>(location: Location, check: impl FnOnce(World) -> F) {
        let world = Self::at(location, Stage::new(), BookLimits::default()).await;
        let store = world.store.clone();
        let outcome = tokio::spawn(tokio::time::timeout(Duration::from_secs(120), check(world))).await;
        store.close().await;
        match outcome {
            Ok(finished) => finished.expect("the test takes too long"),
            Err(failed) => resume_unwind(failed.into_panic()),
        }
    }

    async fn at(location: Location, stage: Arc<Stage>, limits: BookLimits) -> Self {
        let store = Store::open(&location).await.unwrap();
        let door = Arc::<SpineDoor>::default();
        let books = Books::open(store.clone(), BookSettings { limits, ..BookSettings::default() }).await.unwrap();
        let spine = Spine::with_books(house(&door, &stage, vec![], |_| {}), books);
        door.open(&spine);
        Self { spine, store, stage, location, door }
    }

    /// Another process on the same database.
    pub async fn again(&self) -> Self {
        self.with_limits(BookLimits::default()).await
    }

    /// Another process on the same database, with bounds on what a caller may have open.
    pub async fn with_limits(&self, limits: BookLimits) -> Self {
        Self::at(self.location.clone(), Arc::clone(&self.stage), limits).await
    }

    /// The newest receipt that is not of an undo.
    pub async fn newest_receipt(&self) -> String {
        let page = self.store.receipts().list(&Scope::Everything, &ReceiptFilter::default(), &Paging::default()).await;
        page.unwrap().items.into_iter().find(|receipt| receipt.undoes.is_none()).unwrap().id
    }

    /// The same process with other rules and tools.
    pub fn change(&self, rules: &str, change: impl Fn(&mut ToolOffer)) {
        let files = vec![RuleFile { name: "test.cedar".into(), text: rules.into() }];
        let rules = if rules.is_empty() { vec![] } else { files };
        self.spine.replace(house(&self.door, &self.stage, rules, change));
    }

    pub async fn outcome(&self, caller: &Caller, tool: &str, arguments: Value) -> Outcome {
        let arguments = to_raw_value(&arguments).unwrap();
        self.spine.call(&Arc::new(caller.clone()), Call::of(Kind::Tool, tool, Some(&arguments), Lang::En)).await
    }

    /// The whole result, which must keep to the tool's output schema.
    pub async fn result(&self, caller: &Caller, tool: &str, arguments: Value) -> Value {
        let result: Value = match self.outcome(caller, tool, arguments.clone()).await {
            Outcome::Answered(bytes) => serde_json::from_slice(&bytes).unwrap(),
            Outcome::Refused { answer, .. } => serde_json::from_slice(&answer.into_bytes()).unwrap(),
            other => panic!("{tool} {arguments}: {other:?}"),
        };
        assert_fits(tool, &result["structuredContent"]);
        result
    }

    /// The structured content of a success.
    pub async fn good(&self, caller: &Caller, tool: &str, arguments: Value) -> Value {
        let result = self.result(caller, tool, arguments.clone()).await;
        assert_eq!(result["isError"], false, "{tool} {arguments}: {result}");
        result["structuredContent"].clone()
    }

    /// The structured content of a failure.
    pub async fn bad(&self, caller: &Caller, tool: &str, arguments: Value) -> Value {
        let result = self.result(caller, tool, arguments.clone()).await;
        assert_eq!(result["isError"], true, "{tool} {arguments}: {result}");
        result["structuredContent"].clone()
    }

    /// Proposed by Ann.
    pub async fn propose(&self, calls: Value) -> String {
        let plan = self.good(&ann(), "plan.propose", json!({ "calls": calls })).await;
        assert_eq!(plan["state"], "proposed");
        plan["plan"].as_str().unwrap().to_owned()
    }

    pub async fn execute(&self, plan: &str, on_failure: &str) -> Value {
        self.result(&ann(), "plan.execute", json!({"plan": plan, "on_failure": on_failure})).await["structuredContent"]
            .clone()
    }

    pub async fn show(&self, plan: &str) -> Value {
        self.good(&ann(), "plan.show", json!({ "plan": plan })).await
    }

    /// What is asked for when Ann executes a plan.
    pub async fn asked(&self, plan: &str) -> String {
        match self.outcome(&ann(), "plan.execute", json!({ "plan": plan })).await {
            Outcome::NeedsApproval { approval, .. } => approval.unwrap().id,
            other => panic!("{other:?}"),
        }
    }

    pub async fn answer(&self, id: &str, answer: Answer) -> Approval {
        self.store.approvals().answer(&Scope::Everything, id, answer, now()).await.unwrap()
    }

    pub async fn grant(&self, id: &str) -> Approval {
        self.answer(id, Answer::Grant { by: "operator:bo".into(), uses: 1, until: now() + 600_000 }).await
    }

    pub async fn approvals(&self) -> Vec<Approval> {
        let filter = ApprovalFilter::default();
        self.store.approvals().list(&Scope::Everything, &filter, now(), &Paging::default()).await.unwrap().items
    }

    /// Of a plan, newest first.
    pub async fn receipts(&self, plan: &str) -> Vec<toolgate_store::Receipt> {
        let filter = ReceiptFilter { plan: Some(plan.to_owned()), ..ReceiptFilter::default() };
        self.store.receipts().list(&Scope::Everything, &filter, &Paging::default()).await.unwrap().items
    }
}

fn house(door: &Arc<SpineDoor>, stage: &Arc<Stage>, rules: Vec<RuleFile>, change: impl Fn(&mut ToolOffer)) -> House {
    let tool = |source: &'static str, mut offer: ToolOffer| {
        change(&mut offer);
        let name = ToolName::new(&offer.name).unwrap();
        Tool {
            kind: Kind::Tool,
            wire_name: name.to_wire(),
            own_name: name.clone(),
            name,
            source: source.into(),
            definition: offer.definition.into(),
            facts: offer.facts,
        }
    };
    let own = spine_offered().unwrap().into_iter().map(|offer| tool("spine", offer));
    let staged = stage::offered().into_iter().map(|offer| tool("stage", offer));
    let tools = own.chain(staged).collect();
    let gate = Gate::new(Blueprint { tools, rules, ..Blueprint::default() }).unwrap();
    let pack: Arc<dyn ToolSource> = Arc::new(SpinePack::new(Arc::clone(door)).unwrap());
    House::new(gate, vec![pack, stage.clone()], LimitDefaults::default()).unwrap()
}

pub fn ann() -> Caller {
    user("ann")
}

pub fn user(name: &str) -> Caller {
    Caller { user: Some(UserId::own(name).unwrap()), ..Caller::default() }
}

pub fn within_flow(id: &str, allowlist: &[&str]) -> Caller {
    let allowlist = Some(allowlist.iter().map(|&tool| tool.to_owned()).collect());
    Caller { flow: Some(Flow { id: id.to_owned(), allowlist }), ..ann() }
}

pub fn states(plan: &Value) -> Vec<String> {
    plan["steps"].as_array().unwrap().iter().map(|step| step["state"].as_str().unwrap().to_owned()).collect()
}

/// Unix milliseconds.
pub fn now() -> i64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
    since.as_millis().try_into().unwrap()
}

fn assert_fits(tool: &str, content: &Value) {
    let Some(offer) = spine_offered().unwrap().into_iter().find(|offer| offer.name == tool) else { return };
    let definition: Value = serde_json::from_str(offer.definition.get()).unwrap();
    let schema = jsonschema::validator_for(&definition["outputSchema"]).unwrap();
    assert!(schema.is_valid(content), "{tool}: {content} does not fit");
}
