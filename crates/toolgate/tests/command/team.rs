//! A team over the wire: signing in, what a session is, when it ends, and what is never written down.

use serde_json::{Value, json};
use toolgate_store::{
    Store,
    team::{NewMessage, NewSession, Purpose, SessionToken},
};

use super::bed::{
    database::Database,
    home::Home,
    http::Answer,
    message::{ERAS, Era, Message},
    pipe::Pipe,
    served::Served,
};

const CONFIG: &str =
    "[packs.gate]\n[packs.spine]\n[packs.team]\n[identity]\ncoordinator_token_file = \"coordinator\"\n";
const SECRET: &str = "coordinate-this-canary-of-some-length";
const PASSKEY: &str = "passkey-canary-4711";

/// `boss`, and under it `ann`, in the project `p`; something waits for both to be read.
pub fn staffed(home: Home) -> Home {
    home.write_secret("coordinator", &format!("{SECRET}\n"));
    home.write("passkey", &format!("{PASSKEY}\n"));
    for arguments in [
        "project add p --working-directory /srv/p",
        "agent add boss --hierarchy manager --project p --passkey-file passkey",
        "agent add ann --parent boss --project p --passkey-file passkey",
    ] {
        let arguments: Vec<&str> = arguments.split(' ').collect();
        let ran = home.run(&arguments);
        assert_eq!(ran.code, Some(0), "{ran:?}");
        assert!(!ran.out.contains(PASSKEY), "what is in a file is not repeated");
    }
    with_store(&home, async |store| {
        for (from, to) in [("boss", "ann"), ("ann", "boss")] {
            let message = NewMessage { to: Some(to.into()), content: "hello".into(), task: None, conversation: None };
            store.team().conversations("p", from).send(&message, 1).await.unwrap();
        }
    });
    home
}

fn with_store(home: &Home, act: impl AsyncFnOnce(&Store)) {
    let command = home.command(&[]);
    let location = command.get_envs().find(|(key, _)| *key == "TOOLGATE_DATABASE").and_then(|(_, url)| url);
    let location = match location {
        Some(url) => url.to_str().unwrap().parse().unwrap(),
        None => toolgate_store::Location::Sqlite(home.path(".toolgate/toolgate.db")),
    };
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let store = Store::open(&location).await.unwrap();
        act(&store).await;
        store.close().await;
    });
}

fn home() -> Home {
    staffed(Home::with(CONFIG))
}

fn authenticate(era: Era, agent: &str, passkey: &str) -> Message {
    Message::call(era, "authenticate", json!({"agent_id": agent, "passkey": passkey, "project_id": "p"}))
}

pub fn sign_in(gate: &Served, agent: &str) -> String {
    let answer = gate.ask(&authenticate(Era::Modern, agent, PASSKEY)).result();
    answer["structuredContent"]["session_token"].as_str().unwrap_or_else(|| panic!("{answer}")).to_owned()
}

fn call(tool: &str, token: &str) -> Message {
    Message::call(Era::Modern, tool, json!({"session_token": token}))
}

fn content(answer: &Answer) -> Value {
    answer.result()["structuredContent"].take()
}

#[test]
fn an_operator_lists_an_agents_sessions_and_ends_one() {
    let home = staffed(Home::with("[packs.gate]\n[packs.team]\n"));
    let gate = home.serve();
    assert_eq!(home.json(&["agent", "sessions", "ann"]), json!([]));
    let unknown = home.run(&["agent", "sessions", "nan"]);
    assert!(unknown.code == Some(2) && unknown.err.contains("no agent has the id 'nan'"), "{unknown:?}");
    let token = sign_in(&gate, "ann");
    assert_eq!(gate.ask(&call("get_my_profile", &token)).verdict(), "ok");
    let listed = home.json(&["agent", "sessions", "ann"]);
    assert_eq!((&listed[0]["agent"], &listed[0]["project"]), (&json!("ann"), &json!("p")));
    assert!(!listed.to_string().contains(&token));
    let id = listed[0]["id"].as_str().unwrap();
    assert!(home.run(&["agent", "sessions", "ann"]).out.contains(id));
    assert_eq!(home.json(&["agent", "end-session", id])["ended"], true);
    assert_eq!(home.json(&["agent", "sessions", "ann"]), json!([]));
    assert_eq!(gate.ask(&call("get_my_profile", &token)).verdict(), "authentication_required");
    assert_eq!(home.run(&["agent", "end-session", id]).code, Some(1), "it is over");
}

