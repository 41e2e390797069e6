//! Everything someone with the database in hand might do, done with SQL, and found.

use aws_lc_rs::digest;
use toolgate_store::ledger::{Filter, Record, Scope, Wrong};

use super::{fill, open, whole, wrongs};
use crate::bed::Bed;

/// Ten records, tampered with; what verifying says.
async fn after(bed: &Bed, sql: &str) -> Vec<(i64, Wrong)> {
    let (store, ledger) = open(bed).await;
    fill(&ledger, 10).await;
    assert!(whole(&ledger).await.is_sound());
    bed.tamper(sql).await;
    let verified = whole(&ledger).await;
    assert_eq!(usize::try_from(verified.found).unwrap(), verified.findings.len());
    assert!(
        verified.findings.iter().all(|finding| finding.writer.len() == 20 || finding.writer == "?"),
        "{verified:?}"
    );
    ledger.close().await;
    store.close().await;
    wrongs(&verified)
}

/// A record rewritten as if it had always been so: its own hash fits.
fn forged(record: &Record, from: &str, to: &str) -> (String, String) {
    let text = record.text.replace(from, to);
    let hash = digest::digest(&digest::SHA256, &[record.previous.as_bytes().as_slice(), text.as_bytes()].concat());
    (text, hash.as_ref().iter().map(|byte| format!("{byte:02x}")).collect())
}

/// A hash as the engine writes bytes.
fn bytes(bed: &Bed, hex: &str) -> String {
    if bed.is_postgres() { format!("'\\x{hex}'") } else { format!("x'{hex}'") }
}

