//! One user asks for so many approvals and no more, and a denial is not asked away.

use serde_json::json;

use super::{
    approvals_asked::{home, id, pay},
    bed::message::{Era, Message},
};

#[test]
fn so_many_questions_of_one_user_are_open_and_others_may_ask() {
    let home = home("[approvals]\nmax_pending = 3\n");
    let gate = home.serve();
    let (ann, bob) = (home.mint("--user ann"), home.mint("--user bob"));
    let asked: Vec<String> = (0..3).map(|amount| id(&gate.ask(&pay(Era::Modern, &ann, amount)))).collect();
    assert_eq!(id(&gate.ask(&pay(Era::Modern, &ann, 0))), asked[0], "the same question is asked once");
    let refused = gate.ask(&pay(Era::Modern, &ann, 3));
    assert_eq!(refused.verdict(), "approval_limit");
    assert!(refused.words().contains("have some answered first"), "{}", refused.words());
    assert_eq!(gate.ask(&pay(Era::Modern, &bob, 3)).verdict(), "approval_required");
    home.json(&["approvals", "deny", &asked[0]]);
    assert_eq!(gate.ask(&pay(Era::Modern, &ann, 3)).verdict(), "approval_required", "an answer makes room");
}

#[test]
fn what_a_person_is_shown_has_a_size() {
    let home = home("[approvals]\nmax_pending_bytes = 3000\n");
    let gate = home.serve();
    let ann = home.mint("--user ann");
    let large = |note: usize, n: u32| {
        let arguments = json!({"note": "x".repeat(note), "n": n});
        gate.ask(&Message::call(Era::Modern, "pay", arguments).bearer(&ann)).verdict()
    };
    assert_eq!(large(2000, 1), "approval_required");
    assert_eq!(large(2000, 2), "approval_limit", "both together are more than may wait");
    assert_eq!(large(300_000, 3), "approval_limit", "nobody reads that");
}

#[test]
fn a_call_that_was_denied_gets_the_same_denial_for_a_while() {
    let config = |seconds: u32| home(&format!("[approvals]\ndeny_cooldown_seconds = {seconds}\n"));
    for (seconds, again) in [(3600, "approval_denied"), (0, "approval_required")] {
        let home = config(seconds);
        let gate = home.serve();
        let ann = home.mint("--user ann");
        let asked = id(&gate.ask(&pay(Era::Modern, &ann, 1)));
        home.json(&["approvals", "deny", &asked, "--reason", "not on a Friday"]);
        let answer = gate.ask(&pay(Era::Modern, &ann, 1));
        assert_eq!(answer.verdict(), again, "{seconds}");
        assert_eq!(answer.words().contains("not on a Friday"), seconds > 0, "{}", answer.words());
        assert_eq!(
            gate.ask(&pay(Era::Modern, &ann, 2)).verdict(),
            "approval_required",
            "another call is another question"
        );
    }
}

#[test]
fn so_many_flows_and_plans_of_one_caller_are_open() {
    let home = home("[limits]\nopen_plans = 2\nopen_flows = 2\n");
    let gate = home.serve();
    let (ann, bob) = (home.mint("--user ann"), home.mint("--user bob"));
    let open = |token: &str| gate.ask(&Message::call(Era::Modern, "flow_open", json!({"name": "f"})).bearer(token));
    assert_eq!([open(&ann).verdict(), open(&ann).verdict()], ["ok", "ok"]);
    let third = open(&ann);
    assert!(third.verdict() != "ok" && third.words().contains("close some of them"), "{}", third.text());
    assert_eq!(open(&bob).verdict(), "ok");
    let calls = json!({"calls": [{"tool": "pay", "arguments": {"amount": 1}}]});
    let propose = |token: &str| gate.ask(&Message::call(Era::Modern, "plan_propose", calls.clone()).bearer(token));
    assert_eq!([propose(&ann).verdict(), propose(&ann).verdict()], ["ok", "ok"]);
    let third = propose(&ann);
    assert!(third.verdict() != "ok" && third.words().contains("have not run"), "{}", third.text());
    assert_eq!(propose(&bob).verdict(), "ok");
}
