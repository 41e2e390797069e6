//! Plans on the command line: what there are, how far each is, and taking one back.

use serde_json::{Value, json};

use super::bed::{
    database::Database,
    home::Home,
    message::{Era, Message},
};

const CONFIG: &str = r#"
[packs.spine]
[packs.vault]
root = "documents"
[tools."vault.rename"]
approval = "none"
redact = ["/newName"]
"#;

fn a_plan_is_listed_shown_and_taken_back(database: Option<Database>) {
    let mut home = Home::with(CONFIG);
    if let Some(database) = &database {
        home = home.on(&database.url());
    }
    home.write("documents/a.txt", "a");
    let gate = home.serve();
    let alice = home.mint("--user alice");
    let call = |tool: &str, arguments: Value| {
        gate.ask(&Message::call(Era::Late, tool, arguments).bearer(&alice)).result()["structuredContent"].clone()
    };
    let id = call("vault.list", json!({}))["items"][0]["id"].clone();
    let rename = |name: &str| json!({"tool": "vault.rename", "arguments": {"id": id, "newName": name}});
    let names = || -> Vec<String> {
        let found = std::fs::read_dir(home.path("documents")).unwrap();
        found.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
    };
    let none = home.run(&["plans", "list"]);
    assert_eq!((none.code, none.out.as_str()), (Some(0), "There are no such plans.\n"));

    let plan = call("plan.propose", json!({"name": "tidy up", "calls": [rename("b-1234.txt"), rename("c-1234.txt")]}));
    let plan = plan["plan"].as_str().unwrap();
    let waiting = call("plan.propose", json!({"calls": [rename("d.txt")]}))["plan"].clone();
    let done = call("plan.execute", json!({ "plan": plan }));
    assert_eq!((&done["state"], names()), (&json!("done"), vec!["c-1234.txt".to_owned()]), "{done}");

    let listed = home.json(&["plans", "list"]);
    let ids: Vec<&Value> = listed.as_array().unwrap().iter().map(|plan| &plan["id"]).collect();
    assert_eq!(ids, [&waiting, &json!(plan)], "newest first");
    let finished = home.json(&["plans", "list", "--state", "done"]);
    assert_eq!((finished[0]["name"].clone(), finished[0]["done"].clone()), (json!("tidy up"), json!(2)));
    assert_eq!(finished[0]["owner"], "user:alice");
    assert_eq!(home.run(&["plans", "list", "--state", "over"]).code, Some(2));
    let text = home.run(&["plans", "list", "--state", "done"]).out;
    assert!(text.contains(plan) && text.contains("2 of 2 done  user:alice  tidy up"), "{text}");

    let shown = home.json(&["plans", "show", plan]);
    assert_eq!((&shown["steps"][0]["tool"], &shown["steps"][0]["state"]), (&json!("vault.rename"), &json!("done")));
    assert_eq!(shown["steps"][0]["arguments"]["newName"], "[redacted]", "as its tool's facts say");
    assert_eq!(shown["steps"][1]["receipt"], done["steps"][1]["receipt"]);
    let text = home.run(&["plans", "show", plan]).out;
    assert!(text.contains("step 2:      done     vault.rename  rcpt_") && !text.contains("1234"), "{text}");
    let unknown = home.run(&["plans", "show", "plan_none"]);
    assert_eq!((unknown.code, unknown.out.contains("no plan has the id 'plan_none'")), (Some(1), true), "{unknown:?}");

    let undone = home.json(&["undo", "--plan", plan, "--by", "kim"]);
    assert_eq!(undone["undone"], json!([done["steps"][1]["receipt"], done["steps"][0]["receipt"]]));
    assert_eq!(home.json(&["plans", "show", plan])["state"], "undone");
    assert_eq!(names(), ["a.txt"]);
    let again = home.run(&["undo", "--plan", plan]);
    assert_eq!(again.code, Some(1), "{again:?}");
    assert_eq!(home.run(&["undo", "--plan", plan, "--flow", "f"]).code, Some(2));
}

#[test]
fn a_plan_is_listed_shown_and_taken_back_on_sqlite() {
    a_plan_is_listed_shown_and_taken_back(None);
}

#[test]
fn a_plan_is_listed_shown_and_taken_back_on_postgres() {
    a_plan_is_listed_shown_and_taken_back(Some(Database::create()));
}
