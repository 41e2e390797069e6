//! Every tool of every pack has a caller who may not use it, or is on the short list of those open to all.

use std::collections::BTreeSet;

use serde_json::json;

use super::bed::{
    home::Home,
    message::{ERAS, Era, Message},
};

/// Read as text: every pack it names is loaded here.
const RAISE: &str = include_str!("../../src/raise.rs");

/// Anybody may call these: they say nothing that the caller may not know.
const OPEN_TO_ALL: [&str; 5] =
    ["authenticate", "get_configuration_catalog", "get_configuration_profiles", "help", "validate_configuration"];

/// A coordinator's alone: signing in as anybody else does not help.
const COORDINATORS: [&str; 6] = [
    "get_agent_action",
    "health_check",
    "list_active_projects_with_agents",
    "list_managed_agents",
    "report_agent_error",
    "report_process_exit",
];

fn packs() -> Vec<&'static str> {
    let line = RAISE.lines().find(|line| line.contains("const PACKS")).expect("the packs are listed");
    line.split('"').skip(1).step_by(2).collect()
}

fn home() -> Home {
    let mut config = String::new();
    for pack in packs() {
        config.push_str(&format!("[packs.{pack}]\n"));
        if pack == "echo" {
            config.push_str("definitions = \"tools.json\"\n");
        }
        if pack == "vault" {
            config.push_str("root = \".\"\n");
        }
    }
    let home = Home::with(&config);
    home.write("tools.json", &json!([{"name": "echo_text", "inputSchema": {"type": "object"}}]).to_string());
    home
}

#[test]
fn somebody_is_denied_each_tool_unless_it_is_open_to_all() {
    let home = home();
    let matrix = home.json(&["matrix"]);
    let tools = matrix["tools"].as_array().unwrap();
    assert_eq!(tools.len() as u64, home.json(&["check"])["tools"].as_u64().unwrap());
    for tool in tools {
        let name = tool["tool"].as_str().unwrap();
        let denied = tool["outcomes"].as_object().unwrap().values().any(|cell| cell["outcome"] == "deny");
        assert_ne!(denied, OPEN_TO_ALL.contains(&name), "{name}: {}", tool["outcomes"]);
    }
}

#[test]
fn over_the_wire_a_stranger_is_turned_away_from_each_in_every_era() {
    let home = home();
    let gate = home.serve();
    let admin = home.mint("--user root --tenant acme --role admin");
    let mut seen = BTreeSet::new();
    for tool in gate.ask(&Message::list(Era::Modern).bearer(&admin)).tools() {
        for era in ERAS {
            let answer = gate.ask(&Message::call(era, &tool, json!({})));
            let expected = match tool.as_str() {
                "help" | "get_configuration_catalog" | "get_configuration_profiles" => "ok",
                "authenticate" => "invalid_arguments",
                // the pack's own words for arguments that do not fit
                "validate_configuration" => "validation",
                // hidden when denied, as tools of unknown effect are
                "echo_text" => "-32602",
                hidden if hidden.starts_with("admin_") => "-32602",
                "get_process_state" | "set_process_decision" | "inject_steps" | "get_git_diff" | "get_commit_log" => {
                    "orchestrator_required"
                }
                coordinator if COORDINATORS.contains(&coordinator) => "coordinator_required",
                _ => "authentication_required",
            };
            assert_eq!(answer.verdict(), expected, "{tool} {era:?}");
        }
        seen.insert(tool);
    }
    assert_eq!(seen.len() as u64, home.json(&["check"])["tools"].as_u64().unwrap());
}

#[test]
fn what_a_caller_is_listed_it_may_call_and_what_it_is_not_it_may_not() {
    let home = home();
    let gate = home.serve();
    let matrix = home.json(&["matrix"]);
    let callers = [
        ("stranger", None),
        ("user", Some(home.mint("--user u"))),
        ("member", Some(home.mint("--user u --tenant t"))),
        ("admin", Some(home.mint("--user u --tenant t --role admin"))),
        ("operator", Some(home.mint("--user u --operator"))),
        ("coordinator", Some(home.mint("--agent c --kind coordinator"))),
        ("worker/task", Some(home.mint("--agent w --kind worker --project p --purpose task"))),
        ("browser user", Some(home.mint("--user u --runtime client"))),
    ];
    for (who, token) in callers {
        let listed = gate.ask(&token.iter().fold(Message::list(Era::Late), |ask, token| ask.bearer(token))).tools();
        for tool in matrix["tools"].as_array().unwrap() {
            let name = tool["tool"].as_str().unwrap().replace('.', "_");
            let cell = &tool["outcomes"][who];
            assert_eq!(listed.contains(&name), cell["listed"] != "no", "{who} {name}");
        }
    }
}
