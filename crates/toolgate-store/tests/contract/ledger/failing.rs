//! No ledger, no calls: what happens when the disk or the server is not there, and after.

use std::time::{Duration, Instant};

use toolgate_store::ledger::{Durability, Filter, Kind, LedgerSettings};

use super::{entry, fill, open, whole};
use crate::bed::Bed;

/// The stated two seconds twice, and room for a busy machine.
const IN_TIME: Duration = Duration::from_secs(10);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sqlite_that_is_full_refuses_and_recovers_by_itself() {
    let bed = Bed::sqlite();
    let store = bed.open().await;
    let ledger = store.ledger(LedgerSettings { max_bytes: Some(600_000) }).await.unwrap();
    // Something else takes most of the room, and gives it back later.
    bed.tamper("CREATE TABLE other (x BLOB); INSERT INTO other VALUES (zeroblob(450000))").await;

    let mut stored = 0;
    let refused = loop {
        match ledger.append(entry(Kind::Read, &format!("c{stored}"), stored), Durability::Durable).await {
            Ok(_) => stored += 1,
            Err(refused) => break refused,
        }
        assert!(stored < 10_000, "the quota holds");
    };
    assert!(refused.reason.contains("full"), "{refused}");
    // Many at once, durable and not: all are refused, none is half there.
    let tasks = (0..20).map(|number| {
        let ledger = ledger.clone();
        let durability = if number % 2 == 0 { Durability::Durable } else { Durability::Ordered };
        let mut large = entry(Kind::Read, &format!("lost{number}"), 5);
        large.input = serde_json::value::RawValue::from_string(format!("\"{}\"", "x".repeat(9_000))).ok();
        tokio::spawn(async move { ledger.append(large, durability).await })
    });
    for task in tasks.collect::<Vec<_>>() {
        assert!(task.await.unwrap().unwrap_err().reason.contains("full"));
    }
    let verified = whole(&ledger).await;
    assert!(verified.is_sound(), "{verified:?}");
    assert_eq!(i64::try_from(verified.records).unwrap(), stored + 1, "what failed is not there");

    bed.tamper("DROP TABLE other").await;
    fill(&ledger, 20).await;
    let verified = whole(&ledger).await;
    assert!(verified.is_sound(), "{verified:?}");
    assert_eq!(i64::try_from(verified.records).unwrap(), stored + 21);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sqlite_that_is_full_from_the_start_begins_its_chain_later() {
    let bed = Bed::sqlite();
    let (store, ledger) = open(&bed).await;
    ledger.close().await;
    bed.tamper("CREATE TABLE other (x BLOB); INSERT INTO other VALUES (zeroblob(450000))").await;
    let ledger = store.ledger(LedgerSettings { max_bytes: Some(1) }).await.unwrap();
    let mut large = entry(Kind::Read, "lost", 1);
    large.input = serde_json::value::RawValue::from_string(format!("\"{}\"", "x".repeat(9_000))).ok();
    ledger.append(large, Durability::Durable).await.unwrap_err();
    bed.tamper("DROP TABLE other").await;
    fill(&ledger, 2).await;
    let records = ledger.page(&Filter::default(), None, 10).await.unwrap();
    assert_eq!(records.iter().map(|record| record.kind.as_str()).collect::<Vec<_>>(), ["genesis", "read", "read"]);
    assert!(whole(&ledger).await.is_sound());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sqlite_that_another_process_has_locked_refuses_in_time_and_recovers() {
    let bed = Bed::sqlite();
    let (_store, ledger) = open(&bed).await;
    fill(&ledger, 3).await;
    let other = rusqlite::Connection::open(bed.ledger_file()).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let start = Instant::now();
    let refused = ledger.append(entry(Kind::Intent, "during", 1), Durability::Durable).await.unwrap_err();
    assert!(refused.reason.contains("locked"), "{refused}");
    assert!(start.elapsed() < IN_TIME, "{:?}", start.elapsed());
    assert_eq!(ledger.page(&Filter::default(), None, 10).await.unwrap().len(), 4, "reading goes on");
    other.execute_batch("ROLLBACK").unwrap();
    fill(&ledger, 3).await;
    let verified = whole(&ledger).await;
    assert!(verified.is_sound() && verified.records == 7, "{verified:?}");
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
        let stored = ledger.page(&Filter::default(), None, 1_000).await.unwrap();
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
