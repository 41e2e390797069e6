//! Too much at once or too often is turned away early, and told when to come again.

use std::thread;

use serde_json::json;

use super::bed::{
    home::Home,
    http::{Answer, Request},
    message::{Era, Message},
    served::Served,
    wait::until,
};

const CONFIG: &str = r#"
[server]
max_in_flight = 2
[packs.echo]
definitions = "tools.json"
[tools.slow]
approval = "required"
limits = { caller_concurrency = 1 }
[tools.rare]
limits = { total_per_minute = 2 }
"#;

fn home() -> Home {
    let home = Home::with(CONFIG);
    let tool = |name: &str| json!({"name": name, "inputSchema": {"type": "object"}});
    home.write("tools.json", &json!(["slow", "rare"].map(tool)).to_string());
    home
}

/// A call that is under way until somebody answers it: it waits for a person.
fn waiting(token: &str) -> Request {
    let message = Message::call(Era::Late, "slow", json!({"n": token.len()})).bearer(token);
    let mut request = message.meta("toolgate/wait", json!(3600)).request();
    request.headers.retain(|(name, _)| name != "Accept");
    request.header("Accept", "application/json")
}

/// Who waits, once so many do.
fn pending(home: &Home, count: usize) -> Vec<String> {
    until("the calls wait", || {
        let listed = home.json(&["approvals", "list", "--state", "pending"]);
        let ids: Vec<String> =
            listed.as_array().unwrap().iter().map(|one| one["id"].as_str().unwrap().to_owned()).collect();
        (ids.len() == count).then_some(ids)
    })
}

fn call(gate: &Served, token: &str, tool: &str) -> Answer {
    gate.ask(&Message::call(Era::Late, tool, json!({})).bearer(token))
}

#[test]
fn a_caller_has_its_own_places_and_others_have_theirs() {
    let home = home();
    let gate = home.serve();
    let (alice, bob) = (home.mint("--user alice"), home.mint("--user bob"));
    thread::scope(|scope| {
        let first = scope.spawn(|| gate.send(&waiting(&alice)));
        let ids = pending(&home, 1);
        let second = call(&gate, &alice, "slow");
        assert_eq!(second.verdict(), "overloaded");
        assert_eq!(second.result()["structuredContent"]["retryAfterSeconds"], 1);
        assert!(second.words().contains("runs 1 calls of yours already. Try again shortly."), "{}", second.words());
        assert_eq!(call(&gate, &bob, "slow").verdict(), "approval_required", "bob has a place of his own");
        assert_eq!(home.run(&["approvals", "approve", &ids[0]]).code, Some(0));
        assert_eq!(first.join().unwrap().verdict(), "ok");
    });
    assert_eq!(call(&gate, &alice, "slow").verdict(), "approval_required", "the place came back");
}

#[test]
fn a_rate_over_all_callers_says_when_to_come_again() {
    let home = home();
    let gate = home.serve();
    let (alice, bob) = (home.mint("--user alice"), home.mint("--user bob"));
    assert_eq!([call(&gate, &alice, "rare").verdict(), call(&gate, &bob, "rare").verdict()], ["ok", "ok"]);
    let third = call(&gate, &bob, "rare");
    assert_eq!((third.status, third.verdict()), (200, "rate_limited".to_owned()));
    let seconds = third.result()["structuredContent"]["retryAfterSeconds"].as_u64().unwrap();
    assert!((1..=31).contains(&seconds), "{seconds}");
    assert!(third.words().ends_with(&format!("Try again in {seconds} s.")), "{}", third.words());
}

#[test]
fn beyond_the_bound_messages_are_turned_away_unread_and_the_server_stays_well() {
    let home = home();
    let gate = home.serve();
    let (alice, bob) = (home.mint("--user alice"), home.mint("--user bobby"));
    thread::scope(|scope| {
        let calls = [&alice, &bob].map(|token| scope.spawn(|| gate.send(&waiting(token))));
        let ids = pending(&home, 2);
        for body in [Message::list(Era::Late).body(), "no JSON at all".to_owned()] {
            let answer = gate.send(&Request::json(body));
            assert_eq!((answer.status, answer.header("retry-after")), (503, Some("1")), "{}", answer.text());
            assert_eq!(answer.message()["error"]["code"], -32603);
        }
        assert_eq!(gate.send(&Request::new("GET", "/healthz")).status, 200, "it is busy, not ill");
        for id in &ids {
            assert_eq!(home.run(&["approvals", "deny", id]).code, Some(0));
        }
        for call in calls {
            assert_eq!(call.join().unwrap().status, 200);
        }
    });
    assert_eq!(gate.ask(&Message::list(Era::Late)).status, 200);
}
