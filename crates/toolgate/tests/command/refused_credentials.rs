//! A client whose credential is refused learns so wherever it looks: in the instructions, in its list, from `help`, and in
//! the error of a call. The operator's log has the reason.

use serde_json::{Value, json};

use super::bed::{
    home::{Home, Ran},
    message::{ERAS, Era, Message},
    served::Served,
    wait::until,
};

const REFUSED: &str = "The bearer token was not accepted: ";
const ANONYMOUS: &str = " You are an anonymous caller.";

fn instructions(gate: &Served, era: Era, token: &str) -> Value {
    let message = if era == Era::Modern { Message::new(era, "server/discover") } else { Message::initialize(era) };
    gate.ask(&message.bearer(token)).result()["instructions"].clone()
}

fn help_description(gate: &Served, era: Era, token: &str) -> String {
    let listed = gate.ask(&Message::list(era).bearer(token)).result();
    let tools = listed["tools"].as_array().unwrap().clone();
    let help = tools.iter().find(|tool| tool["name"] == "help").expect("help is listed");
    help["description"].as_str().unwrap().to_owned()
}

/// The sentence that says why, taken from the error of a call.
fn reason(gate: &Served, token: &str) -> String {
    let denied = gate.ask(&Message::call(Era::Late, "add_task", json!({"title": "x"})).bearer(token));
    assert_eq!(denied.verdict(), "authentication_required");
    let content = denied.result()["content"].as_array().unwrap().clone();
    content.last().unwrap()["text"].as_str().unwrap().to_owned()
}

#[test]
fn a_refused_token_is_told_in_the_instructions_in_the_list_by_help_and_by_a_call() {
    let (home, other) =
        (Home::with("[packs.gate]\n[packs.todo]\n[server]\ninstructions = \"Be kind.\"\n"), Home::bare());
    let gate = home.serve();
    let (good, foreign) = (home.mint("--user alice"), other.mint("--user alice"));
    let sentence = format!("{REFUSED}it is signed with another key (was it made with another --data folder?).");
    assert_eq!(reason(&gate, &foreign), sentence);
    let notice = format!("{sentence}{ANONYMOUS}");
    for era in ERAS {
        assert_eq!(instructions(&gate, era, &foreign), format!("{notice}\n\nBe kind."));
        assert_eq!(instructions(&gate, era, &good), "Be kind.");
        assert!(help_description(&gate, era, &foreign).starts_with(&format!("{notice} Lists the tools")));
        assert!(help_description(&gate, era, &good).starts_with("Lists the tools"));
        let help = |token| gate.ask(&Message::call(era, "help", json!({})).bearer(token)).result();
        assert_eq!(help(&foreign)["content"][0]["text"], notice);
        assert_eq!(help(&foreign)["structuredContent"]["notice"], notice);
        assert_eq!(help(&good)["structuredContent"].get("notice"), None);
    }
}

#[test]
fn each_reason_is_told_to_the_holder_and_no_key_is_confirmed_to_a_stranger() {
    let home = Home::with("[packs.gate]\n[packs.todo]\n");
    let gate = home.serve();
    let made = home.json(&["token", "mint", "--user", "alice", "--ttl", "1s"]);
    let short = made["token"].as_str().unwrap();
    let expired = until("the token has expired", || {
        let denied = gate.ask(&Message::call(Era::Late, "add_task", json!({"title": "x"})).bearer(short));
        (denied.verdict() == "authentication_required").then(|| reason(&gate, short))
    });
    let shown = home.run(&["token", "show", short, "--json"]).json();
    assert_eq!(
        expired,
        format!("{REFUSED}it expired at {}.", shown["expires_at"].as_str().unwrap().replace(".000Z", "Z"))
    );
    let revoked = home.mint("--user bob");
    home.json(&["token", "revoke", &revoked]);
    assert_eq!(reason(&gate, &revoked), format!("{REFUSED}it was revoked."));
    let key = home.json(&["key", "create", "--user", "carol"]);
    let (id, key) = (key["id"].as_str().unwrap(), key["key"].as_str().unwrap());
    let wrong_secret = format!("{}{}", &key[..key.len() - 1], if key.ends_with('A') { 'B' } else { 'A' });
    let unknown = format!("tgk_aaaaaaaa_{}", &key[13..]);
    for guess in [&wrong_secret, &unknown] {
        assert_eq!(reason(&gate, guess), format!("{REFUSED}it is not valid."));
    }
    home.json(&["key", "revoke", id]);
    assert_eq!(reason(&gate, key), format!("{REFUSED}it was revoked."));
    assert_eq!(reason(&gate, &wrong_secret), format!("{REFUSED}it is not valid."), "not even that it was revoked");
}

#[test]
fn without_the_pack_of_help_the_instructions_tell_it() {
    let home = Home::with("[packs.todo]\n");
    let gate = home.serve();
    for era in ERAS {
        let told = instructions(&gate, era, "nonsense");
        assert_eq!(told, format!("{REFUSED}it is not valid.{ANONYMOUS}"));
        assert_eq!(gate.ask(&Message::list(era).bearer("nonsense")).tools(), Vec::<String>::new());
    }
    assert_eq!(instructions(&gate, Era::Late, &home.mint("--user alice")), Value::Null);
}

#[test]
fn a_client_on_standard_input_is_told_too() {
    let home = Home::with("[packs.gate]\n[packs.todo]\n");
    let mut pipe = home.stdio(Some("nonsense"));
    let begun = pipe.ask(&Message::initialize(Era::Late));
    assert_eq!(begun["result"]["instructions"], format!("{REFUSED}it is not valid.{ANONYMOUS}"));
    let discovered = pipe.ask(&Message::new(Era::Modern, "server/discover"));
    assert_eq!(discovered["result"]["instructions"], format!("{REFUSED}it is not valid.{ANONYMOUS}"));
    let mut pipe = home.stdio(Some(&home.mint("--user alice")));
    assert_eq!(pipe.ask(&Message::initialize(Era::Late))["result"].get("instructions"), None);
}

