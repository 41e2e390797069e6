//! Replay of prompts and resources: what a server offered is decided once more while the server does not run.

use serde_json::{Value, json};

use super::bed::{
    home::Home,
    http::Answer,
    message::{Era, Message},
    served::Served,
    wait::until,
};

const SERVER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../toolgate-upstream/tests/fixture/server.py");

const RULES: &str = r#"
@id("not_for_bob") @hides("yes") @message("Not for bob.")
forbid (principal, action in Action::"call", resource == Resource::"test://é")
when { principal has user && principal.user == "bob" };
"#;

const NEXT: &str = r#"
@id("bob_greets_nobody") @hides("no") @message("Not for bob.")
forbid (principal, action in Action::"call", resource == Prompt::"docs.greet")
when { principal has user && principal.user == "bob" };
@id("private") @hides("yes") @message("Private.")
forbid (principal, action in Action::"call", resource is Resource)
when { resource.name like "test://private/*" };
"#;

const FACTS: &str = r#"
[resources."test://notes/*"]
approval = "required"
[resources."other://a*"]
permission = "admin_only"
[prompts."*p1"]
permission = "admin_only"
"#;

fn config(more: &str) -> String {
    format!(
        "rules = [\"rules\"]\n[packs.gate]\n[[upstreams]]\nname = \"docs\"\nprefix = \"docs.\"\ncommand = \"python3\"\n\
         args = [{SERVER:?}, \"stdio\", \"legacy\"]\naddresses = [\"other://*\"]\n{more}"
    )
}

fn home() -> Home {
    let home = Home::with(&config(""));
    home.write("rules/now.cedar", RULES);
    home.write("next/next.cedar", NEXT);
    home
}

fn serve(home: &Home) -> Served {
    let mut command = home.command(&["serve", "--listen", "127.0.0.1:0"]);
    // where the server's program is found
    command.env("PATH", std::env::var("PATH").unwrap());
    Served::start(command)
}

fn ask(gate: &Served, token: Option<&str>, method: &str, params: &Value) -> Answer {
    let mut message = Message::new(Era::Late, method);
    for (key, value) in params.as_object().unwrap() {
        message = message.param(key, value.clone());
    }
    gate.ask(&match token {
        Some(token) => message.bearer(token),
        None => message,
    })
}

/// Thirteen decisions, four of them a no.
fn a_day(home: &Home) {
    let gate = serve(home);
    let (alice, bob) = (home.mint("--user alice"), home.mint("--user bob"));
    let get = |token: Option<&str>, name: &str| ask(&gate, token, "prompts/get", &json!({"name": name}));
    let read = |token: Option<&str>, uri: &str| ask(&gate, token, "resources/read", &json!({"uri": uri}));
    // a list is no call, and is not on record
    let listed = || ask(&gate, Some(&alice), "prompts/list", &json!({})).text();
    until("the server's prompts are there", || listed().contains("docs.greet").then_some(()));
    let is_there = |answer: Answer| answer.message().get("result").is_some();
    for name in ["docs.greet", "docs.p1"] {
        assert!(is_there(get(Some(&alice), name)), "{name}");
    }
    for uri in ["test://odd", "test://é", "test://notes/%C3%A9", "test://private/%C3%A9", "other://a"] {
        assert!(is_there(read(Some(&alice), uri)), "{uri}");
    }
    assert!(is_there(get(Some(&bob), "docs.greet")));
    assert!(is_there(read(Some(&bob), "test://private/%C3%A9?q=https://ann:hunter2hunter2@files.example")));
    for (token, name) in [(Some(bob.as_str()), "nobody has it"), (None, "docs.greet")] {
        assert!(!is_there(get(token, name)), "{name}");
    }
    for uri in ["test://é", "none://a"] {
        assert!(!is_there(read(Some(&bob), uri)), "{uri}");
    }
}

fn replay(home: &Home, more: &[&str]) -> Value {
    home.run(&[&["replay", "--json"], more].concat()).json()
}

fn change(caller: &str, tool: &str, was: &str, would_be: &str, rule: &str) -> Value {
    json!({"caller": caller, "tool": tool, "was": was, "would_be": would_be, "rule": rule, "count": 1})
}

#[test]
fn a_prompt_and_a_resource_that_other_rules_decide_otherwise_are_said_and_the_others_stay() {
    let home = home();
    a_day(&home);
    let same = replay(&home, &["--tool", "docs.p1"]);
    assert_eq!((&same["same"], &same["changed"], &same["undecided"]), (&json!(1), &json!(0), &json!(0)), "{same:#}");
    let same = replay(&home, &[]);
    assert_eq!((&same["changes"], &same["same"]), (&json!([]), &json!(12)), "{same:#}");
    // a rule names addresses, and of one a part was taken out
    let open = |replay: &Value| replay["not_redecided"][0]["why"].as_str().map(str::to_owned);
    assert_eq!((&same["undecided"], open(&same).as_deref()), (&json!(1), Some("input_redacted")));

    let replay = replay(&home, &["--rulebook", "next"]);
    assert_eq!(
        replay["changes"],
        json!([
            change("user:alice", "resource:test://private/%C3%A9", "allowed", "hidden", ""),
            change("user:bob", "prompt:docs.greet", "allowed", "denied", "bob_greets_nobody"),
            change("user:bob", "resource:test://é", "hidden", "allowed", ""),
        ]),
        "{replay:#}"
    );
    assert_eq!((&replay["same"], &replay["undecided"]), (&json!(9), &json!(1)));
    let of_bob = self::replay(&home, &["--rulebook", "next", "--principal", "user:bob"]);
    assert_eq!(of_bob["changed"], 2, "that there is such a resource is known from alice");
}

