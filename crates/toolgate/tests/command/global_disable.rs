//! A tool that was disabled for everybody is disabled for everybody, whoever they are and however they say so, from the
//! moment the change is acknowledged.

use serde_json::json;

use super::bed::{
    database::Database,
    home::Home,
    http::Request,
    message::{Era, Message},
    served::Served,
};

const CONFIG: &str = "[packs.admin]\n[packs.fitness]\n[packs.gate]\n";
const TOOL: &str = "get_configuration_profiles";

/// Callers of each kind: nobody, a task by its key, a user by header and by argument.
fn callers(home: &Home) -> Vec<(&'static str, Message)> {
    let call = Message::call(Era::Modern, TOOL, json!({}));
    let task = home.json(&["task", "start", "--owner", "ann"]);
    vec![
        ("nobody", call.clone()),
        ("a task", call.clone().header("X-Toolgate-Task-ID", task["task_key"].as_str().unwrap())),
        ("a user", call.bearer(&home.mint("--user ann"))),
        // some clients can send a credential as an argument only
        ("a user by argument", Message::call(Era::Modern, TOOL, json!({"session_token": home.mint("--user ann")}))),
    ]
}

fn switch(gate: &Served, operator: &str, method: &str) {
    let path = format!("/api/v1/admin/tools/global-disabled/{TOOL}");
    let request = Request { method: method.to_owned(), path, ..Request::json("{}".to_owned()) };
    let answer = gate.send(&request.bearer(operator));
    assert_eq!(answer.status, 200, "{}", answer.text());
}

fn listed(gate: &Served, call: &Message) -> bool {
    let list = Message { headers: call.headers.clone(), ..Message::list(Era::Modern) };
    gate.ask(&list).tools().contains(&TOOL.to_owned())
}

#[test]
fn sqlite_binds_every_caller_with_the_very_next_call() {
    let home = Home::with(CONFIG);
    let gate = home.serve();
    let operator = home.mint("--user olga --operator");
    let callers = callers(&home);
    for round in 0..10 {
        for (who, call) in &callers {
            switch(&gate, &operator, "PUT");
            assert_eq!(gate.ask(call).verdict(), "globally_disabled", "{who}, round {round}");
            switch(&gate, &operator, "DELETE");
            assert_eq!(gate.ask(call).verdict(), "ok", "{who}, round {round}");
            switch(&gate, &operator, "PUT");
            assert!(!listed(&gate, call), "{who}, round {round}");
            switch(&gate, &operator, "DELETE");
            assert!(listed(&gate, call), "{who}, round {round}");
        }
    }
}

#[test]
fn sqlite_a_command_binds_every_caller_of_a_running_server() {
    let home = Home::with(CONFIG);
    let gate = home.serve();
    for (who, call) in callers(&home) {
        assert_eq!(gate.ask(&call).verdict(), "ok", "{who}");
        home.json(&["catalog", "disable", TOOL]);
        assert_eq!(gate.ask(&call).verdict(), "globally_disabled", "{who}");
        home.json(&["catalog", "enable", TOOL]);
        assert_eq!(gate.ask(&call).verdict(), "ok", "{who}");
    }
}

/// The lease of a replica that stands still runs out; once it goes on, it asks before it decides anything.
#[test]
fn postgres_binds_callers_of_a_replica_that_stood_still() {
    let database = Database::create();
    let (home, other) = (Home::with(CONFIG).on(&database.url()), Home::with(CONFIG).on(&database.url()));
    let (first, second) = (home.serve(), other.serve());
    let operator = home.mint("--user olga --operator");
    for (who, call) in callers(&home) {
        assert_eq!(second.ask(&call).verdict(), "ok", "{who}");
        second.signal("STOP");
        switch(&first, &operator, "PUT");
        let (verdict, shown) = std::thread::scope(|scope| {
            let asked = scope.spawn(|| second.ask(&call).verdict());
            let shown = scope.spawn(|| listed(&second, &call));
            // sent while it stands still, so that both are the first it reads
            std::thread::sleep(std::time::Duration::from_millis(100));
            second.signal("CONT");
            (asked.join().unwrap(), shown.join().unwrap())
        });
        assert_eq!((verdict.as_str(), shown), ("globally_disabled", false), "{who}");
        switch(&first, &operator, "DELETE");
        assert_eq!(second.ask(&call).verdict(), "ok", "{who}");
    }
}
