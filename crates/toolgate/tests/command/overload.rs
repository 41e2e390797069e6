//! Too much at once or too often is turned away early, and told when to come again.

use std::{fs, thread};

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
max_waiting_per_caller = 3
[packs.echo]
definitions = "tools.json"
[tools.asked]
approval = "required"
limits = { caller_concurrency = 1, concurrency = 1 }
[tools.rare]
limits = { total_per_minute = 2 }
[tools.write_result]
limits = { caller_concurrency = 1 }
"#;

fn home() -> Home {
    let home = Home::bare();
    // the calls of write_result run until there is a file 'go'
    let folder = home.path("");
    let script = "cat > /dev/null; mktemp run.XXXXXX > /dev/null; until [ -e go ]; do sleep 0.05; done; echo done";
    let script = format!("cd '{}'; {script}", folder.display());
    home.write(
        "toolgate.toml",
        &format!("{CONFIG}[packs.workspace]\nsummarizer = [\"/bin/sh\", \"-c\", {script:?}]\n"),
    );
    let tool = |name: &str| json!({"name": name, "inputSchema": {"type": "object"}});
    home.write("tools.json", &json!(["asked", "rare"].map(tool)).to_string());
    home
}

/// A task's call that runs until it may end.
fn running(home: &Home, owner: &str) -> Message {
    let task = home.json(&["task", "start", "--owner", owner, "--process", "p", "--name", owner]);
    let call = Message::call(Era::Late, "write_result", json!({"result": "Some text. And more of it."}));
    call.header("X-Toolgate-Task-ID", task["task_key"].as_str().unwrap())
}

/// Waits until so many calls run.
fn run(home: &Home, count: usize) {
    until("the calls run", || {
        let names = fs::read_dir(home.path("")).unwrap().map(|entry| entry.unwrap().file_name());
        let running = names.filter(|name| name.to_string_lossy().starts_with("run.")).count();
        (running == count).then_some(())
    });
}

/// A call that waits for a person.
fn waiting(token: &str, n: usize) -> Request {
    let message = Message::call(Era::Late, "asked", json!({"n": n})).bearer(token);
    let mut request = message.meta("toolgate/wait", json!(3600)).request();
    request.headers.retain(|(name, _)| name != "Accept");
    request.header("Accept", "application/json")
}

/// What waits for a person, once there is so much of it.
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
    let (alice, bob) = (running(&home, "alice"), running(&home, "bob"));
    thread::scope(|scope| {
        let first = scope.spawn(|| gate.ask(&alice));
        run(&home, 1);
        let second = gate.ask(&alice);
        assert_eq!(second.verdict(), "overloaded");
        assert_eq!(second.result()["structuredContent"]["retryAfterSeconds"], 1);
        assert!(second.words().contains("runs 1 calls of yours already. Try again shortly."), "{}", second.words());
        let other = scope.spawn(|| gate.ask(&bob));
        run(&home, 2);
        home.write("go", "");
        assert_eq!(first.join().unwrap().verdict(), "ok");
        assert_eq!(other.join().unwrap().verdict(), "ok", "bob has a place of his own");
    });
    assert_eq!(gate.ask(&alice).verdict(), "ok", "the place came back");
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
    let calls = [running(&home, "alice"), running(&home, "bob")];
    let token = home.mint("--user alice --scope approve");
    thread::scope(|scope| {
        let calls = calls.each_ref().map(|call| scope.spawn(|| gate.ask(call)));
        run(&home, 2);
        for body in [Message::list(Era::Late).body(), "no JSON at all".to_owned()] {
            let answer = gate.send(&Request::json(body));
            assert_eq!((answer.status, answer.header("retry-after")), (503, Some("1")), "{}", answer.text());
            assert_eq!(answer.message()["error"]["code"], -32603);
        }
        let rest = gate.send(&Request::new("GET", "/api/v1/approvals").bearer(&token));
        assert_eq!((rest.status, rest.header("retry-after")), (503, Some("1")), "{}", rest.text());
        assert_eq!(rest.message()["code"], "overloaded");
        assert_eq!(gate.send(&Request::new("GET", "/healthz")).status, 200, "it is busy, not ill");
        home.write("go", "");
        for call in calls {
            assert_eq!(call.join().unwrap().verdict(), "ok");
        }
    });
    assert_eq!(gate.ask(&Message::list(Era::Late)).status, 200);
}

#[test]
fn calls_that_wait_for_a_person_hold_no_place_of_those_that_run() {
    let home = home();
    let gate = home.serve();
    let (alice, bob) = (home.mint("--user alice"), home.mint("--user bob"));
    thread::scope(|scope| {
        let (server, token) = (&gate, &alice);
        let calls = [0, 1, 2].map(|n| {
            let call = scope.spawn(move || server.send(&waiting(token, n)));
            pending(&home, n + 1);
            call
        });
        let ids = pending(&home, 3);
        assert_eq!(call(&gate, &bob, "rare").verdict(), "ok", "more wait than may run, and others are answered");
        let fourth = gate.send(&waiting(&alice, 3));
        assert_eq!(fourth.verdict(), "approval_required", "so many of one caller wait; one more is answered at once");
        assert_eq!(gate.send(&Request::new("GET", "/healthz")).status, 200);
        for id in &ids {
            assert_eq!(home.run(&["approvals", "approve", id]).code, Some(0));
        }
        // the tool runs one call at a time: a grant that found it busy is not used up
        for (n, call) in calls.into_iter().enumerate() {
            let answer = call.join().unwrap();
            if answer.verdict() == "overloaded" {
                assert_eq!(gate.send(&without_waiting(&alice, n)).verdict(), "ok");
            } else {
                assert_eq!(answer.verdict(), "ok");
            }
        }
    });
}

/// The same call without waiting.
fn without_waiting(token: &str, n: usize) -> Request {
    Message::call(Era::Late, "asked", json!({"n": n})).bearer(token).request()
}
