//! A spine with one tool that needs a yes and counts how often it ran.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use async_trait::async_trait;
use serde_json::value::RawValue;
use toolgate_core::{
    Blueprint, Caller, Facts, Gate, Kind, Lang, Tool, ToolName,
    caller::UserId,
    tool::{Approval, Effect, Permission, WhenDenied},
};
use toolgate_spine::{
    Approver, BookSettings, Books, Call, House, LimitDefaults, Outcome, Recorded, Say, SourceFault, Spine, ToolAnswer,
    ToolOffer, ToolSource,
};
use toolgate_store::{Location, Scope, Store};

pub struct Counting(Arc<AtomicUsize>);

#[async_trait]
impl ToolSource for Counting {
    fn name(&self) -> &str {
        "counting"
    }

    fn tools(&self) -> Vec<ToolOffer> {
        Vec::new()
    }

    async fn run(&self, _: Recorded) -> Result<ToolAnswer, SourceFault> {
        self.0.fetch_add(1, Ordering::SeqCst);
        Ok(ToolAnswer::text("done"))
    }
}

/// One process with the store at a place.
pub struct World {
    pub spine: Arc<Spine>,
    pub books: Books,
    ran: Arc<AtomicUsize>,
}

impl World {
    pub async fn at(location: &Location) -> Self {
        let ran = Arc::new(AtomicUsize::new(0));
        let definition = r#"{"name":"pay","description":"Pays.","inputSchema":{"type":"object"}}"#;
        let name = ToolName::new("pay").unwrap();
        let pay = Tool {
            kind: Kind::Tool,
            wire_name: name.to_wire(),
            own_name: name.clone(),
            name,
            source: "counting".into(),
            definition: RawValue::from_string(definition.to_owned()).unwrap().into(),
            facts: Facts {
                permission: Permission::SignedIn,
                when_denied: WhenDenied::Explained,
                approval: Approval::Required,
                effect: Effect::Write,
                ..Facts::default()
            },
        };
        let gate = Gate::new(Blueprint { tools: vec![pay], ..Blueprint::default() }).unwrap();
        let house = House::new(gate, vec![Arc::new(Counting(Arc::clone(&ran)))], LimitDefaults::default()).unwrap();
        let store = Store::open(location).await.unwrap();
        let books = Books::open(store, BookSettings::default()).await.unwrap();
        Self { spine: Spine::with_books(house, books.clone()), books, ran }
    }

    /// How often the tool ran here.
    pub fn ran(&self) -> usize {
        self.ran.load(Ordering::SeqCst)
    }

    pub async fn call(&self, caller: &Arc<Caller>, arguments: &str, approval: Option<&str>) -> Outcome {
        let arguments = RawValue::from_string(arguments.to_owned()).unwrap();
        let call = Call { approval, ..Call::of(Kind::Tool, "pay", Some(&arguments), Lang::En) };
        self.spine.call(caller, call).await
    }

    /// Asks for a call and has it approved; the approval's id.
    pub async fn approved(&self, caller: &Arc<Caller>, arguments: &str) -> String {
        let asked = self.call(caller, arguments, None).await;
        let asked = asked.approval().unwrap_or_else(|| panic!("{asked:?}"));
        let yes = Say::Yes { once: false, holds: None };
        let approver = Approver { by: "operator:kim", who: &Caller::default(), rules: "" };
        self.books.answer(&Scope::Everything, asked, &approver, yes).await.unwrap();
        asked.id.clone()
    }
}

pub fn ann() -> Arc<Caller> {
    Arc::new(Caller { user: Some(UserId::own("ann").unwrap()), ..Caller::default() })
}
