//! Setting up a team: with the command, and over HTTP by operators alone.

use serde_json::{Value, json};

use super::bed::{
    home::Home,
    http::{Answer, Request},
    message::{Era, Message},
    served::Served,
};

fn send(gate: &Served, method: &str, path: &str, token: Option<&str>, body: &Value) -> Answer {
    let request =
        Request { method: method.to_owned(), path: format!("/api/v1{path}"), ..Request::json(body.to_string()) };
    gate.send(&token.iter().fold(request, |request, token| request.bearer(token)))
}

fn code(answer: &Answer) -> (u16, String) {
    (answer.status, answer.message()["code"].as_str().unwrap_or_default().to_owned())
}

#[test]
fn an_operator_sets_up_a_team_over_http() {
    let home = Home::with("[packs.gate]\n[packs.team]\n");
    let gate = home.serve();
    let operator = home.mint("--user olga --operator");
    let ask = |method: &str, path: &str, body: Value| send(&gate, method, path, Some(&operator), &body);

    assert_eq!(ask("POST", "/projects", json!({"id": "p", "name": "Paint"})).status, 201);
    assert_eq!(code(&ask("POST", "/projects", json!({"id": "p"}))), (409, "taken".to_owned()));
    let boss = ask("POST", "/agents", json!({"id": "boss", "hierarchy": "manager", "capabilities": ["plan"]}));
    assert_eq!(boss.status, 201, "{}", boss.text());
    let passkey = boss.message()["passkey"].as_str().unwrap().to_owned();
    assert_eq!(boss.header("cache-control"), Some("no-store"));
    let ann = json!({"id": "ann", "parent": "boss", "passkey": "ann's own passkey", "owner": "ulf"});
    assert_eq!(ask("POST", "/agents", ann).status, 201);
    assert_eq!(code(&ask("POST", "/agents", json!({"id": "ann"}))), (409, "taken".to_owned()));
    assert_eq!(ask("PUT", "/agents/ann/projects/p", json!({})).status, 200);
    assert_eq!(ask("PUT", "/agents/boss/projects/p", json!({})).status, 200);

    let shown = ask("GET", "/agents/ann", json!({}));
    assert_eq!((&shown.message()["parent"], &shown.message()["projects"]), (&json!("boss"), &json!(["p"])));
    assert!(!shown.text().contains("passkey") && !shown.text().contains("argon2"), "{}", shown.text());
    assert_eq!(ask("GET", "/projects/p", json!({})).message()["agents"], json!(["ann", "boss"]));
    let first = ask("GET", "/agents?limit=1", json!({})).message();
    let next = format!("/agents?limit=1&after={}", first["next"].as_str().unwrap());
    let second = ask("GET", &next, json!({})).message();
    assert_ne!(first["agents"][0]["id"], second["agents"][0]["id"]);
    assert_eq!(second["next"], Value::Null);

    let changed =
        ask("PATCH", "/agents/ann", json!({"status": "suspended", "owner": null, "role": "painter"})).message();
    assert_eq!(
        (&changed["status"], &changed["owner"], &changed["role"]),
        (&json!("suspended"), &Value::Null, &json!("painter"))
    );
    let circle = ask("PATCH", "/agents/boss", json!({"parent": "ann"}));
    assert_eq!(code(&circle), (400, "bad_request".to_owned()));
    assert!(circle.text().contains("stands under it"), "{}", circle.text());
    assert_eq!(ask("PATCH", "/projects/p", json!({"status": "paused"})).message()["status"], "paused");

    let renewed = ask("POST", "/agents/boss/passkey", json!({})).message();
    assert_ne!(renewed["passkey"], passkey);
    let sign_in = |passkey: &str| {
        let arguments = json!({"agent_id": "boss", "passkey": passkey, "project_id": "p"});
        gate.ask(&Message::call(Era::Modern, "authenticate", arguments)).verdict()
    };
    assert_eq!(sign_in(&passkey), "invalid_credentials");
    assert_eq!(sign_in(renewed["passkey"].as_str().unwrap()), "no_purpose");
    assert_eq!(ask("DELETE", "/agents/ann/projects/p", json!({})).status, 200);
    assert_eq!(code(&ask("DELETE", "/agents/ann/projects/p", json!({}))), (404, "unknown".to_owned()));
}

#[test]
fn what_is_wrong_is_said() {
    let home = Home::with("[packs.team]\n");
    let gate = home.serve();
    let operator = home.mint("--user olga --operator");
    let ask = |method: &str, path: &str, body: Value| send(&gate, method, path, Some(&operator), &body);
    for (body, word) in [
        (json!({}), "needs an id"),
        (json!({"id": "a b"}), "letters"),
        (json!({"id": "coordinator"}), "coordinator's own"),
        (json!({"id": "a", "type": "robot"}), "human, ai"),
        (json!({"id": "a", "hierarchy": "king"}), "manager, worker"),
        (json!({"id": "a", "passkey": "short"}), "12 to 1024"),
        (json!({"id": "a", "parent": "nobody"}), "nobody"),
        (json!({"id": "a", "colour": "red"}), "colour"),
    ] {
        let answer = ask("POST", "/agents", body.clone());
        assert_eq!(code(&answer), (400, "bad_request".to_owned()), "{body}");
        assert!(answer.text().contains(word), "{body}: {}", answer.text());
    }
    for (method, path) in [
        ("GET", "/agents/x"),
        ("PATCH", "/agents/x"),
        ("POST", "/agents/x/passkey"),
        ("GET", "/projects/x"),
        ("PATCH", "/projects/x"),
        ("PUT", "/agents/x/projects/y"),
        ("GET", "/agents/x/y"),
        ("GET", "/agents/"),
    ] {
        assert_eq!(code(&ask(method, path, json!({}))), (404, "unknown".to_owned()), "{method} {path}");
    }
    let wrong = ask("DELETE", "/agents", json!({}));
    assert_eq!((wrong.status, wrong.header("allow")), (405, Some("GET, POST")));
    assert_eq!(ask("GET", "/agents?limit=0", json!({})).status, 400);
    assert_eq!(ask("GET", "/agents?colour=red", json!({})).status, 400);
}