#[test]
fn the_log_warns_of_each_reason_and_does_not_repeat_it_for_every_request() {
    let (home, other) = (Home::with("[packs.gate]\n"), Home::bare());
    let gate = home.serve();
    let foreign = other.mint("--user alice");
    for _ in 0..200 {
        gate.ask(&Message::list(Era::Late).bearer(&foreign));
    }
    gate.ask(&Message::list(Era::Late).bearer("a.b.c"));
    let line = gate.logs("signed with another key");
    assert!(line.contains("WARN") && line.contains("a credential was refused"), "{line}");
    assert!(gate.logs("not a token").contains("WARN"));
    let lines = gate.log().lines().filter(|line| line.contains("signed with another key")).count();
    assert!(lines < 10, "{lines} lines for 200 requests");
    assert!(!gate.log().contains(&foreign), "the credential is not in the log");
}

fn show(home: &Home, token: &str) -> Ran {
    home.run(&["token", "show", token])
}

#[test]
fn a_token_is_shown_with_whether_it_would_be_accepted() {
    let home = Home::with("[packs.todo]\n");
    let before_store = home.mint("--user alice --tenant acme --ttl 90m");
    let ran = show(&home, &before_store);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    for words in ["signed here: yes", "user alice, tenant acme", "(in 1 h)", "accepted:    yes"] {
        assert!(ran.out.contains(words), "{words}: {}", ran.out);
    }
    assert!(!home.path(".toolgate/toolgate.db").exists(), "a look makes no store");
    let gate = home.serve();
    assert_eq!(show(&home, &before_store).code, Some(0));
    home.json(&["token", "revoke", &before_store]);
    let ran = show(&home, &before_store);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(ran.out.contains("accepted:    no: the token was revoked"), "{}", ran.out);
    drop(gate);
    assert_eq!(show(&home, &home.mint("--user bob")).code, Some(0), "no server is needed");
    let foreign = Home::bare().mint("--user alice");
    let shown = home.run(&["token", "show", &foreign, "--json"]);
    assert_eq!(shown.code, Some(1), "{shown:?}");
    let value = shown.json();
    assert_eq!((&value["signed_here"], &value["accepted"]), (&json!(false), &json!(false)));
    assert_eq!(value["attributes"], json!({"sub": "alice"}));
    assert!(value["reason"].as_str().unwrap().contains("another key"), "{value}");
}

#[test]
fn a_token_is_read_from_standard_input_and_a_key_is_shown_too() {
    let home = Home::with("[packs.todo]\n");
    let made = home.json(&["key", "create", "--user", "alice", "--name", "laptop"]);
    let (id, key) = (made["id"].as_str().unwrap(), made["key"].as_str().unwrap());
    home.write("token", &format!("Bearer {key}\nmore\n"));
    let mut command = home.command(&["token", "show", "--json"]);
    let output = command.stdin(std::fs::File::open(home.path("token")).unwrap()).output().unwrap();
    let value: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(0), "{value}");
    assert_eq!((&value["id"], &value["name"], &value["state"]), (&json!(id), &json!("laptop"), &json!("live")));
    home.json(&["key", "revoke", id]);
    let ran = show(&home, key);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(ran.out.contains("no: the API key was revoked") && !ran.out.contains(key), "{}", ran.out);
    assert_eq!(show(&home, "nonsense").code, Some(1));
    assert_eq!(show(&home, "").code, Some(2));
    let elsewhere = Home::bare();
    assert_eq!(show(&elsewhere, key).code, Some(1));
    assert!(!elsewhere.path(".toolgate").exists(), "a look makes nothing");
}

#[test]
fn minting_where_there_is_no_key_says_that_no_server_uses_the_new_one() {
    let home = Home::bare();
    let first = home.run(&["token", "mint", "--user", "alice"]);
    assert!(first.err.contains("made a new signing key in .toolgate; no server uses it yet"), "{first:?}");
    assert_eq!(first.out.split_whitespace().count(), 1, "the token stands alone");
    assert_eq!(home.run(&["token", "mint", "--user", "alice"]).err, "");
}

#[test]
fn keys_are_listed_with_their_attributes_in_words_and_a_list_makes_no_store() {
    let home = Home::bare();
    for command in [&["key", "list"][..], &["key", "revoke", "key_x"], &["token", "revoked"]] {
        let ran = home.run(command);
        assert_eq!(ran.code, Some(2), "{command:?}: {ran:?}");
        assert!(ran.err.contains("there is no store at"), "{command:?}: {ran:?}");
    }
    assert!(!home.path(".toolgate").exists());
    home.json(&["key", "create", "--user", "alice", "--tenant", "acme", "--name", "laptop", "--ttl", "7d"]);
    home.json(&["key", "create", "--agent", "scribe", "--kind", "worker"]);
    let listed = home.run(&["key", "list"]).out;
    let lines: Vec<&str> = listed.lines().collect();
    let header: Vec<&str> = lines[0].split_whitespace().collect();
    assert_eq!(header, ["ID", "NAME", "STATE", "ATTRIBUTES", "CREATED", "EXPIRES"]);
    assert!(listed.contains("user alice, tenant acme") && listed.contains("agent scribe, kind worker"), "{listed}");
    assert!(listed.contains("laptop") && listed.contains("never") && !listed.contains('{'), "{listed}");
}
