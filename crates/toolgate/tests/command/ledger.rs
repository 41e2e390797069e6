//! Reading the ledger with the command: tail, export, and that reading leaves no trace in it.

use std::process::Stdio;

use serde_json::{Value, json};
use toolgate_store::ledger::{Durability, Entry, Filter, LedgerSettings, Outcome};

use super::bed::{
    books::{Books, entries, entry, now, on_both},
    served::Said,
    wait::until,
};

const THEN: i64 = 1_767_225_600_000;

fn lines(books: &Books, command: &[&str]) -> Vec<Value> {
    let ran = books.home.run(command);
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""), "{command:?}: {ran:?}");
    ran.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn calls(lines: &[Value]) -> Vec<&str> {
    lines.iter().map(|line| line["record"]["call"].as_str().unwrap()).collect()
}

/// Four calls of which each differs in something.
fn mixed() -> Vec<Entry> {
    vec![
        Entry {
            tool: "vault.drop".into(),
            code: Some("forbidden".into()),
            outcome: Outcome::Denied,
            ..entry("c1", THEN + 1_000)
        },
        Entry { principal: "user:bob".into(), ..entry("c2", THEN + 2_000) },
        Entry { flow: Some("f1".into()), ..entry("c3", THEN + 3_000) },
        Entry { tenant: Some("other".into()), ..entry("c4", THEN + 4_000) },
    ]
}

on_both! {
    fn each_filter_limits_what_is_shown_and_exported(books: Books) {
        books.record(mixed());
        for (filter, expected) in [
            (&["--tool", "vault.drop"][..], &["c1"][..]),
            (&["--outcome", "denied"], &["c1"]),
            (&["--principal", "user:bob"], &["c2"]),
            (&["--flow", "f1"], &["c3"]),
            (&["--tenant", "other"], &["c4"]),
            (&["--call", "c3"], &["c3"]),
            (&["--since", "2026-01-01T00:00:03Z"], &["c3", "c4"]),
            (&["--since", "2026-01-01T01:00:02+01:00", "--until", "2026-01-01T00:00:03Z"], &["c2"]),
            (&["--since", "1h"], &[]),
            (&["--tool", "vault.move", "--until", "1s"], &["c2", "c3", "c4"]),
        ] {
            for command in [&["ledger", "tail", "--json"][..], &["ledger", "export"], &["ledger", "export", "--json"]] {
                assert_eq!(calls(&lines(books, &[command, filter].concat())), expected, "{command:?} {filter:?}");
            }
        }
        assert_eq!(calls(&lines(books, &["ledger", "tail", "--limit", "2", "--json"])), ["c3", "c4"]);
        let text = books.home.run(&["ledger", "tail", "--all"]).out;
        assert!(text.lines().next().unwrap().ends_with(" begins"), "{text}");
        let text = books.home.run(&["ledger", "tail"]).out;
        assert!(!text.contains(" begins") && text.lines().count() == 4, "{text}");
        assert_eq!(books.home.run(&["ledger", "tail", "--limit", "4"]).out, text, "writers that begin do not count");
        assert!(
            text.contains("2026-01-01 00:00:01.000Z  denied          read      vault.drop  by user:ann  tenant=acme  code=forbidden  5.120ms  call=c1\n"),
            "{text}"
        );
    }

    fn an_export_is_what_is_stored_in_as_many_pages_as_it_takes(books: Books) {
        let writer = books.with(async |store| {
            let ledger = store.ledger(LedgerSettings::default()).await.unwrap();
            let pending: Vec<_> = entries(1_200).into_iter().map(|entry| ledger.submit(entry, Durability::Ordered)).collect();
            for pending in pending {
                pending.await.unwrap();
            }
            ledger.close().await;
            ledger.writer().to_owned()
        });
        let exported = lines(books, &["ledger", "export"]);
        assert_eq!(exported.len(), 1_201);
        assert!(exported.iter().zip(0..).all(|(line, seq)| line["record"]["seq"] == json!(seq) && line["record"]["writer"] == json!(writer)));
        assert!(exported.windows(2).all(|pair| pair[0]["hash"] == pair[1]["previous"]));

        let documents = lines(books, &["ledger", "export", "--format", "otel"]);
        let logs: Vec<&Value> = documents
            .iter()
            .flat_map(|document| document["resourceLogs"][0]["scopeLogs"][0]["logRecords"].as_array().unwrap())
            .collect();
        assert!(documents.len() > 1 && logs.len() == 1_201, "{}", documents.len());
        assert_eq!(documents[0]["resourceLogs"][0]["resource"]["attributes"], json!([{"key": "service.name", "value": {"stringValue": "toolgate"}}]));
        let log = logs[1];
        assert_eq!((&log["timeUnixNano"], &log["severityNumber"]), (&json!("1767225601000000000"), &json!(9)));
        let attribute = |key: &str| {
            let found = log["attributes"].as_array().unwrap().iter().find(|attribute| attribute["key"] == json!(key));
            found.unwrap_or_else(|| panic!("{key}: {log}"))["value"].clone()
        };
        assert_eq!(attribute("gen_ai.tool.name"), json!({"stringValue": "vault.move"}));
        assert_eq!(attribute("toolgate.seq"), json!({"intValue": "1"}));
        assert_eq!(attribute("toolgate.hash"), json!({"stringValue": exported[1]["hash"]}));
        let body: Value = serde_json::from_str(log["body"]["stringValue"].as_str().unwrap()).unwrap();
        assert_eq!(body, exported[1]["record"]);
    }

    fn who_follows_sees_what_is_recorded_from_then_on(books: Books) {
        books.record(entries(3));
        let mut command = books.home.command(&["ledger", "tail", "--follow", "--limit", "1", "--tool", "vault.move", "--json"]);
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let said = Said::by(child.stdout.take().unwrap());
        let seen = |count: usize| {
            until("it is shown", || {
                let text = said.so_far();
                let whole: Vec<Value> = text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
                (whole.len() >= count).then_some(whole)
            })
        };
        seen(1);
        books.record(vec![entry("new1", now()), Entry { tool: "other".into(), ..entry("new2", now()) }, entry("new3", now())]);
        assert_eq!(calls(&seen(3)), ["c3", "new1", "new3"]);
        child.kill().unwrap();
        child.wait().unwrap();
    }

    fn reading_writes_nothing_into_the_ledger(books: Books) {
        let missing = books.home.run(&["ledger", "tail"]);
        assert_eq!((missing.code, missing.out.as_str()), (Some(0), ""));
        assert!(missing.err.contains("no ledger"), "{missing:?}");
        let verified = books.home.run(&["ledger", "verify", "--json"]);
        assert_eq!((verified.code, &verified.json()["sound"]), (Some(1), &json!(false)), "what is not there is not sound");
        assert_eq!(books.home.run(&["ledger", "checkpoint"]).code, Some(1));
        assert_eq!(books.home.run(&["ledger", "export"]).out, "");
        assert!(books.with(async |store| store.ledger_reader().await.unwrap().is_none()), "reading made none");

        let writer = books.record(entries(3));
        for command in [&["tail"][..], &["export"], &["verify"], &["checkpoint"], &["checkpoint", "--to", "file"]] {
            let ran = books.home.run(&[&["ledger"], command].concat());
            assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""), "{command:?}: {ran:?}");
        }
        let records = books.with(async |store| {
            let ledger = store.ledger_reader().await.unwrap().unwrap();
            ledger.page(&Filter::default(), i64::MIN, 100).await.unwrap()
        });
        assert_eq!(records.len(), 4);
        assert!(records.iter().all(|record| record.writer == writer));
    }
}

