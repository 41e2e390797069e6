//! Two layers keep an orchestrator's tools from every other task: they are never listed, and a call is refused. Each test
//! asks in every era, with a real task's key in the header.

use serde_json::{Value, json};

use super::bed::{
    home::Home,
    http::Answer,
    message::{ERAS, Era, Message},
    served::Served,
};

/// Shared tools are open, as they are where nothing else is served.
const CONFIG: &str = "[packs.process]\n[packs.workspace]\nopen = true\n";
const HEADER: &str = "X-Toolgate-Task-ID";
const EXCLUSIVE: [&str; 5] =
    ["get_commit_log", "get_git_diff", "get_process_state", "inject_steps", "set_process_decision"];
const SHARED: [&str; 12] = [
    "get_knowledge",
    "list_artifact_templates",
    "list_artifacts",
    "load_artifact",
    "load_artifact_template",
    "load_result",
    "read_result_summary",
    "search_knowledge",
    "view_knowledge_history",
    "write_artifact",
    "write_knowledge",
    "write_result",
];

struct Bench {
    home: Home,
    gate: Served,
}

impl Bench {
    fn new() -> Self {
        let home = Home::with(CONFIG);
        home.write(
            "process.toml",
            "name = \"feature\"\n[tasks.repair]\n[[steps]]\ntask = \"analyse\"\n[[steps]]\ntask = \"implement\"\n",
        );
        let gate = home.serve();
        Self { home, gate }
    }

    /// A task's id and key, as `task start` prints them.
    fn task(&self, options: &[&str]) -> (String, String) {
        let started = self.home.json(&[&["task", "start"], options].concat());
        let text = |name: &str| started[name].as_str().unwrap().to_owned();
        (text("task_id"), text("task_key"))
    }

    /// The first task of a new process, which looks at its first step.
    fn orchestrator(&self) -> (String, String) {
        let process = self.home.json(&["process", "start", "process.toml"])["process_id"].clone();
        self.task(&["--process", process.as_str().unwrap()])
    }

    fn list(&self, era: Era, key: Option<&str>) -> Vec<String> {
        let mut listed = self.gate.ask(&with(Message::list(era), key)).tools();
        listed.sort();
        listed
    }

    fn call(&self, era: Era, key: Option<&str>, tool: &str, arguments: Value) -> Answer {
        self.gate.ask(&with(Message::call(era, tool, arguments), key))
    }

    /// It sees the shared tools and nothing else, and is refused the rest in the words for it.
    fn is_kept_to_shared_tools(&self, key: Option<&str>, words: impl Fn(&str) -> String) {
        for era in ERAS {
            assert_eq!(self.list(era, key), SHARED, "{era:?}");
            for tool in EXCLUSIVE {
                let answer = self.call(era, key, tool, json!({}));
                assert_eq!(answer.result()["isError"], json!(true), "{era:?} {tool}");
                assert!(answer.words().starts_with(&words(tool)), "{era:?}: {}", answer.words());
            }
        }
    }
}

fn with(message: Message, key: Option<&str>) -> Message {
    key.into_iter().fold(message, |message, key| message.header(HEADER, key))
}

fn of_another_type(tool: &str) -> String {
    format!("Tool '{tool}' is not available for this task type.")
}

#[test]
fn a_regular_tasks_list_lacks_the_five() {
    let bench = Bench::new();
    let (_, key) = bench.task(&["--process", "p"]);
    for era in ERAS {
        let listed = bench.list(era, Some(&key));
        assert!(EXCLUSIVE.iter().all(|tool| !listed.contains(&(*tool).to_owned())), "{era:?}: {listed:?}");
    }
}

#[test]
fn an_orchestrators_list_has_all() {
    let bench = Bench::new();
    let (_, key) = bench.orchestrator();
    let mut all = [&EXCLUSIVE[..], &SHARED].concat();
    all.sort_unstable();
    for era in ERAS {
        assert_eq!(bench.list(era, Some(&key)), all, "{era:?}");
    }
}

#[test]
fn a_regular_task_that_calls_one_gets_the_error() {
    let bench = Bench::new();
    let (_, key) = bench.task(&["--process", "p"]);
    for (era, tool) in ERAS.into_iter().flat_map(|era| EXCLUSIVE.map(|tool| (era, tool))) {
        let answer = bench.call(era, Some(&key), tool, json!({}));
        assert_eq!((answer.status, answer.words()), (200, of_another_type(tool)), "{era:?}");
        let result = answer.result();
        assert_eq!(
            (&result["isError"], &result["structuredContent"]["code"]),
            (&json!(true), &json!("orchestrator_required"))
        );
    }
}

