//! Two servers on one PostgreSQL are one gate: tokens, sessions, keys, tasks and data are everybody's.

use serde_json::json;

use super::bed::{
    database::Database,
    home::Home,
    http::Request,
    message::{ERAS, Era, Message},
    served::Served,
    wait::until,
};

/// Two homes with nothing in common but the database.
struct Replicas {
    first: Served,
    second: Served,
    home: Home,
    other: Home,
    _database: Database,
}

fn replicas() -> Replicas {
    let database = Database::create();
    let home = Home::with("[packs.gate]\n[packs.todo]\n").on(&database.url());
    let other = Home::with("[packs.gate]\n[packs.todo]\n").on(&database.url());
    Replicas { first: home.serve(), second: other.serve(), home, other, _database: database }
}

#[test]
fn a_token_minted_anywhere_counts_everywhere_and_tasks_are_shared() {
    let pair = replicas();
    for home in [&pair.home, &pair.other] {
        assert!(!home.path(".toolgate/signing.key").exists(), "the key is in the database, not on a machine");
    }
    for (number, minter) in [&pair.home, &pair.other].into_iter().enumerate() {
        let user = format!("user{number}");
        let token = minter.mint(&format!("--user {user}"));
        for (era, gate) in ERAS.into_iter().zip([&pair.first, &pair.second, &pair.first]) {
            let added = gate.ask(&Message::call(era, "add_task", json!({"title": era.version()})).bearer(&token));
            assert_eq!(added.verdict(), "ok");
        }
        for gate in [&pair.first, &pair.second] {
            let listed = gate.ask(&Message::call(Era::Late, "list_tasks", json!({})).bearer(&token)).result();
            let tasks = listed["structuredContent"]["tasks"].as_array().unwrap().clone();
            let titles: Vec<_> = tasks.iter().map(|task| task["title"].as_str().unwrap()).collect();
            assert_eq!(titles, ["2025-06-18", "2025-11-25", "2026-07-28"], "newest first, on both");
        }
    }
}

#[test]
fn a_session_opened_on_one_is_served_and_ended_by_the_other() {
    let pair = replicas();
    let (alice, bob) = (pair.home.mint("--user alice"), pair.home.mint("--user bob"));
    let session = pair.first.ask(&Message::initialize(Era::Late).bearer(&alice));
    let session = session.header("mcp-session-id").unwrap();
    let list = |gate: &Served, token: &str| {
        gate.ask(&Message::list(Era::Late).bearer(token).header("Mcp-Session-Id", session)).status
    };
    assert_eq!((list(&pair.first, &alice), list(&pair.second, &alice)), (200, 200));
    assert_eq!((list(&pair.first, &bob), list(&pair.second, &bob)), (404, 404), "bound to its caller on both");
    let end = Request::new("DELETE", "/mcp").bearer(&alice).header("Mcp-Session-Id", session);
    assert_eq!(pair.second.send(&end).status, 204);
    assert_eq!(list(&pair.second, &alice), 404);
    until("the other replica refuses the ended session", || (list(&pair.first, &alice) == 404).then_some(()));
}

#[test]
fn a_session_that_a_user_signed_in_to_is_that_users_on_both() {
    let pair = replicas();
    let (alice, bob) = (pair.home.mint("--user alice"), pair.home.mint("--user bob"));
    let session = pair.first.ask(&Message::initialize(Era::Late));
    let session = session.header("mcp-session-id").unwrap();
    let list = |gate: &Served, token: &str| {
        gate.ask(&Message::list(Era::Late).bearer(token).header("Mcp-Session-Id", session)).status
    };
    assert_eq!(list(&pair.first, &alice), 200);
    // whoever asks first on the other replica: the database knows whose it is
    assert_eq!(list(&pair.second, &bob), 404);
    assert_eq!(list(&pair.second, &alice), 200);
}

