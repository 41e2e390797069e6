//! Verifying with the command: what was changed is named, and the exit code is 1.

use std::{fs, path::PathBuf};

use serde_json::{Value, json};

use super::bed::{
    books::{Books, entries, on_both},
    home::Ran,
};

fn verify(books: &Books, more: &[&str]) -> (Option<i32>, Value) {
    let ran = books.home.run(&[&["ledger", "verify", "--json"], more].concat());
    (ran.code, ran.json())
}

fn in_words(books: &Books, more: &[&str]) -> Ran {
    books.home.run(&[&["ledger", "verify"], more].concat())
}

/// The newest of the ledger's files.
fn file(books: &Books) -> PathBuf {
    let folder = fs::read_dir(books.home.path(".toolgate/toolgate-ledger")).unwrap();
    let paths = folder.map(|entry| entry.unwrap().path());
    paths.filter(|path| path.extension().is_some_and(|extension| extension == "jsonl")).max().unwrap()
}

/// Changes stored text behind the store's back, as whoever can write to the file can: the same number of bytes.
fn edit(books: &Books, from: &str, to: &str) {
    assert_eq!(from.len(), to.len());
    let path = file(books);
    let mut bytes = fs::read(&path).unwrap();
    let places: Vec<_> = bytes
        .windows(from.len())
        .enumerate()
        .filter(|(_, window)| *window == from.as_bytes())
        .map(|(at, _)| at)
        .collect();
    assert!(!places.is_empty(), "{from} is stored");
    for at in places {
        bytes[at..at + from.len()].copy_from_slice(to.as_bytes());
    }
    fs::write(path, bytes).unwrap();
}

on_both! {
    fn a_sound_ledger_is_sound_by_itself_and_against_checkpoints(books: Books) {
        books.record(entries(3));
        let made = books.home.json(&["ledger", "checkpoint", "--to", "kept"]);
        let key = made["public_key"].as_str().unwrap();
        assert_eq!((key.len(), &made["to"], &made["checkpoint"]["key"]), (64, &json!("kept"), &json!(key)));
        books.record(entries(2));
        let line = books.home.run(&["ledger", "checkpoint"]).out;
        assert_eq!((line.lines().count(), line.matches("\"seq\"").count()), (1, 2), "{line}");
        let said = books.home.run(&["ledger", "checkpoint", "--to", "kept"]);
        assert!(said.out.contains(key) && said.out.contains("2 writers"), "{said:?}");
        assert_eq!(fs::read_to_string(books.home.path("kept")).unwrap().lines().count(), 2);

        let (code, report) = verify(books, &[]);
        assert_eq!(
            (code, report),
            (Some(0), json!({"sound": true, "error": null, "records": 7, "writers": 2, "found": 0, "recoveries": 0, "archived": null, "findings": [], "checkpoints": null}))
        );
        for (more, records) in [
            (&["--checkpoints", "kept"][..], 7),
            (&["--checkpoints", "kept", "--since-last"], 2),
            (&["--checkpoints", "kept", "--public-key", key], 7),
            (&["--checkpoints", "kept", "--public-key", &key.to_uppercase()], 7),
        ] {
            let (code, report) = verify(books, more);
            assert_eq!((code, &report["records"], &report["checkpoints"]["trusted"]), (Some(0), &json!(records), &json!(2)), "{more:?}: {report}");
        }
        assert!(in_words(books, &[]).out.starts_with("Sound: 7 records of 2 writers read.\n"));
    }

    fn a_checkpoint_of_what_is_not_there_names_every_record_that_is_missed(books: Books) {
        let other = Books::sqlite();
        let writer = other.record(entries(5));
        let made = other.home.json(&["ledger", "checkpoint", "--to", "kept"]);
        books.record(entries(1));
        fs::copy(other.home.path("kept"), books.home.path("kept")).unwrap();
        let key = made["public_key"].as_str().unwrap();
        for more in [&[][..], &["--since-last"]] {
            let (code, report) = verify(books, &[&["--checkpoints", "kept", "--public-key", key], more].concat());
            let found = &report["findings"][0];
            assert_eq!((code, &found["what"], &found["seq"], &found["writer"]), (Some(1), &json!("truncated"), &json!(5), &json!(writer)), "{report}");
        }
        let (code, report) = verify(books, &["--checkpoints", "kept"]);
        assert_eq!((code, &report["checkpoints"]["trusted"]), (Some(1), &json!(0)), "another store's key: {report}");
        assert!(report["checkpoints"]["bad"][0]["message"].as_str().unwrap().contains("another key"), "{report}");
    }
}

