//! A call that waits for a person, and whose caller is gone before the answer comes.

use std::thread;

use serde_json::{Value, json};

use super::{
    approvals_asked::{home, pay},
    bed::{
        home::Home,
        message::{ERAS, Era},
        wait::until,
    },
};

fn pending(home: &Home) -> String {
    until("the call waits", || {
        let listed = home.json(&["approvals", "list", "--state", "pending"]);
        listed.as_array().unwrap().first().map(|one| one["id"].as_str().unwrap().to_owned())
    })
}

#[test]
fn a_key_that_is_revoked_while_its_call_waits_runs_nothing() {
    let home = home("");
    let gate = home.serve();
    for (amount, revoked, verdict) in [(1, false, "ok"), (2, true, "identity_ended")] {
        let key = home.json(&["key", "create", "--user", "ann"]);
        let call = pay(Era::Late, key["key"].as_str().unwrap(), amount).meta("toolgate/wait", json!(3600));
        thread::scope(|scope| {
            let waiting = scope.spawn(|| gate.ask(&call));
            let asked = pending(&home);
            if revoked {
                home.run(&["key", "revoke", key["id"].as_str().unwrap()]);
            }
            home.json(&["approvals", "approve", &asked]);
            assert_eq!(waiting.join().unwrap().verdict(), verdict);
        });
    }
    let paid = home.run(&["ledger", "tail", "--tool", "pay", "--outcome", "answered", "--json"]).out;
    assert_eq!(paid.lines().count(), 1, "{paid}");
}

#[test]
fn a_call_that_says_nothing_of_waiting_waits_as_long_as_is_configured() {
    let home = home("[approvals]\nwait = \"1h\"\n");
    let gate = home.serve();
    let ann = home.mint("--user ann");
    for (era, amount) in ERAS.into_iter().zip([1, 2, 3]) {
        for (answer, verdict) in [("approve", "ok"), ("deny", "approval_denied")] {
            let call = pay(era, &ann, if answer == "deny" { -amount } else { amount });
            thread::scope(|scope| {
                let waiting = scope.spawn(|| gate.ask(&call));
                let asked = pending(&home);
                let reason = ["--reason", "not on a Friday"];
                let more = if answer == "deny" { &reason[..] } else { &[] };
                home.json(&[&["approvals", answer, &asked], more].concat());
                let answered = waiting.join().unwrap();
                assert_eq!(answered.verdict(), verdict);
                assert_eq!(answered.words().contains("not on a Friday"), answer == "deny", "{}", answered.words());
            });
        }
        let at_once = pay(era, &ann, 10 + amount).meta("toolgate/wait", json!(0));
        assert_eq!(gate.ask(&at_once).verdict(), "approval_required", "the call's own word counts");
        home.json(&["approvals", "deny", &pending(&home)]);
    }
}

#[test]
fn a_client_that_wants_progress_hears_that_its_call_waits() {
    let home = home("[approvals]\nwait = \"1h\"\n");
    let ann = home.mint("--user ann");
    let mut client = home.stdio(Some(&ann));
    client.write(&pay(Era::Late, &ann, 1).meta("progressToken", json!("p")).id(json!(7)).body());
    let note = client.read().unwrap();
    assert_eq!((&note["method"], &note["params"]["progressToken"]), (&json!("notifications/progress"), &json!("p")));
    let asked = pending(&home);
    assert_eq!(note["params"]["message"], json!(format!("waiting for a person to answer approval {asked}")));
    home.json(&["approvals", "approve", &asked]);
    let own = client.read().unwrap();
    assert_eq!(own["params"]["progress"], json!(1), "what the tool itself reports goes forward: {own}");
    let done = client.read().unwrap();
    assert_eq!((&done["id"], &done["result"]["structuredContent"]["code"]), (&json!(7), &Value::Null), "{done}");
}
