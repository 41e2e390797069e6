//! The way of an undo.

use toolgate_store::{NewReceipt, ReceiptState, Receipts, Scope, Undo, UndoFault, UndoKind};

use crate::{bed::Bed, receipts::receipt};

const ALL: Scope = Scope::Everything;

fn ann() -> Scope {
    Scope::principal(None, "user:ann")
}

async fn done(receipts: &Receipts, call: &str) -> String {
    receipts.add(receipt(call, 1)).await.unwrap().id
}

async fn undo_of(receipts: &Receipts, id: &str) -> String {
    let new = NewReceipt { undoes: Some(id.to_owned()), ..receipt(&format!("undo of {id}"), 2) };
    receipts.add(new).await.unwrap().id
}

on_both! {
    async fn an_undo_is_begun_and_finished_once(bed: Bed) {
        let receipts = bed.open().await.receipts();
        let id = done(&receipts, "c").await;
        let undoing = receipts.begin_undo(&ann(), &id, 20).await.unwrap();
        assert_eq!((undoing.receipt.state, undoing.receipt.undo_began), (ReceiptState::Undoing, Some(20)));
        assert_eq!(undoing.record.as_ref().unwrap().as_str(), r#"{"secret":"hunter2"}"#);
        assert!(!format!("{undoing:?}").contains("hunter2"));
        let again = receipts.begin_undo(&ann(), &id, 21).await;
        assert_eq!(again, Err(UndoFault::Undoing { id: id.clone() }));

        let by = undo_of(&receipts, &id).await;
        let undone = receipts.finish_undo(&id, &by).await.unwrap();
        assert_eq!((undone.state, undone.undone_by.as_ref()), (ReceiptState::Undone, Some(&by)));
        let twice = UndoFault::Undone { id: id.clone(), by: by.clone() };
        assert_eq!(receipts.begin_undo(&ann(), &id, 22).await, Err(twice.clone()));
        assert_eq!(receipts.finish_undo(&id, &by).await, Err(twice));
        assert_eq!(receipts.get(&ALL, &id).await, Ok(Some(undone)));

        let redo = receipts.begin_undo(&ann(), &by, 30).await.unwrap();
        assert_eq!(redo.receipt.undoes, Some(id), "an undo can be undone in its turn");
    }

    async fn an_undo_that_failed_can_be_tried_again_and_one_of_unknown_outcome_can_not(bed: Bed) {
        let receipts = bed.open().await.receipts();
        let id = done(&receipts, "c").await;
        receipts.begin_undo(&ann(), &id, 20).await.unwrap();
        assert_eq!(receipts.undo_failed(&id).await.unwrap().state, ReceiptState::Done);
        let begun = receipts.begin_undo(&ann(), &id, 30).await.unwrap();
        assert_eq!(begun.receipt.undo_began, Some(30));
        assert_eq!(receipts.undo_unknown(&id).await.unwrap().state, ReceiptState::Unknown);
        let uncertain = receipts.begin_undo(&ann(), &id, 40).await;
        assert_eq!(uncertain, Err(UndoFault::Uncertain { id: id.clone() }));
        assert_eq!(receipts.get(&ALL, &id).await.unwrap().unwrap().state, ReceiptState::Unknown);
    }

    async fn what_a_crash_left_is_found(bed: Bed) {
        let receipts = bed.open().await.receipts();
        let mut ids = Vec::new();
        for n in 0..4_i64 {
            ids.push(receipts.add(receipt(&format!("c{n}"), n)).await.unwrap().id);
            receipts.begin_undo(&ann(), &ids[ids.len() - 1], 20 + n).await.unwrap();
        }
        receipts.undo_failed(&ids[1]).await.unwrap();
        let left = receipts.undoing(23).await.unwrap();
        assert_eq!(left.iter().map(|one| &one.id).collect::<Vec<_>>(), [&ids[0], &ids[2]]);
    }

    async fn nothing_is_finished_that_was_not_begun(bed: Bed) {
        let receipts = bed.open().await.receipts();
        let fresh = done(&receipts, "fresh").await;
        let undone = done(&receipts, "undone").await;
        receipts.begin_undo(&ALL, &undone, 20).await.unwrap();
        let by = undo_of(&receipts, &undone).await;
        receipts.finish_undo(&undone, &by).await.unwrap();
        let lost = receipts.add(NewReceipt { known: false, ..receipt("lost", 1) }).await.unwrap().id;
        for (id, state) in [
            (&fresh, ReceiptState::Done),
            (&undone, ReceiptState::Undone),
            (&lost, ReceiptState::Unknown),
        ] {
            let refused = UndoFault::NotBegun { id: id.clone(), state };
            assert_eq!(receipts.undo_failed(id).await, Err(refused.clone()));
            assert_eq!(receipts.undo_unknown(id).await, Err(refused.clone()));
            if state != ReceiptState::Undone {
                let by = undo_of(&receipts, id).await;
                assert_eq!(receipts.finish_undo(id, &by).await, Err(refused));
            }
            assert_eq!(receipts.get(&ALL, id).await.unwrap().unwrap().state, state);
        }
        assert_eq!(receipts.begin_undo(&ALL, &lost, 20).await, Err(UndoFault::Uncertain { id: lost.clone() }));
        let none = UndoFault::Unknown { id: "rcpt_none".into() };
        assert_eq!(receipts.begin_undo(&ALL, "rcpt_none", 1).await, Err(none.clone()));
        assert_eq!(receipts.finish_undo("rcpt_none", &by).await, Err(none.clone()));
        assert_eq!(receipts.undo_failed("rcpt_none").await, Err(none.clone()));
        assert_eq!(receipts.undo_unknown("rcpt_none").await, Err(none));
    }

    async fn an_undo_is_finished_by_its_own_receipt_only(bed: Bed) {
        let receipts = bed.open().await.receipts();
        let (id, other) = (done(&receipts, "c").await, done(&receipts, "d").await);
        receipts.begin_undo(&ALL, &id, 20).await.unwrap();
        let undo_of_other = undo_of(&receipts, &other).await;
        for by in [&id, &other, &undo_of_other, "rcpt_none"] {
            let refused = receipts.finish_undo(&id, by).await;
            assert_eq!(refused, Err(UndoFault::NotItsUndo { id: id.clone(), by: by.to_owned() }));
        }
        assert_eq!(receipts.get(&ALL, &id).await.unwrap().unwrap().state, ReceiptState::Undoing);
    }

    async fn what_can_not_be_undone_says_why(bed: Bed) {
        let receipts = bed.open().await.receipts();
        let of = |kind, why: Option<&str>| NewReceipt {
            undo: Undo { kind, why: why.map(str::to_owned) },
            ..receipt(&format!("{kind}"), 1)
        };
        let sent = receipts.add(of(UndoKind::Impossible, Some("a sent message can't be called back"))).await.unwrap();
        let refused = receipts.begin_undo(&ALL, &sent.id, 2).await.unwrap_err();
        assert!(refused.to_string().ends_with("can't be undone: a sent message can't be called back"), "{refused}");
        let nobody = receipts.add(of(UndoKind::Unknown, None)).await.unwrap();
        let refused = receipts.begin_undo(&ALL, &nobody.id, 2).await.unwrap_err();
        assert_eq!(refused, UndoFault::Impossible { id: nobody.id, why: "nothing says how".into() });
        let compensated = receipts.add(of(UndoKind::Compensation, None)).await.unwrap();
        receipts.begin_undo(&ALL, &compensated.id, 2).await.unwrap();
    }

    async fn one_of_many_begins_an_undo(bed: Bed) {
        let stores = [bed.open().await, bed.open().await];
        let id = done(&stores[0].receipts(), "c").await;
        let begins = (0..64_usize).map(|n| {
            let (receipts, id) = (stores[n % 2].receipts(), id.clone());
            tokio::spawn(async move { receipts.begin_undo(&ann(), &id, 20).await })
        });
        let mut begun = 0;
        for begin in begins.collect::<Vec<_>>() {
            match begin.await.unwrap() {
                Ok(_) => begun += 1,
                Err(fault) => assert_eq!(fault, UndoFault::Undoing { id: id.clone() }),
            }
        }
        assert_eq!(begun, 1);
    }
}
