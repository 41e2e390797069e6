//! A process from its file to its end, by the command and over HTTP, on either database.

use serde_json::{Value, json};

use super::bed::{
    database::Database,
    home::Home,
    http::{Answer, Request},
    message::{Era, Message},
    served::Served,
};

const CONFIG: &str = "[packs.process]\n[packs.workspace]\n";
const YAML: &str = "
name: feature
description: two steps
orchestrator:
  pre_step: Look before the step.
tasks:
  repair:
    prompt: Mend it.
steps:
  - task: analyse
    prompt: Read it.
    tools: [grep]
  - task: implement
    skip_orchestrator: true
";

fn home() -> Home {
    let home = Home::with(CONFIG);
    home.write("process.yaml", YAML);
    home
}

fn start(home: &Home) -> String {
    home.json(&["process", "start", "process.yaml", "--owner", "ann"])["process_id"].as_str().unwrap().to_owned()
}

fn text<'v>(value: &'v Value, name: &str) -> &'v str {
    value[name].as_str().unwrap_or_else(|| panic!("{name}: {value}"))
}

fn drive(home: &Home) {
    let id = start(home);
    let next = home.json(&["process", "next", &id]);
    assert_eq!(next, json!({"standing": "ready", "phase": "pre_step", "step_index": 0, "step": "analyse"}));
    let begun = home.json(&["task", "start", "--process", &id, "--session", "s1"]);
    assert_eq!(
        (text(&begun, "phase"), text(&begun, "name"), text(&begun, "prompt")),
        ("pre_step", "orchestrator-pre", "Look before the step.")
    );
    assert!(text(&begun, "task_key").starts_with("tk_"));

    let busy = home.run(&["task", "start", "--process", &id]);
    assert_eq!(busy.code, Some(1), "{busy:?}");
    assert!(busy.out.contains("waits for task") && busy.out.contains("pre_step"), "{busy:?}");
    assert_eq!(home.run(&["process", "next", &id]).code, Some(1), "nothing can start now");
    assert_eq!(
        home.run(&["task", "start", "--process", &id, "--orchestrator"]).code,
        Some(2),
        "the process says who orchestrates"
    );

    let ended = home.json(&["task", "finish", text(&begun, "task_id")]);
    assert_eq!((&ended["effect"], &ended["next"]["phase"]), (&json!("proceed"), &json!("step")));
    let step = home.json(&["task", "start", "--process", &id]);
    assert_eq!((text(&step, "name"), &step["tools"], &step["step_index"]), ("analyse", &json!(["grep"]), &json!(0)));
    let task = text(&step, "task_id");
    assert_eq!(home.json(&["task", "commit", task, "0123456789abcdef"])["hash"], "0123456789abcdef");
    let wrong = home.run(&["task", "commit", task, "--", "--all"]);
    assert_eq!(wrong.code, Some(2), "{wrong:?}");
    assert_eq!(home.run(&["task", "commit", "task_none", "0123456789abcdef"]).code, Some(1));
    home.json(&[
        "task",
        "finish",
        task,
        "--exit-code",
        "0",
        "--duration-ms",
        "5",
        "--cost",
        "0.25",
        "--input-tokens",
        "3",
        "--commit",
        "fedcba9876543210",
    ]);
    let shown = home.json(&["task", "show", task]);
    assert_eq!(
        (&shown["success"], &shown["cost"], &shown["phase"], &shown["duration_ms"]),
        (&json!(true), &json!(0.25), &json!("step"), &json!(5))
    );
    assert_eq!(
        (&shown["owner"], &shown["live"], &shown["prompt_hash"].as_str().map(str::len)),
        (&json!("ann"), &json!(false), &Some(16))
    );

    for (phase, exit) in [("post_step", "0"), ("step", "1"), ("finalize", "0")] {
        let begun = home.json(&["task", "start", "--process", &id]);
        assert_eq!(text(&begun, "phase"), phase);
        home.json(&["task", "finish", text(&begun, "task_id"), "--exit-code", exit]);
    }
    let over = home.run(&["process", "next", &id]);
    assert_eq!((over.code, over.out.as_str()), (Some(1), "nothing; the process is failed\n"));
    let shown = home.json(&["process", "show", &id]);
    assert_eq!(
        (&shown["state"], &shown["steps"][1]["success"], &shown["tasks"].as_array().map(Vec::len)),
        (&json!("failed"), &json!(false), &Some(5))
    );
    assert!(home.run(&["process", "show", &id]).out.contains("failed in task_"));
    assert!(home.run(&["process", "list", "--state", "failed"]).out.contains("feature"));
    assert_eq!(home.json(&["process", "list", "--state", "running"]), json!([]));
    assert_eq!(home.run(&["task", "start", "--process", &id]).code, Some(1));
}

