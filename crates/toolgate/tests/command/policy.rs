//! Asking the rulebook without serving: explain, matrix and test are views of the decision a call gets.

use serde_json::json;

use super::bed::{
    home::Home,
    message::{Era, Message},
};

const CONFIG: &str = r#"
rules = ["own.cedar"]
[packs.gate]
[packs.todo]
[tools.delete_task]
approval = "required"
[tools.update_task]
permission = "admin_only"
when_denied = "hidden"
help_names = false
"#;

const RULE: &str = r#"
@id("no_chores") @code("chore") @message("Tool '{tool}' does not take chores.") @remedy("Do it yourself.")
forbid (principal, action == Action::"call:add_task", resource)
when { context.arguments has title && context.arguments.title == "chore" };
"#;

fn home() -> Home {
    let home = Home::with(CONFIG);
    home.write("own.cedar", RULE);
    home
}

#[test]
fn explain_says_yes_no_and_why() {
    let home = home();
    let yes = home.run(&["explain", "add_task", "--as", "user=u"]);
    assert_eq!(yes.code, Some(0));
    assert!(yes.out.starts_with("add_task: allowed, listed\n"), "{}", yes.out);
    let no = home.run(&["explain", "add_task"]);
    assert_eq!(no.code, Some(1));
    assert!(no.out.starts_with("add_task: denied, not listed\n"), "{}", no.out);
    assert!(no.out.contains("(authentication_required)"), "{}", no.out);
    let ask = home.run(&["explain", "delete_task", "--as", "user=u"]);
    assert_eq!(ask.code, Some(1));
    assert!(ask.out.starts_with("delete_task: needs approval, listed\n"), "{}", ask.out);
    assert_eq!(home.run(&["explain", "delete_task", "--as", "user=u", "--dry-run"]).code, Some(0));
    let hidden = home.run(&["explain", "update_task", "--as", "user=u"]);
    assert!(hidden.out.contains("hidden: a call is answered as for an unknown tool"), "{}", hidden.out);
    let arguments = home.run(&["explain", "add_task", "--as", "user=u", "--arguments", r#"{"title":"chore"}"#]);
    assert_eq!(arguments.code, Some(1));
    assert!(
        arguments.out.contains("Tool 'add_task' does not take chores. (chore)\n  Do it yourself.\n"),
        "{}",
        arguments.out
    );
    assert!(arguments.out.contains("fails           no_chores (own.cedar)"), "{}", arguments.out);
}

#[test]
fn explain_says_what_a_call_then_gets() {
    let home = home();
    let gate = home.serve();
    let callers = [
        (vec![], None),
        (vec!["--as", "user=u"], Some(home.mint("--user u"))),
        (
            vec!["--as", "user=u", "--as", "tenant=t", "--as", "role=admin"],
            Some(home.mint("--user u --tenant t --role admin")),
        ),
        (vec!["--as", "user=u", "--as", "runtime=client"], Some(home.mint("--user u --runtime client"))),
        (
            vec!["--as", "user=u", "--as", "flow=f", "--as", "allow=add_task"],
            Some(home.mint("--user u --flow f --allow add_task")),
        ),
    ];
    for (facts, token) in callers {
        for tool in ["add_task", "list_tasks", "delete_task", "update_task", "help"] {
            let explained = home.run(&[&["explain", tool, "--json"], &*facts].concat()).json();
            let explanation = &explained["explanation"];
            let arguments = json!({"title": "x", "task_id": 999});
            let called =
                gate.ask(&token.iter().fold(Message::call(Era::Late, tool, arguments), |ask, token| ask.bearer(token)));
            let expected = match (explanation["outcome"].as_str().unwrap(), explanation["hidden"].as_bool().unwrap()) {
                ("allow", _) => vec!["ok", "not_found", "validation"],
                (_, true) => vec!["-32602"],
                _ => vec![explanation["reason"]["code"].as_str().unwrap()],
            };
            assert!(
                expected.contains(&&*called.verdict()),
                "{facts:?} {tool}: {} is not {expected:?}",
                called.verdict()
            );
        }
    }
}

#[test]
fn the_matrix_has_a_row_for_each_tool_and_says_the_same() {
    let home = home();
    let text = home.run(&["matrix"]).out;
    assert!(text.lines().next().unwrap().starts_with("tool "), "{text}");
    let row = |tool: &str| -> Vec<String> {
        let line = text.lines().find(|line| line.starts_with(tool)).unwrap_or_else(|| panic!("{tool}: {text}"));
        line.split_whitespace().skip(1).map(str::to_owned).collect()
    };
    assert_eq!(row("add_task")[..2], ["-", "yes"]);
    assert_eq!(row("delete_task")[..2], ["-", "ask"]);
    assert_eq!(row("help")[..2], ["yes", "yes"]);
    let matrix = home.json(&["matrix"]);
    let tools = matrix["tools"].as_array().unwrap();
    assert_eq!(tools.len(), 6);
    let cell = |tool: &str, caller: &str| {
        tools.iter().find(|row| row["tool"] == tool).unwrap()["outcomes"][caller]["outcome"].clone()
    };
    assert_eq!(cell("update_task", "user"), "deny");
    assert_eq!(cell("update_task", "admin"), "allow");
    assert_eq!(cell("delete_task", "user"), "needs_approval");
}

#[test]
fn the_matrix_takes_callers_of_ones_own_and_leaves_out_what_was_not_asked_for() {
    let home = home();
    let matrix = home.json(&["matrix", "--as", "user=u", "--as", "user=u,tenant=t,role=admin", "--tool", "*_task"]);
    assert_eq!(matrix["callers"], serde_json::json!(["user=u", "user=u,tenant=t,role=admin"]));
    let names = |matrix: &serde_json::Value| -> Vec<String> {
        matrix["tools"].as_array().unwrap().iter().map(|row| row["tool"].as_str().unwrap().to_owned()).collect()
    };
    assert!(names(&matrix).iter().all(|name| name.ends_with("_task")) && names(&matrix).len() > 1, "{matrix}");
    let differing = home.json(&["matrix", "--as", "user=u", "--as", "user=u,tenant=t,role=admin", "--differs"]);
    assert!(names(&differing).contains(&"update_task".to_owned()), "{differing}");
    assert!(!names(&differing).contains(&"help".to_owned()), "{differing}");
    let alike = home.run(&["matrix", "--as", "user=u", "--as", "user=v", "--differs"]);
    assert_eq!((alike.code, alike.out.as_str()), (Some(0), "All of these callers may use the same tools alike.\n"));
    home.run(&["tenant", "add", "acme", "--owner", "ada"]);
    let stored = home.json(&["matrix", "--as", "user=ada", "--tool", "update_task"]);
    let explained = home.run(&["explain", "update_task", "--as", "user=ada", "--json"]).json();
    let outcome = &stored["tools"][0]["outcomes"]["user=ada"]["outcome"];
    assert_eq!(outcome, &explained["explanation"]["outcome"], "a user has the tenant that the store knows");
}

const TESTS: &str = r#"
[[test]]
name = "strangers see help alone"
lists_exactly = ["help"]
callable = ["help"]
not_listed = ["add_task"]
hidden = ["update_task"]
denied = { add_task = "authentication_required" }

[[test]]
name = "users work with tasks"
caller = { user = "u" }
listed = ["add_task", "delete_task"]
callable = ["add_task"]
needs_approval = ["delete_task"]
calls = [
  { tool = "add_task", arguments = { title = "chore" }, gets = "chore" },
  { tool = "add_task", arguments = { title = "fun" }, gets = "allow" },
  { tool = "delete_task", arguments = { task_id = 1 }, gets = "needs_approval" },
]
"#;

#[test]
fn policy_tests_that_hold_pass_and_are_found_beside_the_configuration() {
    let home = home();
    home.write("tasks.test.toml", TESTS);
    let ran = home.run(&["test"]);
    assert_eq!((ran.code, ran.out.as_str()), (Some(0), "2 passed, 0 failed\n"), "{ran:?}");
}

#[test]
fn policy_tests_that_do_not_hold_say_what_was_expected_and_what_is() {
    let home = home();
    home.write(
        "wrong.toml",
        &TESTS.replace("callable = [\"help\"]", "callable = [\"add_task\"]").replace("\"fun\"", "\"chore\""),
    );
    let ran = home.run(&["test", "wrong.toml"]);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(
        ran.out.contains("wrong.toml: strangers see help alone: 'add_task' should be callable, but it is denied"),
        "{}",
        ran.out
    );
    assert!(ran.out.contains("should get allow, but gets chore"), "{}", ran.out);
    assert!(ran.out.ends_with("0 passed, 2 failed\n"), "{}", ran.out);
    let failures = home.run(&["test", "wrong.toml", "--json"]).json();
    assert_eq!((&failures["failed"], failures["failures"].as_array().unwrap().len()), (&json!(2), 2));
    home.write("unknown.toml", "[[test]]\nname = \"x\"\ncallable = [\"ad_task\"]\n");
    let ran = home.run(&["test", "unknown.toml"]);
    assert_eq!(ran.code, Some(2), "{ran:?}");
    assert!(ran.err.contains("did you mean 'add_task'?"), "{}", ran.err);
}