#[test]
fn an_edited_record_is_named_in_words_and_for_programs() {
    let books = Books::sqlite();
    let writer = books.record(entries(9));
    edit(&books, "/b/c5", "/X/c5");
    let said = in_words(&books, &[]);
    assert_eq!((said.code, said.err.as_str()), (Some(1), ""));
    assert!(
        said.out.starts_with(&format!(
            "writer {writer}, record 5: its text was changed after it was written\nNot sound: 1 finding."
        )),
        "{said:?}"
    );
    let (code, report) = verify(&books, &[]);
    let message = format!("writer {writer}, record 5: its text was changed after it was written");
    assert_eq!((code, &report["sound"], &report["found"]), (Some(1), &json!(false), &json!(1)));
    assert_eq!(report["findings"], json!([{"writer": writer, "seq": 5, "what": "edited", "message": message}]));
}

#[test]
fn an_older_file_put_back_is_found_by_the_store_and_by_a_checkpoint() {
    let books = Books::sqlite();
    books.record(entries(2));
    let (ledger, old) = (file(&books), books.home.path("old"));
    fs::copy(&ledger, &old).unwrap();
    let writer = books.record(entries(3));
    books.home.json(&["ledger", "checkpoint", "--to", "kept"]);
    assert_eq!(verify(&books, &["--checkpoints", "kept"]).0, Some(0));
    fs::copy(&old, &ledger).unwrap();
    let alone = in_words(&books, &[]);
    assert_eq!(alone.code, Some(1), "{alone:?}");
    assert!(alone.out.contains(&format!("writer {writer}, record 3: it is known from the store")), "{alone:?}");
    assert!(alone.out.contains("not known without --checkpoints"), "{alone:?}");
    for more in [&["--checkpoints", "kept"][..], &["--checkpoints", "kept", "--since-last"]] {
        let (code, report) = verify(&books, more);
        assert_eq!(
            (code, &report["findings"][0]["what"], &report["findings"][0]["writer"]),
            (Some(1), &json!("truncated"), &json!(writer)),
            "{report}"
        );
    }
}

#[test]
fn a_ledger_that_is_gone_or_holds_something_else_is_not_sound() {
    let books = Books::sqlite();
    let ledger = books.home.path(".toolgate/toolgate-ledger");
    books.record(entries(2));
    fs::write(file(&books), vec![b'x'; 8192]).unwrap();
    let (code, report) = verify(&books, &[]);
    assert_eq!((code, &report["sound"]), (Some(1), &json!(false)), "{report}");
    assert_eq!(report["findings"][0]["what"], "unreadable", "{report}");
    fs::remove_dir_all(&ledger).unwrap();
    let said = in_words(&books, &[]);
    assert_eq!(said.code, Some(1));
    assert!(said.out.contains("no ledger here"), "{said:?}");
    assert!(!ledger.exists(), "verifying does not make one");
}

#[test]
fn a_file_of_checkpoints_that_was_changed_is_found_and_the_rest_is_held_against_the_ledger() {
    let books = Books::sqlite();
    books.record(entries(2));
    for _ in 0..2 {
        books.home.json(&["ledger", "checkpoint", "--to", "kept"]);
    }
    let kept = fs::read_to_string(books.home.path("kept")).unwrap();
    let mut lines: Vec<String> = kept.lines().map(str::to_owned).collect();
    lines[0] = lines[0].replace("\"seq\":2", "\"seq\":1");
    lines.insert(1, "not a checkpoint".to_owned());
    books.home.write("kept", &lines.join("\n"));
    let (code, report) = verify(&books, &["--checkpoints", "kept"]);
    assert_eq!(
        (code, &report["found"], &report["checkpoints"]["trusted"]),
        (Some(1), &json!(0), &json!(1)),
        "{report}"
    );
    let bad: Vec<_> = report["checkpoints"]["bad"].as_array().unwrap().iter().map(|bad| bad["line"].clone()).collect();
    assert_eq!(bad, [json!(1), json!(2)]);
    let said = in_words(&books, &["--checkpoints", "kept"]);
    assert!(said.out.contains("kept, line 1: the checkpoint's signature does not fit"), "{said:?}");
    // A line that was cut off does not spoil the next.
    books.home.json(&["ledger", "checkpoint", "--to", "kept"]);
    assert_eq!(verify(&books, &["--checkpoints", "kept"]).1["checkpoints"]["trusted"], json!(2));
    books.home.write("kept", "\n");
    let (code, report) = verify(&books, &["--checkpoints", "kept"]);
    assert_eq!(code, Some(1), "an emptied file holds nothing against anything: {report}");
}

#[test]
fn wrong_files_and_keys_are_wrong_use() {
    let books = Books::sqlite();
    books.record(entries(1));
    books.home.json(&["ledger", "checkpoint", "--to", "kept"]);
    let misuse: [&[&str]; 4] = [
        &["--checkpoints", "missing"],
        &["--checkpoints", "kept", "--public-key", "abc"],
        &["--since-last"],
        &["--public-key", "abc"],
    ];
    for more in misuse {
        let ran = in_words(&books, more);
        assert_eq!((ran.code, ran.out.as_str()), (Some(2), ""), "{more:?}: {ran:?}");
        assert!(!ran.err.is_empty());
    }
}
