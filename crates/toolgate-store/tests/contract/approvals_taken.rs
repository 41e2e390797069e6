//! Taking uses: exactly what was granted, exactly as often.

use std::sync::Arc;

use toolgate_store::{ApprovalState, Binding, NewApproval, Paging, Scope, Wide};

use crate::{
    approvals::{asked, binding, granted},
    bed::Bed,
    flows::flow,
};

/// Each approval is wanted by every racer. Turn it down on a slow machine.
const APPROVALS: u32 = 1_000;
const RACERS: usize = 64;

fn within(flow: &str, arguments: u8) -> Binding {
    Binding { flow: Some(flow.to_owned()), arguments_digest: [arguments; 32], ..binding("t") }
}

fn wide(uses: u32) -> NewApproval {
    NewApproval { wide: Some(Wide { uses, until: 800 }), ..asked(within("f", 0)) }
}

on_both! {
    async fn a_grant_is_used_once_by_exactly_the_call_it_was_for(bed: Bed) {
        let store = bed.open().await;
        let approvals = store.approvals();
        let right = Binding { tenant: Some("a".into()), ..within("f", 1) };
        assert_eq!(approvals.take(&right, 20).await, Ok(None), "nobody asked");
        approvals.ask(asked(right.clone())).await.unwrap();
        assert_eq!(approvals.take(&right, 20).await, Ok(None), "nobody answered");
        let approval = granted(&store, asked(right.clone())).await;
        for wrong in [
            Binding { asked_by: "agent:bob/helper".into(), ..right.clone() },
            Binding { tenant: None, ..right.clone() },
            Binding { tenant: Some("b".into()), ..right.clone() },
            Binding { flow: None, ..right.clone() },
            Binding { flow: Some("g".into()), ..right.clone() },
            Binding { tool: "u".into(), ..right.clone() },
            Binding { tool_digest: [9; 32], ..right.clone() },
            Binding { arguments_digest: [9; 32], ..right.clone() },
            Binding { rulebook_digest: [9; 32], ..right.clone() },
        ] {
            assert_eq!(approvals.take(&wrong, 20).await, Ok(None), "{wrong:?}");
        }
        assert_eq!(approvals.take(&right, 800).await, Ok(None), "expired");
        let taken = approvals.take(&right, 799).await.unwrap().unwrap();
        assert_eq!((&taken.approval().id, taken.approval().state), (&approval.id, ApprovalState::Spent));
        assert_eq!(taken.approval().answered_by.as_deref(), Some("user:ann"));
        assert_eq!(approvals.take(&right, 20).await, Ok(None), "spent");
        let after = approvals.get(&Scope::Everything, &approval.id, 20).await.unwrap().unwrap();
        assert_eq!((after.state, after.uses_left), (ApprovalState::Spent, 0));
    }

    async fn each_of_many_grants_is_used_once_however_many_race(bed: Bed) {
        let stores = [bed.open().await, bed.open().await];
        let bindings: Arc<Vec<Binding>> = Arc::new((0..APPROVALS).map(|n| {
            let mut arguments = [0; 32];
            arguments[..4].copy_from_slice(&n.to_be_bytes());
            Binding { arguments_digest: arguments, ..binding("t") }
        }).collect());
        let asks = (0..RACERS).map(|racer| {
            let (store, bindings) = (stores[racer % 2].clone(), bindings.clone());
            tokio::spawn(async move {
                for binding in bindings.iter().skip(racer).step_by(RACERS) {
                    granted(&store, asked(binding.clone())).await;
                }
            })
        });
        for ask in asks.collect::<Vec<_>>() {
            ask.await.unwrap();
        }
        // All in the same order, so that they are at the same ones at the same time.
        let racers = (0..RACERS).map(|racer| {
            let (approvals, bindings) = (stores[racer % 2].approvals(), bindings.clone());
            tokio::spawn(async move {
                let mut won = Vec::new();
                for (n, binding) in bindings.iter().enumerate() {
                    if approvals.take(binding, 20).await.unwrap().is_some() {
                        won.push(n);
                    }
                }
                won
            })
        });
        let mut won = Vec::new();
        for racer in racers.collect::<Vec<_>>() {
            won.extend(racer.await.unwrap());
        }
        won.sort_unstable();
        assert_eq!(won, (0..bindings.len()).collect::<Vec<_>>());
    }

    async fn a_wide_grant_covers_its_tool_in_its_flow_as_often_as_it_says(bed: Bed) {
        let stores = [bed.open().await, bed.open().await];
        let approval = granted(&stores[0], wide(20)).await;
        for wrong in [
            binding("t"),
            within("g", 1),
            Binding { tool: "u".into(), ..within("f", 1) },
            Binding { tool_digest: [9; 32], ..within("f", 1) },
            Binding { rulebook_digest: [9; 32], ..within("f", 1) },
            Binding { tenant: Some("a".into()), ..within("f", 1) },
            Binding { asked_by: "agent:bob".into(), ..within("f", 1) },
        ] {
            assert_eq!(stores[0].approvals().take(&wrong, 20).await, Ok(None), "{wrong:?}");
        }
        assert_eq!(stores[0].approvals().take(&within("f", 1), 800).await, Ok(None), "expired");
        let racers = (0..64_u8).map(|n| {
            let approvals = stores[usize::from(n) % 2].approvals();
            tokio::spawn(async move { approvals.take(&within("f", n), 20).await.unwrap() })
        });
        let mut left = Vec::new();
        for racer in racers.collect::<Vec<_>>() {
            if let Some(taken) = racer.await.unwrap() {
                assert_eq!(taken.approval().id, approval.id);
                left.push(taken.approval().uses_left);
            }
        }
        left.sort_unstable();
        assert_eq!(left, (0..20).collect::<Vec<_>>());
        let after = stores[0].approvals().get(&Scope::Everything, &approval.id, 20).await.unwrap().unwrap();
        assert_eq!(after.state, ApprovalState::Spent);
    }

    async fn the_grant_for_the_call_itself_is_used_before_a_wide_one(bed: Bed) {
        let store = bed.open().await;
        let exact = granted(&store, asked(within("f", 7))).await;
        let all = granted(&store, wide(1)).await;
        assert_ne!(exact.id, all.id, "they are two questions");
        let take = async || store.approvals().take(&within("f", 7), 20).await.unwrap();
        assert_eq!(take().await.unwrap().approval().id, exact.id);
        assert_eq!(take().await.unwrap().approval().id, all.id);
        assert_eq!(take().await, None);
    }

    async fn a_grant_is_not_used_in_a_flow_that_is_over(bed: Bed) {
        let store = bed.open().await;
        let open = store.flows().open(flow("user:ann", 0)).await.unwrap();
        let binding = within(&open.id, 1);
        let new = NewApproval { wide: Some(Wide { uses: 3, until: 5_000 }), ..asked(binding.clone()) };
        let approval = granted(&store, new).await;
        assert!(store.approvals().take(&binding, 999).await.unwrap().is_some());
        assert_eq!(store.approvals().take(&binding, 1_000).await, Ok(None), "its flow has expired");
        let taken = store.approvals().take(&binding, 999).await.unwrap().unwrap();
        store.flows().close(&Scope::Everything, &open.id, 20).await.unwrap();
        assert_eq!(store.approvals().take(&binding, 21).await, Ok(None), "its flow is closed");
        assert_eq!(store.approvals().give_back(taken).await, Ok(false));
        let after = store.approvals().get(&Scope::Everything, &approval.id, 21).await.unwrap().unwrap();
        assert_eq!((after.state, after.uses_left), (ApprovalState::Ended, 1));
    }

    async fn what_was_given_back_can_be_taken_again(bed: Bed) {
        let store = bed.open().await;
        let approvals = store.approvals();
        granted(&store, asked(binding("t"))).await;
        let taken = approvals.take(&binding("t"), 20).await.unwrap().unwrap();
        assert_eq!(approvals.give_back(taken).await, Ok(true));
        let taken = approvals.take(&binding("t"), 20).await.unwrap().unwrap();
        assert_eq!((taken.approval().state, taken.approval().uses_left), (ApprovalState::Spent, 0));
        assert_eq!(approvals.give_back(taken).await, Ok(true));
        assert_eq!(approvals.take(&binding("t"), 800).await, Ok(None), "it expires as before");

        let all = granted(&store, wide(2)).await;
        let first = approvals.take(&within("f", 1), 20).await.unwrap().unwrap();
        let second = approvals.take(&within("f", 2), 20).await.unwrap().unwrap();
        assert_eq!(approvals.give_back(first).await, Ok(true));
        assert_eq!(approvals.give_back(second).await, Ok(true));
        let after = approvals.get(&Scope::Everything, &all.id, 20).await.unwrap().unwrap();
        assert_eq!((after.state, after.uses_left), (ApprovalState::Granted, 2));
    }

    async fn nothing_is_given_back_once_the_same_was_asked_for_anew(bed: Bed) {
        let store = bed.open().await;
        let approvals = store.approvals();
        granted(&store, asked(binding("t"))).await;
        let taken = approvals.take(&binding("t"), 20).await.unwrap().unwrap();
        let old = taken.approval().id.clone();
        let anew = approvals.ask(asked(binding("t"))).await.unwrap();
        assert_ne!(anew.id, old);
        assert_eq!(approvals.give_back(taken).await, Ok(false));
        let page = approvals.list(&Scope::Everything, &Default::default(), 20, &Paging::default()).await.unwrap();
        let mut states: Vec<_> = page.items.iter().map(|one| (one.id == old, one.state)).collect();
        states.sort_by_key(|(old, _)| *old);
        assert_eq!(states, [(false, ApprovalState::Pending), (true, ApprovalState::Spent)]);
    }
}
