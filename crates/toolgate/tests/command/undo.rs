//! Taking back on the command line: the operator's, through the same gate, on record, also while a server runs.

use std::fs;

use serde_json::{Value, json};
use toolgate_store::Scope;

use super::bed::{
    books::{Books, done, now, on_both},
    database::Database,
    home::Home,
    message::{Era, Message},
    served::Served,
};

const CONFIG: &str = r#"
[packs.spine]
[packs.todo]
[packs.vault]
root = "documents"
[tools."vault.rename"]
approval = "none"
"#;

struct World {
    home: Home,
    alice: String,
    _database: Option<Database>,
}

impl World {
    fn new(database: Option<Database>) -> (Self, Served) {
        let mut home = Home::with(CONFIG);
        if let Some(database) = &database {
            home = home.on(&database.url());
        }
        home.write("documents/a.txt", "a");
        let gate = home.serve();
        let alice = home.mint("--user alice");
        (Self { home, alice, _database: database }, gate)
    }

    fn call(&self, gate: &Served, tool: &str, arguments: Value, flow: Option<&Value>) -> Value {
        let mut message = Message::call(Era::Late, tool, arguments).bearer(&self.alice);
        if let Some(flow) = flow {
            message = message.meta("toolgate/flow", flow.clone());
        }
        gate.ask(&message).result()
    }

    /// Renames the only document, and returns the receipt.
    fn rename(&self, gate: &Served, name: &str, flow: Option<&Value>) -> String {
        let listed = self.call(gate, "vault.list", json!({}), None);
        let id = listed["structuredContent"]["items"][0]["id"].clone();
        let renamed = self.call(gate, "vault.rename", json!({"id": id, "newName": name}), flow);
        assert_eq!(renamed["isError"], false, "{renamed}");
        renamed["_meta"]["toolgate/receipt"].as_str().unwrap().to_owned()
    }

    fn names(&self) -> Vec<String> {
        let found = fs::read_dir(self.home.path("documents")).unwrap();
        found.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
    }
}

fn a_receipt_and_a_flow_are_taken_back_beside_a_server(database: Option<Database>) {
    let (world, gate) = World::new(database);
    let receipt = world.rename(&gate, "b.txt", None);
    let ran = world.home.run(&["undo", &receipt, "--by", "kim"]);
    assert_eq!((ran.code, ran.out.as_str()), (Some(0), format!("{receipt} is undone.\n").as_str()), "{}", ran.err);
    assert_eq!(world.names(), ["a.txt"]);
    let shown = world.home.json(&["receipts", "show", &receipt]);
    assert_eq!(shown["state"], "undone");
    let records = world.home.run(&["ledger", "export", "--principal", "user:operator:kim"]).out;
    let records: Vec<Value> = records.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let told = |record: &Value| (record["record"]["kind"].clone(), record["record"]["outcome"].clone());
    let told: Vec<_> = records.iter().map(told).collect();
    assert_eq!(told, [(json!("intent"), json!("allowed")), (json!("outcome"), json!("undone"))]);
    assert_eq!(records[0]["record"]["input"], json!({ "undo": receipt }));

    let twice = world.home.run(&["undo", &receipt, "--json"]);
    assert_eq!(twice.code, Some(1));
    assert!(twice.json()["failed"][0]["reason"].as_str().unwrap().contains("undone already"), "{}", twice.out);

    let flow = world.call(&gate, "flow.open", json!({"name": "two"}), None)["structuredContent"]["flow"].clone();
    let first = world.rename(&gate, "c.txt", Some(&flow));
    let second = world.rename(&gate, "d.txt", Some(&flow));
    let undone = world.home.json(&["undo", "--flow", flow.as_str().unwrap()]);
    assert_eq!(undone, json!({"undone": [second, first], "failed": []}), "newest first");
    assert_eq!(world.names(), ["a.txt"]);
    drop(gate);
    assert_eq!(world.home.run(&["ledger", "verify"]).code, Some(0));
}

#[test]
fn a_receipt_and_a_flow_on_sqlite() {
    a_receipt_and_a_flow_are_taken_back_beside_a_server(None);
}

#[test]
fn a_receipt_and_a_flow_on_postgres() {
    a_receipt_and_a_flow_are_taken_back_beside_a_server(Some(Database::create()));
}

#[test]
fn the_gate_decides_and_what_moved_on_stays() {
    let (world, gate) = World::new(None);
    let receipt = world.rename(&gate, "b.txt", None);
    drop(gate);
    world.home.write("toolgate.toml", &format!("rules = [\"no.cedar\"]\n{CONFIG}"));
    world.home.write(
        "no.cedar",
        r#"@id("frozen") @message("The vault is frozen.")
        forbid (principal, action in Action::"call", resource == Tool::"vault.rename");"#,
    );
    let ran = world.home.run(&["undo", &receipt]);
    assert_eq!(ran.code, Some(1));
    assert!(ran.out.contains("The vault is frozen."), "{}", ran.out);
    world.home.write("toolgate.toml", CONFIG);
    fs::rename(world.home.path("documents/b.txt"), world.home.path("documents/c.txt")).unwrap();
    let ran = world.home.run(&["undo", &receipt]);
    assert_eq!(ran.code, Some(1));
    assert!(ran.out.contains("the world moved on"), "{}", ran.out);
    assert_eq!(world.names(), ["c.txt"]);
    assert_eq!(world.home.json(&["receipts", "show", &receipt])["state"], "done", "and can be tried again");
}

on_both! {
    fn an_undo_that_a_process_took_with_it_is_unknown_and_one_under_way_is_left_alone(books: Books) {
        books.home.write("toolgate.toml", "[packs.spine]\n[packs.todo]\n");
        let (left, under_way) = (books.receipt(done("c1", now())), books.receipt(done("c2", now())));
        books.with(async |store| {
            let receipts = store.receipts();
            receipts.begin_undo(&Scope::Everything, &left, now() - 3_600_000).await.unwrap();
            receipts.begin_undo(&Scope::Everything, &under_way, now()).await.unwrap();
        });
        for (receipt, state, words) in [(&left, "unknown", "is not known"), (&under_way, "undoing", "being undone right now")] {
            let ran = books.home.run(&["undo", receipt]);
            assert_eq!(ran.code, Some(1));
            assert!(ran.out.contains(words), "{ran:?}");
            assert_eq!(books.home.json(&["receipts", "show", receipt])["state"], state);
        }
    }
}

#[test]
fn what_is_not_there_or_not_said_is_told() {
    let (world, _gate) = World::new(None);
    let ran = world.home.run(&["undo", "rcpt_none"]);
    assert_eq!(ran.code, Some(1));
    assert!(ran.out.contains("there is no receipt 'rcpt_none' here"), "{}", ran.out);
    let ran = world.home.run(&["undo", "--flow", "flow_none"]);
    assert_eq!((ran.code, ran.out.as_str()), (Some(1), "nothing of this flow can be taken back\n"));
    assert_eq!(world.home.run(&["undo"]).code, Some(2));
    assert_eq!(world.home.run(&["undo", "rcpt_none", "--flow", "f"]).code, Some(2));
    assert_eq!(Home::bare().run(&["undo", "rcpt_none"]).code, Some(2), "no store is wrong use");
}
