//! Archives by the command: records leave the ledger, their seals are checked alone, and what is left stays sound.

use std::fs;

use serde_json::{Value, json};
use toolgate_store::ledger::LedgerSettings;

use super::bed::books::{Books, entries, entry, on_both};

const BEFORE: &str = "2026-01-01T00:00:04Z";

/// Ten records a second apart, each in a segment of its own where there are segments.
fn fill(books: &Books) {
    let settings = LedgerSettings { segment_bytes: Some(1), ..LedgerSettings::default() };
    books.record_with(settings, entries(10));
}

/// Archives until nothing is left to archive: PostgreSQL keeps records back while older transactions run.
fn archive(books: &Books, to: &str) -> Vec<Value> {
    let mut archived = Vec::new();
    for _ in 0..100 {
        let made = books.home.json(&["ledger", "archive", "--before", BEFORE, "--to", to]);
        archived.extend(made["archives"].as_array().unwrap().clone());
        if archived.iter().map(|one| one["records"].as_u64().unwrap()).sum::<u64>() == 4 {
            return archived;
        }
    }
    panic!("{archived:?}");
}

on_both! {
    fn nothing_to_archive_leaves_no_folder_behind(books: Books) {
        fill(books);
        let early = "2025-01-01T00:00:00Z";
        let run = |to: &str| books.home.json(&["ledger", "archive", "--before", early, "--to", to]);
        assert_eq!(run("made/for/nothing")["archives"], json!([]));
        assert!(!books.home.path("made").exists(), "none of the folders that were made stays");
        fs::create_dir(books.home.path("there")).unwrap();
        run("there/inside");
        assert!(books.home.path("there").exists() && !books.home.path("there/inside").exists());
        run("there");
        assert!(books.home.path("there").exists(), "a folder that was there stays");
    }

    fn old_records_leave_the_ledger_and_are_checked_without_a_store(books: Books) {
        fill(books);
        let archived = archive(books, "kept");
        assert_eq!(archived[0]["first"], "2026-01-01T00:00:01.000Z");
        assert_eq!(archived.last().unwrap()["last"], "2026-01-01T00:00:03.000Z");
        let report = books.home.json(&["ledger", "verify"]);
        assert_eq!((&report["sound"], &report["archived"]["archives"]), (&json!(true), &json!(archived.len())));
        let said = books.home.run(&["ledger", "verify"]).out;
        assert!(said.contains("Records up to 2026-01-01 00:00:03Z ("), "{said}");
        let whole = books.home.json(&["ledger", "verify", "--archives", "kept"]);
        let left = report["records"].as_u64().unwrap();
        assert_eq!((&whole["sound"], whole["records"].as_u64()), (&json!(true), Some(left + 4)));
        let exported = books.home.run(&["ledger", "export"]).out;
        assert!(!exported.contains("\"call\":\"c3\"") && exported.contains("\"call\":\"c4\""), "{exported}");

        let key = books.home.json(&["ledger", "checkpoint"])["public_key"].as_str().unwrap().to_owned();
        let alone = ["ledger", "verify-archive", "kept", "--public-key", &key, "--data", "nowhere"];
        assert_eq!(books.home.json(&alone)["sound"], true);
        let file = books.home.path("kept").join(archived[0]["file"].as_str().unwrap());
        let text = fs::read_to_string(&file).unwrap();
        fs::write(&file, text.replace("user:ann", "user:eve")).unwrap();
        let ran = books.home.run(&alone);
        assert_eq!(ran.code, Some(1));
        assert!(ran.out.contains("NOT SOUND") && ran.out.contains("it is not the file that was sealed"), "{ran:?}");
        assert_eq!(books.home.run(&["ledger", "verify", "--archives", "kept"]).code, Some(1));
        assert_eq!(books.home.run(&["ledger", "verify"]).code, Some(0), "the ledger itself is as it was");
        fs::write(&file, text).unwrap();
        if archived.len() > 2 {
            for lost in [&archived[1]["file"], &archived[1]["seal"]] {
                fs::remove_file(books.home.path("kept").join(lost.as_str().unwrap())).unwrap();
            }
            let ran = books.home.run(&alone);
            assert_eq!(ran.code, Some(1));
            assert!(ran.out.contains("it is not there"), "{ran:?}");
        }
        let other = ["ledger", "verify-archive", "kept", "--public-key", &"0".repeat(64)];
        let ran = books.home.run(&other);
        assert_eq!(ran.code, Some(1));
        assert!(ran.out.contains("another key"), "{ran:?}");
    }
}

#[test]
fn a_ledger_that_is_not_sound_is_not_archived() {
    let books = Books::sqlite();
    fill(&books);
    books.record(vec![entry("last", 1_767_225_700_000)]);
    for file in fs::read_dir(books.home.path(".toolgate/toolgate-ledger")).unwrap() {
        let path = file.unwrap().path();
        let text = fs::read_to_string(&path).unwrap();
        fs::write(&path, text.replace("/b/c2", "/b/x2")).unwrap();
    }
    let ran = books.home.run(&["ledger", "archive", "--before", BEFORE]);
    assert_eq!(ran.code, Some(1));
    assert!(ran.out.contains("not sound"), "{ran:?}");
    let exported = books.home.run(&["ledger", "export"]).out;
    assert!(exported.contains("\"call\":\"c1\""), "nothing was removed");
}

#[test]
fn what_can_not_be_archived_is_said() {
    let books = Books::sqlite();
    let ran = books.home.run(&["ledger", "archive", "--before", "yesterday"]);
    assert_eq!(ran.code, Some(2));
    assert!(ran.err.contains("--before 'yesterday' is no time"), "{ran:?}");
    books.record(entries(3));
    let ran = books.home.run(&["ledger", "archive", "--before", "1d"]);
    assert_eq!(ran.code, Some(0));
    assert!(ran.out.starts_with("Nothing was archived: no segment but the newest"), "{ran:?}");
    let ran = books.home.run(&["ledger", "verify-archive", "nowhere"]);
    assert_eq!(ran.code, Some(1));
    assert!(ran.out.contains("'nowhere' can't be read"), "{ran:?}");
}
