//! A store with something in it, filled through the store itself, and the command beside it.

use serde_json::value::RawValue;
use tokio::runtime::Runtime;
use toolgate_store::{
    Binding, Location, NewApproval, NewReceipt, Store, Undo, UndoKind,
    ledger::{Durability, Entry, Kind, Ledger, LedgerSettings, Outcome},
};

use super::{database::Database, home::Home};

/// Makes a test for each engine out of each function.
macro_rules! on_both {
    ($(fn $name:ident($books:ident: Books) $body:block)+) => {
        $(mod $name {
            use super::*;

            fn check($books: &Books) $body

            #[test]
            fn sqlite() {
                check(&Books::sqlite());
            }

            #[test]
            fn postgres() {
                check(&Books::postgres());
            }
        })+
    };
}
pub(crate) use on_both;

pub struct Books {
    pub home: Home,
    location: Location,
    runtime: Runtime,
    _database: Option<Database>,
}

impl Books {
    pub fn sqlite() -> Self {
        let home = Home::bare();
        let location = Location::Sqlite(home.path(".toolgate/toolgate.db"));
        Self::new(home, location, None)
    }

    pub fn postgres() -> Self {
        let database = Database::create();
        let location = database.url().parse().unwrap();
        Self::new(Home::bare().on(&database.url()), location, Some(database))
    }

    fn new(home: Home, location: Location, database: Option<Database>) -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let books = Self { home, location, runtime, _database: database };
        books.with(async |_| ());
        books
    }

    /// Something done to the store, which is closed again afterwards.
    pub fn with<T>(&self, work: impl AsyncFnOnce(&Store) -> T) -> T {
        self.runtime.block_on(async {
            let store = Store::open(&self.location).await.unwrap();
            let done = work(&store).await;
            store.close().await;
            done
        })
    }

    /// Records of one new writer.
    pub fn record(&self, entries: Vec<Entry>) -> String {
        self.record_with(LedgerSettings::default(), entries)
    }

    pub fn record_with(&self, settings: LedgerSettings, entries: Vec<Entry>) -> String {
        self.with(async |store| {
            let ledger = store.ledger(settings).await.unwrap();
            append(&ledger, entries).await;
            ledger.close().await;
            ledger.writer().to_owned()
        })
    }

    /// Asks for an approval and returns its id.
    pub fn ask(&self, new: NewApproval) -> String {
        self.with(async |store| store.approvals().ask(new).await.unwrap().id)
    }

    pub fn receipt(&self, new: NewReceipt) -> String {
        self.with(async |store| store.receipts().add(new).await.unwrap().id)
    }
}

async fn append(ledger: &Ledger, entries: Vec<Entry>) {
    for entry in entries {
        ledger.append(entry, Durability::Durable).await.unwrap();
    }
}

pub fn entry(call: &str, time: i64) -> Entry {
    Entry {
        kind: Kind::Read,
        time,
        call: call.into(),
        tool: "vault.move".into(),
        source: "vault".into(),
        principal: "user:ann".into(),
        tenant: Some("acme".into()),
        flow: None,
        outcome: Outcome::Answered,
        asked: None,
        actor: RawValue::from_string(r#"{"user":"ann"}"#.into()).unwrap().into(),
        input: RawValue::from_string(format!(r#"{{"to":"/b/{call}"}}"#)).ok(),
        approval: None,
        plan: None,
        rule: None,
        code: None,
        result: None,
        revision: "sha256:00".into(),
        duration_us: Some(5_120),
    }
}

/// Entries `c1` to `c{count}`, a second apart.
pub fn entries(count: i64) -> Vec<Entry> {
    (1..=count).map(|number| entry(&format!("c{number}"), 1_767_225_600_000 + number * 1000)).collect()
}

/// Asked for now, to be answered within a minute. The number tells arguments apart.
pub fn asking(number: u8) -> NewApproval {
    NewApproval {
        binding: Binding {
            asked_by: "user:ann agent:scribe".into(),
            tenant: Some("acme".into()),
            flow: None,
            tool: "vault.move".into(),
            tool_digest: [1; 32],
            arguments_digest: [number; 32],
            rulebook_digest: [3; 32],
        },
        owner: "user:ann".into(),
        shown: r#"{"tool":"vault.move","arguments":{"to":"/2026","token":"[redacted:1f0c22ab]"},"why":"Moving needs approval."}"#.into(),
        four_eyes: false,
        asked_at: now(),
        expires: now() + 60_000,
        wide: None,
    }
}

pub fn done(call: &str, at: i64) -> NewReceipt {
    NewReceipt {
        call_id: call.into(),
        at,
        principal: "user:ann".into(),
        actor: r#"{"user":"ann"}"#.into(),
        tenant: Some("acme".into()),
        flow: None,
        plan: None,
        tool: "vault.move".into(),
        source: "vault".into(),
        input: r#"{"to":"/2026"}"#.into(),
        approval: None,
        approved_by: None,
        result_digest: Some([7; 32]),
        summary: "moved".into(),
        undo: Undo { kind: UndoKind::Native, why: None },
        undo_record: None,
        known: true,
        undoes: None,
    }
}

/// Unix milliseconds.
pub fn now() -> i64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
    since.as_millis().try_into().unwrap()
}
