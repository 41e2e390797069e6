//! Where a credential may stand, which one counts, and when it stops counting.

use std::process::Command;

use serde_json::{Value, json};

use super::bed::{
    home::Home,
    http::Request,
    message::{ERAS, Era, Message},
    served::Served,
    wait::until,
};

/// What an operator keeps in a file.
const COORDINATOR: &str = "a-secret-of-the-operator-of-some-length";
const NOBODY: &str = "authentication_required";

/// Whose list it is: each user's holds one task, named after them.
fn whose(gate: &Served, ask: impl Fn(Message) -> Message) -> String {
    let answer = gate.ask(&ask(Message::call(Era::Modern, "list_tasks", json!({}))));
    match answer.verdict().as_str() {
        "ok" => answer.result()["structuredContent"]["tasks"][0]["title"].as_str().unwrap_or("no task").to_owned(),
        other => other.to_owned(),
    }
}

/// The kind of caller, as `help` tells it.
fn kind(gate: &Served, arguments: Value, ask: impl Fn(Message) -> Message) -> String {
    let answer = gate.ask(&ask(Message::call(Era::Late, "help", arguments)));
    answer.result()["structuredContent"]["context"]["caller_type"].as_str().unwrap().to_owned()
}

fn users(home: &Home, gate: &Served) -> [String; 3] {
    ["alice", "bob", "carol"].map(|user| {
        let token = home.mint(&format!("--user {user}"));
        let added = gate.ask(&Message::call(Era::Late, "add_task", json!({"title": user})).bearer(&token));
        assert_eq!(added.verdict(), "ok");
        token
    })
}

#[test]
fn the_header_comes_before_meta_and_meta_before_params() {
    let home = Home::bare();
    let gate = home.serve();
    let [alice, bob, carol] = users(&home, &gate);
    let params = |ask: Message| ask.param("token", json!(carol));
    let meta = |ask: Message| params(ask).meta("toolgate/token", json!(bob));
    assert_eq!(whose(&gate, |ask| ask), NOBODY);
    assert_eq!(whose(&gate, params), "carol");
    assert_eq!(whose(&gate, meta), "bob");
    assert_eq!(whose(&gate, |ask| meta(ask).bearer(&alice)), "alice");
}

#[test]
fn where_the_first_is_invalid_the_caller_is_nobody() {
    let home = Home::bare();
    let gate = home.serve();
    let [_, bob, _] = users(&home, &gate);
    assert_eq!(whose(&gate, |ask| ask.meta("toolgate/token", json!(bob)).bearer("nonsense")), NOBODY);
    assert_eq!(whose(&gate, |ask| ask.param("token", json!(bob)).meta("toolgate/token", json!("nonsense"))), NOBODY);
    assert_eq!(whose(&gate, |ask| ask.meta("toolgate/token", json!(bob)).param("token", json!("nonsense"))), "bob");
}

#[test]
fn another_scheme_is_no_credential_and_two_headers_are_refused() {
    let home = Home::bare();
    let gate = home.serve();
    let [alice, bob, _] = users(&home, &gate);
    let basic = |ask: Message| ask.header("Authorization", "Basic YTpi").meta("toolgate/token", json!(bob));
    assert_eq!(whose(&gate, basic), "bob");
    let two = gate.ask(&Message::list(Era::Late).bearer(&alice).bearer(&bob));
    assert_eq!((two.status, two.verdict()), (400, "-32600".to_owned()));
}

#[test]
fn a_token_in_the_address_is_refused() {
    let home = Home::bare();
    let gate = home.serve();
    let token = home.mint("--user alice");
    for name in ["token", "access_token", "Access_Token"] {
        let mut request = Message::list(Era::Late).request();
        request.path = format!("/mcp?{name}={token}");
        let answer = gate.send(&request);
        assert_eq!((answer.status, answer.verdict()), (400, "-32600".to_owned()));
        assert!(answer.words().contains("Authorization: Bearer"), "{}", answer.words());
    }
}