#[test]
fn an_orchestrators_call_succeeds() {
    let bench = Bench::new();
    let (id, key) = bench.orchestrator();
    for era in ERAS {
        let state = bench.call(era, Some(&key), "get_process_state", json!({})).result();
        assert_eq!(state["structuredContent"]["pending_steps"][1]["task_name"], "implement", "{era:?}: {state}");
        let decided = json!({"decision": "proceed", "reasoning": "all is well"});
        let decided = bench.call(era, Some(&key), "set_process_decision", decided).result();
        assert_eq!(decided["structuredContent"]["task_id"], json!(id), "{era:?}: {decided}");
    }
}

#[test]
fn shared_tools_are_unaffected() {
    let bench = Bench::new();
    let (_, regular) = bench.task(&["--process", "p", "--name", "analyse"]);
    let (_, orchestrator) = bench.task(&["--process", "p", "--name", "watch", "--orchestrator"]);
    for (era, key) in ERAS.into_iter().flat_map(|era| [&regular, &orchestrator].map(|key| (era, Some(key.as_str())))) {
        assert_eq!(bench.call(era, key, "write_result", json!({"result": "Done."})).verdict(), "ok");
        assert_eq!(bench.call(era, key, "load_result", json!({"task_name": "analyse"})).verdict(), "ok");
        let written = bench.call(era, key, "write_knowledge", json!({"key": "k", "content": "c", "reason": "r"}));
        assert_eq!(written.verdict(), "ok");
    }
}

#[test]
fn a_missing_header_gets_shared_tools_only() {
    let bench = Bench::new();
    bench.is_kept_to_shared_tools(None, of_another_type);
    let write = bench.call(Era::Modern, None, "write_result", json!({"result": "x"})).result();
    assert_eq!(write["structuredContent"]["error"], "Missing X-Toolgate-Task-ID header.");
}

#[test]
fn a_row_without_the_flag_gets_shared_tools_only() {
    let bench = Bench::new();
    // a name gives no right
    let (id, key) = bench.task(&["--process", "p", "--name", "orchestrator-pre"]);
    assert_eq!(bench.home.json(&["task", "show", &id])["is_orchestrator"], json!(false));
    bench.is_kept_to_shared_tools(Some(&key), of_another_type);
}

#[test]
fn an_unknown_task_gets_shared_tools_only() {
    let bench = Bench::new();
    let (id, _) = bench.orchestrator();
    bench.is_kept_to_shared_tools(Some("tk_AAAAAAAAAAAAAAAAAAAAAA"), of_another_type);
    // the public id is no key
    bench.is_kept_to_shared_tools(Some(&id), of_another_type);
}

#[test]
fn a_finished_task_gets_shared_tools_only() {
    let bench = Bench::new();
    let (id, key) = bench.orchestrator();
    assert_eq!(bench.home.json(&["task", "finish", &id])["finished"], json!(true));
    bench.is_kept_to_shared_tools(Some(&key), of_another_type);
}

#[test]
fn a_list_that_was_kept_from_an_orchestrator_helps_no_other_task() {
    let bench = Bench::new();
    let ((_, orchestrator), (_, regular)) = (bench.orchestrator(), bench.task(&["--process", "p"]));
    let kept = bench.list(Era::Modern, Some(&orchestrator));
    for tool in kept.iter().filter(|tool| EXCLUSIVE.contains(&tool.as_str())) {
        assert_eq!(bench.call(Era::Modern, Some(&regular), tool, json!({})).words(), of_another_type(tool));
    }
    assert_eq!(bench.list(Era::Modern, Some(&regular)), SHARED, "nor is the list itself taken for another's");
}

#[test]
fn a_guessed_name_is_refused_as_the_tool_it_means_or_as_none() {
    let bench = Bench::new();
    let (_, key) = bench.task(&["--process", "p"]);
    for guess in [
        "Get_Process_State",
        "get.process.state",
        "get_process_state ",
        "process/get_process_state",
        "mcp__toolgate__get_git_diff",
    ] {
        let answer = bench.call(Era::Late, Some(&key), guess, json!({}));
        assert_eq!(answer.verdict(), "-32602", "{guess}");
    }
    let arguments = json!({"decision": "abort", "reasoning": "r", "is_orchestrator": true, "task_id": "x"});
    assert_eq!(bench.call(Era::Late, Some(&key), "set_process_decision", arguments).verdict(), "orchestrator_required");
}