#[test]
fn a_process_is_driven_to_its_end_by_the_command() {
    drive(&home());
}

#[test]
fn a_process_is_driven_to_its_end_on_postgres() {
    let database = Database::create();
    drive(&home().on(&database.url()));
}

#[test]
fn what_is_not_there_and_what_is_wrong_is_said() {
    let home = home();
    start(&home);
    for asked in [
        &["process", "show", "proc_1"][..],
        &["process", "next", "proc_1"],
        &["task", "start", "--process", "proc_1"],
        &["task", "finish", "task_1"],
        &["task", "show", "task_1"],
    ] {
        assert_eq!(home.run(asked).code, Some(1), "{asked:?}");
    }
    for (name, definition, said) in [
        ("a.toml", "name = \"x\"\nsteps = []\n", "a.toml: steps: there are 0; give it 1 to 200 steps"),
        ("b.yaml", "name: x\nsteps:\n  - taks: a\n", "b.yaml: "),
        ("c.yaml", "name: x\nsteps:\n  - task: a b\n", "c.yaml: steps[0].task: 'a b' is not 1 to 64"),
        ("d.ini", "", "d.ini: its name must end in .toml"),
    ] {
        home.write(name, definition);
        let ran = home.run(&["process", "start", name]);
        assert!(ran.code == Some(2) && ran.err.contains(said), "{name}: {ran:?}");
    }
    assert_eq!(home.run(&["process", "start", "none.toml"]).code, Some(2));
    home.write("good.toml", "name = \"x\"\n[[steps]]\ntask = \"a\"\n");
    for folder in [&["--worktree", "typo"][..], &["--main-repo", "typo"]] {
        let ran = home.run(&[&["process", "start", "good.toml"], folder].concat());
        assert!(ran.code == Some(2) && ran.err.contains("there is no folder 'typo'"), "{ran:?}");
    }
    assert_eq!(home.run(&["process", "list", "--state", "open"]).code, Some(2));
}

fn send(gate: &Served, method: &str, path: &str, token: &str, body: Value) -> Answer {
    let request = match method {
        "GET" => Request::new("GET", path),
        _ => Request { path: path.to_owned(), ..Request::json(body.to_string()) },
    };
    gate.send(&request.bearer(token))
}

