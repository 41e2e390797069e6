//! Whoever looks at a call sees the same arguments: the schema, the rules, the approver, the ledger and the source. A message
//! that one of them could read as another is refused.

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use serde_json::{Value, json, value::to_raw_value};
use tokio::sync::watch;
use toolgate_core::{
    Blueprint, Caller, Facts, Gate, Kind, RuleFile, Tool, ToolName,
    pin::Canonical,
    tool::{Approval, Effect, Permission, WhenDenied},
};
use toolgate_mcp::{ProcessMemory, Wire, WireConfig};
use toolgate_spine::{
    Approver, BookSettings, Books, House, LimitDefaults, Recorded, Say, SourceFault, Spine, ToolAnswer, ToolOffer,
    ToolSource,
};
use toolgate_store::{Location, Scope, Store, ledger::Filter};

use crate::{
    house::{Names, Site},
    requests::{Ask, Got},
    source::Fixture,
};

/// Keeps what reaches it.
#[derive(Default)]
struct Recording(Mutex<Vec<String>>);

#[async_trait]
impl ToolSource for Recording {
    fn name(&self) -> &str {
        "recording"
    }

    fn tools(&self) -> Vec<ToolOffer> {
        Vec::new()
    }

    async fn run(&self, call: Recorded) -> Result<ToolAnswer, SourceFault> {
        self.0.lock().unwrap().push(call.arguments().get().to_owned());
        Ok(ToolAnswer::text("done"))
    }
}

const RULE: &str = r#"@id("large") @message("Too much.") @hides("no")
    forbid (principal, action == Action::"call:pay", resource) when { context.arguments.amount > 100 };"#;

fn pay() -> Tool {
    let definition = json!({"name": "pay", "inputSchema": {"type": "object", "required": ["amount"], "properties": {
        "amount": {"type": "integer"}, "to": {"type": "string"}, "session_token": {"type": "string"}, "more": {}}}});
    let name = ToolName::new("pay").unwrap();
    Tool {
        kind: Kind::Tool,
        wire_name: name.to_wire(),
        own_name: name.clone(),
        name,
        source: "recording".into(),
        definition: to_raw_value(&definition).unwrap().into(),
        facts: Facts {
            permission: Permission::SignedIn,
            when_denied: WhenDenied::Explained,
            approval: Approval::Required,
            effect: Effect::Write,
            ..Facts::default()
        },
    }
}

/// Numbers that look random and are the same each time.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % sides as u64).unwrap()
    }

    fn one_of(&mut self, all: &[&str]) -> String {
        all[self.roll(all.len())].to_owned()
    }

    fn key(&mut self) -> String {
        self.one_of(&[
            r#""amount""#,
            r#""amount""#,
            r#""amount""#,
            r#""amo\u0075nt""#,
            r#""Amount""#,
            r#""to""#,
            r#""TO""#,
            r#""more""#,
            r#""more""#,
            r#""extra""#,
            r#""session_token""#,
            r#""session\u005ftoken""#,
            r#""coordinator_token""#,
            r#""$serde_json::private::RawValue""#,
            r#""\u0024serde_json::private::RawValue""#,
            r#""é""#,
            r#""\u00e9""#,
        ])
    }

    fn value(&mut self, depth: usize) -> String {
        match self.roll(if depth == 0 { 6 } else { 9 }) {
            0..=2 => self.one_of(&["1", "5", "100", "101", "-7", "9007199254740991"]),
            3 => self.one_of(&["true", "false", "null"]),
            4 | 5 => self.one_of(&[r#""user:bob""#, r#""a\u0062\n""#, r#""{\"amount\":1}""#, r#""false""#, r#""日""#]),
            6 => {
                let items: Vec<String> = (0..self.roll(3)).map(|_| self.value(depth - 1)).collect();
                format!("[{}]", items.join(" ,"))
            }
            _ => {
                let members = self.inner_members(2, depth - 1);
                let members: Vec<String> = members.iter().map(|(key, value)| format!("{key} : {value}")).collect();
                format!("{{{}}}", members.join(","))
            }
        }
    }

    fn members(&mut self, most: usize, depth: usize) -> Vec<(String, String)> {
        (0..=self.roll(most)).map(|_| (self.key(), self.value(depth))).collect()
    }

    /// Members of a value. Those with the name of a credential are redacted for the approver and the ledger, which other tests
    /// look at.
    fn inner_members(&mut self, most: usize, depth: usize) -> Vec<(String, String)> {
        let members = self.members(most, depth);
        members.into_iter().filter(|(key, _)| !decoded(key).ends_with("_token")).collect()
    }
}

struct World {
    site: Site,
    store: Store,
    books: Books,
    recording: Arc<Recording>,
    _folder: tempfile::TempDir,
}

impl World {
    async fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let recording = Arc::new(Recording::default());
        let rules = vec![RuleFile { name: "policy/own.cedar".to_owned(), text: RULE.to_owned() }];
        let gate = Gate::new(Blueprint { tools: vec![pay()], rules, ..Blueprint::default() }).unwrap();
        let house = House::new(gate, vec![recording.clone()], LimitDefaults::default()).unwrap();
        let store = Store::open(&Location::Sqlite(folder.path().join("t.db"))).await.unwrap();
        let books = Books::open(store.clone(), BookSettings::default()).await.unwrap();
        let spine = Spine::with_books(house, books.clone());
        let (down, shutdown) = watch::channel(false);
        let (names, memory) = (Arc::new(Names::default()), Arc::new(ProcessMemory::default()));
        let config = WireConfig::new(b"a key for tests".to_vec(), shutdown);
        let wire = Wire::new(spine.clone(), names.clone(), memory, config);
        let site = Site { wire, spine, names, fixture: Arc::new(Fixture::default()), down };
        Self { site, store, books, recording, _folder: folder }
    }

    async fn call(&self, arguments: &str) -> Got {
        let body = format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"pay","arguments":{arguments}}}}}"#
        );
        Ask::of(body).bearer("user:ann").post(&self.site).await
    }

    /// What the approver of the last question sees, once it is granted.
    async fn granted(&self, id: &str) -> String {
        let approval = self.store.approvals().get(&Scope::Everything, id, 0).await.unwrap().unwrap();
        let approver = Approver { by: "operator:kim", who: &Caller::default(), rules: "" };
        let yes = Say::Yes { once: false, holds: None };
        self.books.answer(&Scope::Everything, &approval, &approver, yes).await.unwrap();
        let shown: Value = serde_json::from_str(&approval.shown).unwrap();
        shown["arguments"].to_string()
    }
}