#[test]
fn a_session_is_a_bearer_or_an_argument_in_every_era() {
    let home = home();
    let gate = home.serve();
    for era in ERAS {
        let token = gate.ask(&authenticate(era, "ann", PASSKEY)).result()["structuredContent"]["session_token"].take();
        let token = token.as_str().unwrap();
        let by_argument = gate.ask(&Message::call(era, "get_my_profile", json!({"session_token": token})));
        assert_eq!(content(&by_argument)["id"], "ann");
        let by_header = gate.ask(&Message::call(era, "get_my_profile", json!({})).bearer(token));
        assert_eq!(content(&by_header)["id"], "ann");
        let listed = gate.ask(&Message::list(era).bearer(token)).tools();
        assert!(
            listed.contains(&"logout".to_owned()) && !listed.contains(&"list_subordinates".to_owned()),
            "{listed:?}"
        );
        let helped = gate.ask(&Message::call(era, "help", json!({"session_token": token})));
        assert_eq!(
            content(&helped)["context"],
            json!({
                "caller_type": "worker", "session_purpose": "chat", "agent_id": "ann", "project_id": "p",
            })
        );
        assert_eq!(gate.ask(&Message::call(era, "logout", json!({"session_token": token}))).verdict(), "ok");
        let after = gate.ask(&Message::call(era, "get_my_profile", json!({"session_token": token})));
        assert_eq!(after.words(), "Tool 'get_my_profile' requires authentication. Call authenticate first.");
    }
}

#[test]
fn a_client_of_the_older_era_signs_in_within_its_session() {
    let home = home();
    let gate = home.serve();
    let opened = gate.ask(&Message::initialize(Era::Late));
    let session = opened.header("mcp-session-id").unwrap().to_owned();
    let ask = |message: Message| gate.ask(&message.header("Mcp-Session-Id", &session));
    let token = ask(authenticate(Era::Late, "ann", PASSKEY)).result()["structuredContent"]["session_token"].take();
    let token = token.as_str().unwrap();
    assert_eq!(ask(Message::call(Era::Late, "get_my_profile", json!({"session_token": token}))).verdict(), "ok");
    assert_eq!(ask(Message::list(Era::Late)).tools(), ["authenticate", "help"], "a list has no place for the argument");
    assert_eq!(ask(Message::call(Era::Late, "logout", json!({"session_token": token}))).verdict(), "ok");
}

#[test]
fn what_ended_on_one_replica_counts_on_no_other() {
    let database = Database::create();
    let home = staffed(Home::with(CONFIG).on(&database.url()));
    let other = Home::with(CONFIG).on(&database.url());
    other.write_secret("coordinator", SECRET);
    let (first, second) = (home.serve(), other.serve());
    let exited = |gate: &Served| {
        let arguments =
            json!({"agent_id": "ann", "project_id": "p", "remaining_processes": 0, "coordinator_token": SECRET});
        assert_eq!(gate.ask(&Message::call(Era::Modern, "report_process_exit", arguments)).verdict(), "ok");
    };
    let logged_out = |gate: &Served, token: &str| assert_eq!(gate.ask(&call("logout", token)).verdict(), "ok");
    let unassigned = || assert_eq!(home.run(&["agent", "unassign", "ann", "p"]).code, Some(0));
    let stopped = || assert_eq!(home.run(&["agent", "set", "ann", "--status", "suspended"]).code, Some(0));
    let new_passkey = || assert_eq!(home.run(&["agent", "passkey", "ann", "--passkey-file", "passkey"]).code, Some(0));
    for ending in ["logout", "process exit", "passkey", "unassigned", "suspended"] {
        let token = sign_in(&first, "ann");
        assert_eq!(second.ask(&call("get_my_profile", &token)).verdict(), "ok", "{ending}");
        match ending {
            "logout" => logged_out(&first, &token),
            "process exit" => exited(&first),
            "passkey" => new_passkey(),
            "unassigned" => unassigned(),
            _ => stopped(),
        }
        for gate in [&second, &first] {
            assert_eq!(gate.ask(&call("get_my_profile", &token)).verdict(), "authentication_required", "{ending}");
        }
        home.run(&["agent", "assign", "ann", "p"]);
    }
}

#[test]
fn a_session_that_ran_out_or_fell_asleep_is_a_strangers() {
    let home = home();
    let gate = home.serve();
    let now = i64::try_from(std::time::SystemTime::UNIX_EPOCH.elapsed().unwrap().as_millis()).unwrap();
    let (old, asleep, fresh) =
        (SessionToken::fresh().unwrap(), SessionToken::fresh().unwrap(), SessionToken::fresh().unwrap());
    with_store(&home, async |store| {
        let open = async |token: &SessionToken, agent: &str, purpose: Purpose, minutes: i64| {
            let (agent, project) = (agent.to_owned(), "p".to_owned());
            let session = NewSession { token_hash: token.hash(), agent, project, purpose, task: None };
            store.team().sessions().open(session, now - minutes * 60_000).await.unwrap();
        };
        open(&old, "ann", Purpose::Task, 61).await;
        open(&asleep, "ann", Purpose::Chat, 11).await;
        open(&fresh, "boss", Purpose::Task, 59).await;
    });
    let verdict = |token: &SessionToken| gate.ask(&call("get_my_profile", token.expose())).verdict();
    assert_eq!(verdict(&old), "authentication_required");
    assert_eq!(verdict(&asleep), "authentication_required");
    assert_eq!(verdict(&fresh), "ok");
}