on_both! {
    async fn an_edited_text_is_found(bed: Bed) {
        assert_eq!(after(&bed, "UPDATE ledger SET record = replace(record, '/b', '/c') WHERE seq = 5").await, [(5, Wrong::Edited)]);
    }

    async fn one_changed_letter_of_the_newest_record_is_found(bed: Bed) {
        assert_eq!(after(&bed, "UPDATE ledger SET record = replace(record, '}', ' }') WHERE seq = 10").await, [(10, Wrong::Edited)]);
    }

    async fn an_edited_column_is_found_whichever_it_is(bed: Bed) {
        let changes = [
            "time = time + 1", "kind = 'intent'", "call = 'other'", "tool = 'todo.list'", "principal = 'user:eve'",
            "tenant = NULL", "tenant = ''", "flow = 'f'", "outcome = 'denied'",
        ];
        let (_store, ledger) = open(&bed).await;
        fill(&ledger, changes.len().try_into().unwrap()).await;
        for (seq, change) in (1..).zip(changes) {
            bed.tamper(&format!("UPDATE ledger SET {change} WHERE seq = {seq}")).await;
        }
        let expected: Vec<_> = (1..).zip(changes).map(|(seq, _)| (seq, Wrong::Columns)).collect();
        assert_eq!(wrongs(&whole(&ledger).await), expected);
    }

    async fn an_edited_hash_is_found(bed: Bed) {
        let zero = bytes(&bed, &"00".repeat(32));
        assert_eq!(
            after(&bed, &format!("UPDATE ledger SET hash = {zero} WHERE seq = 5")).await,
            [(5, Wrong::Edited), (6, Wrong::Unlinked)]
        );
    }

    async fn an_edited_previous_hash_is_found(bed: Bed) {
        let zero = bytes(&bed, &"00".repeat(32));
        assert_eq!(
            after(&bed, &format!("UPDATE ledger SET previous = {zero} WHERE seq = 5")).await,
            [(5, Wrong::Edited), (5, Wrong::Unlinked)]
        );
    }

    async fn a_record_replaced_by_one_with_a_fitting_hash_is_found(bed: Bed) {
        let (_store, ledger) = open(&bed).await;
        fill(&ledger, 10).await;
        let records = ledger.page(&Filter::default(), None, 20).await.unwrap();
        let (text, hash) = forged(&records[5], "/b", "/c");
        let hash = bytes(&bed, &hash);
        bed.tamper(&format!("UPDATE ledger SET record = '{text}', hash = {hash} WHERE seq = 5")).await;
        assert_eq!(wrongs(&whole(&ledger).await), [(6, Wrong::Unlinked)]);
    }

    async fn a_deleted_record_is_found(bed: Bed) {
        assert_eq!(after(&bed, "DELETE FROM ledger WHERE seq = 5").await, [(5, Wrong::Missing { until: 5 })]);
    }

    async fn several_deleted_records_are_found(bed: Bed) {
        assert_eq!(
            after(&bed, "DELETE FROM ledger WHERE seq IN (2, 5, 6, 7)").await,
            [(2, Wrong::Missing { until: 2 }), (5, Wrong::Missing { until: 7 })]
        );
    }

    async fn a_deleted_beginning_is_found(bed: Bed) {
        assert_eq!(after(&bed, "DELETE FROM ledger WHERE seq < 4").await, [(0, Wrong::Missing { until: 3 })]);
    }

    async fn a_record_that_is_there_twice_is_found(bed: Bed) {
        let columns = "writer, seq, time, kind, call, tool, principal, tenant, flow, outcome, previous, hash, record";
        let sql = format!(
            "DROP INDEX ledger_by_writer; INSERT INTO ledger ({columns}) SELECT {columns} FROM ledger WHERE seq = 5"
        );
        assert_eq!(after(&bed, &sql).await, [(5, Wrong::Inserted)]);
    }

    async fn a_record_that_was_put_in_is_found(bed: Bed) {
        // With the number of a record that was taken out for it.
        let columns = "time, kind, call, tool, principal, tenant, flow, outcome, previous, hash";
        let sql = format!(
            "DELETE FROM ledger WHERE seq = 5;
             INSERT INTO ledger (writer, seq, {columns}, record) SELECT writer, 5, {columns}, record FROM ledger WHERE seq = 6"
        );
        let found = after(&bed, &sql).await;
        assert!(found.contains(&(5, Wrong::Columns)) && found.contains(&(5, Wrong::Moved)), "{found:?}");
    }

    async fn a_moved_record_is_found(bed: Bed) {
        assert_eq!(after(&bed, "UPDATE ledger SET position = 1000000 WHERE seq = 5").await, [(5, Wrong::Moved)]);
    }

    async fn records_that_changed_places_are_found(bed: Bed) {
        let sql = "UPDATE ledger SET seq = -1 WHERE seq = 5; UPDATE ledger SET seq = 5 WHERE seq = 6;
            UPDATE ledger SET seq = 6 WHERE seq = -1";
        let found = after(&bed, sql).await;
        assert!(found.contains(&(5, Wrong::Columns)) && found.contains(&(6, Wrong::Columns)), "{found:?}");
    }

    async fn a_record_given_to_another_writer_is_found(bed: Bed) {
        let sql = "UPDATE ledger SET writer = 'ffffffffffffffffffff' WHERE seq = 5";
        let found = after(&bed, sql).await;
        assert!(found.contains(&(5, Wrong::Columns)), "{found:?}");
        assert!(found.contains(&(5, Wrong::Missing { until: 5 })), "{found:?}");
        assert!(found.contains(&(0, Wrong::Missing { until: 4 })), "{found:?}");
    }

    async fn what_is_sound_beside_it_is_not_accused(bed: Bed) {
        let ((_here, one), (_there, other)) = (open(&bed).await, open(&bed).await);
        fill(&one, 10).await;
        fill(&other, 10).await;
        bed.tamper(&format!("DELETE FROM ledger WHERE seq = 3 AND writer = '{}'", one.writer())).await;
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
        // The newest record rewritten with a fitting hash: without a checkpoint nobody could tell.
        let records = ledger.page(&Filter::default(), None, 20).await.unwrap();
        let (text, hash) = forged(&records[6], "/b", "/c");
        let hash = bytes(&bed, &hash);
        bed.tamper(&format!("UPDATE ledger SET record = '{text}', hash = {hash} WHERE seq = 6")).await;
        assert!(whole(&ledger).await.is_sound());
        for scope in [Scope::Against(vec![trusted.clone()]), Scope::Since(trusted)] {
            let verified = ledger.verify(scope).await.unwrap();
            assert_eq!(wrongs(&verified), [(6, Wrong::NotAsInCheckpoint { checkpoint: 50 })]);
        }
    }
}
