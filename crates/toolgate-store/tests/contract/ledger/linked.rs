//! Chains of processes hang together: a process, its end, a day or everything that is taken away is missed.

use std::fs;

use toolgate_store::ledger::{Filter, LedgerSettings, Wrong};

use super::{fill, open, tamper, whole, wrongs};
use crate::bed::Bed;

/// Three processes, one after another. Returns their names.
async fn three(bed: &Bed) -> [String; 3] {
    let mut names = Vec::new();
    for _ in 0..3 {
        let (store, ledger) = open(bed).await;
        fill(&ledger, 4).await;
        names.push(ledger.writer().to_owned());
        ledger.close().await;
        store.close().await;
    }
    let (_store, ledger) = open(bed).await;
    let verified = whole(&ledger).await;
    assert!(verified.is_sound() && verified.writers == 3, "{verified:?}");
    names.try_into().unwrap()
}

/// What is found by the ledger alone, where somebody has taken the store's knowledge away as well.
async fn found_alone(bed: &Bed) -> Vec<(String, i64, Wrong)> {
    bed.sql("DELETE FROM ledger_heads").await;
    let (_store, ledger) = open(bed).await;
    let verified = whole(&ledger).await;
    verified.findings.into_iter().map(|finding| (finding.writer, finding.seq, finding.wrong)).collect()
}

on_both! {
    async fn all_records_of_a_process_are_missed_by_the_next(bed: Bed) {
        let [_, second, third] = three(&bed).await;
        tamper::remove(&bed, Some(&second), tamper::from(0)).await;
        let known_from = format!("writer {third}");
        assert_eq!(found_alone(&bed).await, [(second, 4, Wrong::Lost { known_from })]);
    }

    async fn the_end_of_an_older_process_is_missed_by_the_next(bed: Bed) {
        let [first, second, _] = three(&bed).await;
        tamper::remove(&bed, Some(&first), 3..=4).await;
        let known_from = format!("writer {second}");
        assert_eq!(found_alone(&bed).await, [(first, 4, Wrong::Lost { known_from })]);
    }

    async fn the_newest_process_is_missed_by_the_store(bed: Bed) {
        let [_, _, third] = three(&bed).await;
        tamper::remove(&bed, Some(&third), tamper::from(0)).await;
        let (_store, ledger) = open(&bed).await;
        let verified = whole(&ledger).await;
        assert_eq!(wrongs(&verified), [(4, Wrong::Lost { known_from: "store".into() })]);
        assert_eq!(verified.findings[0].writer, third);
    }

    async fn an_emptied_ledger_is_missed_by_the_store(bed: Bed) {
        let [_, _, third] = three(&bed).await;
        tamper::remove(&bed, None, tamper::from(0)).await;
        let (_store, ledger) = open(&bed).await;
        let verified = whole(&ledger).await;
        assert!(verified.findings.iter().any(|finding| finding.writer == third), "{verified:?}");
        assert!(verified.findings.iter().all(|finding| matches!(finding.wrong, Wrong::Lost { .. })), "{verified:?}");
    }

    async fn processes_at_the_same_time_are_linked_too(bed: Bed) {
        let ((_here, one), (_there, other)) = (open(&bed).await, open(&bed).await);
        fill(&one, 3).await;
        fill(&other, 3).await;
        fill(&one, 3).await;
        let (_store, late) = open(&bed).await;
        fill(&late, 1).await;
        fill(&other, 2).await;
        assert!(whole(&late).await.is_sound());
        tamper::remove(&bed, Some(one.writer()), 6..=6).await;
        bed.sql("DELETE FROM ledger_heads").await;
        let verified = whole(&late).await;
        assert_eq!(wrongs(&verified), [(6, Wrong::Lost { known_from: format!("writer {}", late.writer()) })]);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn files_that_are_emptied_or_deleted_are_missed() {
    for empty in [true, false] {
        let bed = Bed::sqlite();
        three(&bed).await;
        for file in tamper::files(&bed) {
            if empty { fs::write(file, "").unwrap() } else { fs::remove_file(file).unwrap() }
        }
        let (_store, ledger) = open(&bed).await;
        let verified = whole(&ledger).await;
        assert!(!verified.is_sound() && verified.records == 0, "{verified:?}");
    }
}

/// Random edits of files of many writers and many segments: each byte counts.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_changed_byte_of_many_writers_and_files_is_found() {
    let bed = Bed::sqlite();
    let settings = || LedgerSettings { segment_bytes: Some(3_000), ..LedgerSettings::default() };
    let store = bed.open().await;
    for _ in 0..4 {
        let ledgers = [store.ledger(settings()).await.unwrap(), store.ledger(settings()).await.unwrap()];
        for _ in 0..3 {
            fill(&ledgers[0], 2).await;
            fill(&ledgers[1], 1).await;
        }
        ledgers[0].close().await;
        ledgers[1].close().await;
    }
    let ledger = store.ledger(settings()).await.unwrap();
    assert!(whole(&ledger).await.is_sound());
    let files = tamper::files(&bed);
    assert!(files.len() > 5, "{files:?}");
    let mut random = 0x9e37_79b9_7f4a_7c15_u64;
    for _ in 0..600 {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        let number = usize::try_from(random >> 1).unwrap();
        let file = &files[number % files.len()];
        let before = fs::read(file).unwrap();
        let (at, mut changed) = (number / 7 % before.len(), before.clone());
        match number % 3 {
            0 => changed[at] ^= 1 << (number % 7),
            1 => drop(changed.remove(at)),
            _ => changed.truncate(at),
        }
        // the end of the very last line alone is half a record, which was acknowledged to nobody, unless the store knows it
        fs::write(file, &changed).unwrap();
        assert!(!whole(&ledger).await.is_sound(), "{} at {at}, kind {}", file.display(), number % 3);
        fs::write(file, &before).unwrap();
    }
    assert!(whole(&ledger).await.is_sound());
    assert!(!ledger.page(&Filter::default(), i64::MIN, 5).await.unwrap().is_empty());
}
