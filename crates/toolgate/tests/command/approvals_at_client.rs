//! The person at the caller's own client is asked, where the operator trusts that client.

use serde_json::{Value, json};

use super::{
    approvals_asked::{home, pay},
    bed::{
        message::{Era, Message},
        served::Served,
    },
};

const TRUSTED: &str = "[approvals]\nask_clients_of = [\"user:ann\"]\n";

/// A client of the newer era that can be asked.
fn able(message: Message) -> Message {
    message.meta("io.modelcontextprotocol/clientCapabilities", json!({"elicitation": {}}))
}

/// What the client is asked, and the state to come back with.
fn question(gate: &Served, message: &Message) -> (Value, Value) {
    let result = gate.ask(message).result();
    assert_eq!(result["resultType"], json!("input_required"), "{result}");
    (result["inputRequests"]["1"]["params"].clone(), result["requestState"].clone())
}

fn answered(message: Message, state: &Value, content: Value) -> Message {
    let response = json!({"1": {"action": "accept", "content": content}});
    message.param("inputResponses", response).param("requestState", state.clone())
}

#[test]
fn a_person_at_a_trusted_client_is_asked_and_nobody_elses_client_is() {
    let home = home(TRUSTED);
    let gate = home.serve();
    let (ann, bob) = (home.mint("--user ann"), home.mint("--user bob"));
    let call = able(pay(Era::Modern, &ann, 1));
    let (asked, state) = question(&gate, &call);
    let message = asked["message"].as_str().unwrap();
    assert!(message.starts_with("Approve pay?\n\n  amount: 1\n  card: [redacted:"), "{message}");
    assert!(!message.contains("4111-secret") && !message.contains("{\"tool\""), "lines for people: {message}");
    assert_eq!(asked["requestedSchema"]["required"], json!(["approve"]));
    assert_eq!(gate.ask(&answered(call, &state, json!({"approve": true}))).verdict(), "ok");
    let granted = home.json(&["approvals", "list"]);
    assert_eq!((&granted[0]["answered_by"], &granted[0]["state"]), (&json!("user:ann"), &json!("spent")));
    assert_eq!(gate.ask(&able(pay(Era::Modern, &bob, 1))).verdict(), "approval_required");
    let agent = home.mint("--user ann --agent scribe --kind worker");
    assert_eq!(gate.ask(&able(pay(Era::Modern, &agent, 1))).verdict(), "approval_required");
}

#[test]
fn what_a_client_could_not_show_whole_is_not_asked_there() {
    let home = home(TRUSTED);
    let gate = home.serve();
    let ann = home.mint("--user ann");
    let call = |note: usize| {
        let arguments = json!({"to": "bob", "note": "x".repeat(note)});
        able(Message::call(Era::Modern, "pay", arguments).bearer(&ann))
    };
    let (asked, _) = question(&gate, &call(1_000));
    assert!(asked["message"].as_str().unwrap().contains(&"x".repeat(1_000)), "{asked}");
    let id = super::approvals_asked::id(&gate.ask(&call(1_001)));
    home.json(&["approvals", "approve", &id]);
    assert_eq!(gate.ask(&call(1_001)).verdict(), "ok", "the command line has it whole");
}

#[test]
fn four_eyes_are_not_found_at_the_askers_own_client() {
    let home = home(TRUSTED);
    let gate = home.serve();
    let ann = home.mint("--user ann");
    let call = able(Message::call(Era::Modern, "pay_double", json!({})).bearer(&ann));
    assert_eq!(gate.ask(&call).verdict(), "approval_required", "nobody is asked whose answer could not count");
    assert_eq!(home.json(&["approvals", "list"])[0]["state"], json!("pending"));
}

#[test]
fn more_than_one_call_is_shown_as_that_and_granted_only_if_the_person_says_so() {
    let home = home(TRUSTED);
    let gate = home.serve();
    let ann = home.mint("--user ann");
    let opened = gate.ask(&Message::call(Era::Late, "flow_open", json!({"name": "work"})).bearer(&ann)).result();
    let flow = opened["structuredContent"]["flow"].clone();
    let within = |amount: i64| pay(Era::Modern, &ann, amount).meta("toolgate/flow", flow.clone());
    let wide = |amount: i64| able(within(amount).meta("toolgate/approvalScope", json!({"uses": 3, "ttl": 600})));
    let (asked, state) = question(&gate, &wide(1));
    let message = asked["message"].as_str().unwrap();
    assert!(message.starts_with("Approve MORE THAN ONE CALL?") && message.contains("with ANY arguments"), "{message}");
    assert_eq!(asked["requestedSchema"]["properties"]["once"]["default"], json!(true));
    // a yes that says nothing of more is for the one call
    assert_eq!(gate.ask(&answered(wide(1), &state, json!({"approve": true}))).verdict(), "ok");
    assert_eq!(gate.ask(&within(2)).verdict(), "approval_required");
    let (_, state) = question(&gate, &wide(3));
    assert_eq!(gate.ask(&answered(wide(3), &state, json!({"approve": true, "once": false}))).verdict(), "ok");
    assert_eq!(gate.ask(&within(4)).verdict(), "ok");
    assert_eq!(gate.ask(&within(5)).verdict(), "ok");
    assert_eq!(gate.ask(&within(6)).verdict(), "approval_required", "three times");
}

#[test]
fn a_client_of_the_older_era_is_asked_while_its_call_runs() {
    let home = home(TRUSTED);
    let ann = home.mint("--user ann");
    let mut client = home.stdio(Some(&ann));
    client.ask(&Message::initialize(Era::Late).param("capabilities", json!({"elicitation": {}})));
    client.write(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}).to_string());
    for (approve, code) in [(false, json!("approval_denied")), (true, Value::Null)] {
        client.write(&Message::call(Era::Late, "pay", json!({"approve": approve})).id(json!(7)).body());
        let asked = client.read().unwrap();
        assert_eq!(asked["method"], json!("elicitation/create"), "{asked}");
        let answer = json!({"action": "accept", "content": {"approve": approve}});
        client.write(&json!({"jsonrpc": "2.0", "id": asked["id"], "result": answer}).to_string());
        let done = client.read().unwrap();
        assert_eq!(done["result"]["structuredContent"]["code"], code, "{done}");
    }
}

#[test]
fn a_default_wait_does_not_hold_up_the_question_to_the_client() {
    let home = home(&format!("{TRUSTED}wait = \"1h\"\n"));
    let gate = home.serve();
    let ann = home.mint("--user ann");
    let call = able(pay(Era::Modern, &ann, 1));
    let (_, state) = question(&gate, &call);
    assert_eq!(gate.ask(&answered(call, &state, json!({"approve": true}))).verdict(), "ok");
    let call = able(pay(Era::Modern, &ann, 2));
    let (_, state) = question(&gate, &call);
    assert_eq!(gate.ask(&answered(call, &state, json!({"approve": false}))).verdict(), "approval_denied");
}