#[test]
fn agents_show_themselves_by_token_or_argument() {
    let home = Home::with("[packs.gate]\n[packs.todo]\n[identity]\ncoordinator_token_file = \"coordinator\"\n");
    home.write_secret("coordinator", &format!("{COORDINATOR}\n"));
    let gate = home.serve();
    let worker = home.mint("--agent w --kind worker --project p --purpose task");
    assert_eq!(kind(&gate, json!({}), |ask| ask), "unauthenticated");
    assert_eq!(kind(&gate, json!({}), |ask| ask.bearer(&worker)), "worker");
    assert_eq!(kind(&gate, json!({"session_token": worker}), |ask| ask), "worker");
    assert_eq!(kind(&gate, json!({"coordinator_token": COORDINATOR}), |ask| ask), "coordinator");
    for wrong in ["", "a-secret", "a-secret-of-the-operator-of-some-length\n"] {
        assert_eq!(kind(&gate, json!({"coordinator_token": wrong}), |ask| ask), "unauthenticated", "{wrong:?}");
    }
    // it counts in every place, so that a list and help agree
    assert_eq!(kind(&gate, json!({}), |ask| ask.bearer(COORDINATOR)), "coordinator");
}

#[test]
fn a_coordinator_secret_that_can_be_guessed_or_read_is_refused() {
    let home = Home::with("[packs.gate]\n[identity]\ncoordinator_token_file = \"coordinator\"\n");
    for weak in ["\n", "ab", "thirty-one characters are short"] {
        home.write_secret("coordinator", weak);
        for (command, code) in [(&["check"][..], 1), (&["serve", "--listen", "127.0.0.1:0"], 2)] {
            let ran = home.run(command);
            let said = format!("{}{}", ran.out, ran.err);
            assert_eq!(ran.code, Some(code), "{weak:?} {ran:?}");
            assert!(said.contains("at least 32") && said.contains("openssl rand -hex 32"), "{ran:?}");
        }
    }
    home.write("coordinator", COORDINATOR);
    let ran = home.run(&["check"]);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(ran.out.contains("chmod 600"), "{ran:?}");
}

/// This moment, as an option takes it.
fn when_now() -> String {
    let date = Command::new("date").args(["-u", "+%Y-%m-%dT%H:%M:%S.%3NZ"]).output().unwrap();
    String::from_utf8(date.stdout).unwrap().trim().to_owned()
}

#[test]
fn a_revoked_token_is_nobody_on_the_next_request_and_is_told_so() {
    let home = Home::bare();
    let gate = home.serve();
    let add = |token: &str| gate.ask(&Message::call(Era::Modern, "add_task", json!({"title": "x"})).bearer(token));
    let made = home.json(&["token", "mint", "--user", "alice"]);
    let (id, token) = (made["id"].as_str().unwrap(), made["token"].as_str().unwrap());
    let (again, bob) = (home.mint("--user alice"), home.mint("--user bob"));
    for token in [token, &again, &bob] {
        assert_eq!(add(token).verdict(), "ok");
    }
    home.json(&["token", "revoke", id]);
    let refused = add(token);
    assert_eq!(refused.verdict(), NOBODY);
    assert!(refused.text().contains("not accepted: it was revoked."), "{}", refused.text());
    assert_eq!((add(&again).verdict(), add(&bob).verdict()), ("ok".to_owned(), "ok".to_owned()));
    home.json(&["token", "revoke", "--subject", "user:alice"]);
    assert_eq!((add(&again).verdict(), add(&bob).verdict()), (NOBODY.to_owned(), "ok".to_owned()));
    assert_eq!(add(&home.mint("--user alice")).verdict(), "ok", "one that is made afterwards");
    let revoked = home.json(&["token", "revoked"]);
    assert_eq!((&revoked[0]["name"], &revoked[1]["name"]), (&json!(id), &json!("user:alice")));
    // the token itself is as good as its id
    let last = home.mint("--user alice");
    home.json(&["token", "revoke", &last]);
    assert_eq!(add(&last).verdict(), NOBODY);
    let now = when_now();
    home.json(&["token", "revoke", "--all-before", &now]);
    assert_eq!(add(&bob).verdict(), NOBODY);
    assert_eq!(add(&home.mint("--user bob")).verdict(), "ok", "one that is made afterwards");
    let mistyped = home.run(&["token", "revoke", "no-such-id"]);
    assert!(mistyped.out.contains("is not checked"), "{mistyped:?}");
    for wrong in [
        &["token", "revoke"][..],
        &["token", "revoke", "--subject", "alice"],
        &["token", "revoke", "--all-before", "9999-01-01T00:00:00Z"],
        &["token", "revoke", "a.b.c"],
        &["token", "mint", "--user", "u", "--ttl", "91d"],
        &["token", "mint", "--user", "u", "--operator", "--ttl", "8d"],
    ] {
        assert_eq!(home.run(wrong).code, Some(2), "{wrong:?}");
    }
}