#[test]
fn a_revoked_key_and_a_finished_task_are_over_on_both() {
    let pair = replicas();
    let key = pair.home.json(&["key", "create", "--user", "alice"]);
    let (id, key) = (key["id"].as_str().unwrap(), key["key"].as_str().unwrap());
    let task = pair.other.json(&["task", "start", "--owner", "alice"]);
    let (task_id, task_key) = (task["task_id"].as_str().unwrap(), task["task_key"].as_str().unwrap());
    let kind = |gate: &Served, ask: Message| {
        let context = gate.ask(&ask).result()["structuredContent"]["context"].clone();
        context["caller_type"].as_str().unwrap().to_owned()
    };
    let help = Message::call(Era::Modern, "help", json!({}));
    let kinds = |gate: &Served| {
        let by_task = help.clone().header("X-Toolgate-Task-ID", task_key);
        [kind(gate, help.clone().bearer(key)), kind(gate, by_task)]
    };
    for gate in [&pair.first, &pair.second] {
        assert_eq!(kinds(gate), ["user", "task"]);
    }
    assert_eq!(pair.other.json(&["key", "revoke", id])["revoked"], true);
    assert_eq!(pair.home.json(&["task", "finish", task_id])["finished"], true);
    for gate in [&pair.first, &pair.second] {
        assert_eq!(kinds(gate), ["unauthenticated"; 2], "at once, not some time later");
    }
}

#[test]
fn many_that_start_at_once_agree_on_one_key() {
    let database = Database::create();
    let homes: Vec<Home> = (0..4).map(|_| Home::with("[packs.todo]\n").on(&database.url())).collect();
    let tokens: Vec<String> = std::thread::scope(|scope| {
        let minting: Vec<_> = homes.iter().map(|home| scope.spawn(|| home.mint("--user alice"))).collect();
        minting.into_iter().map(|minting| minting.join().unwrap()).collect()
    });
    let gate = homes[0].serve();
    for token in tokens {
        assert_eq!(gate.ask(&Message::call(Era::Late, "list_tasks", json!({})).bearer(&token)).verdict(), "ok");
    }
}

#[test]
fn a_database_that_is_lost_makes_it_unready_and_lets_nobody_through_by_guesswork() {
    let database = Database::create();
    let home = Home::with("[packs.gate]\n[packs.todo]\n").on(&database.url());
    let gate = home.serve();
    let key = home.json(&["key", "create", "--user", "alice"])["key"].as_str().unwrap().to_owned();
    let token = home.mint("--user alice");
    let add = Message::call(Era::Modern, "add_task", json!({"title": "x"}));
    assert_eq!(gate.ask(&add.clone().bearer(&key)).verdict(), "ok");
    assert_eq!(gate.send(&Request::new("GET", "/readyz")).status, 200);
    drop(database);
    until("it is not ready", || (gate.send(&Request::new("GET", "/readyz")).status == 503).then_some(()));
    assert_eq!(gate.send(&Request::new("GET", "/healthz")).status, 200, "it is alive all the same");
    let by_key = gate.ask(&add.clone().bearer(&key));
    assert_eq!((by_key.status, by_key.verdict()), (503, "-32603".to_owned()), "whose key it is can't be known");
    let by_token = gate.ask(&add.bearer(&token));
    assert_eq!((by_token.status, by_token.verdict()), (503, "-32603".to_owned()), "nothing runs that is not on record");
    assert!(!by_token.text().contains("toolgate_command"), "{}", by_token.text());
}

#[test]
fn a_server_that_is_not_there_is_said_without_the_password() {
    let home = Home::with("[packs.todo]\n").on("postgres://gate:canary-password@127.0.0.1:1/none");
    for command in [&["serve", "--listen", "127.0.0.1:0"][..], &["token", "mint", "--user", "a"], &["key", "list"]] {
        let ran = home.run(command);
        assert_eq!(ran.code, Some(2), "{ran:?}");
        assert!(ran.err.contains("database"), "{}", ran.err);
        assert!(!format!("{ran:?}").contains("canary-password"), "{ran:?}");
    }
    let doctor = home.run(&["doctor", "--json"]);
    assert_eq!(doctor.code, Some(1));
    assert!(!doctor.out.contains("canary-password"), "{}", doctor.out);
}
