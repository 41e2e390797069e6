//! `approvals watch`: a person at a terminal answers what is pending and what arrives; nobody else does.

use std::{
    io::Write,
    process::{Command, Stdio},
};

use serde_json::{Value, json};
use toolgate_store::{Binding, NewApproval, Wide};

use super::bed::{
    books::{Books, asking, now, on_both},
    served::Said,
    terminal::Terminal,
    wait::until,
};

fn state(books: &Books, id: &str) -> Value {
    books.home.json(&["approvals", "show", id])["state"].clone()
}

fn watch(books: &Books) -> Terminal {
    Terminal::start(books.home.command(&["approvals", "watch", "--by", "kim"]), 100)
}

/// Asked so many seconds ago.
fn asked(books: &Books, number: u8, ago: i64) -> String {
    books.ask(NewApproval { asked_at: now() - ago * 1000, ..asking(number) })
}

on_both! {
    fn a_person_at_a_terminal_answers_what_is_pending_and_what_arrives(books: Books) {
        let (first, second) = (asked(books, 1, 20), asked(books, 2, 10));
        let mut terminal = watch(books);
        let shown = terminal.shows("Approve? [y]es, [n]o, [s]kip, [q]uit: ");
        for part in [&first[..13], "asked by:    user:ann agent:scribe", "'vault.move' with these arguments, once",
            "  to: /2026\n", "why:         Moving needs approval.", "(2 are pending)", " left to answer"] {
            assert!(shown.contains(part), "{part}: {shown}");
        }
        terminal.types("y\n");
        terminal.shows(&format!("{first} is granted by operator:kim: once, until 2"));
        let shown = terminal.shows("Approve? ");
        assert!(shown.contains(&second[..13]), "{shown}");
        terminal.types("n\n");
        terminal.shows("Reason, which the caller is told (empty: none): ");
        terminal.types("not on a Friday\n");
        terminal.shows(&format!("{second} is denied by operator:kim\n"));
        terminal.shows("Nothing is pending.");
        let third = asked(books, 3, 0);
        terminal.shows(&third[..13]);
        terminal.shows("Approve? ");
        terminal.types("what?\n");
        terminal.shows("Approve? ");
        terminal.types("s\n");
        terminal.shows(&format!("{} stays pending.", &third[..13]));
        let fourth = asked(books, 4, 0);
        terminal.shows("Approve? ");
        books.home.json(&["approvals", "deny", &fourth, "--by", "lou"]);
        terminal.shows(&format!("Answered elsewhere or over: {fourth} is denied by operator:lou\n"));
        terminal.types("q\n");
        let (code, screen) = terminal.ended();
        assert_eq!(code, Some(0), "{screen}");
        let states = [&first, &second, &third, &fourth].map(|id| state(books, id));
        assert_eq!(states, ["granted", "denied", "pending", "denied"].map(Value::from));
        assert_eq!(books.home.json(&["approvals", "show", &second])["reason"], json!("not on a Friday"));
        assert_eq!(books.home.run(&["ledger", "verify"]).code, Some(0), "answers are on record");
    }
}

#[test]
fn what_was_typed_before_a_question_does_not_answer_it() {
    let books = Books::sqlite();
    let mut terminal = watch(&books);
    terminal.shows("Nothing is pending.");
    terminal.types("y\n");
    terminal.types("y");
    terminal.shows("y\ny");
    let id = asked(&books, 1, 0);
    terminal.shows("Approve? ");
    terminal.types("\n");
    terminal.shows("Approve? ");
    assert_eq!(state(&books, &id), json!("pending"));
    // the end of input ends it
    terminal.types("\u{4}");
    assert_eq!(terminal.ended().0, Some(0));
    assert_eq!(state(&books, &id), json!("pending"));
}

#[test]
fn of_more_than_one_call_a_yes_grants_the_one_that_is_shown() {
    let books = Books::sqlite();
    let wide = |number: u8| {
        let new = asking(number);
        let binding = Binding { flow: Some(format!("f{number}")), ..new.binding };
        NewApproval {
            wide: Some(Wide { uses: 3, until: now() + 600_000 }),
            binding,
            asked_at: now() - 5_000 + i64::from(number),
            ..new
        }
    };
    let (first, second) = (books.ask(wide(1)), books.ask(wide(2)));
    let mut terminal = watch(&books);
    let shown = terminal.shows("[y]es, this call once; [a]ll that is asked for;");
    assert!(shown.contains("with ANY arguments, up to 3 times"), "{shown}");
    terminal.types("y\n");
    terminal.shows(&format!("{first} is granted by operator:kim: once"));
    terminal.shows("[a]ll that is asked for;");
    terminal.types("a\n");
    terminal.shows(&format!("{second} is granted by operator:kim: 3 times"));
    terminal.types("q\n");
    assert_eq!(terminal.ended().0, Some(0));
}

/// The command without a terminal: what it prints, and how it ends.
struct Reporter {
    child: std::process::Child,
    out: Said,
}

impl Reporter {
    fn start(mut command: Command, input: Stdio) -> Self {
        let mut child = command.stdin(input).stdout(Stdio::piped()).spawn().unwrap();
        let out = Said::by(child.stdout.take().unwrap());
        Self { child, out }
    }

    fn says(&self, words: &str) {
        until(&format!("it says '{words}'"), || self.out.so_far().contains(words).then_some(()));
    }

    fn ended(mut self) -> (Option<i32>, String) {
        let status = until("it ends", || self.child.try_wait().unwrap());
        (status.code(), self.out.whole())
    }
}

#[test]
fn without_a_terminal_each_arrival_is_a_line_and_nothing_is_answered() {
    let books = Books::sqlite();
    let first = asked(&books, 1, 0);
    let mut reporter = Reporter::start(books.home.command(&["approvals", "watch"]), Stdio::piped());
    reporter.says(&first[..13]);
    let mut input = reporter.child.stdin.take().unwrap();
    input.write_all(b"y\ny\n").unwrap();
    let second = asked(&books, 2, 0);
    reporter.says(&second[..13]);
    drop(input);
    let (code, out) = reporter.ended();
    assert_eq!((code, out.lines().count()), (Some(0), 2), "{out}");
    assert!(out.contains("  vault.move  by user:ann agent:scribe  59s left  to=/2026"), "{out}");
    assert_eq!([state(&books, &first), state(&books, &second)], ["pending", "pending"].map(Value::from));
}

#[test]
fn json_lines_go_on_without_an_input_until_a_signal_comes() {
    let books = Books::sqlite();
    for signal in ["-TERM", "-INT"] {
        let reporter = Reporter::start(books.home.command(&["approvals", "watch", "--json"]), Stdio::null());
        let id = asked(&books, if signal == "-INT" { 2 } else { 1 }, 0);
        reporter.says(&id);
        let sent = Command::new("kill").args([signal, &reporter.child.id().to_string()]).status().unwrap();
        assert!(sent.success());
        let (code, out) = reporter.ended();
        assert_eq!(code, Some(0), "{signal}: {out}");
        let lines: Vec<Value> = out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert!(lines.iter().any(|line| line["id"] == json!(id) && line["state"] == json!("pending")), "{out}");
    }
}
