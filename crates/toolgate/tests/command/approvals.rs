//! A person answers with the command line, and the answer is what the store then holds.

use serde_json::{Value, json};
use toolgate_store::{ApprovalState, Binding, NewApproval, NewFlow, Scope, Wide};

use super::bed::{
    books::{Books, asking, now, on_both},
    home::{Home, Ran},
};

fn in_flow(number: u8, flow: &str) -> NewApproval {
    let new = asking(number);
    NewApproval { binding: Binding { flow: Some(flow.into()), ..new.binding }, ..new }
}

fn ids(list: &Value) -> Vec<&str> {
    list.as_array().unwrap().iter().map(|approval| approval["id"].as_str().unwrap()).collect()
}

/// The answer is no, for this reason, in words and for programs.
fn no(books: &Books, command: &[&str], code: &str) {
    let ran = books.home.run(command);
    assert_eq!((ran.code, ran.err.as_str()), (Some(1), ""), "{command:?}: {ran:?}");
    assert!(ran.out.contains("approval '"), "{ran:?}");
    let ran = books.home.run(&[command, &["--json"]].concat());
    assert_eq!((ran.code, &ran.json()["code"]), (Some(1), &json!(code)), "{command:?}: {ran:?}");
    assert_eq!(ran.json()["answered"], json!(false));
}

