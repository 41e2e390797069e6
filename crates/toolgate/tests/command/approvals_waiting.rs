//! A call that waits for a person, and whose caller is gone before the answer comes.

use std::thread;

use serde_json::json;

use super::{
    approvals_asked::{home, pay},
    bed::{home::Home, message::Era, wait::until},
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
