use std::process::{Command, Stdio};

use toolgate_store::{Location, Store, StoreError};

use crate::bed::Bed;

const OPENS: &str = "TOOLGATE_TEST_OPENS";

on_both! {
    async fn what_was_stored_is_there_after_reopening(bed: Bed) {
        let store = bed.open().await;
        let task = store.todo("ann").unwrap().add("milk", None).await.unwrap();
        store.close().await;
        assert_eq!(bed.open().await.todo("ann").unwrap().list().await, Ok(vec![task]));
    }

    async fn a_closed_store_says_so_in_every_clone(bed: Bed) {
        let store = bed.open().await;
        let clone = store.clone();
        clone.ping().await.unwrap();
        store.close().await;
        store.close().await;
        assert_eq!(clone.keys().list().await, Err(StoreError::Closed { operation: "list the API keys" }));
        assert_eq!(clone.keys().revoke("k", 1).await, Err(StoreError::Closed { operation: "revoke an API key" }));
        assert_eq!(clone.ping().await, Err(StoreError::Closed { operation: "reach the database" }));
    }

    async fn many_may_open_a_new_database_at_once(bed: Bed) {
        let opens: Vec<_> = (0..12).map(|_| {
            let location = bed.location();
            tokio::spawn(async move { Store::open(&location).await.map(|store| (store.todo("ann").unwrap(), store)) })
        }).collect();
        let mut stores = Vec::new();
        for open in opens {
            stores.push(open.await.unwrap().unwrap());
        }
        for (todo, _) in &stores {
            todo.add("one each", None).await.unwrap();
        }
        assert_eq!(stores[0].0.list().await.unwrap().len(), 12);
    }

    async fn several_processes_may_open_a_new_database_at_once(bed: Bed) {
        let children: Vec<_> = (0..5).map(|_| {
            Command::new(std::env::current_exe().unwrap())
                .args(["--exact", "opening::a_process_that_opens_and_adds", "--ignored", "--nocapture"])
                .env(OPENS, bed.url())
                .stdout(Stdio::piped())
                .stderr(Stdio::piped())
                .spawn()
                .unwrap()
        }).collect();
        for child in children {
            let output = child.wait_with_output().unwrap();
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        }
        assert_eq!(bed.open().await.todo("ann").unwrap().list().await.unwrap().len(), 5);
    }

    async fn a_changed_migration_is_refused(bed: Bed) {
        bed.open().await.close().await;
        bed.sql("UPDATE toolgate_migrations SET digest = 'edited' WHERE version = 1").await;
        let refused = Store::open(&bed.location()).await.err().unwrap();
        assert!(matches!(refused, StoreError::Migration { .. }) && refused.to_string().contains("was changed"), "{refused}");
    }

    async fn a_database_from_a_newer_program_is_used_if_it_only_has_more(bed: Bed) {
        bed.open().await.close().await;
        bed.sql("INSERT INTO toolgate_migrations (version, name, digest) VALUES (9999, 'future', '')").await;
        let store = bed.open().await;
        store.todo("ann").unwrap().add("milk", None).await.unwrap();
        Store::open_unmigrated(&bed.location()).await.unwrap().ping().await.unwrap();
    }

    async fn a_database_that_only_newer_programs_can_use_is_refused(bed: Bed) {
        bed.open().await.close().await;
        bed.sql("INSERT INTO toolgate_migrations (version, name, digest) VALUES (9999, 'future', '')").await;
        bed.sql("UPDATE toolgate_migrations_compatible SET version = 9999").await;
        let refused = Store::open(&bed.location()).await.err().unwrap();
        assert!(matches!(refused, StoreError::Migration { .. }) && refused.to_string().contains("newer"), "{refused}");
    }
}

on_both! {
    // The newest migrations are taken back, as if an older program had made the database.
    async fn nothing_is_migrated_by_who_only_looks(bed: Bed) {
        bed.open().await.close().await;
        bed.sql("DROP TABLE IF EXISTS store_writes; DROP TABLE ledger_seals").await;
        bed.sql("DROP TABLE ledger_heads; DELETE FROM toolgate_migrations WHERE version >= 14").await;
        for _ in 0..2 {
            let refused = Store::open_unmigrated(&bed.location()).await.err().unwrap();
            assert!(matches!(refused, StoreError::Migration { .. }), "{refused}");
            assert!(refused.to_string().contains("toolgate migrate"), "{refused}");
        }
        Store::migrate(&bed.location()).await.unwrap();
        let store = Store::open_unmigrated(&bed.location()).await.unwrap();
        assert_eq!(store.tenants().is_removed("acme").await, Ok(false));
    }

    async fn who_only_looks_may_make_a_new_database(bed: Bed) {
        let store = Store::open_unmigrated(&bed.location()).await.unwrap();
        store.todo("ann").unwrap().add("milk", None).await.unwrap();
    }
}

#[tokio::test]
#[ignore = "run as a process of its own by several_processes_may_open_a_new_database_at_once"]
async fn a_process_that_opens_and_adds() {
    let Ok(url) = std::env::var(OPENS) else {
        return;
    };
    let store = Store::open(&url.parse().unwrap()).await.unwrap();
    store.todo("ann").unwrap().add("from a process", None).await.unwrap();
    store.close().await;
}

#[cfg(unix)]
#[tokio::test]
async fn sqlite_files_are_for_their_owner_only() {
    use std::os::unix::fs::PermissionsExt;
    let bed = Bed::sqlite();
    let store = bed.open().await;
    store.todo("ann").unwrap().add("a", None).await.unwrap();
    let Location::Sqlite(path) = bed.location() else { panic!() };
    let mode = |path: &std::path::Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(path.parent().unwrap()), 0o700);
    for ending in ["", "-wal", "-shm"] {
        assert_eq!(mode(&path.with_file_name(format!("toolgate.db{ending}"))), 0o600, "{ending}");
    }
}

#[tokio::test]
async fn sqlite_a_file_that_is_something_else_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("notes.txt");
    std::fs::write(&path, "not a database, but long enough to be taken for the start of one\n".repeat(100)).unwrap();
    let refused = Store::open(&Location::Sqlite(path)).await.err().unwrap();
    assert_eq!(refused.to_string(), "could not open the database: file is not a database");
}
