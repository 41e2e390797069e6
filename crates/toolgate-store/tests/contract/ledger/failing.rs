//! No ledger, no calls: what happens when the disk or the server is not there, and after.

use std::{
    fs,
    time::{Duration, Instant},
};

use toolgate_store::ledger::{Durability, Filter, Kind, LedgerSettings};

use super::{entry, fill, open, whole};
use crate::bed::Bed;

/// The stated two seconds twice, and room for a busy machine.
const IN_TIME: Duration = Duration::from_secs(10);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn files_that_are_full_refuse_and_room_lets_them_go_on() {
    let bed = Bed::sqlite();
    let store = bed.open().await;
    let ledger = store.ledger(LedgerSettings { max_bytes: Some(20_000), ..LedgerSettings::default() }).await.unwrap();
    let mut stored = 0;
    let refused = loop {
        match ledger.append(entry(Kind::Read, &format!("c{stored}"), stored), Durability::Durable).await {
            Ok(_) => stored += 1,
            Err(refused) => break refused,
        }
        assert!(stored < 10_000, "the limit holds");
    };
    assert!(stored > 10 && refused.reason.contains("full"), "{refused}");
    // Many at once, durable and not: all are refused, none is half there.
    let tasks = (0..20).map(|number| {
        let ledger = ledger.clone();
        let durability = if number % 2 == 0 { Durability::Durable } else { Durability::Ordered };
        tokio::spawn(async move { ledger.append(entry(Kind::Read, &format!("lost{number}"), 5), durability).await })
    });
    for task in tasks.collect::<Vec<_>>() {
        assert!(task.await.unwrap().unwrap_err().reason.contains("full"));
    }
    let verified = whole(&ledger).await;
    assert!(verified.is_sound(), "{verified:?}");
    assert_eq!(i64::try_from(verified.records).unwrap(), stored + 1, "what failed is not there");

    let ledger = store.ledger(LedgerSettings::default()).await.unwrap();
    fill(&ledger, 20).await;
    let verified = whole(&ledger).await;
    assert!(verified.is_sound(), "{verified:?}");
    assert_eq!(i64::try_from(verified.records).unwrap(), stored + 1 + 21);
}

/// A real disk without room: what stands for today's file takes nothing.
#[cfg(target_os = "linux")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_full_disk_refuses_and_the_chain_goes_on_where_it_was_once_there_is_room() {
    let bed = Bed::sqlite();
    let (_store, ledger) = open(&bed).await;
    fill(&ledger, 3).await;
    let today = super::tamper::files(&bed).pop().unwrap();
    let aside = today.with_extension("aside");
    fs::rename(&today, &aside).unwrap();
    std::os::unix::fs::symlink("/dev/full", &today).unwrap();
    // The open file is still the one that was renamed, until somebody looks.
    let until = Instant::now() + IN_TIME;
    let refused = loop {
        match ledger.append(entry(Kind::Read, "more", 9), Durability::Ordered).await {
            Ok(_) => tokio::time::sleep(Duration::from_millis(5)).await,
            Err(refused) => break refused,
        }
        assert!(Instant::now() < until, "a file that was taken away is noticed");
    };
    assert!(refused.reason.contains("No space left"), "{refused}");
    ledger.append(entry(Kind::Intent, "during", 9), Durability::Durable).await.unwrap_err();
    fs::remove_file(&today).unwrap();
    fs::rename(&aside, &today).unwrap();
    fill(&ledger, 3).await;
    let verified = whole(&ledger).await;
    assert!(verified.is_sound(), "{verified:?}");
    let calls = ledger.page(&Filter::default(), i64::MIN, 100_000).await.unwrap();
    assert!(calls.iter().all(|record| record.call != "during"), "what was refused is not there");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn postgres_that_drops_its_connections_is_found_again_within_the_append() {
    let check = async |bed: Bed| {
        let (_store, ledger) = open(&bed).await;
        for _ in 0..5 {
            fill(&ledger, 3).await;
            bed.on_server("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = 'DATABASE_NAME'")
                .await;
        }
        fill(&ledger, 1).await;
        let verified = whole(&ledger).await;
        assert!(verified.is_sound() && verified.records == 17, "{verified:?}");
    };
    Bed::postgres().await.run(check).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn postgres_that_is_gone_refuses_in_time_and_recovers() {
    let check = async |bed: Bed| {
        let (_store, ledger) = open(&bed).await;
        fill(&ledger, 3).await;
        bed.on_server("ALTER DATABASE DATABASE_NAME ALLOW_CONNECTIONS false").await;
        bed.on_server("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = 'DATABASE_NAME'").await;
        for _ in 0..3 {
            let start = Instant::now();
            ledger.append(entry(Kind::Intent, "during", 1), Durability::Durable).await.unwrap_err();
            assert!(start.elapsed() < IN_TIME, "{:?}", start.elapsed());
        }
        bed.on_server("ALTER DATABASE DATABASE_NAME ALLOW_CONNECTIONS true").await;
        fill(&ledger, 3).await;
        let verified = whole(&ledger).await;
        assert!(verified.is_sound() && verified.records == 7, "{verified:?}");
    };
    Bed::postgres().await.run(check).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn postgres_cut_off_in_the_middle_of_appending_loses_and_doubles_nothing() {
    let check = async |bed: Bed| {
        let (_store, ledger) = open(&bed).await;
        let tasks: Vec<_> = (0..8)
            .map(|task| {
                let ledger = ledger.clone();
                tokio::spawn(async move {
                    let mut acknowledged = Vec::new();
                    for number in 0..60 {
                        let call = format!("{task}-{number}");
                        if ledger.append(entry(Kind::Read, &call, 1), Durability::Durable).await.is_ok() {
                            acknowledged.push(call);
                        }
                    }
                    acknowledged
                })
            })
            .collect();
        for _ in 0..10 {
            bed.on_server("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = 'DATABASE_NAME'")
                .await;
        }
        let mut acknowledged = Vec::new();
        for task in tasks {
            acknowledged.extend(task.await.unwrap());
        }
        let stored = ledger.page(&Filter::default(), i64::MIN, 1_000).await.unwrap();
        let mut calls: Vec<_> = stored.iter().map(|record| record.call.as_str()).collect();
        calls.sort_unstable();
        assert!(acknowledged.iter().all(|call| calls.binary_search(&call.as_str()).is_ok()));
        let count = calls.len();
        calls.dedup();
        assert_eq!(calls.len(), count, "nothing is there twice");
        assert!(whole(&ledger).await.is_sound());
    };
    Bed::postgres().await.run(check).await;
}
