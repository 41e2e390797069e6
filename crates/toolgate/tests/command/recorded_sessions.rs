//! The session in the recorded actor: an MCP session by a digest of its name, an agent session by its id.

use aws_lc_rs::digest;
use serde_json::{Value, json};

use super::{
    bed::{
        home::Home,
        message::{Era, Message},
    },
    team::{sign_in, staffed},
};

/// The actors of records about a tool, oldest first.
fn actors(home: &Home, tool: &str) -> Vec<Value> {
    let ran = home.run(&["ledger", "export", "--tool", tool]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    ran.out.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()["record"]["actor"].take()).collect()
}

fn short_digest(name: &str) -> String {
    let digest = digest::digest(&digest::SHA256, name.as_bytes());
    digest.as_ref()[..8].iter().map(|byte| format!("{byte:02x}")).collect()
}

#[test]
fn a_record_names_the_mcp_session_by_a_digest_and_never_by_its_name() {
    let home = Home::with("[packs.todo]\n[packs.spine]\n");
    let gate = home.serve();
    let ann = home.mint("--user ann");
    let open = || {
        let answer = gate.ask(&Message::initialize(Era::Late).bearer(&ann));
        answer.header("mcp-session-id").unwrap_or_else(|| panic!("{answer:?}")).to_owned()
    };
    let (one, two) = (open(), open());
    let add = |session: Option<&str>, title: &str| {
        let message = Message::call(Era::Late, "add_task", json!({ "title": title })).bearer(&ann);
        let message = session.iter().fold(message, |message, name| message.header("Mcp-Session-Id", name));
        let answer = gate.ask(&message).result();
        answer["_meta"]["toolgate/receipt"].as_str().unwrap_or_else(|| panic!("{answer}")).to_owned()
    };
    let receipt = add(Some(&one), "first");
    add(Some(&two), "second");
    add(Some(&one), "third");
    add(None, "without a session");
    let undo = Message::call(Era::Late, "undo", json!({ "receipt": receipt })).bearer(&ann);
    assert_eq!(gate.ask(&undo.header("Mcp-Session-Id", &two)).result()["isError"], false);
    drop(gate);

    let sessions: Vec<Value> = actors(&home, "add_task").iter().map(|actor| actor["session"].clone()).collect();
    let (first, second) = (json!(short_digest(&one)), json!(short_digest(&two)));
    let none = Value::Null;
    // an intent and an outcome for each; the last two are of the undo
    let expected = [&first, &first, &second, &second, &first, &first, &none, &none, &second, &second];
    assert_eq!(sessions.iter().collect::<Vec<_>>(), expected);
    assert_eq!(home.json(&["receipts", "show", &receipt])["actor"]["session"], first);
    let all = home.run(&["ledger", "export"]).out;
    assert!(!all.contains(&one) && !all.contains(&two), "{all}");
    let again = home.json(&["replay"]);
    assert_eq!((&again["changed"], &again["undecided"]), (&json!(0), &json!(0)), "{again}");
}

#[test]
fn a_record_names_the_agent_session_by_its_id_and_never_by_its_token() {
    let home = staffed(Home::with("[packs.gate]\n[packs.spine]\n[packs.team]\n"));
    let gate = home.serve();
    let token = sign_in(&gate, "ann");
    let answer = gate.ask(&Message::call(Era::Modern, "get_my_profile", json!({ "session_token": token })));
    assert_eq!(answer.result()["isError"], false);
    let sessions = home.json(&["agent", "sessions", "ann"]);
    let [actor] = &actors(&home, "get_my_profile")[..] else { panic!("one record") };
    assert_eq!(actor["agent"]["session"], sessions[0]["id"], "{actor} {sessions}");
    assert!(!home.run(&["ledger", "export"]).out.contains(&token));
}
