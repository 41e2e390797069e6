//! A task beside a user: together only for one owner, and only while the task lives.

use serde_json::json;

use super::bed::{
    home::Home,
    message::{ERAS, Era, Message},
    served::Served,
};

const CONFIG: &str = r#"
[packs.gate]
[packs.todo]
[packs.echo]
definitions = "tools.json"
[tools.steer]
scope = "orchestrator"
when_denied = "explained"
bind = { who = "caller.user", task = "caller.task" }
"#;

fn home() -> Home {
    let home = Home::with(CONFIG);
    let schema = json!({"type": "object", "properties": {"who": {"type": "string"}, "task": {"type": "string"}}});
    home.write("tools.json", &json!([{"name": "steer", "inputSchema": schema}]).to_string());
    home
}

/// A task's public id and its key.
fn task(home: &Home, options: &[&str]) -> (String, String) {
    let made = home.json(&[&["task", "start"], options].concat());
    (made["task_id"].as_str().unwrap().to_owned(), made["task_key"].as_str().unwrap().to_owned())
}

fn steer(gate: &Served, ask: impl Fn(Message) -> Message) -> String {
    let answer = gate.ask(&ask(Message::call(Era::Modern, "steer", json!({}))));
    match answer.verdict().as_str() {
        "ok" => answer.words(),
        other => other.to_owned(),
    }
}

fn kind(gate: &Served, ask: impl Fn(Message) -> Message) -> String {
    let answer = gate.ask(&ask(Message::call(Era::Late, "help", json!({}))));
    answer.result()["structuredContent"]["context"]["caller_type"].as_str().unwrap().to_owned()
}

#[test]
fn a_task_and_its_owner_are_one_caller() {
    let home = home();
    let gate = home.serve();
    let (id, key) = task(&home, &["--owner", "alice", "--orchestrator"]);
    let alice = home.mint("--user alice");
    let together = steer(&gate, |ask| ask.bearer(&alice).header("X-Toolgate-Task-ID", &key));
    assert_eq!(serde_json::from_str::<serde_json::Value>(&together).unwrap(), json!({"who": "alice", "task": id}));
    let alias = steer(&gate, |ask| ask.bearer(&alice).header("X-Wiggy-Task-ID", &key));
    assert_eq!(alias, together);
}

#[test]
fn a_task_of_somebody_else_adds_nothing() {
    let home = home();
    let gate = home.serve();
    let (_, key) = task(&home, &["--owner", "alice", "--orchestrator"]);
    let (_, unowned) = task(&home, &["--orchestrator"]);
    let bob = home.mint("--user bob");
    for key in [key, unowned] {
        let tried = steer(&gate, |ask| ask.bearer(&bob).header("X-Toolgate-Task-ID", &key));
        assert_eq!(tried, "orchestrator_required");
    }
}

#[test]
fn a_task_alone_is_a_caller_without_a_user() {
    let home = home();
    let gate = home.serve();
    let (_, key) = task(&home, &["--owner", "alice", "--orchestrator"]);
    assert_eq!(kind(&gate, |ask| ask.header("X-Toolgate-Task-ID", &key)), "task");
    let answer = gate.ask(&Message::call(Era::Modern, "steer", json!({})).header("X-Toolgate-Task-ID", &key));
    assert_eq!((answer.status, answer.verdict()), (400, "-32602".to_owned()));
    assert!(answer.words().contains("'who'"), "{}", answer.words());
}

#[test]
fn the_public_id_of_a_task_is_no_credential_unless_it_is_trusted() {
    let home = home();
    let (id, key) = task(&home, &[]);
    let gate = home.serve();
    assert_eq!(kind(&gate, |ask| ask.header("X-Toolgate-Task-ID", &id)), "unauthenticated");
    assert_eq!(kind(&gate, |ask| ask.header("X-Toolgate-Task-ID", "tk_made_up")), "unauthenticated");
    assert_eq!(kind(&gate, |ask| ask.header("X-Toolgate-Task-ID", &key)), "task");
    home.write("toolgate.toml", &format!("{CONFIG}\n[identity]\ntrust_task_ids = true\n"));
    let gate = home.serve();
    assert_eq!(kind(&gate, |ask| ask.header("X-Toolgate-Task-ID", &id)), "task");
    let elsewhere = home.run(&["serve", "--listen", "0.0.0.0:0"]);
    assert_eq!(elsewhere.code, Some(2));
    assert!(elsewhere.err.contains("trust_task_ids is for loopback only"), "{}", elsewhere.err);
    // what serving refuses, the commands that look before it refuse too
    let home = Home::with("[server]\nlisten = \"0.0.0.0:0\"\n[identity]\ntrust_task_ids = true\n");
    for command in ["check", "doctor"] {
        let ran = home.run(&[command]);
        assert_eq!(ran.code, Some(1), "{command}");
        assert!(ran.out.contains("trust_task_ids is for loopback only"), "{command}: {}", ran.out);
    }
}

#[test]
fn a_finished_task_is_over_on_the_next_request_in_every_form() {
    let home = home();
    let gate = home.serve();
    let (id, key) = task(&home, &["--owner", "alice", "--orchestrator"]);
    let (alice, minted) = (home.mint("--user alice"), home.mint(&format!("--user alice --task {id}")));
    let header = |ask: Message| ask.bearer(&alice).header("X-Toolgate-Task-ID", &key);
    assert!(steer(&gate, header).contains("alice"));
    assert!(steer(&gate, |ask| ask.bearer(&minted)).contains("alice"));
    assert_eq!(home.json(&["task", "finish", &id])["finished"], true);
    assert_eq!(steer(&gate, header), "orchestrator_required", "still alice, without the task");
    assert_eq!(kind(&gate, |ask| ask.header("X-Toolgate-Task-ID", &key)), "unauthenticated");
    // what was handed to a task does not outlive it as its user
    assert_eq!(steer(&gate, |ask| ask.bearer(&minted)), "orchestrator_required");
    for era in ERAS {
        let list = gate.ask(&Message::list(era).header("X-Toolgate-Task-ID", &key));
        assert_eq!(list.tools(), ["help"], "a finished task is no error for a list");
    }
}

#[test]
fn a_child_ends_with_its_parent() {
    let home = home();
    let gate = home.serve();
    let (parent, _) = task(&home, &["--owner", "alice"]);
    let (_, child) = task(&home, &["--owner", "alice", "--parent", &parent]);
    let (_, stranger) = task(&home, &["--owner", "alice"]);
    assert_eq!(kind(&gate, |ask| ask.header("X-Toolgate-Task-ID", &child)), "task");
    home.json(&["task", "finish", &parent]);
    assert_eq!(kind(&gate, |ask| ask.header("X-Toolgate-Task-ID", &child)), "unauthenticated");
    assert_eq!(kind(&gate, |ask| ask.header("X-Toolgate-Task-ID", &stranger)), "task");
}

#[test]
fn a_flow_narrows_its_caller_to_its_allowlist() {
    let home = home();
    let gate = home.serve();
    let flow = home.mint("--user alice --flow f1 --allow add_task");
    assert_eq!(gate.ask(&Message::list(Era::Modern).bearer(&flow)).tools(), ["add_task"]);
    let listing = gate.ask(&Message::call(Era::Modern, "list_tasks", json!({})).bearer(&flow));
    assert_eq!(listing.verdict(), "not_in_allowlist");
    let nothing = home.run(&["token", "mint", "--user", "alice", "--flow", "f2", "--allow", ""]);
    let nothing = nothing.out.trim_end();
    assert_eq!(gate.ask(&Message::list(Era::Modern).bearer(nothing)).tools(), [""; 0]);
}
