//! A spine with the packs admin and todo on a database of its own, on either engine.

use std::{future::Future, panic::resume_unwind, sync::Arc, time::Duration};

use serde_json::{Value, json, value::to_raw_value};
use toolgate_core::{
    Blueprint, Caller, Gate, Kind, Lang, Tool, ToolName,
    caller::{Role, Tenant, UserId},
};
use toolgate_packs::{
    admin::{AdminPack, offered},
    todo::TodoPack,
};
use toolgate_spine::{
    BookSettings, Books, Call, House, LimitDefaults, Outcome, Spine, ToolOffer, ToolSource, UndoProblem,
};
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
        let folder = tempfile::tempdir().unwrap();
        Self::run(&Location::Sqlite(folder.path().join("toolgate.db")), check).await;
    }

    pub async fn on_postgres<F: Future<Output = ()> + Send + 'static>(check: impl FnOnce(World) -> F) {
        let database = Database::create();
        Self::run(&database.url().parse().unwrap(), check).await;
    }

    async fn run<F: Future<Output = ()> + Send + 'static>(location: &Location, check: impl FnOnce(World) -> F) {
        let store = Store::open(location).await.unwrap();
        let books = Books::open(store.clone(), BookSettings::default()).await.unwrap();
        let world = Self { spine: Spine::with_books(house(&store), books), store: store.clone() };
        let outcome = tokio::spawn(tokio::time::timeout(Duration::from_secs(120), check(world))).await;
        store.close().await;
        match outcome {
            Ok(finished) => finished.expect("the test takes too long"),
            Err(failed) => resume_unwind(failed.into_panic()),
        }
    }

    pub async fn call(&self, caller: &Caller, tool: &str, arguments: Value) -> Outcome {
        let arguments = to_raw_value(&arguments).unwrap();
        self.spine.call(&Arc::new(caller.clone()), Call::of(Kind::Tool, tool, Some(&arguments), Lang::En)).await
    }

    /// The bytes a caller gets, who may call the tool.
    pub async fn bytes(&self, caller: &Caller, tool: &str, arguments: Value) -> Vec<u8> {
        match self.call(caller, tool, arguments.clone()).await {
            Outcome::Answered(bytes) => bytes.to_vec(),
            Outcome::Refused { answer, .. } => answer.into_bytes().to_vec(),
            other => panic!("{tool} {arguments}: {other:?}"),
        }
    }

    async fn result(&self, caller: &Caller, tool: &str, arguments: Value) -> Value {
        let result: Value = serde_json::from_slice(&self.bytes(caller, tool, arguments).await).unwrap();
        assert_fits(tool, &result["structuredContent"]);
        result
    }

    /// The structured content of a success.
    pub async fn good(&self, caller: &Caller, tool: &str, arguments: Value) -> Value {
        let result = self.result(caller, tool, arguments.clone()).await;
        assert_eq!(result["isError"], false, "{tool} {arguments}: {result}");
        result["structuredContent"].clone()
    }

    /// The code of a failure, and its words.
    pub async fn bad(&self, caller: &Caller, tool: &str, arguments: Value) -> (String, String) {
        let result = self.result(caller, tool, arguments.clone()).await;
        assert_eq!(result["isError"], true, "{tool} {arguments}: {result}");
        let content = &result["structuredContent"];
        let text = |key: &str| content[key].as_str().unwrap_or_else(|| panic!("{content}")).to_owned();
        (text("code"), text("error"))
    }

    /// Something is changed; the receipt.
    pub async fn change(&self, caller: &Caller, tool: &str, arguments: Value) -> String {
        let result = self.result(caller, tool, arguments.clone()).await;
        assert_eq!(result["structuredContent"]["changed"], true, "{tool} {arguments}: {result}");
        result["_meta"]["toolgate/receipt"].as_str().unwrap().to_owned()
    }

    pub async fn undo(&self, caller: &Caller, receipt: &str) -> Result<(), UndoProblem> {
        self.spine.undo(&Arc::new(caller.clone()), receipt, Lang::En).await.map(drop)
    }

    /// Acme with Ada as owner and Ann as admin, and Beta with Bob as owner.
    pub async fn two_tenants(&self) {
        self.change(&operator(), "admin_create_tenant", json!({"id": "acme", "owner": "ada"})).await;
        self.change(&operator(), "admin_set_member", json!({"tenant": "acme", "user": "ann", "role": "admin"})).await;
        self.change(&operator(), "admin_create_tenant", json!({"id": "beta", "owner": "bob"})).await;
    }

    /// Whether a tool is on for a tenant's members, and what decided it.
    pub async fn standing(&self, tenant: &str, tool: &str) -> (bool, String) {
        let listed = self.good(&operator(), "admin_list_tools", json!({ "tenant": tenant })).await;
        let found = listed["tools"].as_array().unwrap().iter().find(|row| row["tool_name"] == tool).unwrap().clone();
        (found["is_enabled"].as_bool().unwrap(), found["source"].as_str().unwrap().to_owned())
    }
}

fn house(store: &Store) -> House {
    let tool = |source: &'static str, offer: ToolOffer| {
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
    let mut tools: Vec<Tool> = offered().unwrap().into_iter().map(|offer| tool("admin", offer)).collect();
    for offer in toolgate_packs::todo::offered().unwrap() {
        let mut tool = tool("todo", offer);
        match tool.name.as_str() {
            "delete_task" => tool.facts.min_plan = Some("professional".to_owned()),
            "update_task" => tool.facts.enabled_by_default = false,
            "complete_task" => tool.facts.disabled = true,
            _ => {}
        }
        tools.push(tool);
    }
    let gate = Gate::new(Blueprint { tools, ..Blueprint::default() }).unwrap();
    let sources: Vec<Arc<dyn ToolSource>> =
        vec![Arc::new(AdminPack::new(store.clone()).unwrap()), Arc::new(TodoPack::new(store.clone()).unwrap())];
    House::new(gate, sources, LimitDefaults::default()).unwrap()
}

pub fn operator() -> Caller {
    Caller { operator: true, ..user("ops") }
}

pub fn user(name: &str) -> Caller {
    Caller { user: Some(UserId::own(name).unwrap()), ..Caller::default() }
}

/// As identity finds one in the store.
pub fn of(tenant: &str, name: &str, role: Role) -> Caller {
    let plan = Some("starter".to_owned());
    Caller { tenant: Some(Tenant { id: tenant.into(), role, plan, overrides: Default::default() }), ..user(name) }
}

pub fn ada() -> Caller {
    of("acme", "ada", Role::Owner)
}

pub fn ann() -> Caller {
    of("acme", "ann", Role::Admin)
}

pub fn bob() -> Caller {
    of("beta", "bob", Role::Owner)
}

pub fn assert_fits(tool: &str, content: &Value) {
    let offer = offered().unwrap().into_iter().find(|offer| offer.name == tool).unwrap();
    let definition: Value = serde_json::from_str(offer.definition.get()).unwrap();
    let schema = jsonschema::validator_for(&definition["outputSchema"]).unwrap();
    assert!(schema.is_valid(content), "{tool}: {content} does not fit {}", definition["outputSchema"]);
}
