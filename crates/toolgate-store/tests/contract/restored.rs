//! A database that an older copy took the place of: noticed where the ledger stayed, found by a checkpoint where it did not.

use std::{fs, path::Path};

use toolgate_store::{
    Location, Store,
    ledger::{Checkpoint, Filter, Scope, Wrong},
};

use crate::{
    bed::Bed,
    keys::key,
    ledger::{fill, open, whole, wrongs},
};

fn database(bed: &Bed) -> std::path::PathBuf {
    let Location::Sqlite(path) = bed.location() else { panic!("PostgreSQL has no file") };
    path
}

/// The database alone, without its ledger. It is closed, so that nothing is in its write-ahead log.
fn copy(from: &Path, to: &Path) {
    fs::copy(from, to).unwrap();
    for more in ["-wal", "-shm"] {
        let mut path = to.as_os_str().to_owned();
        path.push(more);
        let _ = fs::remove_file(path);
    }
}

async fn close(store: Store, ledger: toolgate_store::ledger::Ledger) {
    ledger.close().await;
    store.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_older_copy_of_the_database_takes_no_writes_until_it_is_accepted() {
    let bed = Bed::sqlite();
    let (store, ledger) = open(&bed).await;
    store.keys().insert(key("k", 1)).await.unwrap();
    close(store, ledger).await;
    let backup = database(&bed).with_file_name("backup.db");
    copy(&database(&bed), &backup);

    let store = bed.open().await;
    assert_eq!(store.restored(), None);
    assert!(store.keys().revoke("k", 5).await.unwrap());
    store.close().await;
    copy(&backup, &database(&bed));

    let (store, ledger) = open(&bed).await;
    let restored = store.restored().expect("one write is missing");
    assert_eq!(restored.missing(), Some(1));
    store.ping().await.unwrap();
    assert_eq!(store.keys().list().await.unwrap().len(), 1, "what is there can be looked at");
    let refused = store.keys().insert(key("another", 2)).await.unwrap_err().to_string();
    assert!(refused.contains("older copy") && refused.contains("toolgate store accept-restore"), "{refused}");

    ledger.record_restore(restored, "ann \"the\" operator", 77).await.unwrap();
    store.accept_restore().await.unwrap();
    assert_eq!(store.restored(), None);
    store.keys().insert(key("another", 2)).await.unwrap();
    close(store, ledger).await;

    let (store, ledger) = open(&bed).await;
    assert_eq!(store.restored(), None, "accepted for good");
    let records = ledger.page(&Filter::default(), i64::MIN, 100).await.unwrap();
    let accepted = records.iter().find(|record| record.text.contains("\"restored\"")).expect("it is on record");
    let text: serde_json::Value = serde_json::from_str(&accepted.text).unwrap();
    assert_eq!((&text["kind"], &text["restored"]["by"]), (&"recovery".into(), &"ann \"the\" operator".into()));
    assert_eq!(text["restored"]["known"], restored.known.unwrap());
    assert!(whole(&ledger).await.is_sound());
}

/// Every later copy is noticed, by the exact number of commits, and an interrupted process is not taken for one.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_newest_database_is_never_taken_for_an_older_one() {
    let bed = Bed::sqlite();
    for round in 0..20 {
        let (store, ledger) = open(&bed).await;
        assert_eq!(store.restored(), None, "{round}");
        let beside = bed.open().await;
        assert_eq!(beside.restored(), None, "{round}");
        let (one, other) = (store.keys(), beside.keys());
        let (left, right) = (format!("left{round}"), format!("right{round}"));
        let (one, other) = tokio::join!(one.insert(key(&left, 1)), other.insert(key(&right, 1)));
        one.unwrap();
        other.unwrap();
        fill(&ledger, 1).await;
        // not closed, as a killed process does not
        drop((store, ledger, beside));
    }
    assert_eq!(bed.open().await.restored(), None);
}

/// Without a ledger nobody can know; and a ledger that begins later starts with what is there.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_database_without_a_ledger_is_taken_as_it_is() {
    let bed = Bed::sqlite();
    let store = bed.open().await;
    store.keys().insert(key("k", 1)).await.unwrap();
    store.close().await;
    let backup = database(&bed).with_file_name("backup.db");
    copy(&database(&bed), &backup);
    let store = bed.open().await;
    store.keys().insert(key("l", 1)).await.unwrap();
    store.close().await;
    copy(&backup, &database(&bed));
    let (store, ledger) = open(&bed).await;
    assert_eq!(store.restored(), None);
    store.keys().insert(key("m", 1)).await.unwrap();
    close(store, ledger).await;
    assert_eq!(bed.open().await.restored(), None);
}

fn beside(database: &Path, ending: &str) -> std::path::PathBuf {
    let mut path = database.as_os_str().to_owned();
    path.push(ending);
    path.into()
}

/// Waits until SQLite has moved its log into the file and begun a new one, which happens every thousand pages.
async fn write_until_the_log_begins_anew(store: &Store, log: &Path) {
    let header = || fs::read(log).unwrap().get(..32).map(<[u8]>::to_vec);
    let before = header();
    for number in 0..5_000 {
        store.todo("ann").unwrap().add(&format!("{number}: {}", "milk ".repeat(200)), None).await.unwrap();
        if header() != before {
            return;
        }
    }
    panic!("the log never begins anew");
}

