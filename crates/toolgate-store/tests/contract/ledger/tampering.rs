//! Everything someone with the database or the files in hand might do, done, and found.

use aws_lc_rs::digest;
use toolgate_store::ledger::{Filter, Ledger, Record, Scope, Wrong};

use super::{fill, open, tamper, whole, wrongs};
use crate::bed::Bed;

/// Ten records.
async fn ten(bed: &Bed) -> Ledger {
    let (_store, ledger) = open(bed).await;
    fill(&ledger, 10).await;
    assert!(whole(&ledger).await.is_sound());
    ledger
}

/// What verifying says.
async fn found(ledger: &Ledger) -> Vec<(i64, Wrong)> {
    let verified = whole(ledger).await;
    assert_eq!(usize::try_from(verified.found).unwrap(), verified.findings.len());
    assert!(
        verified.findings.iter().all(|finding| finding.writer.len() == 20 || finding.writer == "?"),
        "{verified:?}"
    );
    wrongs(&verified)
}

/// A record rewritten as if it had always been so: its own hash fits.
fn forged(record: &Record, from: &str, to: &str) -> (String, String) {
    let text = record.text.replace(from, to);
    let hash = digest::digest(&digest::SHA256, &[record.previous.as_bytes().as_slice(), text.as_bytes()].concat());
    (text, hash.as_ref().iter().map(|byte| format!("{byte:02x}")).collect())
}

on_both! {
    async fn an_edited_text_is_found(bed: Bed) {
        let ledger = ten(&bed).await;
        tamper::edit(&bed, 5, "/b", "/c").await;
        assert_eq!(found(&ledger).await, [(5, Wrong::Edited)]);
    }

    async fn one_changed_letter_of_the_newest_record_is_found(bed: Bed) {
        let ledger = ten(&bed).await;
        tamper::edit(&bed, 10, "sha256:00", "sha256:01").await;
        assert_eq!(found(&ledger).await, [(10, Wrong::Edited)]);
    }

    async fn an_edited_hash_is_found(bed: Bed) {
        let ledger = ten(&bed).await;
        tamper::set(&bed, 5, "hash", &"00".repeat(32)).await;
        assert_eq!(found(&ledger).await, [(5, Wrong::Edited), (6, Wrong::Unlinked)]);
    }

    async fn an_edited_previous_hash_is_found(bed: Bed) {
        let ledger = ten(&bed).await;
        tamper::set(&bed, 5, "previous", &"00".repeat(32)).await;
        assert_eq!(found(&ledger).await, [(5, Wrong::Edited), (5, Wrong::Unlinked)]);
    }

    async fn a_record_replaced_by_one_with_a_fitting_hash_is_found(bed: Bed) {
        let ledger = ten(&bed).await;
        let records = ledger.page(&Filter::default(), i64::MIN, 20).await.unwrap();
        let (text, hash) = forged(&records[5], "/b", "/c");
        tamper::replace(&bed, 5, &text, &hash).await;
        assert_eq!(found(&ledger).await, [(6, Wrong::Unlinked)]);
    }

    async fn a_deleted_record_is_found(bed: Bed) {
        let ledger = ten(&bed).await;
        tamper::remove(&bed, None, 5..=5).await;
        assert_eq!(found(&ledger).await, [(5, Wrong::Missing { until: 5 })]);
    }

    async fn several_deleted_records_are_found(bed: Bed) {
        let ledger = ten(&bed).await;
        tamper::remove(&bed, None, 2..=2).await;
        tamper::remove(&bed, None, 5..=7).await;
        assert_eq!(found(&ledger).await, [(2, Wrong::Missing { until: 2 }), (5, Wrong::Missing { until: 7 })]);
    }

    async fn a_deleted_beginning_is_found(bed: Bed) {
        let ledger = ten(&bed).await;
        tamper::remove(&bed, None, 0..=3).await;
        assert_eq!(found(&ledger).await, [(0, Wrong::Missing { until: 3 })]);
    }

    async fn a_record_that_is_there_twice_is_found(bed: Bed) {
        let ledger = ten(&bed).await;
        tamper::double(&bed, 5).await;
        assert_eq!(found(&ledger).await, [(5, Wrong::Inserted)]);
    }

    async fn a_moved_record_is_found(bed: Bed) {
        let ledger = ten(&bed).await;
        tamper::move_to_the_end(&bed, None, 5).await;
        assert_eq!(found(&ledger).await, [(5, Wrong::Moved)]);
    }

    async fn what_is_sound_beside_it_is_not_accused(bed: Bed) {
        let ((_here, one), (_there, other)) = (open(&bed).await, open(&bed).await);
        fill(&one, 10).await;
        fill(&other, 10).await;
        tamper::remove(&bed, Some(one.writer()), 3..=3).await;
        let verified = whole(&other).await;
        assert_eq!(wrongs(&verified), [(3, Wrong::Missing { until: 3 })]);
        assert_eq!(verified.findings[0].writer, one.writer());
        assert_eq!(verified.findings[0].to_string(), format!("writer {}, record 3: it is missing", one.writer()));
    }

    async fn a_chain_rewritten_to_its_end_is_found_by_a_checkpoint(bed: Bed) {
        let (store, ledger) = open(&bed).await;
        fill(&ledger, 6).await;
        let key = store.ledger_key().await.unwrap();
        let trusted = ledger.checkpoint(&key, 50).await.unwrap().trusted(&key.public()).unwrap();
        // The newest record rewritten with a fitting hash: nothing in the ledger itself can tell.
        let records = ledger.page(&Filter::default(), i64::MIN, 20).await.unwrap();
        let (text, hash) = forged(&records[6], "/b", "/c");
        tamper::replace(&bed, 6, &text, &hash).await;
        assert_eq!(found(&ledger).await, [(6, Wrong::NotAsKnown { known_from: "store".into() })]);
        bed.sql("DELETE FROM ledger_heads").await;
        assert!(whole(&ledger).await.is_sound(), "somebody who can also write to the store");
        for scope in [Scope::Against(vec![trusted.clone()]), Scope::Since(trusted)] {
            let verified = ledger.verify(scope).await.unwrap();
            assert_eq!(wrongs(&verified), [(6, Wrong::NotAsInCheckpoint { checkpoint: 50 })]);
        }
    }
}

