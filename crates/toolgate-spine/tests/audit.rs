//! The record of a call, whatever becomes of it: a tool that panics, arguments and names of anybody, reasons of approvers.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use std::sync::Arc;

use async_trait::async_trait;
use serde_json::{Value, json, value::RawValue};
use toolgate_core::{
    Blueprint, Caller, Facts, Gate, Kind, Lang, Tool, ToolName,
    caller::UserId,
    tool::{Approval, Effect, Limits, Permission, WhenDenied},
};
use toolgate_spine::{
    Approver, BookSettings, Books, Call, House, LimitDefaults, Outcome, Previewed, Recorded, Say, SourceFault, Spine,
    ToolAnswer, ToolOffer, ToolSource,
};
use toolgate_store::{
    Location, Scope, Store,
    ledger::{Filter, Record},
};

const SECRET: &str = "Hunter2-4711-zq";

struct Panicking;

#[async_trait]
impl ToolSource for Panicking {
    fn name(&self) -> &str {
        "panicking"
    }

    fn tools(&self) -> Vec<ToolOffer> {
        Vec::new()
    }

    async fn run(&self, _: Recorded) -> Result<ToolAnswer, SourceFault> {
        tokio::task::yield_now().await;
        panic!("a bug of the tool");
    }

    async fn preview(&self, _: &Previewed) -> Result<Option<ToolAnswer>, SourceFault> {
        panic!("a bug of the preview");
    }
}

fn tool(name: &str, effect: Effect, approval: Approval) -> Tool {
    let schema = json!({"type": "object", "properties": {"password": {"type": "string", "minLength": 20}, "id": {"type": "string"}}});
    let definition = json!({"name": name, "description": "Fails.", "inputSchema": schema}).to_string();
    let name = ToolName::new(name).unwrap();
    Tool {
        kind: Kind::Tool,
        wire_name: name.to_wire(),
        own_name: name.clone(),
        name,
        source: "panicking".into(),
        definition: RawValue::from_string(definition).unwrap().into(),
        facts: Facts {
            permission: Permission::SignedIn,
            when_denied: WhenDenied::Explained,
            approval,
            effect,
            limits: Limits { concurrency: Some(1), caller_concurrency: Some(1), ..Limits::default() },
            ..Facts::default()
        },
    }
}

struct Fixture {
    spine: Arc<Spine>,
    books: Books,
    ann: Arc<Caller>,
    _folder: tempfile::TempDir,
}

impl Fixture {
    async fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let tools = vec![
            tool("look", Effect::Read, Approval::None),
            tool("change", Effect::Write, Approval::None),
            tool("pay", Effect::Write, Approval::Required),
        ];
        let gate = Gate::new(Blueprint { tools, ..Blueprint::default() }).unwrap();
        let house = House::new(gate, vec![Arc::new(Panicking)], LimitDefaults::default()).unwrap();
        let store = Store::open(&Location::Sqlite(folder.path().join("store.db"))).await.unwrap();
        let books = Books::open(store, BookSettings::default()).await.unwrap();
        let ann = Arc::new(Caller { user: Some(UserId::own("ann").unwrap()), ..Caller::default() });
        Self { spine: Spine::with_books(house, books.clone()), books, ann, _folder: folder }
    }

    async fn call(&self, name: &str, arguments: &Value, dry_run: bool) -> Outcome {
        let arguments = RawValue::from_string(arguments.to_string()).unwrap();
        let call = Call { dry_run, ..Call::of(Kind::Tool, name, Some(&arguments), Lang::En) };
        self.spine.call(&self.ann, call).await
    }

    async fn records(&self) -> Vec<Value> {
        let reader = self.books.store().ledger_reader().await.unwrap().unwrap();
        let page = reader.page(&Filter::default(), i64::MIN, 100).await.unwrap();
        page.iter().map(|record: &Record| serde_json::from_str(&record.text).unwrap()).collect()
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_panic_of_a_tool_is_an_answer_and_a_record_and_leaves_no_slot_taken() {
    let fixture = Fixture::new().await;
    // each tool runs one call at once: a slot that a panic kept would turn the second one away
    for (name, dry_run) in [("look", false), ("change", false), ("look", false), ("change", false), ("look", true)] {
        match fixture.call(name, &json!({}), dry_run).await {
            Outcome::Refused { code, message, answer, .. } => {
                assert_eq!(code, "internal_error");
                assert!(message.contains("failed unexpectedly"), "{message}");
                let answer: Value = serde_json::from_slice(&answer.into_bytes()).unwrap();
                assert_eq!(answer["isError"], true);
            }
            other => panic!("{name}: {other:?}"),
        }
    }
    let ended: Vec<Value> =
        fixture.records().await.into_iter().filter(|record| record["code"] == "internal_error").collect();
    assert_eq!(ended.len(), 5);
    for record in &ended {
        let word = if record["kind"] == "outcome" { "unknown" } else { "failed" };
        assert_eq!(record["outcome"], word, "a write may have taken effect: {record}");
    }
    assert_eq!(ended.iter().filter(|record| record["kind"] == "outcome").count(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn of_what_leads_nowhere_the_record_has_a_beginning_without_secrets() {
    let fixture = Fixture::new().await;
    assert!(matches!(fixture.call(&format!("Bearer {SECRET}"), &json!({}), false).await, Outcome::Unknown));
    let long = "x ".repeat(200 << 10);
    let arguments = json!({"note": format!("password={SECRET}"), "long": long, "token": SECRET});
    assert!(matches!(fixture.call("nothing", &arguments, false).await, Outcome::Unknown));
    let records = fixture.records().await;
    let all = Value::from(records.clone()).to_string();
    assert!(!all.contains(SECRET), "{all}");
    assert!(all.contains("Bearer [redacted]"));
    let cut = records.iter().find(|record| record["tool"] == "nothing").unwrap();
    assert_eq!(cut["input"]["cut"], true);
    assert_eq!(cut["input"]["start"], "{\"note\":\"password=[redacted]\",\"long\"");
    assert!(cut["input"].get("sha256").is_none(), "nobody read all of it");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_wrong_with_arguments_is_said_without_secrets_and_in_a_few_words() {
    let fixture = Fixture::new().await;
    let said = async |arguments: Value| match fixture.call("look", &arguments, false).await {
        Outcome::Refused { message, answer, .. } => {
            let answer = String::from_utf8(answer.into_bytes().to_vec()).unwrap();
            assert!(!message.contains(SECRET) && !answer.contains(SECRET), "{message} {answer}");
            assert!(message.len() < 400 && answer.len() < 1500, "{answer}");
            message
        }
        other => panic!("{other:?}"),
    };
    assert!(said(json!({"password": SECRET})).await.contains("20"), "the rule is named");
    assert!(said(json!({"id": {"password": SECRET}})).await.contains("string"));
    assert!(said(json!({"id": vec![SECRET; 5_000]})).await.contains("string"));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_reason_of_a_denial_is_kept_without_secrets() {
    let fixture = Fixture::new().await;
    let asked = fixture.call("pay", &json!({}), false).await;
    let asked = asked.approval().unwrap_or_else(|| panic!("{asked:?}"));
    let no = Say::No { reason: Some(format!("use password={SECRET} instead")) };
    let approver = Approver { by: "operator:kim", who: &Caller::default(), rules: "" };
    let answered = fixture.books.answer(&Scope::Everything, asked, &approver, no).await.unwrap();
    assert_eq!(answered.reason.as_deref(), Some("use password=[redacted] instead"));
}