on_both! {
    fn the_list_is_newest_first_and_each_filter_limits_it(books: Books) {
        let first = books.ask(NewApproval { asked_at: now() - 2_000, ..asking(1) });
        let second = books.ask(NewApproval { asked_at: now() - 1_000, ..in_flow(2, "f1") });
        let other = asking(3);
        let third = books.ask(NewApproval { binding: Binding { asked_by: "user:bob".into(), ..other.binding }, ..other });
        books.home.json(&["approvals", "deny", &first]);
        let list = |more: &[&str]| books.home.json(&[&["approvals", "list"], more].concat());
        assert_eq!(ids(&list(&[])), [&third, &second, &first].map(String::as_str));
        assert_eq!(ids(&list(&["--state", "pending"])), [&third, &second].map(String::as_str));
        assert_eq!(ids(&list(&["--state", "denied"])), [&first].map(String::as_str));
        assert_eq!(ids(&list(&["--flow", "f1"])), [&second].map(String::as_str));
        assert_eq!(ids(&list(&["--by", "user:bob"])), [&third].map(String::as_str));
        assert_eq!(ids(&list(&["--state", "spent"])), [""; 0]);
        let cut = books.home.run(&["approvals", "list", "--limit", "2"]);
        assert_eq!((cut.code, cut.out.lines().count()), (Some(0), 3), "a header and two rows: {cut:?}");
        assert!(cut.err.contains("more than 2"), "{cut:?}");
        let empty = books.home.run(&["approvals", "list", "--flow", "none"]);
        assert_eq!((empty.code, empty.out.as_str()), (Some(0), "There are no such approvals.\n"));
    }

    fn what_will_run_is_shown_before_it_is_answered(books: Books) {
        let id = books.ask(in_flow(1, "f1"));
        let text = books.home.run(&["approvals", "show", &id]).out;
        for part in [
            &id, "pending", "vault.move", "\"to\": \"/2026\"", "[redacted:1f0c22ab]", "Moving needs approval.",
            "user:ann agent:scribe", "acme", "f1", "answer by:",
        ] {
            assert!(text.contains(part), "{part}: {text}");
        }
        let shown = books.home.json(&["approvals", "show", &id]);
        assert_eq!(shown["shown"]["arguments"], json!({"to": "/2026", "token": "[redacted:1f0c22ab]"}));
        assert_eq!((&shown["state"], &shown["asked_by"]), (&json!("pending"), &json!("user:ann agent:scribe")));
        assert_eq!(shown["arguments_digest"], json!("01".repeat(32)));
        assert_eq!((&shown["wide"], &shown["four_eyes"]), (&Value::Null, &json!(false)));
    }

    fn nobody_grants_for_longer_than_an_approval_lasts(books: Books) {
        let id = books.ask(asking(1));
        let granted = books.home.json(&["approvals", "approve", &id, "--until", "100d"]);
        let left = granted["expires"].as_i64().unwrap() - now();
        assert!((59 * 60_000..=60 * 60_000).contains(&left), "{left}");
    }

    fn a_yes_is_for_one_call_and_names_who_said_it(books: Books) {
        let id = books.ask(asking(1));
        let granted = books.home.json(&["approvals", "approve", &id, "--by", "kim", "--until", "15m"]);
        assert_eq!((&granted["state"], &granted["answered_by"]), (&json!("granted"), &json!("operator:kim")));
        assert_eq!(granted["uses_left"], json!(1));
        let left = granted["expires"].as_i64().unwrap() - now();
        assert!((14 * 60_000..=15 * 60_000).contains(&left), "{left}");
        let binding = asking(1).binding;
        let (taken, again) = books.with(async |store| {
            let approvals = store.approvals();
            let other = Binding { arguments_digest: [9; 32], ..binding.clone() };
            assert!(approvals.take(&other, now()).await.unwrap().is_none(), "other arguments are another call");
            (approvals.take(&binding, now()).await.unwrap(), approvals.take(&binding, now()).await.unwrap())
        });
        assert!(taken.is_some() && again.is_none());
        assert_eq!(books.home.json(&["approvals", "show", &id])["state"], json!("spent"));
        no(books, &["approvals", "approve", &id], "answered");
    }

    fn a_no_keeps_its_reason(books: Books) {
        let id = books.ask(asking(1));
        let said = books.home.run(&["approvals", "deny", &id, "--by", "kim", "--reason", "not\u{1b}[2J today"]);
        assert_eq!((said.code, said.out.as_str()), (Some(0), &*format!("{id} is denied by operator:kim\n")));
        let shown = books.home.run(&["approvals", "show", &id]);
        assert!(shown.out.contains("reason:      not\\u{1b}[2J today"), "{shown:?}");
        assert_eq!(books.home.json(&["approvals", "show", &id])["reason"], json!("not\u{1b}[2J today"));
        no(books, &["approvals", "deny", &id], "answered");
        no(books, &["approvals", "approve", &id], "answered");
    }

    fn who_allowed_what_is_on_record(books: Books) {
        let (yes, no) = (books.ask(asking(1)), books.ask(asking(2)));
        books.home.json(&["approvals", "approve", &yes, "--by", "kim"]);
        books.home.json(&["approvals", "deny", &no, "--by", "kim", "--reason", "use ghp_0123456789abcdefghijABCDEFGHIJ012345 no more"]);
        let late = books.home.run(&["approvals", "approve", &no, "--by", "lou"]);
        assert_eq!(late.code, Some(1));
        let records = books.home.run(&["ledger", "export"]).out;
        let records: Vec<Value> = records.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()["record"].clone()).collect();
        let answers: Vec<&Value> = records.iter().filter(|record| record["kind"] == "answer").collect();
        let told: Vec<_> = answers.iter().map(|record| [&record["principal"], &record["outcome"], &record["approval"], &record["code"]]).collect();
        let kim = json!("operator:kim");
        assert_eq!(told, [
            [&kim, &json!("granted"), &json!(yes), &Value::Null],
            [&kim, &json!("denied"), &json!(no), &Value::Null],
            // said, and then refused: somebody had answered
            [&json!("operator:lou"), &json!("granted"), &json!(no), &Value::Null],
            [&json!("operator:lou"), &json!("refused"), &json!(no), &json!("answered")],
        ]);
        assert_eq!((&answers[0]["tool"], &answers[0]["tenant"]), (&json!("vault.move"), &json!("acme")));
        let said = &answers[0]["input"];
        assert_eq!((&said["answer"], &said["uses"], &said["asked_by"]), (&json!("yes"), &json!(1), &json!("user:ann agent:scribe")));
        assert_eq!(said["shown"]["arguments"]["to"], json!("/2026"), "what the approver saw");
        assert_eq!(answers[1]["input"]["reason"], json!("use [redacted] no more"));
        let tail = books.home.run(&["ledger", "tail", "--outcome", "granted"]).out;
        assert!(tail.contains("answer    vault.move  by operator:kim") && tail.contains(&format!("approval={yes}")), "{tail}");
        assert_eq!(books.home.run(&["ledger", "verify"]).code, Some(0));
        let replayed = books.home.run(&["replay"]);
        assert!(replayed.out.contains("0 decisions"), "an answer is not a decision of the gate: {replayed:?}");
    }

    fn what_is_not_pending_any_more_can_not_be_answered(books: Books) {
        let expired = books.ask(NewApproval { asked_at: now() - 2_000, expires: now() - 1_000, ..asking(1) });
        let new = NewFlow {
            name: "work".into(), owner: "user:ann".into(), tenant: Some("acme".into()), allowlist: None,
            opened: now(), expires: now() + 60_000,
        };
        let flow = books.with(async |store| store.flows().open(new).await.unwrap().id);
        let ended = books.ask(in_flow(2, &flow));
        books.with(async |store| store.flows().close(&Scope::Everything, &flow, now()).await.unwrap());
        for (id, code) in [(expired.as_str(), "expired"), (&ended, "ended"), ("appr_unknown", "unknown")] {
            no(books, &["approvals", "approve", id], code);
            no(books, &["approvals", "deny", id], code);
        }
        assert_eq!(ids(&books.home.json(&["approvals", "list", "--state", "ended"])), [ended.as_str()]);
        let unknown = books.home.run(&["approvals", "show", "appr_\u{1b}x", "--json"]);
        assert_eq!((unknown.code, unknown.json()["found"].clone()), (Some(1), json!(false)));
    }

    fn a_wide_question_is_granted_as_wide_as_it_was_asked_and_no_wider(books: Books) {
        let wide = |number: u8| NewApproval { wide: Some(Wide { uses: 3, until: now() + 600_000 }), ..in_flow(number, &format!("f{number}")) };
        let (first, second) = (books.ask(wide(1)), books.ask(wide(2)));
        let granted = books.home.json(&["approvals", "approve", &first]);
        assert_eq!((&granted["uses_left"], &granted["expires"]), (&json!(3), &granted["wide"]["until"]));
        no(books, &["approvals", "approve", &second, "--until", "7d"], "too_wide");
        let shown = books.home.run(&["approvals", "show", &second]).out;
        assert!(shown.contains("with ANY arguments, up to 3 times until 2") && shown.contains("in flow f2"), "{shown}");
        assert_eq!(books.home.json(&["approvals", "approve", &second, "--until", "1m"])["state"], json!("granted"));
    }
}

