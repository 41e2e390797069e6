use std::time::{Duration, Instant};

use toolgate_store::ledger::{Durability, Filter, Kind, Ledger, Outcome, Record, Scope};

use super::{entry, fill, open};
use crate::bed::Bed;

fn calls(records: &[Record]) -> Vec<&str> {
    records.iter().map(|record| record.call.as_str()).collect()
}

/// Twelve calls that differ in every fact a filter knows.
async fn mixed(ledger: &Ledger) {
    for number in 0..12 {
        let mut entry = entry(Kind::Read, &format!("c{number:02}"), 1_000 + number);
        entry.tool = ["a", "b"][usize::try_from(number % 2).unwrap()].into();
        entry.principal = format!("user:{}", number % 3).into();
        entry.outcome = [Outcome::Answered, Outcome::Denied][usize::from(number >= 6)];
        entry.flow = (number % 4 == 0).then(|| "f".into());
        entry.tenant = (number % 4 == 1).then(|| "t".into());
        ledger.append(entry, Durability::Ordered).await.unwrap();
    }
}

/// The calls that the tail shows, once all of `count` have settled.
async fn settled(ledger: &Ledger, count: usize) -> Vec<Record> {
    let until = Instant::now() + Duration::from_secs(20);
    loop {
        let seen = ledger.tail(&Filter::default(), i64::MIN, 1_000).await.unwrap();
        if seen.len() >= count {
            return seen;
        }
        assert!(Instant::now() < until, "records settle once every earlier transaction is over");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

on_both! {
    async fn each_condition_filters_and_all_hold_together(bed: Bed) {
        let (_store, ledger) = open(&bed).await;
        mixed(&ledger).await;
        settled(&ledger, 13).await;
        let only = |change: &dyn Fn(&mut Filter)| {
            let mut filter = Filter::default();
            change(&mut filter);
            filter
        };
        let genesis_aside = Some(1_001);
        for (filter, expected) in [
            (only(&|f| f.since = Some(1_010)), vec!["c10", "c11"]),
            (only(&|f| { f.since = genesis_aside; f.until = Some(1_003); }), vec!["c01", "c02"]),
            (only(&|f| f.tool = Some("b".into())), vec!["c01", "c03", "c05", "c07", "c09", "c11"]),
            (only(&|f| f.principal = Some("user:2".into())), vec!["c02", "c05", "c08", "c11"]),
            (only(&|f| f.outcome = Some(Outcome::Denied)), vec!["c06", "c07", "c08", "c09", "c10", "c11"]),
            (only(&|f| f.flow = Some("f".into())), vec!["c00", "c04", "c08"]),
            (only(&|f| f.tenant = Some("t".into())), vec!["c01", "c05", "c09"]),
            (only(&|f| f.call = Some("c07".into())), vec!["c07"]),
            (only(&|f| { f.call = Some("c07".into()); f.tool = Some("a".into()); }), vec![]),
            (only(&|f| { f.tool = Some("b".into()); f.outcome = Some(Outcome::Denied); f.until = Some(1_010); }), vec!["c07", "c09"]),
            (only(&|f| f.tool = Some("' OR 1=1 --".into())), vec![]),
            (only(&|f| f.tool = Some("a\0".into())), vec![]),
        ] {
            assert_eq!(calls(&ledger.page(&filter, i64::MIN, 100).await.unwrap()), expected, "page {filter:?}");
            assert_eq!(calls(&ledger.latest(&filter, 100).await.unwrap()), expected, "latest {filter:?}");
            assert_eq!(calls(&ledger.tail(&filter, i64::MIN, 100).await.unwrap()), expected, "tail {filter:?}");
        }
        let newest = ledger.latest(&Filter::default(), 3).await.unwrap();
        assert_eq!(calls(&newest), ["c09", "c10", "c11"]);
    }

    async fn pages_follow_each_other_without_gap_or_repetition(bed: Bed) {
        let (_store, ledger) = open(&bed).await;
        // Equal times, and times out of order.
        for (number, time) in [5, 5, 3, 5, 9, 1, 5, 5, 2].into_iter().enumerate() {
            ledger.append(entry(Kind::Read, &format!("c{number}"), time), Durability::Ordered).await.unwrap();
        }
        let filter = Filter { tool: Some("vault.move".into()), ..Filter::default() };
        for size in [1, 2, 3, 100] {
            let (mut seen, mut after) = (Vec::new(), i64::MIN);
            while let page = ledger.page(&filter, after, size).await.unwrap() && let Some(last) = page.last() {
                after = last.position;
                seen.extend(page);
            }
            assert_eq!(calls(&seen), ["c0", "c1", "c2", "c3", "c4", "c5", "c6", "c7", "c8"], "{size}");
        }
        let late = Filter { since: Some(4), ..filter };
        let first = ledger.page(&late, i64::MIN, 1).await.unwrap()[0].position;
        assert_eq!(calls(&ledger.page(&late, first, 100).await.unwrap()), ["c1", "c3", "c4", "c6", "c7"]);
    }

    async fn an_export_streams_everything_in_the_order_of_arrival(bed: Bed) {
        let (_store, ledger) = open(&bed).await;
        let pending: Vec<_> = (0..2_500)
            .map(|number| ledger.submit(entry(Kind::Read, &format!("c{number:05}"), 7 + number / 1_200), Durability::Ordered))
            .collect();
        for pending in pending {
            pending.await.unwrap();
        }
        let (mut pages, mut seen, mut count) = (ledger.pages(Filter::default()), Vec::new(), 0);
        while let page = pages.next().await.unwrap() && !page.is_empty() {
            assert!(page.len() <= 1_000);
            count += 1;
            seen.extend(page);
        }
        assert_eq!((count, seen.len()), (3, 2_501));
        assert!(seen.is_sorted_by_key(|record| record.position));
        assert_eq!(pages.next().await.unwrap(), []);
    }

    async fn who_follows_misses_nothing(bed: Bed) {
        let ((_here, one), (_there, other)) = (open(&bed).await, open(&bed).await);
        let (follower, total) = (one.clone(), 82);
        let follow = tokio::spawn(async move {
            let (mut seen, mut after) = (Vec::new(), i64::MIN);
            let until = Instant::now() + Duration::from_secs(30);
            while seen.len() < total && Instant::now() < until {
                let new = follower.tail(&Filter::default(), after, 7).await.unwrap();
                after = new.last().map_or(after, |record| record.position);
                if new.is_empty() {
                    tokio::time::sleep(Duration::from_millis(5)).await;
                }
                seen.extend(new);
            }
            seen
        });
        tokio::join!(fill(&one, 40), fill(&other, 40));
        let seen = follow.await.unwrap();
        assert_eq!(seen.len(), total);
        assert!(seen.is_sorted_by_key(|record| record.position));
    }

    async fn a_reader_creates_nothing_and_sees_what_writers_write(bed: Bed) {
        let reading = bed.open().await;
        assert!(reading.ledger_reader().await.unwrap().is_none(), "nobody has opened the ledger");
        assert!(reading.ledger_reader().await.unwrap().is_none(), "asking did not make one");
        let (_store, ledger) = open(&bed).await;
        let reader = reading.ledger_reader().await.unwrap().unwrap();
        assert_eq!(reader.page(&Filter::default(), i64::MIN, 10).await.unwrap(), []);
        fill(&ledger, 3).await;
        let seen = reader.page(&Filter::default(), i64::MIN, 10).await.unwrap();
        assert_eq!(calls(&seen), ["", "c1", "c2", "c3"]);
        assert!(seen.iter().all(|record| record.writer == ledger.writer()), "reading left no writer of its own");
        let verified = reader.verify(Scope::Whole).await.unwrap();
        assert_eq!((verified.records, verified.writers, verified.is_sound()), (4, 1, true));
        ledger.append(entry(Kind::Read, "c4", 1_009), Durability::Durable).await.unwrap();
    }

    async fn an_intent_without_an_outcome_is_unfinished(bed: Bed) {
        let (store, ledger) = open(&bed).await;
        for (kind, call, time) in [
            (Kind::Intent, "done", 10),
            (Kind::Intent, "lost", 11),
            (Kind::Outcome, "done", 12),
            (Kind::Read, "read", 13),
            (Kind::Decision, "denied", 14),
            (Kind::Intent, "later", 15),
        ] {
            ledger.append(entry(kind, call, time), Durability::Durable).await.unwrap();
        }
        assert_eq!(calls(&ledger.unfinished(None).await.unwrap()), ["lost", "later"]);
        assert_eq!(calls(&ledger.unfinished(Some(15)).await.unwrap()), ["later"]);
        // For filters these are the unknown ones, though their records say that they were allowed.
        let unknown = Filter { outcome: Some(Outcome::Unknown), ..Filter::default() };
        assert_eq!(calls(&ledger.page(&unknown, i64::MIN, 10).await.unwrap()), ["lost", "later"]);
        assert_eq!(calls(&ledger.latest(&unknown, 1).await.unwrap()), ["later"]);
        settled(&ledger, 7).await;
        assert_eq!(calls(&ledger.tail(&unknown, i64::MIN, 10).await.unwrap()), ["lost", "later"]);
        let done = Filter { call: Some("done".into()), ..unknown.clone() };
        assert!(ledger.page(&done, i64::MIN, 10).await.unwrap().is_empty());
        // Another process finishes it; the outcome is looked for wherever it is.
        ledger.close().await;
        store.close().await;
        let (_store, ledger) = open(&bed).await;
        ledger.append(entry(Kind::Outcome, "later", 20), Durability::Durable).await.unwrap();
        assert_eq!(calls(&ledger.unfinished(None).await.unwrap()), ["lost"]);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn postgres_verifies_while_a_replica_commits_late() {
    use sqlx::Connection;
    let check = async |bed: Bed| {
        let ((_here, one), (_there, other)) = (open(&bed).await, open(&bed).await);
        fill(&other, 1).await;
        // Someone's transaction stands open and holds back what counts as settled.
        let mut slow = sqlx::PgConnection::connect(&bed.url()).await.unwrap();
        sqlx::raw_sql("BEGIN; SELECT pg_current_xact_id()").execute(&mut slow).await.unwrap();
        tokio::join!(fill(&one, 20), fill(&other, 20));
        let seen = one.tail(&Filter::default(), i64::MIN, 100).await.unwrap();
        assert!(seen.len() <= 2, "who follows would pass by what the open transaction may bring");
        assert_eq!(one.page(&Filter::default(), i64::MIN, 100).await.unwrap().len(), 43);
        let verified = super::whole(&one).await;
        assert!(verified.is_sound() && verified.records == 43, "{verified:?}");
        sqlx::raw_sql("COMMIT").execute(&mut slow).await.unwrap();
        assert_eq!(settled(&one, 43).await.len(), 43);
    };
    Bed::postgres().await.run(check).await;
}