/// Columns that repeat a record are PostgreSQL's alone.
mod columns {
    use super::*;

    async fn after(sql: &'static str, check: impl FnOnce(Vec<(i64, Wrong)>) + Send + 'static) {
        let tampered = async move |bed: Bed| {
            let ledger = ten(&bed).await;
            tamper::sql(&bed, sql).await;
            check(found(&ledger).await);
        };
        Bed::postgres().await.run(tampered).await;
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn an_edited_column_is_found_whichever_it_is() {
        let check = async |bed: Bed| {
            let changes = [
                "time = time + 1",
                "kind = 'intent'",
                "call = 'other'",
                "tool = 'todo.list'",
                "principal = 'user:eve'",
                "tenant = NULL",
                "tenant = ''",
                "flow = 'f'",
                "outcome = 'denied'",
            ];
            let (_store, ledger) = open(&bed).await;
            fill(&ledger, changes.len().try_into().unwrap()).await;
            for (seq, change) in (1..).zip(changes) {
                tamper::sql(&bed, &format!("UPDATE ledger SET {change} WHERE seq = {seq}")).await;
            }
            let expected: Vec<_> = (1..).zip(changes).map(|(seq, _)| (seq, Wrong::Columns)).collect();
            assert_eq!(wrongs(&whole(&ledger).await), expected);
        };
        Bed::postgres().await.run(check).await;
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn a_record_that_was_put_in_is_found() {
        // With the number of a record that was taken out for it.
        let sql = "DELETE FROM ledger WHERE seq = 5;
            INSERT INTO ledger (writer, seq, time, kind, call, tool, principal, tenant, flow, outcome, previous, hash, record)
            SELECT writer, 5, time, kind, call, tool, principal, tenant, flow, outcome, previous, hash, record
            FROM ledger WHERE seq = 6";
        after(sql, |found| {
            // what other databases of the server still do decides whether the rows are read by place or by number: of two
            // that follow each other the wrong way round, the later one counts as moved
            let moved = found.contains(&(5, Wrong::Moved)) || found.contains(&(6, Wrong::Moved));
            assert!(found.contains(&(5, Wrong::Columns)) && moved, "{found:?}");
        })
        .await;
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn records_that_changed_places_are_found() {
        let sql = "UPDATE ledger SET seq = -1 WHERE seq = 5; UPDATE ledger SET seq = 5 WHERE seq = 6;
            UPDATE ledger SET seq = 6 WHERE seq = -1";
        after(sql, |found| {
            assert!(found.contains(&(5, Wrong::Columns)) && found.contains(&(6, Wrong::Columns)), "{found:?}");
        })
        .await;
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn a_record_given_to_another_writer_is_found() {
        after("UPDATE ledger SET writer = 'ffffffffffffffffffff' WHERE seq = 5", |found| {
            for wrong in [(5, Wrong::Columns), (5, Wrong::Missing { until: 5 }), (0, Wrong::Missing { until: 4 })] {
                assert!(found.contains(&wrong), "{found:?}");
            }
        })
        .await;
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn the_database_itself_refuses_changes() {
        let check = async |bed: Bed| {
            let ledger = ten(&bed).await;
            for sql in ["UPDATE ledger SET outcome = 'denied'", "DELETE FROM ledger"] {
                let refused = tamper::try_sql(&bed, sql).await.unwrap_err();
                assert!(refused.contains("append-only"), "{refused}");
            }
            assert_eq!(whole(&ledger).await.records, 11);
        };
        Bed::postgres().await.run(check).await;
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn a_ledger_from_a_newer_program_is_refused() {
        let check = async |bed: Bed| {
            ten(&bed).await.close().await;
            let newer = "INSERT INTO toolgate_ledger_migrations (version, name, digest) VALUES (9999, 'future', '')";
            tamper::sql(&bed, newer).await;
            tamper::sql(&bed, "UPDATE toolgate_ledger_migrations_compatible SET version = 9999").await;
            let store = bed.open().await;
            let refused = store.ledger(toolgate_store::ledger::LedgerSettings::default()).await.err().unwrap();
            assert!(refused.to_string().contains("newer than this program"), "{refused}");
        };
        Bed::postgres().await.run(check).await;
    }
}
