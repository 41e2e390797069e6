//! Archives: records leave the ledger with a seal, and whatever is done to what is left, or to the archives, is found.

use std::{fs, path::Path};

use tempfile::TempDir;
use toolgate_store::{
    Store,
    ledger::{
        Archive, ArchiveError, ArchiveRequest, ArchiveSeal, Checkpoint, Durability, Kind, Ledger, LedgerSettings,
        Scope, Trusted, Wrong,
    },
};

use super::{entry, fill, tamper, whole, wrongs};
use crate::bed::Bed;

/// A ledger whose every group of records is a segment of its own.
async fn open(bed: &Bed) -> (Store, Ledger) {
    let store = bed.open().await;
    let settings = LedgerSettings { segment_bytes: Some(1), ..LedgerSettings::default() };
    let ledger = store.ledger(settings).await.unwrap();
    (store, ledger)
}

async fn archive(bed: &Bed, store: &Store, ledger: &Ledger, before: i64, to: &Path) -> Vec<ArchiveSeal> {
    if bed.is_postgres() {
        tamper::until_settled(bed).await;
    }
    let key = store.ledger_key().await.unwrap();
    let request = ArchiveRequest { before, to: to.to_owned(), time: 50_000 };
    ledger.archive(&key, &request).await.unwrap()
}

async fn archives(store: &Store, folder: &Path) -> Vec<Archive> {
    Archive::open(folder, &store.ledger_key().await.unwrap().public()).unwrap()
}

async fn trusted(store: &Store, ledger: &Ledger, time: i64) -> Trusted {
    let key = store.ledger_key().await.unwrap();
    let line = ledger.checkpoint(&key, time).await.unwrap().to_line();
    Checkpoint::from_line(&line).unwrap().trusted(&key.public()).unwrap()
}

fn folder() -> TempDir {
    tempfile::tempdir().unwrap()
}

fn count(seals: &[ArchiveSeal]) -> u64 {
    seals.iter().map(ArchiveSeal::records).sum()
}