#[test]
fn a_task_that_ends_between_its_list_and_its_call_is_refused() {
    let bench = Bench::new();
    for era in ERAS {
        let (id, key) = bench.orchestrator();
        assert_eq!(bench.list(era, Some(&key)).len(), 17);
        assert_eq!(bench.call(era, Some(&key), "get_process_state", json!({})).verdict(), "ok");
        bench.home.json(&["task", "finish", &id]);
        for key in [Some(key.as_str()), Some(""), Some("tk_unknown"), None] {
            let refused = bench.call(era, key, "get_process_state", json!({}));
            assert_eq!(refused.verdict(), "orchestrator_required", "{key:?}");
            assert_eq!(refused.words(), "Tool 'get_process_state' is not available for this task type.", "{key:?}");
        }
        assert_eq!(bench.list(era, Some(&key)), SHARED);
    }
}

#[test]
fn a_token_of_a_task_says_what_its_key_says_and_ends_with_it() {
    let bench = Bench::new();
    let (id, _) = bench.orchestrator();
    let token = bench.home.mint(&format!("--task {id}"));
    let state = || bench.gate.ask(&Message::call(Era::Modern, "get_process_state", json!({})).bearer(&token)).verdict();
    assert_eq!(state(), "ok");
    bench.home.json(&["task", "finish", &id]);
    assert_eq!(state(), "orchestrator_required");
}

#[test]
fn where_they_are_not_open_shared_tools_need_a_task() {
    let home = Home::with("[packs.process]\n[packs.workspace]\n");
    let gate = home.serve();
    let (user, key) = (home.mint("--user ann"), home.json(&["task", "start"])["task_key"].as_str().unwrap().to_owned());
    for era in ERAS {
        assert_eq!(gate.ask(&Message::list(era)).tools(), [""; 0]);
        assert_eq!(gate.ask(&Message::list(era).bearer(&user)).tools(), [""; 0]);
        assert_eq!(gate.ask(&with(Message::list(era), Some(&key))).tools().len(), 12);
        let asked = gate.ask(&Message::call(era, "write_result", json!({"result": "x"})).bearer(&user));
        assert_eq!(
            (asked.verdict().as_str(), asked.words().as_str()),
            ("task_required", "Missing X-Toolgate-Task-ID header.")
        );
    }
}

#[test]
fn an_unknown_or_finished_task_is_told_so_and_a_missing_header_is_named_as_configured() {
    for open in [true, false] {
        let home = Home::with(&format!(
            "[identity]\ntask_headers = [\"X-Wiggy-Task-ID\"]\n[packs.process]\n[packs.workspace]\nopen = {open}\n"
        ));
        let gate = home.serve();
        let started = home.json(&["task", "start"]);
        let (id, ended) = (started["task_id"].as_str().unwrap(), started["task_key"].as_str().unwrap());
        home.json(&["task", "finish", id]);
        let ann = home.mint("--user ann");
        let write = |key: Option<&str>| {
            let message = Message::call(Era::Modern, "write_result", json!({"result": "x"})).bearer(&ann);
            gate.ask(&key.iter().fold(message, |message, key| message.header("X-Wiggy-Task-ID", key)))
        };
        for key in ["tk_AAAAAAAAAAAAAAAAAAAAAA", "some-id", ended] {
            let answer = write(Some(key));
            assert!(answer.words().contains("Task not found in task_log."), "{open} {key}: {answer:?}");
            assert!(!answer.text().contains(key), "a key is never repeated: {answer:?}");
        }
        assert!(write(None).words().contains("Missing X-Wiggy-Task-ID header."), "{open}");
        assert!(write(Some("")).words().contains("Missing X-Wiggy-Task-ID header."), "{open}");
    }
}

#[test]
fn who_starts_an_orchestrator_of_a_label_is_told_the_way_that_works() {
    let home = Home::with("[packs.process]\n[packs.workspace]\n");
    let started = home.json(&["task", "start", "--process", "p1", "--orchestrator"]);
    assert!(started["note"].as_str().unwrap().contains("toolgate process start"), "{started}");
    assert_eq!(home.json(&["task", "start", "--process", "p1"]).get("note"), None);
}
