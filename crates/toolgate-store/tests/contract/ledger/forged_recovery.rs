//! Recoveries that somebody made up: hashes need no key, so a recovery must not excuse what something else contradicts.

use std::fs;

use aws_lc_rs::digest;
use toolgate_store::ledger::{Checkpoint, Ledger, Scope, Trusted, Wrong};

use super::{fill, open, tamper, whole, wrongs};
use crate::bed::Bed;

const FORGER: &str = "f0f0f0f0f0f0f0f0f0f0";

fn hash(previous: &[u8; 32], text: &str) -> [u8; 32] {
    digest::digest(&digest::SHA256, &[previous.as_slice(), text.as_bytes()].concat()).as_ref().try_into().unwrap()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The first records of a chain: a genesis that names these heads, and a recovery.
fn forged(heads: &str, unsynced: &str) -> Vec<(String, String, String)> {
    let (mut previous, mut records) = ([0; 32], Vec::new());
    for (seq, kind, members) in [(0, "genesis", heads), (1, "recovery", unsynced)] {
        let text = format!(
            "{{\"v\":1,\"writer\":\"{FORGER}\",\"seq\":{seq},\"time\":1,\"kind\":\"{kind}\",\"call\":\"\",\"tool\":\"\",\
             \"principal\":\"\",\"tenant\":null,\"flow\":null,\"outcome\":\"allowed\",{members}}}"
        );
        let own = hash(&previous, &text);
        records.push((hex(&previous), hex(&own), text));
        previous = own;
    }
    records
}

async fn append(bed: &Bed, records: &[(String, String, String)]) {
    if bed.is_postgres() {
        for (seq, (previous, hash, text)) in (0..).zip(records) {
            let kind = if seq == 0 { "genesis" } else { "recovery" };
            let values = format!(
                "'{FORGER}', {seq}, 1, '{kind}', '', '', '', 'allowed', '\\x{previous}', '\\x{hash}', '{text}'"
            );
            let columns = "writer, seq, time, kind, call, tool, principal, outcome, previous, hash, record";
            tamper::sql(bed, &format!("INSERT INTO ledger ({columns}) VALUES ({values})")).await;
        }
        return;
    }
    let path = tamper::files(bed).pop().unwrap();
    let line = |(previous, hash, text): &(String, String, String)| {
        format!("{{\"previous\":\"{previous}\",\"hash\":\"{hash}\",\"record\":{text}}}\n")
    };
    let lines: String = records.iter().map(line).collect();
    fs::write(&path, fs::read_to_string(&path).unwrap() + &lines).unwrap();
}

/// A recovery that says that a writer's records after a number may be gone, in a chain that goes on from that number.
async fn recover(bed: &Bed, ledger: &Ledger, after: i64) {
    let record = ledger.page(&Default::default(), i64::MIN, 100).await.unwrap();
    let named = record.iter().find(|record| record.writer == ledger.writer() && record.seq == after);
    let heads = named
        .map(|record| format!("{{\"writer\":\"{}\",\"seq\":{after},\"hash\":\"{}\"}}", ledger.writer(), record.hash));
    let heads = format!("\"heads\":[{}]", heads.unwrap_or_default());
    let unsynced = format!("\"unsynced\":{{\"writer\":\"{}\",\"after\":{after},\"from\":0}}", ledger.writer());
    append(bed, &forged(&heads, &unsynced)).await;
}

async fn checkpoint(store: &toolgate_store::Store, ledger: &Ledger) -> Trusted {
    let key = store.ledger_key().await.unwrap();
    let line = ledger.checkpoint(&key, 50).await.unwrap().to_line();
    Checkpoint::from_line(&line).unwrap().trusted(&key.public()).unwrap()
}

on_both! {
    async fn a_made_up_recovery_excuses_no_record_that_a_checkpoint_or_the_store_names(bed: Bed) {
        let (store, ledger) = open(&bed).await;
        fill(&ledger, 12).await;
        let trusted = checkpoint(&store, &ledger).await;
        recover(&bed, &ledger, 4).await;
        tamper::remove(&bed, Some(ledger.writer()), 5..=9).await;
        assert_eq!(wrongs(&whole(&ledger).await), [(5, Wrong::Missing { until: 9 })]);
        for scope in [Scope::Against(vec![trusted.clone()]), Scope::Since(trusted)] {
            let found = ledger.verify(scope).await.unwrap();
            assert!(found.findings.iter().all(|one| one.wrong != Wrong::FalseRecovery), "{found:?}");
        }
        let key = store.ledger_key().await.unwrap();
        let _ = ledger.checkpoint(&key, 60).await;
        assert_eq!(wrongs(&whole(&ledger).await), [(5, Wrong::Missing { until: 9 })], "nor later");
    }

    async fn an_emptied_ledger_is_not_excused_by_a_made_up_recovery(bed: Bed) {
        let (store, ledger) = open(&bed).await;
        fill(&ledger, 6).await;
        checkpoint(&store, &ledger).await;
        tamper::remove(&bed, None, tamper::from(0)).await;
        recover(&bed, &ledger, -1).await;
        assert_eq!(wrongs(&whole(&ledger).await), [(6, Wrong::Lost { known_from: "store".into() })]);
    }

    async fn a_recovery_does_not_end_a_writer_that_goes_on(bed: Bed) {
        let (_store, ledger) = open(&bed).await;
        fill(&ledger, 6).await;
        recover(&bed, &ledger, 6).await;
        fill(&ledger, 2).await;
        let found = wrongs(&whole(&ledger).await);
        let expected: &[(i64, Wrong)] =
            if bed.is_postgres() { &[] } else { &[(7, Wrong::FalseRecovery), (8, Wrong::FalseRecovery)] };
        assert_eq!(found, expected);
    }

    async fn a_recovery_counts_only_in_a_chain_that_goes_on_from_the_same_record(bed: Bed) {
        let (_store, ledger) = open(&bed).await;
        fill(&ledger, 6).await;
        let unsynced = format!("\"unsynced\":{{\"writer\":\"{}\",\"after\":2,\"from\":0}}", ledger.writer());
        append(&bed, &forged("\"heads\":[]", &unsynced)).await;
        bed.sql("DELETE FROM ledger_heads").await;
        tamper::remove(&bed, Some(ledger.writer()), 4..=5).await;
        assert_eq!(wrongs(&whole(&ledger).await), [(4, Wrong::Missing { until: 5 })]);
    }
}
