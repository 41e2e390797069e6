//! `[approvals] command_line`: who may answer with the command, and approvals that are named by the beginning of their id.

use serde_json::{Value, json};

use super::bed::{
    books::{Books, asking, on_both},
    home::Ran,
    terminal::Terminal,
};

/// The variable by which these tests allow answers without a terminal everywhere else.
const VARIABLE: &str = "TOOLGATE_APPROVALS__COMMAND_LINE";

fn run(books: &Books, setting: Option<&str>, arguments: &[&str]) -> Ran {
    let mut command = books.home.command(arguments);
    command.env_remove(VARIABLE);
    setting.map(|setting| command.env(VARIABLE, setting));
    Ran::of(&mut command)
}

fn at_terminal(books: &Books, setting: &str, arguments: &[&str]) -> Terminal {
    let mut command = books.home.command(arguments);
    command.env(VARIABLE, setting);
    Terminal::start(command, 100)
}

fn state(books: &Books, id: &str) -> Value {
    books.home.json(&["approvals", "show", id])["state"].clone()
}

#[test]
fn a_command_without_a_terminal_approves_only_where_the_operator_allows_it() {
    let books = Books::sqlite();
    let (first, second) = (books.ask(asking(1)), books.ask(asking(2)));
    for setting in [None, Some("tty"), Some("off")] {
        let ran = run(&books, setting, &["approvals", "approve", &first]);
        assert_eq!((ran.code, ran.err.as_str()), (Some(1), ""), "{setting:?}: {ran:?}");
        assert!(ran.out.contains("[approvals] command_line = ") && ran.out.contains("scope 'approve'"), "{ran:?}");
        let ran = run(&books, setting, &["approvals", "approve", &first, "--json"]);
        assert_eq!((ran.code, &ran.json()["code"]), (Some(1), &json!("command_line")), "{ran:?}");
    }
    assert_eq!(state(&books, &first), json!("pending"));
    assert_eq!(run(&books, Some("any"), &["approvals", "approve", &first]).code, Some(0));
    let refused = run(&books, Some("off"), &["approvals", "deny", &second, "--json"]);
    assert_eq!((refused.code, &refused.json()["code"]), (Some(1), &json!("command_line")));
    assert_eq!(run(&books, None, &["approvals", "deny", &second]).code, Some(0), "a denial only narrows");
}

#[test]
fn a_person_at_a_terminal_approves_unless_the_command_line_is_off() {
    let books = Books::sqlite();
    let (first, second) = (books.ask(asking(1)), books.ask(asking(2)));
    let mut terminal = at_terminal(&books, "tty", &["approvals", "approve", &first]);
    terminal.shows(&format!("{first} is granted by operator:"));
    assert_eq!(terminal.ended().0, Some(0));
    let mut terminal = at_terminal(&books, "off", &["approvals", "approve", &second]);
    terminal.shows("command_line = \"off\"");
    assert_eq!(terminal.ended().0, Some(1));
    let mut terminal = at_terminal(&books, "off", &["approvals", "watch"]);
    terminal.shows("command_line = \"off\"");
    terminal.shows(&second[..13]);
    terminal.types("y\n");
    terminal.signal("INT");
    let (code, screen) = terminal.ended();
    assert!(!screen.contains("Approve?"), "{screen}");
    assert_eq!((code, state(&books, &second)), (Some(0), json!("pending")), "{screen}");
}

#[test]
fn a_wrong_setting_is_refused() {
    let books = Books::sqlite();
    let ran = run(&books, Some("always"), &["approvals", "list"]);
    assert_eq!(ran.code, Some(2));
    assert!(ran.err.contains(VARIABLE) && ran.err.contains("tty"), "{ran:?}");
}

on_both! {
    fn an_approval_is_named_by_any_beginning_that_no_other_has(books: Books) {
        let mut ids: Vec<String> = Vec::new();
        // until two begin with the same four digits
        let (one, other) = books.with(async |store| loop {
            let mut new = asking(0);
            new.binding.tool = format!("tool{}", ids.len());
            let id = store.approvals().ask(new).await.unwrap().id;
            if let Some(alike) = ids.iter().find(|known| known[..9] == id[..9]) {
                break (alike.clone(), id);
            }
            ids.push(id);
        });
        let ambiguous = books.home.run(&["approvals", "approve", &one[..9]]);
        assert_eq!((ambiguous.code, ambiguous.out.as_str()), (Some(2), ""), "{ambiguous:?}");
        assert!(ambiguous.err.contains(&one) && ambiguous.err.contains(&other), "{ambiguous:?}");
        let unique = ids.iter().find(|id| ids.iter().chain([&other]).filter(|known| known[..9] == id[..9]).count() == 1).unwrap();
        assert_eq!(books.home.json(&["approvals", "show", &unique[..9]])["id"], json!(unique));
        assert_eq!(books.home.json(&["approvals", "show", &unique[5..]])["id"], json!(unique), "without its word");
        assert_eq!(books.home.json(&["approvals", "approve", &unique[5..9].to_uppercase()])["id"], json!(unique));
        assert_eq!(books.home.json(&["approvals", "deny", &one])["id"], json!(one), "a whole id is never ambiguous");
        for short in [&unique[..8], "appr_", "%%%%", "____"] {
            let unknown = books.home.run(&["approvals", "show", short, "--json"]);
            assert_eq!((unknown.code, unknown.json()["found"].clone()), (Some(1), json!(false)), "{short}");
        }
    }
}

#[test]
fn a_list_fits_the_terminal() {
    let books = Books::sqlite();
    let mut new = asking(1);
    new.shown = json!({"tool": "vault.move", "arguments": {"note": "x".repeat(300)}}).to_string();
    let id = books.ask(new);
    let mut terminal = Terminal::start(books.home.command(&["approvals", "list"]), 110);
    terminal.shows("ID             STATE    AGE  LEFT  BY                     TOOL        ARGUMENTS\n");
    let (code, screen) = terminal.ended();
    assert_eq!(code, Some(0), "{screen}");
    let row = screen.lines().find(|line| line.starts_with(&id[..13])).unwrap().trim_end();
    assert_eq!(row.chars().count(), 110, "{row}");
    assert!(row.contains("note=xxx") && row.ends_with('…'), "{row}");
}
