//! What an operator gives a team to do, on the command line.

use serde_json::Value;

use super::{
    bed::home::{Home, Ran},
    team::staffed,
};

fn home() -> Home {
    let home = staffed(Home::with("[packs.gate]\n[packs.team]\n"));
    assert_eq!(home.run(&["agent", "add", "hana", "--type", "human", "--project", "p"]).code, Some(0));
    home
}

fn json(ran: &Ran) -> Value {
    serde_json::from_str(&ran.out).unwrap_or_else(|fault| panic!("{fault}: {ran:?}"))
}

#[test]
fn a_task_is_added_given_started_and_ended() {
    let home = home();
    let added = home.run(&["project", "task", "add", "p", "Paint the door", "--assign", "boss", "--start", "--json"]);
    assert_eq!(added.code, Some(0), "{added:?}");
    let task = json(&added);
    assert_eq!(
        (&task["status"], &task["assignee_id"], &task["status_changed_by"]),
        (&"in_progress".into(), &"boss".into(), &"operator".into())
    );
    let id = task["task_id"].as_str().unwrap();

    let again = home.run(&["project", "task", "set", "p", id, "--status", "todo"]);
    assert_eq!((again.code, again.out.trim()), (Some(1), "Invalid status transition from in_progress to todo"));
    let moved = home.run(&["project", "task", "assign", "p", id, "ann"]);
    assert_eq!(moved.code, Some(1), "somebody is at work on it: {moved:?}");
    let blocked = home.run(&["project", "task", "set", "p", id, "--status", "blocked", "--reason", "rain", "--json"]);
    assert_eq!(json(&blocked)["blocked_reason"], "rain");
    assert_eq!(home.run(&["project", "task", "assign", "p", id, "ann"]).code, Some(0));

    let listed = home.run(&["project", "task", "list", "p", "--assignee", "ann", "--status", "blocked"]);
    let [header, row] = listed.out.lines().collect::<Vec<_>>()[..] else { panic!("{listed:?}") };
    assert!(row.contains(id) && header.starts_with("TASK_ID") && header.contains("ASSIGNEE_ID"), "{listed:?}");
    assert_eq!(row.find("Paint the door"), header.find("TITLE"), "columns stand below their names: {listed:?}");
    for shown in [home.json(&["agent", "show", "ann"]), home.json(&["project", "show", "p"]), json(&blocked)] {
        let at = shown["created_at"].as_str().unwrap_or_else(|| panic!("{shown}"));
        assert!(at.starts_with("20") && at.ends_with('Z'), "a time is a date in JSON too: {shown}");
    }
    assert!(!home.run(&["project", "task", "list", "p", "--status", "done"]).out.contains(id));
    assert!(home.run(&["project", "task", "list", "q"]).out.contains("There are no such tasks"));
}

#[test]
fn a_task_that_cant_be_given_or_started_is_not_added() {
    let home = home();
    let add = |arguments: &[&str]| home.run(&[&["project", "task", "add", "p"], arguments].concat());
    assert_eq!(add(&["A", "--assign", "ann", "--start"]).code, Some(0));
    for refused in [&["B", "--assign", "ann", "--start"][..], &["B", "--assign", "nobody"]] {
        let ran = add(refused);
        assert_eq!(ran.code, Some(1), "{ran:?}");
    }
    let long = "x".repeat(201);
    for title in ["", long.as_str()] {
        let ran = add(&[title]);
        assert!(ran.code == Some(2) && ran.err.contains("a title has 1 to 200 characters"), "{ran:?}");
    }
    let listed = home.json(&["project", "task", "list", "p"]);
    let titles: Vec<&str> = listed.as_array().unwrap().iter().map(|task| task["title"].as_str().unwrap()).collect();
    assert_eq!(titles, ["A"]);
    assert_eq!(add(&[&"水".repeat(200)]).code, Some(0));
}

#[test]
fn what_makes_no_sense_is_refused() {
    let home = home();
    let elsewhere = home.run(&["project", "task", "add", "q", "x"]);
    assert_eq!(elsewhere.code, Some(2), "{elsewhere:?}");
    assert!(elsewhere.err.contains("no project has the id 'q'"), "{elsewhere:?}");
    let stranger = home.run(&["project", "task", "add", "p", "x", "--assign", "nobody"]);
    assert_eq!((stranger.code, stranger.out.trim()), (Some(1), "Agent not found: nobody"));
    assert_eq!(home.run(&["project", "task", "add", "p", "x", "--start"]).code, Some(2), "by whom?");
    assert_eq!(home.run(&["project", "task", "set", "p", "ttask_0", "--status", "finished"]).code, Some(2));
    let unknown = home.run(&["project", "task", "set", "p", "ttask_0", "--status", "done"]);
    assert_eq!((unknown.code, unknown.out.trim()), (Some(1), "Task not found: ttask_0"));
}

#[test]
fn a_person_writes_to_an_agent_and_an_agent_does_not() {
    let home = home();
    let told = home.run(&["project", "tell", "p", "ann", "hello", "--from", "hana"]);
    assert_eq!((told.code, told.out.trim()), (Some(0), "ann is told"));
    let no_person = home.run(&["project", "tell", "p", "ann", "hello", "--from", "boss"]);
    assert_eq!(no_person.code, Some(2), "{no_person:?}");
    assert_eq!(home.run(&["project", "tell", "p", "nobody", "hello", "--from", "hana"]).code, Some(1));
    assert_eq!(home.run(&["project", "tell", "q", "ann", "hello", "--from", "hana"]).code, Some(1));
}