fn decoded(key: &str) -> String {
    serde_json::from_str(key).unwrap()
}

/// The arguments that a careful reader sees: those that are written, without the credentials that the gate has read.
fn meant(members: &[(String, String)]) -> String {
    let kept = members.iter().filter(|(key, _)| !["session_token", "coordinator_token"].contains(&&*decoded(key)));
    let kept: Vec<String> = kept.map(|(key, value)| format!("{key}:{value}")).collect();
    canonical(&format!("{{{}}}", kept.join(",")))
}

fn canonical(json: &str) -> String {
    Canonical::of(json).unwrap_or_else(|fault| panic!("{fault}: {json}")).as_str().to_owned()
}

#[tokio::test]
async fn every_reader_of_a_call_sees_the_same_arguments_or_the_call_is_refused() {
    let (world, mut dice) = (World::new().await, Dice(0x9e37_79b9_7f4a_7c15));
    let (mut ran, mut refused) = (0, 0);
    for _ in 0..1_000 {
        let mut members = dice.members(3, 2);
        if dice.roll(2) == 0 {
            members.insert(0, ("\"amount\"".to_owned(), dice.one_of(&["5", "100", "101"])));
        }
        let text: Vec<String> = members.iter().map(|(key, value)| format!("{key}: {value}")).collect();
        let text = format!("{{{}}}", text.join(", "));
        let asked = world.call(&text).await.json();
        let denial = &asked["result"]["structuredContent"];
        let amount =
            members.iter().find(|(key, _)| decoded(key) == "amount").and_then(|(_, value)| value.parse::<i64>().ok());
        if denial["code"] != "approval_required" {
            // what is asked for by name is refused by the rule, and nothing else is
            assert_eq!(
                denial["rule"] == "large",
                denial["rule"] == "large" && amount.is_some_and(|amount| amount > 100)
            );
            refused += 1;
            continue;
        }
        assert!(amount.is_some_and(|amount| amount <= 100), "{text}: {asked}");
        let meant = meant(&members);
        let id = denial["approval"].as_str().unwrap_or_else(|| panic!("{asked}"));
        assert_eq!(canonical(&world.granted(id).await), meant, "the approver: {text}");
        let before = world.recording.0.lock().unwrap().len();
        let done = world.call(&text).await.json();
        assert_eq!(done["result"]["content"][0]["text"], "done", "{text}: {done}");
        let reached = world.recording.0.lock().unwrap().split_off(before);
        assert_eq!(
            reached.iter().map(|text| canonical(text)).collect::<Vec<_>>(),
            std::slice::from_ref(&meant),
            "the source: {text}"
        );
        let reader = world.store.ledger_reader().await.unwrap().unwrap();
        let records = reader.latest(&Filter::default(), 2).await.unwrap();
        let inputs = records.iter().map(|record| Canonical::of(&record.text).unwrap().as_str().to_owned());
        assert!(inputs.into_iter().any(|record| record.contains(&format!("\"input\":{meant}"))), "the ledger: {text}");
        ran += 1;
    }
    assert!(ran >= 60 && refused >= 300, "{ran} ran, {refused} refused");
}