#[test]
fn the_facts_are_those_of_now_and_what_they_do_not_tell_is_not_guessed() {
    let home = home();
    a_day(&home);
    home.write("toolgate.toml", &config(FACTS));
    let with_facts = replay(&home, &[]);
    assert_eq!(
        with_facts["changes"],
        json!([
            change("user:alice", "prompt:docs.p1", "allowed", "hidden", ""),
            change("user:alice", "resource:other://a", "allowed", "hidden", ""),
            change("user:alice", "resource:test://notes/%C3%A9", "allowed", "needs_approval", "approval"),
        ]),
        "{with_facts:#}"
    );
    // and so says the gate itself
    let gate = serve(&home);
    let alice = home.mint("--user alice");
    let listed = || ask(&gate, Some(&alice), "prompts/list", &json!({})).text();
    until("the server's prompts are there", || listed().contains("docs.greet").then_some(()));
    let words = |method, params| ask(&gate, Some(&alice), method, &params).words();
    assert!(words("prompts/get", json!({"name": "docs.p1"})).starts_with("Unknown prompt"));
    assert!(words("resources/read", json!({"uri": "other://a"})).starts_with("Resource not found"));
    assert!(words("resources/read", json!({"uri": "test://notes/%C3%A9"})).contains("approval"));
    drop(gate);

    home.write("toolgate.toml", "rules = [\"rules\"]\n[packs.gate]\n");
    let gone = replay(&home, &[]);
    assert_eq!(gone["changed"], 0);
    let of_alice =
        gone["not_redecided"].as_array().unwrap().iter().filter(|open| open["tool"] == "resource:test://notes/%C3%A9");
    assert_eq!(of_alice.map(|open| open["why"].clone()).collect::<Vec<_>>(), ["tool_gone"]);
}

#[test]
fn the_ledger_says_which_address_of_a_pattern_was_read() {
    let home = home();
    a_day(&home);
    let asked = |tool: &str, outcome: &str| {
        let lines = home.run(&["ledger", "tail", "--json", "--tool", tool, "--outcome", outcome]).out;
        let record = |line: &str| serde_json::from_str::<Value>(line).unwrap()["record"].clone();
        lines.lines().map(|line| record(line)["asked"].as_str().map(str::to_owned)).collect::<Vec<_>>()
    };
    let some = |text: &str| Some(text.to_owned());
    assert_eq!(
        asked("test://{kind}/é{?q}", "answered"),
        [
            some("template:test://notes/%C3%A9"),
            some("template:test://private/%C3%A9"),
            some("template:test://private/%C3%A9?q=https://ann:[redacted]@files.example"),
        ]
    );
    assert_eq!(asked("other://*", "answered"), [some("address:other://a")]);
    assert_eq!(asked("docs.p1", "answered"), [some("prompt:docs.p1")]);
    assert_eq!(asked("none://a", "refused"), [some("resource:none://a")]);
    assert_eq!(asked("nobody has it", "refused"), [some("prompt:nobody has it")]);
    let text = home.run(&["ledger", "tail", "--tool", "other://*"]).out;
    assert!(text.contains("other://*  by user:alice") && text.contains("  asked=address:other://a  "), "{text}");
}

/// What is asked about a prompt or a resource besides the thing itself is a decision like any.
#[test]
fn completions_and_subscriptions_are_on_record_and_decided_again() {
    let home = home();
    let (alice, bob) = (home.mint("--user alice"), home.mint("--user bob"));
    {
        let gate = serve(&home);
        let listed = || ask(&gate, Some(&alice), "prompts/list", &json!({})).text();
        until("the server's prompts are there", || listed().contains("docs.greet").then_some(()));
        let completed = ask(
            &gate,
            Some(&alice),
            "completion/complete",
            &json!({"ref": {"type": "ref/prompt", "name": "docs.greet"}, "argument": {"name": "password", "value": "hunter2"},
                "context": {"arguments": {"who": "ann"}}}),
        );
        assert!(completed.message().get("result").is_some(), "{}", completed.text());
        for (token, taken) in [(&alice, true), (&bob, false)] {
            let session = gate.ask(&Message::initialize(Era::Late).bearer(token));
            let session = session.header("mcp-session-id").unwrap().to_owned();
            let message = Message::new(Era::Late, "resources/subscribe").param("uri", json!("test://é"));
            let answer = gate.ask(&message.bearer(token).header("Mcp-Session-Id", &session));
            assert_eq!(answer.message().get("result").is_some(), taken, "{}", answer.text());
        }
    }
    let exported = home.run(&["ledger", "export"]).out;
    let records: Vec<Value> = exported.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let seen = |input: &Value| {
        let matching = records.iter().map(|line| &line["record"]).filter(|record| record["input"] == *input);
        matching.map(|record| record["outcome"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(seen(&json!({"completes": {"who": "ann", "password": "[redacted]"}})), ["answered"], "{exported}");
    assert_eq!(seen(&json!({"watches": true})), ["answered", "refused"], "{exported}");
    let same = replay(&home, &[]);
    assert_eq!((&same["changes"], &same["same"], &same["undecided"]), (&json!([]), &json!(3), &json!(0)), "{same:#}");
    let next = replay(&home, &["--rulebook", "next"]);
    assert_eq!(next["changes"], json!([change("user:bob", "resource:test://é", "hidden", "allowed", "")]), "{next:#}");
}