#[test]
fn wrong_times_words_and_formats_are_wrong_use() {
    let books = Books::sqlite();
    books.record(entries(1));
    let misuse: [&[&str]; 7] = [
        &["ledger"],
        &["ledger", "tail", "--since", "yesterday"],
        &["ledger", "tail", "--until", "2026-02-30T00:00:00Z"],
        &["ledger", "tail", "--outcome", "good"],
        &["ledger", "tail", "--limit", "0"],
        &["ledger", "export", "--format", "xml"],
        &["ledger", "checkpoint", "--to", "missing/folder/file"],
    ];
    for command in misuse {
        let ran = books.home.run(command);
        assert_eq!((ran.code, ran.out.as_str()), (Some(2), ""), "{command:?}: {ran:?}");
        assert!(!ran.err.is_empty(), "{command:?}");
    }
}

#[test]
fn a_reader_that_stops_early_ends_an_export() {
    let books = Books::sqlite();
    books.record(entries(50));
    for command in [&["ledger", "export"][..], &["ledger", "tail", "--follow"]] {
        let mut child = books.home.command(command).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        let ended = child.wait_with_output().unwrap();
        assert_eq!(
            (ended.status.code(), String::from_utf8_lossy(&ended.stderr).as_ref()),
            (Some(0), ""),
            "{command:?}"
        );
    }
}

#[test]
fn what_a_caller_wrote_does_not_steer_the_terminal() {
    let books = Books::sqlite();
    books.record(vec![Entry { principal: "user:\u{1b}[2J\u{202e}eve\nx".into(), ..entry("c1", THEN) }]);
    let text = books.home.run(&["ledger", "tail", "--call", "c1"]).out;
    assert!(text.contains("by user:\\u{1b}[2J\\u{202e}eve\\nx  ") && text.lines().count() == 1, "{text:?}");
}