#[test]
fn nobody_but_an_operator_learns_or_changes_anything() {
    let home = Home::with("[packs.team]\n");
    assert_eq!(home.run(&["project", "add", "p"]).code, Some(0));
    assert_eq!(home.run(&["agent", "add", "ann", "--project", "p"]).code, Some(0));
    let gate = home.serve();
    let tokens = [
        None,
        Some("nonsense".to_owned()),
        Some(home.mint("--user ulf --tenant t --role owner --scope approve")),
        Some(home.mint("--agent ann --kind manager --project p --purpose task")),
        Some(home.mint("--agent c --kind coordinator")),
    ];
    for token in tokens {
        for (method, path) in [
            ("GET", "/agents"),
            ("POST", "/agents"),
            ("GET", "/agents/ann"),
            ("GET", "/agents/nobody"),
            ("PATCH", "/agents/ann"),
            ("POST", "/agents/ann/passkey"),
            ("PUT", "/agents/ann/projects/p"),
            ("DELETE", "/agents/ann/projects/p"),
            ("GET", "/projects"),
            ("POST", "/projects"),
            ("GET", "/projects/p"),
            ("PATCH", "/projects/p"),
        ] {
            let answer = send(&gate, method, path, token.as_deref(), &json!({"id": "x", "name": "x"}));
            let expected = match &token {
                Some(token) if token != "nonsense" => (403, "operators_only"),
                _ => (401, "not_signed_in"),
            };
            assert_eq!(code(&answer), (expected.0, expected.1.to_owned()), "{method} {path}");
            assert!(!answer.text().contains("ann"), "{}", answer.text());
        }
    }
    assert_eq!(home.json(&["agent", "list"]).as_array().unwrap().len(), 1);
    assert_eq!(home.json(&["agent", "show", "ann"])["name"], "ann");
}

#[test]
fn a_team_is_set_up_with_the_command() {
    let home = Home::bare();
    assert_eq!(home.run(&["agent", "list"]).code, Some(2), "there is no store to look into yet");
    home.json(&["project", "add", "p", "--name", "Paint"]);
    let boss = home.json(&["agent", "add", "boss", "--hierarchy", "manager", "--project", "p"]);
    assert!(boss["passkey"].as_str().unwrap().starts_with("pk_"), "{boss}");
    let said = home.run(&["agent", "add", "ann", "--parent", "boss", "--capability", "paint"]);
    assert!(said.out.contains("ann is added\npasskey: pk_"), "{said:?}");
    assert_eq!(home.json(&["agent", "show", "boss"])["projects"], json!(["p"]));
    assert!(!home.run(&["agent", "show", "boss"]).out.contains("pk_"), "shown once");
    assert_eq!(home.json(&["agent", "assign", "ann", "p"])["assigned"], true);
    assert_eq!(home.json(&["project", "show", "p"])["agents"], json!(["ann", "boss"]));
    let changed = home.json(&["agent", "set", "ann", "--status", "inactive", "--parent", "", "--model", "m-1"]);
    assert_eq!(
        (&changed["status"], &changed["parent"], &changed["model_id"]),
        (&json!("inactive"), &Value::Null, &json!("m-1"))
    );
    assert_eq!(home.json(&["project", "set", "p", "--status", "paused"])["status"], "paused");
    assert_eq!(home.json(&["agent", "unassign", "ann", "p"])["unassigned"], true);
    assert_eq!(home.run(&["agent", "unassign", "ann", "p"]).code, Some(1));
    assert_eq!(home.run(&["agent", "show", "nobody"]).code, Some(1));
    assert_eq!(home.run(&["project", "show", "nowhere"]).code, Some(1));
    assert_eq!(home.run(&["agent", "passkey", "nobody"]).code, Some(1));
    let listed = home.run(&["agent", "list"]).out;
    let rows: Vec<Vec<&str>> = listed.lines().map(|line| line.split_whitespace().collect()).collect();
    let header = ["ID", "HIERARCHY", "TYPE", "STATUS", "NAME"];
    assert_eq!(rows, [header, ["ann", "worker", "ai", "inactive", "ann"], ["boss", "manager", "ai", "active", "boss"]]);
    for (arguments, word) in [
        (&["agent", "add", "boss"][..], "already"),
        (&["agent", "add", "a b"], "letters"),
        (&["agent", "add", "x", "--project", "nowhere"], "no project 'nowhere'"),
        (&["agent", "set", "boss"], "nothing is to be changed"),
        (&["agent", "set", "boss", "--parent", "boss"], "can't stand under"),
        (&["agent", "assign", "boss", "nowhere"], "no project 'nowhere'"),
        (&["agent", "add", "y", "--passkey-file", "nothing"], "nothing"),
    ] {
        let ran = home.run(arguments);
        assert_eq!(ran.code, Some(2), "{arguments:?}: {ran:?}");
        assert!(ran.err.contains(word), "{arguments:?}: {ran:?}");
    }
    assert_eq!(home.run(&["agent", "show", "x"]).code, Some(1), "half an agent is none");
    home.write("short", "short\n");
    let short = home.run(&["agent", "passkey", "boss", "--passkey-file", "short"]);
    assert!(short.code == Some(2) && short.err.contains("12 to 1024") && !short.err.contains("short\n"), "{short:?}");
}
