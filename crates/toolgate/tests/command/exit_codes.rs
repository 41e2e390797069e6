//! One table of exit codes: 0 done, 1 the answer is no, 2 wrong use or it could not be carried out.

use super::bed::home::Home;

/// A home with a store, so that commands look into something.
fn home() -> Home {
    let home = Home::with("[packs.gate]\n[packs.todo]\n");
    home.run(&["tenant", "add", "acme"]);
    home.run(&["project", "add", "site"]);
    home.run(&["agent", "add", "scribe", "--project", "site"]);
    home
}

#[test]
fn what_is_not_there_or_not_so_is_one() {
    let home = home();
    let no: &[&[&str]] = &[
        &["explain", "add_task"],
        &["receipts", "show", "rcpt_x"],
        &["plans", "show", "plan_x"],
        &["process", "show", "proc_x"],
        &["process", "next", "proc_x"],
        &["task", "show", "task_x"],
        &["task", "finish", "task_x"],
        &["task", "commit", "task_x", "abcdef1"],
        &["agent", "show", "nobody"],
        &["agent", "passkey", "nobody"],
        &["agent", "unassign", "scribe", "nowhere"],
        &["agent", "end-session", "ses_x"],
        &["project", "show", "nowhere"],
        &["project", "set", "nowhere", "--status", "paused"],
        &["tenant", "show", "nobody"],
        &["tenant", "remove", "nobody"],
        &["tenant", "add", "acme"],
        &["tenant", "member", "remove", "acme", "nobody"],
        &["user", "show", "nobody"],
        &["override", "remove", "acme", "add_task"],
        &["override", "set", "nobody", "add_task", "off"],
        &["undo", "rcpt_x"],
        &["undo", "--flow", "flow_x"],
    ];
    for command in no {
        let ran = home.run(command);
        assert_eq!(ran.code, Some(1), "{command:?}: {ran:?}");
        assert!(!format!("{}{}", ran.out, ran.err).is_empty(), "{command:?} says nothing");
    }
}

#[test]
fn wrong_use_and_what_could_not_be_carried_out_are_two() {
    let home = home();
    home.write("broken.test.toml", "[[test]]\n");
    home.write("broken.yaml", "steps: {");
    home.write("overrides.csv", "tenant,tool\nacme,x\n");
    let misuse: &[&[&str]] = &[
        &["serve", "--config", "missing.toml"],
        &["check", "--config", "missing.toml"],
        &["doctor", "--config", "missing.toml"],
        &["matrix", "--config", "missing.toml"],
        &["tenant", "list", "--config", "missing.toml"],
        &["serve", "--data", ".toolgate/toolgate.db", "--listen", "127.0.0.1:0"],
        &["explain", "ad_task"],
        &["matrix", "--as", "nothing"],
        &["matrix", "--as", "role=admin"],
        &["matrix", "--tool", "nothing_*"],
        &["test", "missing.test.toml"],
        &["test", "broken.test.toml"],
        &["tenant", "add", "globex", "--plan", "gold"],
        &["tenant", "change", "acme", "--plan", "gold"],
        &["tenant", "member", "set", "acme", "bob", "--role", "boss"],
        &["override", "set", "acme", "add_tsk", "off"],
        &["override", "set", "acme", "add_task", "maybe"],
        &["override", "import", "missing.toml"],
        &["override", "import", "overrides.csv"],
        &["catalog", "show", "add_tsk"],
        &["catalog", "disable", "add_tsk"],
        &["catalog", "set", "add_tsk", "--group", "x"],
        &["catalog", "set", "add_task", "--min-plan", "gold"],
        &["process", "start", "missing.yaml"],
        &["process", "start", "broken.yaml"],
        &["process", "list", "--state", "asleep"],
        &["agent", "add", "other", "--project", "nowhere"],
        &["agent", "set", "scribe"],
        &["agent", "sessions", "nobody"],
        &["project", "task", "add", "nowhere", "Title"],
        &["receipts", "list", "--limit", "0"],
        &["ledger", "tail", "--since", "soon"],
        &["ledger", "verify", "--checkpoints", "missing.jsonl"],
        &["task", "start", "--worktree", "nowhere"],
        &["completions", "basic"],
        &["man", "--out", "toolgate.toml"],
    ];
    for command in misuse {
        let ran = home.run(command);
        assert_eq!(ran.code, Some(2), "{command:?}: {ran:?}");
        assert_eq!(ran.out, "", "{command:?}: what went wrong goes to standard error");
        assert!(!ran.err.is_empty(), "{command:?}");
    }
}

#[test]
fn reading_commands_say_that_there_is_no_store_and_make_none() {
    let readers: &[&[&str]] = &[
        &["tenant", "list"],
        &["tenant", "show", "acme"],
        &["tenant", "member", "list", "acme"],
        &["user", "list"],
        &["user", "show", "bob"],
        &["override", "list", "acme"],
        &["override", "export"],
        &["catalog", "list"],
        &["catalog", "show", "add_task"],
        &["catalog", "export"],
        &["agent", "list"],
        &["agent", "show", "scribe"],
        &["agent", "sessions", "scribe"],
        &["project", "list"],
        &["project", "show", "site"],
        &["project", "task", "list", "site"],
        &["process", "list"],
        &["process", "show", "proc_x"],
        &["process", "next", "proc_x"],
        &["task", "show", "task_x"],
        &["task", "finish", "task_x"],
        &["task", "commit", "task_x", "abcdef1"],
        &["events", "user:alice"],
        &["receipts", "list"],
        &["receipts", "show", "rcpt_x"],
        &["plans", "list"],
        &["plans", "show", "plan_x"],
        &["approvals", "list"],
        &["ledger", "tail"],
        &["ledger", "export"],
        &["ledger", "verify"],
        &["ledger", "checkpoint"],
        &["undo", "rcpt_x"],
        &["store", "accept-restore"],
    ];
    for command in readers {
        let home = Home::bare();
        let ran = home.run(command);
        assert_eq!(ran.code, Some(2), "{command:?}: {ran:?}");
        assert!(ran.err.contains("there is no store at"), "{command:?}: {ran:?}");
        assert!(!home.path(".toolgate").exists(), "{command:?} made a store");
    }
    for command in [&["check"][..], &["doctor"], &["matrix"], &["explain", "add_task", "--as", "user=u"]] {
        let home = Home::bare();
        let ran = home.run(command);
        assert_eq!(ran.code, Some(0), "{command:?}: {ran:?}");
        assert!(!home.path(".toolgate").exists(), "{command:?} made a store");
    }
}

#[test]
fn the_table_of_exit_codes_stands_below_the_help() {
    let help = Home::bare().run(&["--help"]).out;
    for line in ["Exit codes:", "0  done", "1  the answer is no", "2  wrong use"] {
        assert!(help.contains(line), "{line}: {help}");
    }
}