#[test]
fn a_minted_agent_token_ends_with_the_agents_work() {
    let home = Home::with("[packs.team]\n");
    for arguments in ["project add p", "agent add ann --project p"] {
        assert_eq!(home.run(&arguments.split(' ').collect::<Vec<_>>()).code, Some(0));
    }
    let gate = home.serve();
    let token = home.mint("--agent ann --kind worker --project p --purpose chat");
    let profile = || gate.ask(&Message::call(Era::Modern, "get_my_profile", json!({})).bearer(&token));
    assert_eq!(profile().verdict(), "ok");
    for (end, again) in [
        ("agent set ann --status suspended", "agent set ann --status active"),
        ("agent unassign ann p", "agent assign ann p"),
        ("project set p --status archived", "project set p --status active"),
    ] {
        assert_eq!(home.run(&end.split(' ').collect::<Vec<_>>()).code, Some(0), "{end}");
        let refused = profile();
        assert_eq!(refused.verdict(), NOBODY, "{end}");
        assert!(refused.text().contains("not accepted: it was revoked."), "{}", refused.text());
        assert_eq!(home.run(&again.split(' ').collect::<Vec<_>>()).code, Some(0), "{again}");
        assert_eq!(profile().verdict(), "ok", "{again}");
    }
}

#[test]
fn failed_attempts_are_counted_by_the_client_that_a_trusted_proxy_names() {
    let home = Home::with("[packs.todo]\n[server]\ntrusted_proxies = [\"127.0.0.0/8\"]\n");
    let gate = home.serve();
    let keys: Vec<String> =
        (0..4).map(|_| home.json(&["key", "create", "--user", "alice"])["key"].as_str().unwrap().to_owned()).collect();
    let add = |token: &str, client: &str| {
        let message = Message::call(Era::Modern, "add_task", json!({"title": "x"})).bearer(token);
        gate.send(&message.request().header("X-Forwarded-For", client))
    };
    for _ in 0..40 {
        assert_eq!(add("tgk_guess", "203.0.113.9").verdict(), NOBODY);
    }
    // one attempt is forgotten every two seconds, and a guess takes its place: several keys, in case it was just then
    let is_throttled = |client: &str, keys: &[String]| {
        keys.iter().any(|key| {
            add("tgk_guess", "203.0.113.9");
            add(key, client).text().contains("too many attempts failed")
        })
    };
    assert!(is_throttled("203.0.113.9", &keys[..2]));
    assert!(is_throttled("198.51.100.1, 203.0.113.9", &keys[2..]), "nobody chooses the address to be counted by");
    assert_eq!(add(&keys[0], "198.51.100.1").verdict(), "ok", "failures cost their own client alone");
    assert_eq!(add(&keys[0], "1.1.1.1, 203.0.113.9").verdict(), "ok", "a known caller is not locked out");
}

#[test]
fn a_task_key_counts_in_the_place_of_a_token() {
    let home = Home::bare();
    let gate = home.serve();
    let task = home.json(&["task", "start", "--owner", "alice"]);
    let key = task["task_key"].as_str().unwrap();
    assert_eq!(kind(&gate, json!({}), |ask| ask.bearer(key)), "task");
    assert_eq!(kind(&gate, json!({}), |ask| ask.bearer("tk_0123456789012345678901")), "unauthenticated");
}

#[test]
fn a_revoked_key_is_nobody_on_the_next_request() {
    let home = Home::bare();
    let gate = home.serve();
    let made = home.json(&["key", "create", "--user", "alice", "--name", "laptop"]);
    let (id, key) = (made["id"].as_str().unwrap(), made["key"].as_str().unwrap());
    let add = |era| gate.ask(&Message::call(era, "add_task", json!({"title": "x"})).bearer(key)).verdict();
    for era in ERAS {
        assert_eq!(add(era), "ok");
    }
    assert_eq!(home.json(&["key", "revoke", id])["revoked"], true);
    for era in ERAS {
        assert_eq!(add(era), NOBODY);
    }
}