/// What a killed process leaves: the file and its log, as they are while the store is open.
fn copy_both(from: &Path, to: &Path) {
    copy(from, to);
    fs::copy(beside(from, "-wal"), beside(to, "-wal")).unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_older_file_beside_the_log_of_a_newer_one_is_refused_and_nothing_is_written_to_it() {
    let bed = Bed::sqlite();
    let (file, backup) = (database(&bed), database(&bed).with_file_name("backup.db"));
    let newest = file.with_file_name("newest.db");
    let (store, ledger) = open(&bed).await;
    store.keys().insert(key("k", 1)).await.unwrap();
    close(store, ledger).await;
    copy(&file, &backup);

    let (store, ledger) = open(&bed).await;
    store.keys().revoke("k", 5).await.unwrap();
    write_until_the_log_begins_anew(&store, &beside(&file, "-wal")).await;
    copy_both(&file, &newest);
    close(store, ledger).await;
    // the newest is taken as it is, also after a crash
    copy_both(&newest, &file);
    let store = bed.open().await;
    assert_eq!(store.restored(), None);
    store.close().await;

    copy_both(&newest, &file);
    fs::copy(&backup, &file).unwrap();
    for _ in 0..2 {
        let refused = Store::open(&bed.location()).await.err().expect("the log is of another file").to_string();
        assert!(refused.contains("older copy") && refused.contains("-wal"), "{refused}");
        assert_eq!(fs::read(&file).unwrap(), fs::read(&backup).unwrap(), "the file is left as it is");
        assert_eq!(fs::read(beside(&file, "-wal")).unwrap(), fs::read(beside(&newest, "-wal")).unwrap());
    }
    // without the log it is an older copy like any other
    fs::remove_file(beside(&file, "-wal")).unwrap();
    let (store, ledger) = open(&bed).await;
    let restored = store.restored().expect("writes are missing");
    store.accept_restore().await.unwrap();
    store.keys().revoke("k", 5).await.unwrap();
    assert!(restored.missing() > Some(1));
    close(store, ledger).await;
    assert_eq!(bed.open().await.restored(), None, "accepted for good");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_accepted_copy_is_not_refused_after_a_crash() {
    let bed = Bed::sqlite();
    let (file, backup) = (database(&bed), database(&bed).with_file_name("backup.db"));
    let (store, ledger) = open(&bed).await;
    store.keys().insert(key("k", 1)).await.unwrap();
    close(store, ledger).await;
    copy(&file, &backup);
    let (store, ledger) = open(&bed).await;
    write_until_the_log_begins_anew(&store, &beside(&file, "-wal")).await;
    close(store, ledger).await;
    copy(&backup, &file);

    // somebody who reads keeps the log from being emptied
    let reads = rusqlite::Connection::open(&file).unwrap();
    reads.execute_batch("BEGIN; SELECT * FROM toolgate_migrations").unwrap();
    let store = bed.open().await;
    store.accept_restore().await.unwrap();
    let crashed = file.with_file_name("crashed.db");
    copy_both(&file, &crashed);
    drop(reads);
    store.close().await;
    copy_both(&crashed, &file);
    assert_eq!(bed.open().await.restored(), None);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_older_log_beside_a_newer_file_is_refused_and_does_not_reach_the_file() {
    let bed = Bed::sqlite();
    let file = database(&bed);
    let older = file.with_file_name("older.db");
    let (store, ledger) = open(&bed).await;
    store.keys().insert(key("k", 1)).await.unwrap();
    copy_both(&file, &older);
    store.keys().revoke("k", 5).await.unwrap();
    close(store, ledger).await;

    let newest = fs::read(&file).unwrap();
    fs::copy(beside(&older, "-wal"), beside(&file, "-wal")).unwrap();
    let refused = Store::open(&bed.location()).await.err().expect("the log is older").to_string();
    assert!(refused.contains("-wal") && refused.contains("older than the file"), "{refused}");
    assert_eq!(fs::read(&file).unwrap(), newest, "the newest file is left as it is");
    fs::remove_file(beside(&file, "-wal")).unwrap();
    let store = bed.open().await;
    assert_eq!(store.restored(), None);
    assert!(store.keys().list().await.unwrap().iter().all(|key| key.revoked_at == Some(5)));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_older_file_with_its_own_log_takes_no_writes_until_it_is_accepted() {
    let bed = Bed::sqlite();
    let file = database(&bed);
    let older = file.with_file_name("older.db");
    let (store, ledger) = open(&bed).await;
    store.keys().insert(key("k", 1)).await.unwrap();
    copy_both(&file, &older);
    store.keys().revoke("k", 5).await.unwrap();
    close(store, ledger).await;
    copy_both(&older, &file);

    let store = bed.open().await;
    assert!(store.restored().unwrap().missing() >= Some(1));
    store.accept_restore().await.unwrap();
    store.keys().revoke("k", 6).await.unwrap();
    store.close().await;
    assert_eq!(bed.open().await.restored(), None);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_ledger_with_records_that_lost_its_count_is_treated_like_one_with_a_higher_count() {
    for damage in [None, Some(""), Some("no number")] {
        let bed = Bed::sqlite();
        let count = bed.ledger_folder().join("store.writes");
        let (store, ledger) = open(&bed).await;
        assert!(count.exists(), "there before the first record");
        fill(&ledger, 1).await;
        drop((store, ledger));
        match damage {
            None => fs::remove_file(&count).unwrap(),
            Some(text) => fs::write(&count, text).unwrap(),
        }

        let (store, ledger) = open(&bed).await;
        let restored = store.restored().expect("nobody knows how many writes there were");
        assert_eq!(restored.known, None);
        let refused = store.keys().insert(key("k", 2)).await.unwrap_err().to_string();
        assert!(refused.contains("store.writes") && refused.contains("toolgate store accept-restore"), "{refused}");
        ledger.record_restore(restored, "ann", 77).await.unwrap();
        store.accept_restore().await.unwrap();
        store.keys().insert(key("k", 2)).await.unwrap();
        close(store, ledger).await;
        let (store, ledger) = open(&bed).await;
        assert_eq!(store.restored(), None, "accepted for good");
        assert!(whole(&ledger).await.is_sound());
        close(store, ledger).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_database_that_is_gone_is_not_made_anew_beside_a_ledger_with_records() {
    for is_count_gone in [false, true] {
        let bed = Bed::sqlite();
        let (store, ledger) = open(&bed).await;
        store.keys().insert(key("k", 1)).await.unwrap();
        fill(&ledger, 1).await;
        close(store, ledger).await;
        fs::remove_file(database(&bed)).unwrap();
        if is_count_gone {
            fs::remove_file(bed.ledger_folder().join("store.writes")).unwrap();
        }
        for _ in 0..2 {
            let store = bed.open().await;
            assert_eq!(store.restored().map(|restored| restored.writes), Some(0), "{is_count_gone}");
            store.keys().insert(key("k", 1)).await.unwrap_err();
            store.close().await;
        }
    }
}

/// A program that did not count made this database and its ledger.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_database_of_a_program_that_did_not_count_is_taken_as_it_is_once() {
    let bed = Bed::sqlite();
    let (store, ledger) = open(&bed).await;
    fill(&ledger, 1).await;
    close(store, ledger).await;
    bed.sql("DROP TABLE store_writes; DELETE FROM toolgate_migrations WHERE version >= 16").await;
    let count = bed.ledger_folder().join("store.writes");
    fs::remove_file(&count).unwrap();
    Store::migrate(&bed.location()).await.unwrap();
    assert_eq!(bed.open().await.restored(), None, "counted from here on");
    fs::remove_file(&count).unwrap();
    assert!(bed.open().await.restored().is_some());
}

// A backup of everything, put back as a whole: nothing in it contradicts itself, so only what is elsewhere tells.
on_both! {
    async fn a_restored_whole_is_found_by_a_checkpoint_that_was_kept_elsewhere(bed: Bed) {
        let (store, ledger) = open(&bed).await;
        store.keys().insert(key("k", 1)).await.unwrap();
        fill(&ledger, 3).await;
        let ledger_key = store.ledger_key().await.unwrap();
        close(store, ledger).await;
        back_up(&bed).await;

        let (store, ledger) = open(&bed).await;
        store.keys().revoke("k", 5).await.unwrap();
        fill(&ledger, 2).await;
        let line = ledger.checkpoint(&ledger_key, 60).await.unwrap().to_line();
        close(store, ledger).await;
        put_back(&bed).await;

        let (store, ledger) = open(&bed).await;
        assert_eq!(store.restored(), None, "database and ledger are of one time");
        assert!(whole(&ledger).await.is_sound());
        let trusted = Checkpoint::from_line(&line).unwrap().trusted(&ledger_key.public()).unwrap();
        let found = ledger.verify(Scope::Against(vec![trusted])).await.unwrap();
        assert_eq!(wrongs(&found), [(2, Wrong::Truncated { checkpoint: 60 })]);
    }
}

async fn back_up(bed: &Bed) {
    if bed.is_postgres() {
        bed.until_alone().await;
        return bed.on_server("CREATE DATABASE DATABASE_NAME_backup TEMPLATE DATABASE_NAME").await;
    }
    let folder = database(bed).parent().unwrap().to_owned();
    copy_all(&folder, &folder.with_extension("backup"));
}

async fn put_back(bed: &Bed) {
    if bed.is_postgres() {
        bed.on_server("DROP DATABASE DATABASE_NAME WITH (FORCE)").await;
        return bed.on_server("ALTER DATABASE DATABASE_NAME_backup RENAME TO DATABASE_NAME").await;
    }
    let folder = database(bed).parent().unwrap().to_owned();
    fs::remove_dir_all(&folder).unwrap();
    fs::rename(folder.with_extension("backup"), folder).unwrap();
}

fn copy_all(from: &Path, to: &Path) {
    fs::create_dir(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy_all(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}