on_both! {
    async fn old_records_move_into_archives_and_the_rest_stays_sound(bed: Bed) {
        let (to, (store, ledger)) = (folder(), open(&bed).await);
        fill(&ledger, 6).await;
        let seals = archive(&bed, &store, &ledger, 1_005, to.path()).await;
        // the genesis record and the records of the times 1001 to 1004
        assert_eq!(count(&seals), 5);
        assert_eq!(seals.last().unwrap().times().1, 1_004);
        let left = ledger.page(&Default::default(), i64::MIN, 100).await.unwrap();
        let kinds: Vec<_> = left.iter().map(|record| (record.seq, record.kind.as_str())).collect();
        let archived: Vec<_> = (0..).zip(&seals).map(|(at, _)| (7 + at, "archive")).collect();
        assert_eq!(kinds, [&[(5, "read"), (6, "read")][..], &archived].concat());
        let found = whole(&ledger).await;
        assert_eq!(wrongs(&found), []);
        let part = found.archived.unwrap();
        assert_eq!((part.archives, part.last_time, part.unread), (seals.len() as u64, 1_004, 0));
        // another process goes on from there
        let (_there, other) = open(&bed).await;
        fill(&other, 2).await;
        assert_eq!(wrongs(&whole(&other).await), []);
        assert!(archive(&bed, &store, &ledger, 1_005, to.path()).await.is_empty(), "nothing is left to archive");
    }

    async fn an_archive_is_verified_alone(bed: Bed) {
        let (to, (store, ledger)) = (folder(), open(&bed).await);
        fill(&ledger, 6).await;
        archive(&bed, &store, &ledger, 1_004, to.path()).await;
        archive(&bed, &store, &ledger, 1_006, to.path()).await;
        let all = archives(&store, to.path()).await;
        for one in &all {
            let found = one.verify().unwrap();
            assert_eq!((found.found, found.records), (0, one.seal().records()), "{:?}", found.findings);
        }
        assert_eq!(all.iter().map(|one| one.seal().records()).sum::<u64>(), 6);
        let path = to.path().join(all.last().unwrap().seal().file());
        let text = fs::read_to_string(&path).unwrap();
        for changed in [
            text.replace("user:ann", "user:eve"),
            text.replace("\"kind\":\"read\"", "\"kind\":\"raed\""),
            text.lines().skip(1).map(|line| format!("{line}\n")).collect(),
            format!("{text}{text}"),
            format!("{text}\n"),
        ] {
            assert_ne!(changed, text);
            fs::write(&path, changed).unwrap();
            assert!(!all.last().unwrap().verify().unwrap().is_sound());
            let found = ledger.verify_with_archives(&[], all.clone()).await.unwrap();
            assert!(!found.is_sound());
        }
        fs::write(&path, text).unwrap();
        assert!(all.last().unwrap().verify().unwrap().is_sound());
        let seal = to.path().join(all[0].seal().seal_file());
        let line = fs::read_to_string(&seal).unwrap();
        fs::write(&seal, line.replace("\"records\":", "\"records\":1")).unwrap();
        let public = store.ledger_key().await.unwrap().public();
        assert!(Archive::open(to.path(), &public).is_err(), "a changed seal is none");
        assert!(Archive::open(&seal, &"0".repeat(64)).is_err(), "nor is one of another key");
    }

    async fn archives_and_ledger_are_verified_together(bed: Bed) {
        let (to, (store, ledger)) = (folder(), open(&bed).await);
        fill(&ledger, 3).await;
        let early = trusted(&store, &ledger, 10).await;
        fill(&ledger, 3).await;
        archive(&bed, &store, &ledger, 1_003, to.path()).await;
        archive(&bed, &store, &ledger, 1_004, to.path()).await;
        let late = trusted(&store, &ledger, 20).await;
        let all = archives(&store, to.path()).await;
        let found = ledger.verify_with_archives(&[early.clone(), late.clone()], all.clone()).await.unwrap();
        assert_eq!(wrongs(&found), []);
        let left = ledger.page(&Default::default(), i64::MIN, 100).await.unwrap().len() as u64;
        assert_eq!(found.records, all.iter().map(|one| one.seal().records()).sum::<u64>() + left);
        // without the archives, what the early checkpoint lists is not read
        let found = ledger.verify(Scope::Against(vec![early.clone(), late.clone()])).await.unwrap();
        assert_eq!(wrongs(&found), []);
        for scope in [Scope::Since(early), Scope::Since(late)] {
            assert_eq!(wrongs(&ledger.verify(scope).await.unwrap()), []);
        }
        for lost in 0..all.len() {
            let mut rest = all.clone();
            rest.remove(lost);
            let found = ledger.verify_with_archives(&[], rest).await.unwrap();
            assert!(found.findings.iter().any(|one| matches!(one.wrong, Wrong::ArchiveLost { .. })), "{lost}");
        }
    }

    async fn what_is_left_is_not_shortened_unnoticed(bed: Bed) {
        let (to, (store, ledger)) = (folder(), open(&bed).await);
        fill(&ledger, 8).await;
        archive(&bed, &store, &ledger, 1_005, to.path()).await;
        let checkpoint = trusted(&store, &ledger, 20).await;
        // the first record after the archive
        if bed.is_postgres() {
            tamper::sql(&bed, "DELETE FROM ledger WHERE seq = 5").await;
        } else {
            fs::remove_file(&tamper::files(&bed)[0]).unwrap();
        }
        assert_eq!(wrongs(&whole(&ledger).await), [(5, Wrong::Missing { until: 5 })]);
        let found = ledger.verify(Scope::Against(vec![checkpoint])).await.unwrap();
        assert_eq!(wrongs(&found), [(5, Wrong::Missing { until: 5 })]);
        let key = store.ledger_key().await.unwrap();
        let request = ArchiveRequest { before: 9_000, to: to.path().to_owned(), time: 60_000 };
        assert!(matches!(ledger.archive(&key, &request).await, Err(ArchiveError::Unsound(_))));
    }

    async fn records_are_not_removed_behind_a_made_up_seal(bed: Bed) {
        let (to, (store, ledger)) = (folder(), open(&bed).await);
        fill(&ledger, 8).await;
        let before = trusted(&store, &ledger, 10).await;
        archive(&bed, &store, &ledger, 1_003, to.path()).await;
        let after = trusted(&store, &ledger, 20).await;
        assert!(before.checkpoint().seal().is_none());
        assert_eq!(after.checkpoint().seal(), Some(archives(&store, to.path()).await.last().unwrap().seal().hash()));
        let is = |found: &toolgate_store::ledger::Verification, wanted: fn(&Wrong) -> bool| {
            found.findings.iter().any(|finding| wanted(&finding.wrong))
        };
        // a seal that somebody changed
        bed.sql("UPDATE ledger_seals SET seal = replace(seal, '\"records\":', '\"records\":1')").await;
        assert!(is(&whole(&ledger).await, |wrong| matches!(wrong, Wrong::SealInvalid { .. })));
        // no seal at all
        bed.sql("DELETE FROM ledger_seals").await;
        assert!(is(&whole(&ledger).await, |wrong| matches!(wrong, Wrong::Missing { .. })));
        let found = ledger.verify(Scope::Against(vec![after])).await.unwrap();
        assert!(is(&found, |wrong| matches!(wrong, Wrong::SealLost { checkpoint: 20 })));
    }

    async fn an_archive_that_no_record_names_does_not_count(bed: Bed) {
        let (to, (store, ledger)) = (folder(), open(&bed).await);
        fill(&ledger, 4).await;
        let seals = archive(&bed, &store, &ledger, 1_003, to.path()).await;
        assert_eq!(wrongs(&whole(&ledger).await), []);
        // as if somebody with the key had sealed once more and recorded nothing
        let (other, empty) = (Bed::sqlite(), folder());
        let (there, elsewhere) = open(&other).await;
        fill(&elsewhere, 4).await;
        let foreign = archive(&other, &there, &elsewhere, 1_003, empty.path()).await;
        assert_ne!(foreign[0].hash(), seals[0].hash());
        let line = foreign.last().unwrap().to_line();
        bed.sql(&format!("UPDATE ledger_seals SET seal = '{line}'")).await;
        let public = there.ledger_key().await.unwrap().public();
        let reader = store.ledger_reader().await.unwrap().unwrap().trusting(&public);
        let found = reader.verify(Scope::Whole).await.unwrap();
        assert!(found.findings.iter().any(|one| one.wrong == Wrong::SealUnrecorded), "{:?}", found.findings);
    }

    async fn an_interrupted_archive_is_finished_by_the_next(bed: Bed) {
        let (to, (store, ledger)) = (folder(), open(&bed).await);
        fill(&ledger, 6).await;
        let kept: Vec<_> = if bed.is_postgres() {
            tamper::sql(&bed, "CREATE TABLE kept AS SELECT * FROM ledger").await;
            Vec::new()
        } else {
            tamper::files(&bed).into_iter().map(|path| (fs::read(&path).unwrap(), path)).collect()
        };
        archive(&bed, &store, &ledger, 1_004, to.path()).await;
        let archived = whole(&ledger).await;
        // as it is when the process ends before the records are removed
        if bed.is_postgres() {
            tamper::sql(&bed, "INSERT INTO ledger SELECT * FROM kept ON CONFLICT DO NOTHING").await;
        }
        for (bytes, path) in kept {
            fs::write(path, bytes).unwrap();
        }
        assert_eq!(whole(&ledger).await, archived, "what is sealed is not read");
        archive(&bed, &store, &ledger, 1_004, to.path()).await;
        let left = ledger.page(&Default::default(), i64::MIN, 100).await.unwrap();
        assert!(left.iter().all(|record| record.time >= 1_004), "{left:?}");
        assert_eq!(wrongs(&whole(&ledger).await), []);
    }

    async fn an_archive_never_replaces_another(bed: Bed) {
        let (to, (store, ledger)) = (folder(), open(&bed).await);
        fill(&ledger, 4).await;
        let first = archive(&bed, &store, &ledger, 1_003, to.path()).await;
        // another ledger, whose archives have the same names
        let other = if bed.is_postgres() { Bed::postgres().await } else { Bed::sqlite() };
        let (there, elsewhere) = open(&other).await;
        fill(&elsewhere, 4).await;
        let key = there.ledger_key().await.unwrap();
        let request = ArchiveRequest { before: 1_003, to: to.path().to_owned(), time: 50_000 };
        if other.is_postgres() {
            tamper::until_settled(&other).await;
        }
        let refused = elsewhere.archive(&key, &request).await;
        assert!(matches!(refused, Err(ArchiveError::Exists(_))), "{refused:?}");
        assert_eq!(elsewhere.page(&Default::default(), i64::MIN, 100).await.unwrap().len(), 5, "nothing was removed");
        assert_eq!(wrongs(&whole(&elsewhere).await), []);
        for archive in archives(&store, to.path()).await {
            assert!(archive.verify().unwrap().is_sound(), "{:?}", archive.seal());
        }
        assert_eq!(archives(&store, to.path()).await.len(), first.len());
        elsewhere.close().await;
        there.close().await;
        if other.is_postgres() {
            other.on_server("DROP DATABASE DATABASE_NAME WITH (FORCE)").await;
        }
    }

    async fn writers_go_on_beside_an_archive(bed: Bed) {
        let (to, (store, ledger)) = (folder(), open(&bed).await);
        let (_there, other) = open(&bed).await;
        fill(&ledger, 5).await;
        fill(&other, 5).await;
        let appending = async {
            for number in 10..40 {
                other.append(entry(Kind::Read, &format!("n{number}"), 2_000 + number), Durability::Durable).await.unwrap();
            }
        };
        let (seals, ()) = tokio::join!(archive(&bed, &store, &ledger, 1_500, to.path()), appending);
        // on PostgreSQL records of running transactions may stay for the next time
        assert!((10..=12).contains(&count(&seals)), "{seals:?}");
        assert_eq!(wrongs(&whole(&ledger).await), []);
        let found = ledger.verify_with_archives(&[], archives(&store, to.path()).await).await.unwrap();
        assert_eq!(wrongs(&found), []);
    }
}