#[test]
fn a_key_ends_with_its_time() {
    let home = Home::bare();
    let gate = home.serve();
    let made = home.json(&["key", "create", "--user", "alice", "--ttl", "1s"]);
    let key = made["key"].as_str().unwrap();
    until("the key has run out", || (whose(&gate, |ask| ask.bearer(key)) == NOBODY).then_some(()));
    let state = &home.json(&["key", "list"])[0]["state"];
    assert_eq!(state, "expired");
}

#[test]
fn a_token_ends_with_its_time() {
    let home = Home::bare();
    let gate = home.serve();
    let token = home.mint("--user alice --ttl 1s");
    until("the token has run out", || (whose(&gate, |ask| ask.bearer(&token)) == NOBODY).then_some(()));
}

#[test]
fn a_token_of_another_gate_is_nobody_here() {
    let (home, other) = (Home::bare(), Home::bare());
    let gate = home.serve();
    let token = other.mint("--user alice");
    assert_eq!(whose(&gate, |ask| ask.bearer(&token)), NOBODY);
    let elsewhere = Home::with("[packs.todo]\n[identity]\naudience = \"elsewhere\"\n");
    elsewhere.write(".toolgate/signing.key", "");
    std::fs::copy(home.path(".toolgate/signing.key"), elsewhere.path(".toolgate/signing.key")).unwrap();
    let token = elsewhere.mint("--user alice");
    assert_eq!(whose(&gate, |ask| ask.bearer(&token)), NOBODY, "the same key, another audience");
}

#[test]
fn a_browser_is_a_client_wherever_its_token_comes_from() {
    let home = Home::with("[packs.todo]\n[tools.add_task]\nruntimes = [\"server\"]\n");
    let gate = home.serve();
    let add = Message::call(Era::Modern, "add_task", json!({"title": "x"})).bearer(&home.mint("--user alice"));
    assert_eq!(gate.ask(&add).verdict(), "ok");
    let browser = gate.ask(&add.clone().header("Origin", "http://localhost:3000"));
    assert_eq!(browser.verdict(), "runtime_not_allowed");
    assert_eq!(browser.words(), "Tool 'add_task' is not allowed in runtime 'client'.");
    let client = home.mint("--user alice --runtime client");
    let said = gate.ask(&Message::call(Era::Modern, "add_task", json!({"title": "x"})).bearer(&client));
    assert_eq!(said.verdict(), "runtime_not_allowed");
}

#[test]
fn metrics_go_by_the_same_credentials() {
    let home = Home::bare();
    let gate = home.serve();
    let metrics = |token: &str| gate.send(&Request::new("GET", "/metrics").bearer(token)).status;
    assert_eq!(metrics(&home.mint("--user ops --operator")), 200);
    assert_eq!(metrics(&home.mint("--user alice --tenant t --role owner")), 403);
    assert_eq!(metrics("nonsense"), 401);
    let key = home.json(&["key", "create", "--user", "ops", "--operator"]);
    assert_eq!(metrics(key["key"].as_str().unwrap()), 200);
    home.json(&["key", "revoke", key["id"].as_str().unwrap()]);
    assert_eq!(metrics(key["key"].as_str().unwrap()), 401);
}

#[test]
fn an_api_key_is_not_revoked_as_a_token() {
    let home = Home::bare();
    let made = home.run(&["key", "create", "--user", "ann"]);
    let key = made.out.split_whitespace().find(|word| word.starts_with("tgk_")).expect("a key is printed").to_owned();
    let id = format!("key_{}", key.split('_').nth(1).unwrap());
    for text in [&key, &id] {
        let ran = home.run(&["token", "revoke", text]);
        assert_eq!(ran.code, Some(2), "{ran:?}");
        assert!(ran.err.contains(&format!("toolgate key revoke {id}")), "{ran:?}");
        assert!(!ran.err.contains(&key), "the secret is not repeated: {ran:?}");
    }
    assert_eq!(home.run(&["key", "revoke", &id]).code, Some(0));
}