#[test]
fn a_runner_elsewhere_drives_a_process_over_http() {
    let home = home();
    let gate = home.serve();
    let operator = home.mint("--user ops --operator");
    let post = |path: &str, body: Value| {
        let answer = send(&gate, "POST", path, &operator, body);
        (answer.status, answer.message())
    };
    let get = |path: &str| {
        let answer = send(&gate, "GET", path, &operator, Value::Null);
        (answer.status, answer.message())
    };
    let definition = json!({"name": "feature", "tasks": {"repair": {}}, "steps": [{"task": "analyse"}]});
    let (status, started) =
        post("/api/v1/processes", json!({"definition": definition, "owner": "ann", "worktree": "/work"}));
    assert_eq!((status, &started["state"], &started["next"]["standing"]), (200, &json!("running"), &json!("ready")));
    let process = format!("/api/v1/processes/{}", text(&started, "process_id"));
    let (_, begun) = post("/api/v1/tasks", json!({"process": started["process_id"], "engine": "e"}));
    assert_eq!((text(&begun, "phase"), text(&begun, "worktree"), text(&begun, "engine")), ("pre_step", "/work", "e"));
    let (status, busy) = post("/api/v1/tasks", json!({"process": started["process_id"]}));
    assert_eq!((status, text(&busy, "code")), (409, "busy"));
    assert_eq!(get(&format!("{process}/next")).1["standing"], "running");

    let inject = Message::call(Era::Modern, "inject_steps", json!({"steps": [{"task_name": "repair"}]}));
    assert_eq!(gate.ask(&inject.header("X-Toolgate-Task-ID", text(&begun, "task_key"))).verdict(), "ok");
    let task = format!("/api/v1/tasks/{}", text(&begun, "task_id"));
    assert_eq!(post(&format!("{task}/commits"), json!({"hash": "0123456789abcdef"})).0, 200);
    let (_, ended) = post(&format!("{task}/finish"), json!({"exit_code": 0, "cost": 1.5}));
    assert_eq!((&ended["effect"], &ended["next"]["step"]), (&json!("inject"), &json!("repair")));
    assert_eq!(post(&format!("{task}/finish"), json!({})).0, 409);
    assert_eq!((get(&task).1["cost"].clone(), get(&task).1["success"].clone()), (json!(1.5), json!(true)));
    let shown = get(&process).1;
    assert_eq!(
        (&shown["steps"][0]["injected"], &shown["steps"][0]["origin_index"], &shown["decisions"][0]["effect"]),
        (&json!(true), &json!(1), &json!("inject"))
    );
    assert_eq!(get("/api/v1/processes?state=running&limit=1").1["processes"][0]["process_id"], started["process_id"]);

    for (path, body) in [
        ("/api/v1/processes", json!({})),
        ("/api/v1/processes", json!({"definition": {"name": "x", "steps": []}})),
        ("/api/v1/processes", json!({"definition": {"name": "x", "steps": [{"task": "a"}]}, "worktree": "relative"})),
        ("/api/v1/tasks", json!({"proces": "x"})),
        ("/api/v1/tasks", json!({"process": started["process_id"], "orchestrator": true})),
        ("/api/v1/tasks", json!({"parent": "nobody"})),
    ] {
        let (status, problem) = post(path, body.clone());
        assert_eq!((status, text(&problem, "code")), (400, "bad_request"), "{body}: {problem}");
    }
    for path in ["/api/v1/processes?state=open", "/api/v1/processes?limit=0", "/api/v1/processes?who=x"] {
        assert_eq!(get(path).0, 400, "{path}");
    }
    for path in
        ["/api/v1/processes/none", "/api/v1/processes/none/next", "/api/v1/tasks/none", "/api/v1/processes/none/other"]
    {
        assert_eq!(get(path).0, 404, "{path}");
    }
    assert_eq!(post("/api/v1/tasks/none/finish", json!({})).0, 404);
}

#[test]
fn nobody_but_an_operator_in_person_runs_anything_over_http() {
    let home = home();
    let gate = home.serve();
    let id = start(&home);
    let task = home.json(&["task", "start", "--process", &id]);
    let task_id = text(&task, "task_id");
    let callers = [
        ("", 401),
        (&*home.mint("--user ann"), 403),
        (&*home.mint("--user ann --tenant acme --role owner"), 403),
        (&*home.mint(&format!("--task {task_id} --operator")), 403),
        (&*home.mint("--agent m --kind manager --operator"), 403),
        (text(&task, "task_key"), 403),
    ]
    .map(|(token, status)| (token.to_owned(), status));
    for (token, status) in callers {
        for (method, path) in [
            ("GET", "/api/v1/processes".to_owned()),
            ("POST", "/api/v1/processes".to_owned()),
            ("GET", format!("/api/v1/processes/{id}")),
            ("GET", format!("/api/v1/processes/{id}/next")),
            ("POST", "/api/v1/tasks".to_owned()),
            ("GET", format!("/api/v1/tasks/{task_id}")),
            ("POST", format!("/api/v1/tasks/{task_id}/finish")),
            ("POST", format!("/api/v1/tasks/{task_id}/commits")),
        ] {
            assert_eq!(send(&gate, method, &path, &token, json!({})).status, status, "{method} {path} by {token:.10}");
        }
    }
    assert_eq!(home.json(&["task", "show", task_id])["live"], json!(true));
}
