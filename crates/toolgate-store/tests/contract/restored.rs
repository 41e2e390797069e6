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
    assert_eq!(restored.known - restored.writes, 1);
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
    assert_eq!(text["restored"]["known"], restored.known);
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