#[test]
fn the_user_of_the_system_answers_where_nobody_is_named() {
    let books = Books::sqlite();
    for (number, user, expected) in
        [(1, Some("sam"), "operator:sam"), (2, Some(""), "operator:operator"), (3, None, "operator:operator")]
    {
        let id = books.ask(NewApproval { four_eyes: true, ..asking(number) });
        let mut command = books.home.command(&["approvals", "approve", &id, "--json"]);
        user.map(|user| command.env("USER", user));
        let ran = Ran::of(&mut command);
        assert_eq!((ran.code, &ran.json()["answered_by"]), (Some(0), &json!(expected)), "{ran:?}");
    }
    let granted = books.with(async |store| {
        let filter = toolgate_store::ApprovalFilter { state: Some(ApprovalState::Granted), ..Default::default() };
        store.approvals().list(&Scope::Everything, &filter, now(), &Default::default()).await.unwrap().items.len()
    });
    assert_eq!(granted, 3);
}

#[test]
fn wrong_use_is_two_and_a_place_without_a_store_is_wrong_use() {
    let books = Books::sqlite();
    let id = books.ask(asking(1));
    let misuse: [&[&str]; 8] = [
        &["approvals"],
        &["approvals", "list", "--state", "open"],
        &["approvals", "list", "--limit", "0"],
        &["approvals", "show"],
        &["approvals", "approve", &id, "--until", "soon"],
        &["approvals", "approve", &id, "--by", " "],
        &["approvals", "deny", &id, "--by", "a\nb"],
        &["approvals", "list", "--database", "mysql://x"],
    ];
    for command in misuse {
        let ran = books.home.run(command);
        assert_eq!((ran.code, ran.out.as_str()), (Some(2), ""), "{command:?}: {ran:?}");
        assert!(!ran.err.is_empty(), "{command:?}");
    }
    assert_eq!(books.home.json(&["approvals", "show", &id])["state"], json!("pending"), "nothing was answered");
    let nowhere = Home::bare();
    let commands: [&[&str]; 8] = [
        &["approvals", "list"],
        &["approvals", "approve", "appr_1"],
        &["ledger", "verify"],
        &["ledger", "tail"],
        &["ledger", "export"],
        &["ledger", "checkpoint"],
        &["receipts", "list"],
        &["receipts", "show", "rcpt_1"],
    ];
    for command in commands {
        let ran = nowhere.run(command);
        assert_eq!((ran.code, ran.out.as_str()), (Some(2), ""), "{command:?}: {ran:?}");
        assert!(ran.err.contains("there is no store at") && ran.err.contains("--data"), "{ran:?}");
    }
    assert!(!nowhere.path(".toolgate").exists(), "looking leaves nothing behind");
    let fine = nowhere.run(&["approvals", "list", "--data", books.home.path(".toolgate").to_str().unwrap()]);
    assert_eq!((fine.code, fine.out.lines().count()), (Some(0), 2), "a header and a row: {fine:?}");
}

#[test]
fn a_store_that_does_not_answer_is_no_wrong_use() {
    let home = Home::bare().on("postgres://nobody@127.0.0.1:1/none");
    let ran = home.run(&["approvals", "list"]);
    assert_eq!((ran.code, ran.out.as_str()), (Some(1), ""), "{ran:?}");
    assert!(ran.err.contains("database"), "{ran:?}");
}
