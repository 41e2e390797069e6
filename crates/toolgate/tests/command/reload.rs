//! A changed file is in force for the next request; a wrong one leaves the old in force and says where it is wrong.

use serde_json::json;

use super::bed::{
    home::Home,
    message::{Era, Message},
    served::Served,
    wait::until,
};

const CONFIG: &str = "rules = [\"rules\"]\n[packs.gate]\n[packs.todo]\n";

fn home() -> Home {
    let home = Home::with(CONFIG);
    home.write("rules/README", "only .cedar files are read here");
    home
}

fn lists(gate: &Served, token: &str, tool: &str) -> bool {
    gate.ask(&Message::list(Era::Modern).bearer(token)).tools().iter().any(|listed| listed == tool)
}

fn calls(gate: &Served, token: &str) -> String {
    gate.ask(&Message::call(Era::Modern, "add_task", json!({"title": "x"})).bearer(token)).verdict()
}

#[test]
fn a_tool_that_is_disabled_leaves_the_list_and_its_call_is_denied() {
    let home = home();
    let gate = home.serve();
    let token = home.mint("--user alice");
    assert!(lists(&gate, &token, "add_task"));
    assert_eq!(calls(&gate, &token), "ok");
    home.write("toolgate.toml", &format!("disabled_tools = [\"add_task\"]\n{CONFIG}"));
    until("the tool leaves the list", || (!lists(&gate, &token, "add_task")).then_some(()));
    assert_eq!(calls(&gate, &token), "globally_disabled");
    assert!(lists(&gate, &token, "list_tasks"), "no other tool is touched");
    home.write("toolgate.toml", CONFIG);
    until("the tool comes back", || lists(&gate, &token, "add_task").then_some(()));
    assert_eq!(calls(&gate, &token), "ok");
}

#[test]
fn a_configuration_that_is_made_after_the_start_is_in_force_and_followed_from_then_on() {
    let home = Home::bare();
    let gate = home.serve();
    let token = home.mint("--user alice");
    assert_eq!(calls(&gate, &token), "ok", "the built-in configuration");
    home.write("toolgate.toml", "wrong = [\n");
    until("a wrong one is said to be wrong", || gate.log().contains("the old one stays in force").then_some(()));
    assert_eq!(calls(&gate, &token), "ok");
    home.write("toolgate.toml", &format!("disabled_tools = [\"add_task\"]\n{}", CONFIG.replace("[\"rules\"]", "[]")));
    until("it is in force", || (calls(&gate, &token) == "globally_disabled").then_some(()));
    until("it is said", || gate.log().contains("there is a configuration file now").then_some(()));
    home.write("toolgate.toml", &CONFIG.replace("[\"rules\"]", "[]"));
    until("what is changed in it is in force", || (calls(&gate, &token) == "ok").then_some(()));
    until("that is said too", || gate.log().contains("the configuration was reloaded").then_some(()));
}

#[test]
fn a_new_rule_file_in_a_folder_of_rules_is_in_force() {
    let home = home();
    let gate = home.serve();
    let token = home.mint("--user alice");
    assert_eq!(calls(&gate, &token), "ok");
    let rule = r#"
        @id("no_writes") @code("read_only") @message("Tool '{tool}' writes.")
        forbid (principal, action in Action::"call", resource) when { resource.effect == "write" };
    "#;
    home.write("rules/own.cedar", rule);
    until("the rule is in force", || (calls(&gate, &token) == "read_only").then_some(()));
    assert!(lists(&gate, &token, "list_tasks"), "a read is not touched");
    home.write("rules/own.cedar", &rule.replace("write", "log"));
    until("the changed rule is in force", || (calls(&gate, &token) == "ok").then_some(()));
}

#[test]
fn a_wrong_configuration_leaves_the_old_one_in_force_and_says_where_it_is_wrong() {
    let home = home();
    let gate = home.serve();
    let token = home.mint("--user alice");
    home.write("toolgate.toml", "disabled_tools = [\"add_task\"]\n[packs.todo]\n[sever]\n");
    let line = gate.logs("the old one stays in force");
    assert!(line.contains("toolgate.toml:3:2"), "{line}");
    assert!(line.contains("did you mean 'server'?"), "{line}");
    assert_eq!(calls(&gate, &token), "ok");
    assert!(lists(&gate, &token, "help"), "nothing of the wrong file is in force");
    home.write("toolgate.toml", "disabled_tools = [\"add_task\"]\n[packs.todo]\n[server]\n");
    until("the mended file is in force", || (calls(&gate, &token) == "globally_disabled").then_some(()));
}

#[test]
fn a_wrong_rule_leaves_the_old_ones_in_force_and_says_where_it_is_wrong() {
    let home = home();
    let gate = home.serve();
    let token = home.mint("--user alice");
    home.write("rules/own.cedar", "forbid (principal, action, resource)\nwhen { principal.usr == \"x\" };\n");
    let line = gate.logs("the old one stays in force");
    assert!(line.contains("own.cedar:2:8"), "{line}");
    assert_eq!(calls(&gate, &token), "ok");
    home.write("rules/own.cedar", "forbid (principal, action, resource)\nwhen { principal has user };\n");
    until("the mended rule is in force", || (calls(&gate, &token) != "ok").then_some(()));
}

#[test]
fn a_part_that_takes_a_restart_is_named_as_such() {
    let home = home();
    let gate = home.serve();
    home.write("toolgate.toml", &format!("{CONFIG}[server]\nhosts = [\"tools.example\"]\n"));
    gate.logs("need a restart");
    gate.logs("the configuration was reloaded");
}

#[test]
fn an_address_of_the_command_line_is_no_change_of_the_file() {
    let home = home();
    let gate = home.serve();
    home.write("toolgate.toml", &format!("{CONFIG}[tools.add_task]\nmin_plan = \"enterprise\"\n"));
    gate.logs("the configuration was reloaded");
    assert!(!gate.log().contains("need a restart"), "{}", gate.log());
}

#[test]
fn definitions_are_followed_too() {
    let home = Home::with("[packs.echo]\ndefinitions = \"tools.json\"\n");
    let tools = |names: &[&str]| {
        let tool = |name: &&str| json!({"name": name, "inputSchema": {"type": "object"}});
        json!(names.iter().map(tool).collect::<Vec<_>>()).to_string()
    };
    home.write("tools.json", &tools(&["one"]));
    let gate = home.serve();
    let token = home.mint("--user alice");
    assert!(!lists(&gate, &token, "two"));
    home.write("tools.json", &tools(&["one", "two"]));
    until("the new definition is listed", || lists(&gate, &token, "two").then_some(()));
}

#[test]
fn a_reload_warns_of_what_needs_a_restart_and_not_of_the_address_given_to_the_command() {
    let home = home();
    let gate = home.serve();
    let token = home.mint("--user alice");
    home.write("toolgate.toml", &format!("disabled_tools = [\"add_task\"]\n{CONFIG}"));
    until("the tool leaves the list", || (!lists(&gate, &token, "add_task")).then_some(()));
    gate.logs("the configuration was reloaded");
    assert!(!gate.log().contains("need a restart"), "--listen is no change of [server]: {}", gate.log());
    home.write("toolgate.toml", &format!("{CONFIG}[server]\nhosts = [\"gate.example\"]\n"));
    assert!(gate.logs("need a restart").contains("[server]"));
}