#[tokio::test]
async fn an_archive_makes_room_in_a_full_ledger() {
    let bed = Bed::sqlite();
    let store = bed.open().await;
    let settings = LedgerSettings { segment_bytes: Some(5_000), max_bytes: Some(40_000) };
    let (to, ledger) = (folder(), store.ledger(settings).await.unwrap());
    let mut number = 0;
    while ledger.append(entry(Kind::Read, "call", 1_000 + number), Durability::Durable).await.is_ok() {
        number += 1;
    }
    assert!(ledger.health().await.is_err());
    assert!(!archive(&bed, &store, &ledger, 9_000, to.path()).await.is_empty());
    ledger.health().await.unwrap();
    ledger.append(entry(Kind::Read, "call", 9_001), Durability::Durable).await.unwrap();
    assert_eq!(wrongs(&whole(&ledger).await), []);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn postgres_lets_nobody_delete_what_is_not_sealed() {
    Bed::postgres()
        .await
        .run(async |bed: Bed| {
            let (to, (store, ledger)) = (folder(), open(&bed).await);
            fill(&ledger, 4).await;
            let refused = tamper::try_sql(&bed, "DELETE FROM ledger WHERE seq = 1").await.unwrap_err();
            assert!(refused.contains("append-only"), "{refused}");
            archive(&bed, &store, &ledger, 1_002, to.path()).await;
            for sql in ["DELETE FROM ledger WHERE seq = 3", "UPDATE ledger SET record = ''", "TRUNCATE ledger"] {
                let refused = tamper::try_sql(&bed, sql).await.unwrap_err();
                assert!(refused.contains("append-only"), "{sql}: {refused}");
            }
        })
        .await;
}

/// A pipe in place of a file is refused, not waited for.
#[cfg(unix)]
#[tokio::test]
async fn special_files_are_no_segments_archives_or_seals() {
    let bed = Bed::sqlite();
    let (to, (store, ledger)) = (folder(), open(&bed).await);
    fill(&ledger, 4).await;
    archive(&bed, &store, &ledger, 1_003, to.path()).await;
    let all = archives(&store, to.path()).await;
    let pipe = |path: &Path| {
        fs::remove_file(path).unwrap();
        assert!(std::process::Command::new("mkfifo").arg(path).status().unwrap().success());
    };
    pipe(&to.path().join(all[0].seal().file()));
    assert!(all[0].verify().unwrap_err().to_string().contains("no regular file"));
    pipe(&to.path().join(all[0].seal().seal_file()));
    let public = store.ledger_key().await.unwrap().public();
    assert!(Archive::open(to.path(), &public).unwrap_err().to_string().contains("no regular file"));
    pipe(&tamper::files(&bed)[0]);
    assert!(!whole(&ledger).await.is_sound(), "what stood there is missing");
}
