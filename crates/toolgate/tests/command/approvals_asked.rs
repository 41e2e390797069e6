//! A call that needs a yes says how to get it, comes back with it, and may ask for more than one call.

use serde_json::{Value, json};

use super::bed::{
    home::Home,
    http::Answer,
    message::{ERAS, Era, Message},
    served::Served,
};

/// Tools that need a yes: `pay`, and `pay_double`, which takes four eyes.
pub const CONFIG: &str = r#"
[packs.gate]
[packs.spine]
[packs.echo]
definitions = "tools.json"
[tools.pay]
approval = "required"
when_denied = "explained"
group = "money"
redact = ["/card"]
[tools.pay_double]
approval = "required"
when_denied = "explained"
four_eyes = true
"#;

pub fn home(more: &str) -> Home {
    home_with(&format!("{CONFIG}{more}"))
}

pub fn home_with(config: &str) -> Home {
    let home = Home::with(config);
    let tool = |name: &str| json!({"name": name, "description": "Pays.", "inputSchema": {"type": "object"}});
    home.write("tools.json", &json!(["pay", "pay_double"].map(tool)).to_string());
    home
}

pub fn pay(era: Era, token: &str, amount: i64) -> Message {
    Message::call(era, "pay", json!({"amount": amount, "card": "4111-secret"})).bearer(token)
}

/// What a call that needs a yes says.
pub fn asked(answer: &Answer) -> Value {
    let content = answer.result()["structuredContent"].clone();
    assert_eq!(content["code"], json!("approval_required"), "{content}");
    content
}

pub fn id(answer: &Answer) -> String {
    asked(answer)["approval"].as_str().unwrap().to_owned()
}

fn back(message: Message, approval: &str) -> Message {
    message.meta("toolgate/approval", json!(approval))
}

fn flow(gate: &Served, token: &str) -> String {
    let opened = gate.ask(&Message::call(Era::Late, "flow_open", json!({"name": "work"})).bearer(token)).result();
    opened["structuredContent"]["flow"].as_str().unwrap().to_owned()
}

fn wide(message: Message, flow: &str, uses: u32) -> Message {
    message.meta("toolgate/flow", json!(flow)).meta("toolgate/approvalScope", json!({"uses": uses, "ttl": 600}))
}

#[test]
fn a_call_that_needs_a_yes_says_what_will_run_and_until_when_and_the_log_how_to_answer() {
    let home = home("");
    let gate = home.serve();
    let ann = home.mint("--user ann");
    for (era, amount) in ERAS.into_iter().zip([1, 2, 3]) {
        let answer = gate.ask(&pay(era, &ann, amount));
        let content = asked(&answer);
        let id = content["approval"].as_str().unwrap();
        assert_eq!(content["arguments"]["amount"], json!(amount));
        assert!(content["arguments"]["card"].as_str().unwrap().starts_with("[redacted:"), "{content}");
        assert!(content["expires"].as_i64().unwrap() > 0);
        assert_eq!(content["what"], json!("'pay' with these arguments, once"));
        assert_eq!(content["again"], json!({"_meta": {"toolgate/approval": id}}));
        let words = answer.words();
        assert!(
            words.ends_with(&format!(
                "Approval {id} is required. A person answers it; then call again with the same arguments."
            )),
            "{words}"
        );
        assert_eq!(content["answer"], Value::Null);
        for told in ["toolgate approvals", "/api/v1"] {
            assert!(!answer.text().contains(told), "a model is not told how to approve: {}", answer.text());
        }
        let log = gate.logs(&format!("approve with: toolgate approvals approve {} ", &id[..13]));
        assert!(log.contains(&format!("approval={id}")) && log.contains("tool=pay"), "{log}");
        gate.logs(&format!("outcome=\"needs_approval\" rule=\"approval\" approval={id}"));
        assert!(!answer.text().contains("4111-secret"), "what is redacted for approvers is so here");
        home.json(&["approvals", "approve", id]);
        assert_eq!(gate.ask(&back(pay(era, &ann, amount), id)).verdict(), "ok");
        assert_eq!(gate.ask(&back(pay(era, &ann, amount), id)).verdict(), "approval_spent");
    }
}