#[test]
fn the_coordinators_token_is_the_files_and_an_empty_one_matches_nothing() {
    let home = home();
    let gate = home.serve();
    let ask = |gate: &Served, token: &str| {
        gate.ask(&Message::call(Era::Modern, "health_check", json!({"coordinator_token": token})))
    };
    assert_eq!(content(&ask(&gate, SECRET))["agent_count"], 2);
    for wrong in ["", "wrong", "coordinate-this-canary "] {
        assert_eq!(ask(&gate, wrong).words(), "Tool 'health_check' requires Coordinator privilege", "{wrong:?}");
    }
    let as_manager = gate.ask(&Message::call(Era::Modern, "list_subordinates", json!({"coordinator_token": SECRET})));
    assert_eq!(as_manager.words(), "Tool 'list_subordinates' requires Manager privilege");
    home.write_secret("coordinator", "\n");
    assert_eq!(home.run(&["serve", "--listen", "127.0.0.1:0"]).code, Some(2), "an empty secret is none");
}

#[test]
fn no_passkey_and_no_token_is_ever_written_down() {
    let home = home();
    home.write("toolgate.toml", &format!("{CONFIG}[log]\nlevel = \"trace\"\n"));
    let gate = home.serve();
    let token = sign_in(&gate, "boss");
    for era in ERAS {
        assert_eq!(gate.ask(&authenticate(era, "ann", "wrong-passkey-canary")).verdict(), "invalid_credentials");
        let odd = json!({"agent_id": 1, "passkey": {"deep": PASSKEY}, "project_id": "p"});
        let refused = gate.ask(&Message::call(era, "authenticate", odd));
        assert!(!refused.text().contains("canary"), "{}", refused.text());
        let denied =
            Message::call(era, "health_check", json!({"session_token": token, "coordinator_token": "canary-no"}));
        assert!(!gate.ask(&denied).text().contains("canary"));
        let dry = authenticate(era, "ann", PASSKEY).meta("toolgate/dryRun", json!(true));
        assert!(!gate.ask(&dry).text().contains("canary"));
    }
    let model = json!({"session_token": token, "provider": "p", "model_id": "m"});
    assert_eq!(gate.ask(&Message::call(Era::Modern, "report_model", model)).verdict(), "ok");
    let counted = json!({"coordinator_token": SECRET, "agent_id": "ann", "project_id": "p"});
    assert_eq!(gate.ask(&Message::call(Era::Modern, "get_agent_action", counted)).verdict(), "ok");
    let step = json!({"tool": "authenticate", "arguments": {"agent_id": "ann", "passkey": PASSKEY, "project_id": "p"}});
    let plan = gate.ask(&Message::call(Era::Modern, "plan_propose", json!({"calls": [step]})).bearer(&token));
    assert!(plan.text().contains("can't be a step of a plan") && !plan.text().contains("canary"), "{}", plan.text());
    gate.terminate();
    let ran = gate.ended();

    let ledger = home.run(&["ledger", "export"]).out;
    let receipts = home.run(&["receipts", "list", "--json"]).out;
    for (place, text) in [("log", &ran.err), ("output", &ran.out), ("ledger", &ledger), ("receipts", &receipts)] {
        assert!(!text.contains("canary"), "a passkey is in the {place}: {text}");
        assert!(!text.contains(&token), "a token is in the {place}: {text}");
    }
    // a credential that a tool declares for the gate is no argument of the call
    let reported: Vec<&str> = ledger.lines().filter(|line| line.contains("\"report_model\"")).collect();
    assert!(!reported.is_empty());
    for line in
        reported.iter().chain(&ledger.lines().filter(|line| line.contains("get_agent_action")).collect::<Vec<_>>())
    {
        assert!(!line.contains("session_token") && !line.contains("coordinator_token"), "{line}");
    }
    for file in ["toolgate.db", "toolgate.db-wal", "toolgate-ledger.db", "toolgate-ledger.db-wal"] {
        let bytes = std::fs::read(home.path(".toolgate").join(file)).unwrap_or_default();
        let holds = |needle: &str| bytes.windows(needle.len()).any(|window| window == needle.as_bytes());
        assert!(!holds(PASSKEY) && !holds(&token) && !holds("wrong-passkey"), "{file}");
    }
}

