use std::collections::{BTreeMap, BTreeSet};

use toolgate_store::ledger::{Durability, Filter, Kind, Outcome, Place, ResultNote};

use super::{entry, fill, open, whole};
use crate::bed::Bed;

on_both! {
    async fn a_record_comes_back_as_it_was_given(bed: Bed) {
        let (_store, ledger) = open(&bed).await;
        let mut given = entry(Kind::Outcome, "c1", 77);
        given.principal = "user:\"é\" \\ \u{1f680}\u{202e}\n".into();
        given.flow = Some("f1".into());
        given.rule = Some("admins".into());
        given.code = Some("forbidden".into());
        given.approval = Some("granted by bob".into());
        given.outcome = Outcome::Failed;
        given.result = Some(ResultNote { summary: "line\nline".into(), digest: [0xab; 32] });
        let place = ledger.append(given, Durability::Durable).await.unwrap();
        assert_eq!((place.seq, &*place.writer), (1, ledger.writer()));

        let records = ledger.page(&Filter::default(), i64::MIN, 10).await.unwrap();
        let [genesis, record] = records.as_slice() else { panic!("{records:?}") };
        assert_eq!((genesis.kind.as_str(), genesis.seq, genesis.time), ("genesis", 0, 77));
        assert_eq!((record.previous, record.hash, record.seq), (genesis.hash, place.hash, 1));
        assert_eq!(record.principal, "user:\"é\" \\ \u{1f680}\u{202e}\n");
        let told: serde_json::Value = serde_json::from_str(&record.text).unwrap();
        assert_eq!(told, serde_json::json!({
            "v": 1, "writer": ledger.writer(), "seq": 1, "time": 77, "kind": "outcome", "call": "c1",
            "tool": "vault.move", "principal": "user:\"é\" \\ \u{1f680}\u{202e}\n", "tenant": "acme", "flow": "f1",
            "outcome": "failed", "source": "vault", "actor": {"user": "ann", "tenant": "acme"}, "input": {"to": "/b"},
            "approval": "granted by bob", "rule": "admins", "code": "forbidden",
            "result": {"summary": "line\nline", "digest": "ab".repeat(32)}, "revision": "sha256:00", "duration_us": 5,
        }));
        let line: serde_json::Value = serde_json::from_str(&record.to_line()).unwrap();
        assert_eq!((&line["record"], line["hash"].as_str().unwrap()), (&told, place.hash.to_string().as_str()));
        assert!(whole(&ledger).await.is_sound());
    }

    async fn those_submitted_together_keep_their_order_whichever_is_waited_for_first(bed: Bed) {
        let (_store, ledger) = open(&bed).await;
        let submit = |call: &str, durability| ledger.submit(entry(Kind::Read, call, 1), durability);
        let first = submit("a", Durability::Ordered);
        let second = submit("b", Durability::Ordered);
        let synced = submit("c", Durability::Durable);
        let last = submit("d", Durability::Ordered);
        let seqs = [last.await, second.await, synced.await, first.await].map(|place| place.unwrap().seq);
        assert_eq!(seqs, [4, 2, 3, 1]);
        let records = ledger.page(&Filter::default(), i64::MIN, 10).await.unwrap();
        assert_eq!(records.iter().map(|record| &*record.call).collect::<Vec<_>>(), ["", "a", "b", "c", "d"]);
        assert!(whole(&ledger).await.is_sound());
    }

    async fn many_append_at_once_and_each_keeps_its_order(bed: Bed) {
        let (_store, ledger) = open(&bed).await;
        let tasks = (0..64).map(|task| {
            let ledger = ledger.clone();
            tokio::spawn(async move {
                let mut places = Vec::new();
                for number in 0..25 {
                    let durability = if number % 3 == 0 { Durability::Durable } else { Durability::Ordered };
                    places.push(ledger.append(entry(Kind::Read, &format!("{task}-{number:02}"), number), durability).await.unwrap());
                }
                places
            })
        });
        let mut all: Vec<Place> = Vec::new();
        for task in tasks.collect::<Vec<_>>() {
            let places = task.await.unwrap();
            assert!(places.is_sorted_by_key(|place| place.seq));
            all.extend(places);
        }
        let numbers: BTreeSet<i64> = all.iter().map(|place| place.seq).collect();
        assert_eq!(numbers, (1..=64 * 25).collect());
        let verified = whole(&ledger).await;
        assert!(verified.is_sound(), "{verified:?}");
        assert_eq!((verified.records, verified.writers), (64 * 25 + 1, 1));
        // What was acknowledged is what is stored.
        let stored: BTreeMap<i64, _> = {
            let mut pages = ledger.pages(Filter::default());
            let mut stored = BTreeMap::new();
            while let page = pages.next().await.unwrap() && !page.is_empty() {
                stored.extend(page.into_iter().map(|record| (record.seq, record.hash)));
            }
            stored
        };
        assert!(all.iter().all(|place| stored.get(&place.seq) == Some(&place.hash)));
    }

    async fn submitted_records_keep_their_order_and_are_stored_though_nobody_waits(bed: Bed) {
        let (store, ledger) = open(&bed).await;
        for number in 0..100 {
            drop(ledger.submit(entry(Kind::Read, &format!("c{number:03}"), 5), Durability::Ordered));
        }
        ledger.close().await;
        store.close().await;
        let (_store, ledger) = open(&bed).await;
        let records = ledger.page(&Filter::default(), i64::MIN, 200).await.unwrap();
        let calls: Vec<_> = records.iter().filter(|record| record.kind == "read").map(|record| record.call.clone()).collect();
        assert_eq!(calls, (0..100).map(|number| format!("c{number:03}")).collect::<Vec<_>>());
    }

    async fn writers_share_a_database_and_no_chain(bed: Bed) {
        let ((_here, one), (_there, other)) = (open(&bed).await, open(&bed).await);
        assert_ne!(one.writer(), other.writer());
        tokio::join!(fill(&one, 40), fill(&other, 30));
        let verified = whole(&one).await;
        assert!(verified.is_sound(), "{verified:?}");
        assert_eq!((verified.records, verified.writers), (72, 2));
    }

    async fn who_only_reads_leaves_no_trace(bed: Bed) {
        let (_store, ledger) = open(&bed).await;
        assert_eq!(ledger.page(&Filter::default(), i64::MIN, 10).await.unwrap(), []);
        let verified = whole(&ledger).await;
        assert_eq!((verified.records, verified.writers, verified.is_sound()), (0, 0, true));
    }

    async fn what_the_ledger_can_not_keep_is_refused_alone(bed: Bed) {
        let (_store, ledger) = open(&bed).await;
        let odd = ledger.submit(entry(Kind::Read, "a\0b", 1), Durability::Durable);
        let good = ledger.submit(entry(Kind::Read, "good", 1), Durability::Durable);
        assert!(odd.await.unwrap_err().reason.contains("NUL"));
        assert_eq!(good.await.unwrap().seq, 1);
        assert!(whole(&ledger).await.is_sound());
    }

    async fn a_closed_ledger_says_so(bed: Bed) {
        let (store, ledger) = open(&bed).await;
        fill(&ledger, 1).await;
        ledger.close().await;
        ledger.close().await;
        let refused = ledger.append(entry(Kind::Read, "c", 1), Durability::Ordered).await.unwrap_err();
        assert_eq!(refused.to_string(), "the ledger can't record: the ledger is closed; no call runs until it can");
        store.close().await;
    }
}
