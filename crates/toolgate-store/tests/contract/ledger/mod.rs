//! The ledger's contract: what is acknowledged is there, what is changed is found.

mod appending;
mod archive;
mod checkpoints;
mod failing;
mod forged_recovery;
mod killed;
mod linked;
mod locked;
mod reading;
mod tamper;
mod tampering;
mod torn;

use serde_json::value::RawValue;
use toolgate_store::{
    Store,
    ledger::{Durability, Entry, Finding, Kind, Ledger, LedgerSettings, Outcome, Scope, Verification, Wrong},
};

use crate::bed::Bed;

pub(crate) fn entry(kind: Kind, call: &str, time: i64) -> Entry {
    Entry {
        kind,
        time,
        call: call.into(),
        tool: "vault.move".into(),
        source: "vault".into(),
        principal: "user:ann".into(),
        tenant: Some("acme".into()),
        flow: None,
        outcome: if kind == Kind::Intent { Outcome::Allowed } else { Outcome::Answered },
        asked: None,
        actor: RawValue::from_string(r#"{"user":"ann","tenant":"acme"}"#.into()).unwrap().into(),
        input: RawValue::from_string(r#"{"to":"/b"}"#.into()).ok(),
        approval: None,
        plan: None,
        rule: None,
        code: None,
        result: None,
        revision: "sha256:00".into(),
        duration_us: Some(5),
    }
}

pub(crate) async fn open(bed: &Bed) -> (Store, Ledger) {
    let store = bed.open().await;
    let ledger = store.ledger(LedgerSettings::default()).await.unwrap();
    (store, ledger)
}

/// Appends records `1` to `count` of one writer; the genesis record is 0.
pub(crate) async fn fill(ledger: &Ledger, count: i64) {
    for number in 1..=count {
        ledger.append(entry(Kind::Read, &format!("c{number}"), 1_000 + number), Durability::Durable).await.unwrap();
    }
}

pub(crate) async fn whole(ledger: &Ledger) -> Verification {
    ledger.verify(Scope::Whole).await.unwrap()
}

/// What is wrong and where, writers aside.
pub(crate) fn wrongs(verification: &Verification) -> Vec<(i64, Wrong)> {
    verification.findings.iter().map(|Finding { seq, wrong, .. }| (*seq, wrong.clone())).collect()
}
