//! A call that waits for a person: what its client hears meanwhile, and what a denial says.

use std::time::Duration;

use serde_json::{Value, value::RawValue};
use tokio::sync::mpsc;
use toolgate_core::{Caller, Kind, Lang};
use toolgate_spine::{Approver, Call, Client, Line, Outcome, Said, Say};
use toolgate_store::{Approval, ApprovalFilter, Location, Scope};

use crate::world::{World, ann};

/// The approval that the call waits for, once it was asked for.
async fn pending(world: &World) -> Approval {
    let deadline = tokio::time::Instant::now() + Duration::from_secs(60);
    loop {
        let approvals = world.books.store().approvals();
        let filter = ApprovalFilter::default();
        let found = approvals.list(&Scope::Everything, &filter, 0, &Default::default()).await.unwrap();
        if let Some(approval) = found.items.into_iter().next() {
            return approval;
        }
        assert!(tokio::time::Instant::now() < deadline, "waited in vain for the approval");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

#[tokio::test]
async fn a_waiting_call_reports_progress_and_says_why_it_was_denied() {
    let folder = tempfile::tempdir().unwrap();
    let world = World::at(&Location::Sqlite(folder.path().join("toolgate.db"))).await;
    let (said, mut heard) = mpsc::channel(8);
    let capabilities = RawValue::from_string("{}".to_owned()).unwrap();
    let client = Client::on(Line { said, wants_progress: true, log: None, capabilities, address: None });
    let arguments = RawValue::from_string(r#"{"amount":1}"#.to_owned()).unwrap();
    let call = Call {
        wait: Some(Duration::from_secs(3600)),
        client,
        ..Call::of(Kind::Tool, "pay", Some(&arguments), Lang::En)
    };
    let caller = ann();
    let answers = async {
        let asked = pending(&world).await;
        let Some(Said::Progress(note)) = heard.recv().await else { panic!("no progress") };
        assert!(note.progress < 0.01 && note.message.is_some_and(|message| message.ends_with(&asked.id)));
        let shown: Value = serde_json::from_str(&asked.shown).unwrap();
        assert_eq!(shown["rule"], "approval", "the approver sees which rule asks");
        let no = Say::No { reason: Some("not on a Friday".to_owned()) };
        let approver = Approver { by: "operator:kim", who: &Caller::default(), rules: "" };
        world.books.answer(&Scope::Everything, &asked, &approver, no).await.unwrap();
    };
    let (outcome, ()) = tokio::join!(world.spine.call(&caller, call), answers);
    let Outcome::Denied { denial, .. } = outcome else { panic!("{outcome:?}") };
    assert_eq!(denial.code, "approval_denied");
    assert!(denial.message.ends_with("was not approved: not on a Friday"), "{}", denial.message);
    assert_eq!(world.ran(), 0);
}
