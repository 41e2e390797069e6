use toolgate_store::{
    NewReceipt, Paging, Receipt, ReceiptFilter, ReceiptState, Scope, StoreError, Undo, UndoKind, UndoRecord,
};

use crate::bed::Bed;

pub(crate) fn receipt(call: &str, at: i64) -> NewReceipt {
    NewReceipt {
        call_id: call.to_owned(),
        at,
        principal: "user:ann".to_owned(),
        actor: r#"{"user":"ann"}"#.to_owned(),
        tenant: None,
        flow: None,
        plan: None,
        tool: "vault.move".to_owned(),
        source: "pack:vault".to_owned(),
        input: r#"{"path":"a.txt"}"#.to_owned(),
        approval: Some("appr_1".to_owned()),
        approved_by: Some("user:bob".to_owned()),
        result_digest: Some([4; 32]),
        summary: "moved a.txt".to_owned(),
        undo: Undo { kind: UndoKind::Native, why: None },
        undo_record: Some(UndoRecord::new(r#"{"secret":"hunter2"}"#.to_owned())),
        known: true,
        undoes: None,
    }
}

on_both! {
    async fn a_receipt_says_what_was_done_and_not_what_undo_takes(bed: Bed) {
        let receipts = bed.open().await.receipts();
        let added = receipts.add(receipt("call_1", 10)).await.unwrap();
        assert!(added.id.starts_with("rcpt_") && added.id.len() == 37, "{}", added.id);
        let expected = Receipt {
            id: added.id.clone(),
            call_id: "call_1".into(),
            at: 10,
            principal: "user:ann".into(),
            actor: r#"{"user":"ann"}"#.into(),
            tenant: None,
            flow: None,
            plan: None,
            tool: "vault.move".into(),
            source: "pack:vault".into(),
            input: r#"{"path":"a.txt"}"#.into(),
            approval: Some("appr_1".into()),
            approved_by: Some("user:bob".into()),
            result_digest: Some([4; 32]),
            summary: "moved a.txt".into(),
            undo: Undo { kind: UndoKind::Native, why: None },
            undo_began: None,
            state: ReceiptState::Done,
            undone_by: None,
            undoes: None,
        };
        assert_eq!(added, expected);
        assert_eq!(receipts.get(&Scope::Everything, &added.id).await, Ok(Some(expected)));
        assert_eq!(receipts.get(&Scope::Everything, "rcpt_none").await, Ok(None));

        let record = receipts.undo_record(&Scope::Everything, &added.id).await.unwrap().unwrap();
        assert_eq!(record.as_str(), r#"{"secret":"hunter2"}"#);
        assert!(!format!("{record:?} {added:?} {:?}", receipt("c", 1)).contains("hunter2"));
        let stranger = receipts.undo_record(&Scope::principal(None, "user:bob"), &added.id).await;
        assert_eq!(stranger, Ok(None));
    }

    async fn what_is_not_known_to_have_happened_is_unknown(bed: Bed) {
        let receipts = bed.open().await.receipts();
        let new = NewReceipt { known: false, result_digest: None, undo_record: None, ..receipt("c", 1) };
        let added = receipts.add(new).await.unwrap();
        assert_eq!((added.state, added.result_digest), (ReceiptState::Unknown, None));
        assert_eq!(receipts.undo_record(&Scope::Everything, &added.id).await, Ok(None));
    }

    async fn a_call_leaves_one_receipt(bed: Bed) {
        let stores = [bed.open().await, bed.open().await];
        let adds = (0..16_usize).map(|n| {
            let receipts = stores[n % 2].receipts();
            tokio::spawn(async move { receipts.add(receipt("call", 1)).await })
        });
        let mut added = 0;
        for add in adds.collect::<Vec<_>>() {
            match add.await.unwrap() {
                Ok(_) => added += 1,
                Err(fault) => assert_eq!(fault, StoreError::Duplicate { operation: "store a receipt" }),
            }
        }
        assert_eq!(added, 1);
    }

    async fn receipts_are_listed_newest_first_by_what_is_asked(bed: Bed) {
        let receipts = bed.open().await.receipts();
        let text = |text: String| Some(text);
        for n in 0..12_i64 {
            let new = NewReceipt {
                principal: format!("user:{}", n % 2),
                flow: text(format!("f{}", n % 3)),
                plan: (n % 4 == 0).then(|| "p".to_owned()),
                tool: if n < 6 { "a" } else { "b" }.to_owned(),
                known: n != 11,
                ..receipt(&format!("c{n}"), n)
            };
            receipts.add(new).await.unwrap();
        }
        let list = async |scope: &Scope, filter: ReceiptFilter| {
            let page = receipts.list(scope, &filter, &Paging::default()).await.unwrap();
            page.items.iter().map(|one| one.at).collect::<Vec<_>>()
        };
        let (all, any) = (Scope::Everything, ReceiptFilter::default);
        let by = |text: &str| Some(text.to_owned());
        assert_eq!(list(&all, any()).await, (0..12).rev().collect::<Vec<_>>());
        assert_eq!(list(&all, ReceiptFilter { principal: by("user:1"), ..any() }).await, [11, 9, 7, 5, 3, 1]);
        assert_eq!(list(&all, ReceiptFilter { flow: by("f1"), ..any() }).await, [10, 7, 4, 1]);
        assert_eq!(list(&all, ReceiptFilter { plan: by("p"), ..any() }).await, [8, 4, 0]);
        assert_eq!(list(&all, ReceiptFilter { plan: by("p"), flow: by("f1"), ..any() }).await, [4]);
        assert_eq!(list(&all, ReceiptFilter { tool: by("a"), since: Some(3), ..any() }).await, [5, 4, 3]);
        assert_eq!(list(&all, ReceiptFilter { state: Some(ReceiptState::Unknown), ..any() }).await, [11]);
        assert_eq!(list(&all, ReceiptFilter { principal: by("user:1"), flow: by("f1"), ..any() }).await, [7, 1]);
        assert_eq!(list(&all, ReceiptFilter { flow: by("none"), ..any() }).await, [0_i64; 0]);

        let own = Scope::principal(None, "user:0");
        assert_eq!(list(&own, any()).await, [10, 8, 6, 4, 2, 0]);
        assert_eq!(list(&own, ReceiptFilter { principal: by("user:1"), ..any() }).await, [0_i64; 0]);
        assert_eq!(list(&own, ReceiptFilter { flow: by("f1"), ..any() }).await, [10, 4]);
        assert_eq!(list(&own, ReceiptFilter { plan: by("p"), since: Some(1), ..any() }).await, [8, 4]);

        for scope in [&all, &own] {
            let whole = receipts.list(scope, &any(), &Paging::default()).await.unwrap().items;
            let (mut paging, mut seen) = (Paging { limit: 5, after: None }, Vec::new());
            loop {
                let page = receipts.list(scope, &any(), &paging).await.unwrap();
                seen.extend(page.items);
                match page.next {
                    Some(mark) => paging.after = Some(mark),
                    None => break,
                }
            }
            assert_eq!(seen, whole);
        }
    }

    async fn receipts_of_tenants_are_apart(bed: Bed) {
        let receipts = bed.open().await.receipts();
        let tenant = |name: &str| Some(name.to_owned());
        let new = NewReceipt { tenant: tenant("a"), flow: tenant("f"), plan: tenant("p"), ..receipt("c", 1) };
        let of_a = receipts.add(new).await.unwrap();
        for scope in [
            Scope::principal(Some("b"), "user:ann"),
            Scope::principal(None, "user:ann"),
            Scope::principal(Some("a"), "user:bob"),
            Scope::Tenant(tenant("b")),
            Scope::Tenant(None),
        ] {
            assert_eq!(receipts.get(&scope, &of_a.id).await, Ok(None), "{scope:?}");
            for filter in [
                ReceiptFilter::default(),
                ReceiptFilter { flow: tenant("f"), ..Default::default() },
                ReceiptFilter { plan: tenant("p"), ..Default::default() },
                ReceiptFilter { principal: tenant("user:ann"), ..Default::default() },
            ] {
                let page = receipts.list(&scope, &filter, &Paging::default()).await.unwrap();
                assert_eq!(page.items, [], "{scope:?}");
            }
            assert!(receipts.begin_undo(&scope, &of_a.id, 5).await.is_err(), "{scope:?}");
        }
        assert_eq!(receipts.get(&Scope::Tenant(tenant("a")), &of_a.id).await, Ok(Some(of_a)));
    }
}
