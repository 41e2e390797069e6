use toolgate_store::{Answer, Paging, Scope, Usage};

use crate::{
    approvals::{asked, binding, yes},
    bed::Bed,
    flows::flow,
    plans::{plan, running},
    receipts::receipt,
};

const ALL: Scope = Scope::Everything;
const LATE: i64 = 1_000_000_000_000;

on_both! {
    async fn what_is_over_is_removed_in_batches_and_what_is_not_stays(bed: Bed) {
        let store = bed.open().await;
        for n in 0..5 {
            store.receipts().add(receipt(&format!("call{n}"), 10 + n)).await.unwrap();
            store.approvals().ask(asked(binding(&format!("tool{n}")))).await.unwrap();
            store.flows().open(flow("user:ann", 10 + n)).await.unwrap();
            store.plans().propose(plan(2, 10 + n)).await.unwrap();
        }
        let kept = running(&store.plans(), 1).await;
        store.receipts().add(receipt("late", LATE)).await.unwrap();
        assert_eq!(store.retention().purge(5, 100).await.unwrap(), 0, "nothing was over then");
        let removed = store.retention().purge(LATE / 2, 2).await.unwrap();
        assert!((2..=4).contains(&removed), "so many at once: {removed}");
        while store.retention().purge(LATE / 2, 2).await.unwrap() > 0 {}
        let page = Paging { limit: 100, after: None };
        let receipts = store.receipts().list(&ALL, &Default::default(), &page).await.unwrap().items;
        assert_eq!(receipts.iter().map(|one| one.call_id.as_str()).collect::<Vec<_>>(), ["late"]);
        let plans = store.plans().list(&ALL, &Default::default(), &page).await.unwrap().items;
        assert_eq!(plans.iter().map(|one| &one.id).collect::<Vec<_>>(), [&kept], "one that runs stays");
        assert!(store.flows().list(&ALL, None, &page).await.unwrap().items.is_empty());
        assert!(store.approvals().list(&ALL, &Default::default(), LATE, &page).await.unwrap().items.is_empty());
    }

    async fn what_a_user_has_open_is_counted_and_nothing_else_is(bed: Bed) {
        let store = bed.open().await;
        let usage = store.usage();
        let new = asked(binding("a"));
        let (owner, at) = (new.owner.clone(), new.asked_at);
        assert_eq!(usage.approvals(&owner, at).await.unwrap(), Usage::default());
        let bytes = i64::try_from(new.shown.len()).unwrap();
        let first = store.approvals().ask(new).await.unwrap();
        store.approvals().ask(asked(binding("b"))).await.unwrap();
        assert_eq!(usage.approvals(&owner, at).await.unwrap(), Usage { count: 2, bytes: 2 * bytes });
        assert_eq!(usage.approvals(&owner, LATE * 10).await.unwrap().count, 0, "they have expired");
        assert_eq!(usage.approvals("user:nobody", at).await.unwrap().count, 0);
        store.approvals().answer(&ALL, &first.id, yes("user:ann"), at + 1).await.unwrap();
        assert_eq!(usage.approvals(&owner, at).await.unwrap().count, 1, "one is answered");

        let opened = store.flows().open(flow("user:ann", 10)).await.unwrap();
        assert_eq!(usage.flows("user:ann", 11).await.unwrap().count, 1);
        store.flows().close(&ALL, &opened.id, 12).await.unwrap();
        assert_eq!(usage.flows("user:ann", 13).await.unwrap().count, 0);

        store.plans().propose(plan(1, 10)).await.unwrap();
        running(&store.plans(), 1).await;
        assert_eq!(usage.plans("user:ann").await.unwrap().count, 1, "one that runs is not open");
    }

    async fn a_denial_is_found_again_by_what_was_denied_and_when(bed: Bed) {
        let approvals = bed.open().await.approvals();
        let id = approvals.ask(asked(binding("a"))).await.unwrap().id;
        assert_eq!(approvals.denied_since(&binding("a"), false, 0).await.unwrap(), None, "nobody has answered");
        let no = Answer::Deny { by: "user:ann".to_owned(), reason: None };
        approvals.answer(&ALL, &id, no, 20).await.unwrap();
        assert_eq!(approvals.denied_since(&binding("a"), false, 19).await.unwrap().map(|one| one.id), Some(id));
        assert_eq!(approvals.denied_since(&binding("a"), false, 20).await.unwrap(), None, "it was before that");
        assert_eq!(approvals.denied_since(&binding("b"), false, 0).await.unwrap(), None, "that was another");
    }
}
