use toolgate_store::{
    Answer, AnswerFault, AskFault, NewApproval, NewFlow, NewKey, NewPlan, NewReceipt, Paging, Scope, StoreError,
    UndoRecord,
};

use crate::{
    approvals::{asked, binding},
    bed::Bed,
    flows::flow,
    keys::key,
    plans::plan,
    receipts::receipt,
    tasks::task,
};

pub(crate) const HOSTILE: [&str; 9] = [
    "'; DROP TABLE todo_tasks; --",
    "\" OR 1=1 --",
    "$1 ?1 :a @b %s {} \\",
    "\u{1f469}\u{200d}\u{1f680} \u{202e}\u{feff} e\u{301}",
    "line\r\nline\ttab\u{1b}[31m",
    "\u{10ffff}\u{e000}",
    "NULL",
    " ",
    "\\x00 \\0 \\u0000",
];

on_both! {
    async fn odd_text_comes_back_as_it_was(bed: Bed) {
        let store = bed.open().await;
        for text in HOSTILE {
            let todo = store.todo(text).unwrap();
            let added = todo.add(text, Some(text)).await.unwrap();
            assert_eq!((added.title.as_str(), added.description.as_deref()), (text, Some(text)));
            assert_eq!(todo.list().await, Ok(vec![added]));
            store.keys().insert(NewKey { name: text.into(), facts: text.into(), ..key(text, 1) }).await.unwrap();
            assert_eq!(store.keys().find(&format!("tg_{text}")).await.unwrap().unwrap().name, text);
            assert_eq!(store.sessions().bind(text, text, 9).await, Ok(Some(text.into())));
            assert_eq!(store.secrets().get_or_create(text, || text.into()).await, Ok(text.into()));
        }
        assert_eq!(store.sessions().load(0).await.unwrap().len(), HOSTILE.len());
    }

    async fn odd_text_comes_back_from_flows_approvals_receipts_and_plans(bed: Bed) {
        let store = bed.open().await;
        for text in HOSTILE {
            let (all, own) = (Scope::Everything, Scope::principal(Some(text), text));
            let some = || Some(text.to_owned());
            let new = NewFlow { name: text.into(), tenant: some(), allowlist: Some(vec![text.into()]), ..flow(text, 1) };
            let opened = store.flows().open(new).await.unwrap();
            assert_eq!((opened.name.as_str(), opened.allowlist.as_deref()), (text, Some([text.to_owned()].as_slice())));
            assert_eq!(store.flows().list(&own, None, &Paging::default()).await.unwrap().items, [opened]);

            let mut bound = binding(text);
            (bound.asked_by, bound.tenant, bound.flow) = (text.into(), some(), some());
            let new = NewApproval { owner: text.into(), shown: text.into(), ..asked(bound) };
            let approval = store.approvals().ask(new).await.unwrap();
            let deny = Answer::Deny { by: text.into(), reason: some() };
            let denied = store.approvals().answer(&own, &approval.id, deny, 20).await.unwrap();
            assert_eq!((denied.shown.as_str(), denied.reason), (text, some()));

            let new = NewReceipt { summary: text.into(), undo_record: some().map(UndoRecord::new), ..receipt(text, 1) };
            let added = store.receipts().add(new).await.unwrap();
            assert_eq!((added.call_id.as_str(), added.summary.as_str()), (text, text));
            assert_eq!(store.receipts().undo_record(&all, &added.id).await.unwrap().unwrap().as_str(), text);

            let new = NewPlan { name: some(), owner: text.into(), tenant: some(), calls: text.into(), ..plan(2, 1) };
            let proposed = store.plans().propose(new).await.unwrap();
            assert_eq!((proposed.name.as_deref(), proposed.calls.as_str()), (Some(text), text));
            assert_eq!(store.plans().get(&own, &proposed.id).await, Ok(Some(proposed)));
        }
    }

    async fn a_nul_is_refused_by_flows_approvals_receipts_and_plans(bed: Bed) {
        let store = bed.open().await;
        let invalid = |fault: StoreError| {
            assert!(matches!(fault, StoreError::Invalid { .. }) && fault.to_string().contains("NUL"), "{fault}");
        };
        let (all, odd) = (Scope::Everything, Scope::principal(Some("a\0"), "user:\0"));
        invalid(store.flows().open(flow("a\0", 1)).await.unwrap_err());
        invalid(store.receipts().add(receipt("a\0", 1)).await.unwrap_err());
        invalid(store.plans().propose(NewPlan { calls: "\0".into(), ..plan(1, 1) }).await.unwrap_err());
        match store.approvals().ask(asked(binding("a\0"))).await.unwrap_err() {
            AskFault::Store(fault) => invalid(fault),
            other => panic!("{other}"),
        }
        let deny = Answer::Deny { by: "user:ann".into(), reason: None };
        match store.approvals().answer(&all, "a\0", deny, 20).await.unwrap_err() {
            AnswerFault::Store(fault) => invalid(fault),
            other => panic!("{other}"),
        }
        assert_eq!(store.approvals().take(&binding("a\0"), 20).await, Ok(None));
        assert_eq!(store.flows().get(&odd, "a").await, Ok(None));
        assert_eq!(store.flows().list(&odd, None, &Paging::default()).await.unwrap().items, []);
        assert_eq!(store.approvals().get(&all, "a\0", 20).await, Ok(None));
        assert_eq!(store.receipts().get(&all, "a\0").await, Ok(None));
        assert_eq!(store.plans().get(&all, "a\0").await, Ok(None));
    }

    async fn a_megabyte_comes_back_as_it_was(bed: Bed) {
        let todo = bed.open().await.todo("ann").unwrap();
        // Not compressible, so that no engine gets away with less.
        let mut state = 1u32;
        let large: String = (0..1 << 20)
            .map(|_| {
                state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                char::from(b'!' + u8::try_from(state >> 24).unwrap() % 90)
            })
            .collect();
        let added = todo.add(&large, Some(&large)).await.unwrap();
        assert_eq!(added.title, large);
        assert_eq!(todo.get(added.id).await, Ok(Some(added)));
    }

    async fn a_nul_is_refused_with_a_clear_error_and_found_nowhere(bed: Bed) {
        let store = bed.open().await;
        let todo = store.todo("ann").unwrap();
        let kept = todo.add("kept", None).await.unwrap();
        let refused = |outcome: Result<(), StoreError>| {
            let error = outcome.unwrap_err();
            assert!(matches!(error, StoreError::Invalid { .. }) && error.to_string().contains("NUL"), "{error}");
        };
        refused(todo.add("a\0b", None).await.map(drop));
        refused(todo.add("a", Some("\0")).await.map(drop));
        refused(todo.update(kept.id, Some("\0"), None).await.map(drop));
        refused(store.todo("a\0").map(drop));
        refused(store.keys().insert(key("a\0", 1)).await);
        refused(store.keys().revoke("a\0", 1).await.map(drop));
        refused(store.tasks().start(task("a\0", 1, None, false)).await);
        refused(store.tasks().finish("a\0", 1).await.map(drop));
        refused(store.sessions().end("a\0", 1).await);
        refused(store.sessions().bind("a", "\0", 1).await.map(drop));
        refused(store.secrets().get_or_create("a\0", Vec::new).await.map(drop));
        assert_eq!(store.keys().find("a\0").await, Ok(None));
        assert_eq!(store.tasks().find("a\0").await, Ok(None));
        let orphan = store.tasks().start(task("t", 1, Some("a\0"), false)).await;
        assert!(matches!(orphan, Err(StoreError::UnknownParent { .. })), "{orphan:?}");
        assert_eq!(todo.list().await, Ok(vec![kept]));
    }

    async fn an_id_has_a_length_that_both_engines_can_index(bed: Bed) {
        let store = bed.open().await;
        let longest = "é".repeat(512);
        store.sessions().end(&longest, 9).await.unwrap();
        store.todo(&longest).unwrap().add("a", None).await.unwrap();
        for odd in ["", &format!("{longest}x"), &"x".repeat(1 << 20)] {
            let refused = store.sessions().end(odd, 9).await.unwrap_err();
            assert!(matches!(refused, StoreError::Invalid { operation: "end a session", .. }), "{refused}");
            assert!(refused.to_string().len() < 200);
            assert!(store.todo(odd).is_err());
            assert_eq!(store.keys().find(odd).await, Ok(None));
            assert_eq!(store.tasks().find(odd).await, Ok(None));
        }
    }
}