#[test]
fn a_call_runs_on_the_approval_it_names_and_on_no_other() {
    let home = home("");
    let gate = home.serve();
    let (ann, bob) = (home.mint("--user ann"), home.mint("--user bob"));
    let first = id(&gate.ask(&pay(Era::Modern, &ann, 1)));
    let second = id(&gate.ask(&pay(Era::Modern, &ann, 2)));
    assert_eq!(id(&gate.ask(&back(pay(Era::Modern, &ann, 1), &first))), first, "still pending");
    for approval in [&first, &second] {
        home.json(&["approvals", "approve", approval]);
    }
    // granted for another call: neither that one nor its own is used up by it
    assert_eq!(gate.ask(&back(pay(Era::Modern, &ann, 1), &second)).verdict(), "approval_mismatch");
    assert_eq!(gate.ask(&back(pay(Era::Modern, &ann, 3), &first)).verdict(), "approval_mismatch");
    // somebody else's is as unknown as none at all, to the byte
    let unknown = |approval: &str| {
        let answer = gate.ask(&back(pay(Era::Modern, &bob, 1), approval));
        assert_eq!(answer.verdict(), "approval_unknown");
        answer.text().replace(approval, "ID")
    };
    assert_eq!(unknown(&first), unknown("appr_of_nobody"));
    let odd = ["", "\u{0}", &"x".repeat(5_000)].map(|odd| gate.ask(&back(pay(Era::Modern, &bob, 1), odd)).verdict());
    assert_eq!(odd, ["approval_unknown"; 3], "what can't be an id is none");
    let granted = home.json(&["approvals", "list", "--state", "granted"]);
    assert_eq!(granted.as_array().unwrap().len(), 2, "nothing was used up: {granted}");
    assert_eq!(gate.ask(&back(pay(Era::Modern, &ann, 1), &first)).verdict(), "ok");
    // denied, with the reason
    let third = id(&gate.ask(&pay(Era::Modern, &ann, 3)));
    home.json(&["approvals", "deny", &third, "--reason", "not on a Friday"]);
    let denied = gate.ask(&back(pay(Era::Modern, &ann, 3), &third));
    assert_eq!(denied.verdict(), "approval_denied");
    assert!(denied.words().contains("not on a Friday"), "{}", denied.words());
    for wrong in [json!(7), json!({"id": third})] {
        let answer = gate.ask(&pay(Era::Modern, &ann, 3).meta("toolgate/approval", wrong));
        assert_eq!(answer.verdict(), "-32602");
    }
}

#[test]
fn more_than_one_call_is_approved_only_where_it_was_asked_for_and_shown() {
    let home = home("");
    let gate = home.serve();
    let ann = home.mint("--user ann");
    let flow = flow(&gate, &ann);
    let call = |amount: i64| pay(Era::Modern, &ann, amount);
    let question = gate.ask(&wide(call(1), &flow, 2));
    let content = asked(&question);
    let what = content["what"].as_str().unwrap();
    assert!(what.contains("with ANY arguments, up to 2 times") && what.contains(&flow), "{what}");
    let wide_id = content["approval"].as_str().unwrap();
    let shown = home.run(&["approvals", "show", wide_id]).out;
    assert!(shown.contains("this tool with ANY arguments, up to 2 times until 2"), "{shown}");
    home.json(&["approvals", "approve", wide_id]);
    let within = |amount: i64| call(amount).meta("toolgate/flow", json!(flow));
    assert_eq!(gate.ask(&within(5)).verdict(), "ok");
    assert_eq!(gate.ask(&call(6)).verdict(), "approval_required", "outside the flow it is nothing");
    assert_eq!(gate.ask(&back(within(7), wide_id)).verdict(), "ok");
    assert_eq!(gate.ask(&within(8)).verdict(), "approval_required", "it is used up");
    // narrowed to the call that asked
    let next = id(&gate.ask(&wide(call(9), &flow, 5)));
    let narrowed = home.json(&["approvals", "approve", &next, "--once"]);
    assert_eq!((&narrowed["uses_left"], &narrowed["wide"]), (&json!(1), &Value::Null));
    assert_eq!(gate.ask(&within(10)).verdict(), "approval_required", "only the call that asked");
    assert_eq!(gate.ask(&within(9)).verdict(), "ok");
    assert_eq!(gate.ask(&within(9)).verdict(), "approval_required");
    // it ends with its flow
    let last = id(&gate.ask(&wide(call(11), &flow, 5)));
    home.json(&["approvals", "approve", &last]);
    gate.ask(&Message::call(Era::Late, "flow_close", json!({"flow": flow})).bearer(&ann)).result();
    assert_eq!(home.json(&["approvals", "show", &last])["state"], json!("ended"));
    assert_eq!(gate.ask(&within(12)).verdict(), "-32602");
}

#[test]
fn more_than_one_call_can_not_be_asked_for_outside_a_flow_or_without_an_end() {
    let home = home("");
    let gate = home.serve();
    let ann = home.mint("--user ann");
    let outside = pay(Era::Modern, &ann, 1).meta("toolgate/approvalScope", json!({"uses": 2, "ttl": 60}));
    let answer = gate.ask(&outside);
    assert_eq!(answer.verdict(), "approval_scope");
    assert!(answer.words().contains("open a flow"), "{}", answer.words());
    let flow = flow(&gate, &ann);
    for scope in [
        json!({"uses": 2}),
        json!({"ttl": 60}),
        json!({"uses": 0, "ttl": 60}),
        json!({"uses": 2, "ttl": 0}),
        json!({"uses": 1001, "ttl": 60}),
        json!({"uses": 2, "ttl": 60, "tool": "all"}),
        json!([2, 60]),
        json!("all"),
        json!(true),
    ] {
        let call = pay(Era::Modern, &ann, 1).meta("toolgate/flow", json!(flow));
        assert_eq!(gate.ask(&call.meta("toolgate/approvalScope", scope.clone())).verdict(), "-32602", "{scope}");
    }
    assert_eq!(home.json(&["approvals", "list"]), json!([]), "nothing was asked");
}

#[test]
fn a_yes_holds_as_long_as_is_configured() {
    let home = home("[approvals]\nttl = \"5m\"\n");
    let gate = home.serve();
    let ann = home.mint("--user ann");
    let id = id(&gate.ask(&pay(Era::Late, &ann, 1)));
    let granted = home.json(&["approvals", "approve", &id]);
    let holds = granted["expires"].as_i64().unwrap() - granted["answered_at"].as_i64().unwrap();
    assert_eq!(holds, 5 * 60_000);
}