#[test]
fn guessing_over_the_wire_is_slowed_down_with_words_and_a_time() {
    let home = home();
    let gate = home.serve();
    let slowed = (0..20).find_map(|_| {
        let answer = gate.ask(&authenticate(Era::Modern, "ann", "wrong passkey"));
        (answer.verdict() == "too_many_attempts").then(|| content(&answer))
    });
    let slowed = slowed.expect("it is slowed down");
    assert!(slowed["retry_after"].as_i64().unwrap() >= 1, "{slowed}");
    assert_eq!(gate.ask(&authenticate(Era::Modern, "boss", PASSKEY)).verdict(), "ok", "another agent is not");
}

#[test]
fn tools_are_advertised_to_strangers_only_where_configured() {
    let advertised = Home::with("[packs.gate]\n[packs.team]\nadvertise = true\n").serve();
    let listed = advertised.ask(&Message::list(Era::Modern)).result();
    let tools = listed["tools"].as_array().unwrap();
    let logout = tools.iter().find(|tool| tool["name"] == "logout").unwrap();
    assert_eq!(logout["_meta"]["toolgate/callable"], false);
    assert_eq!(logout["_meta"]["toolgate/code"], "authentication_required");
    assert!(tools.iter().any(|tool| tool["name"] == "authenticate" && tool["_meta"]["toolgate/callable"].is_null()));
    let refused = Home::with("[packs.gate]\nadvertise = true\n").run(&["check"]);
    assert!(refused.out.contains("only 'team' does"), "{refused:?}");
}

#[test]
fn a_configured_tool_is_for_workers_only() {
    let home = home();
    home.write("toolgate.toml", &format!("{CONFIG}[tools.get_my_profile]\npermission = \"worker_only\"\n"));
    let gate = home.serve();
    let (worker, manager) = (sign_in(&gate, "ann"), sign_in(&gate, "boss"));
    assert_eq!(gate.ask(&call("get_my_profile", &worker)).verdict(), "ok");
    let denied = gate.ask(&call("get_my_profile", &manager));
    assert_eq!(
        (denied.words(), denied.verdict()),
        ("Tool 'get_my_profile' requires Worker privilege".to_owned(), "worker_required".to_owned(),)
    );
    let japanese = gate.ask(&call("get_my_profile", &manager).header("Accept-Language", "ja"));
    assert_eq!(japanese.words(), "ツール'get_my_profile'にはWorker権限が必要です");
    assert!(!gate.ask(&Message::list(Era::Modern).bearer(&manager)).tools().contains(&"get_my_profile".to_owned()));
    let help = content(&gate.ask(&call("help", &manager)));
    assert_eq!(help["unavailable_info"]["worker_tools"], "Worker tools (get_my_profile) require Worker privilege");
}

#[test]
fn stdio_signs_in_first_and_out_when_the_client_goes() {
    let home = home();
    let start = |passkey: &str| {
        home.write("key", passkey);
        home.command(&["stdio", "--agent", "ann", "--project", "p", "--passkey-file", "key"])
    };
    let mut pipe = Pipe::start(start(PASSKEY));
    let answer = pipe.ask(&Message::call(Era::Late, "get_my_profile", json!({})));
    assert_eq!(answer["result"]["structuredContent"]["id"], "ann");
    let second = super::bed::home::Ran::of(&mut start(PASSKEY));
    assert_eq!(second.code, Some(1), "its one session is taken");
    assert!(second.err.contains("can't sign in: No valid purpose for authentication"), "{second:?}");
    let (_, ended) = pipe.ended();
    assert_eq!(ended.code, Some(0));
    let mut again = Pipe::start(start(PASSKEY));
    assert_eq!(again.ask(&Message::call(Era::Late, "get_my_profile", json!({})))["result"]["isError"], false);
    drop(again);

    let wrong = super::bed::home::Ran::of(&mut start("wrong-passkey-canary"));
    assert_eq!(wrong.code, Some(1));
    assert!(wrong.err.contains("Invalid agent_id or passkey") && !wrong.err.contains("canary"), "{wrong:?}");
    let without = Home::with("[packs.todo]\n");
    without.write("key", PASSKEY);
    let no_pack = without.run(&["stdio", "--agent", "a", "--project", "p", "--passkey-file", "key"]);
    assert_eq!(no_pack.code, Some(2));
    assert!(no_pack.err.contains("[packs.team]"), "{no_pack:?}");
    assert_eq!(home.run(&["stdio", "--agent", "a"]).code, Some(2), "an agent needs a project and a passkey");
}
