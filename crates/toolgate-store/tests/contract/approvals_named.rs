//! A use of one grant and of no other, and a wide question that is granted for one call.

use toolgate_store::{Answer, AnswerFault, ApprovalState, Binding, NewApproval, Scope, Wide};

use crate::{
    approvals::{asked, binding, granted},
    bed::Bed,
};

const ALL: Scope = Scope::Everything;

fn within(arguments: u8) -> Binding {
    Binding { flow: Some("f".to_owned()), arguments_digest: [arguments; 32], ..binding("t") }
}

fn wide(arguments: u8) -> NewApproval {
    NewApproval { wide: Some(Wide { uses: 5, until: 800 }), ..asked(within(arguments)) }
}

fn once() -> Answer {
    Answer::GrantOnce { by: "user:ann".to_owned(), until: 800 }
}

on_both! {
    async fn a_use_is_taken_of_the_grant_that_is_named_and_of_no_other(bed: Bed) {
        let store = bed.open().await;
        let approvals = store.approvals();
        let (exact, all) = (granted(&store, asked(within(1))).await, granted(&store, wide(1)).await);
        let other = granted(&store, asked(within(2))).await;
        assert_eq!(approvals.take_named(&within(1), &other.id, 20).await, Ok(None), "for another call");
        assert_eq!(approvals.take_named(&within(1), "appr_none", 20).await, Ok(None));
        assert_eq!(approvals.take_named(&within(1), "", 20).await.ok().flatten(), None);
        assert_eq!(approvals.take_named(&within(1), &exact.id, 800).await, Ok(None), "expired");
        let taken = approvals.take_named(&within(1), &all.id, 20).await.unwrap().unwrap();
        assert_eq!((&taken.approval().id, taken.approval().uses_left), (&all.id, 4), "although the exact one is there");
        let taken = approvals.take_named(&within(1), &exact.id, 20).await.unwrap().unwrap();
        assert_eq!(taken.approval().state, ApprovalState::Spent);
        assert_eq!(approvals.take_named(&within(1), &exact.id, 20).await, Ok(None), "spent, and the wide one is not used");
        let left = approvals.get(&ALL, &all.id, 20).await.unwrap().unwrap();
        assert_eq!(left.uses_left, 4);
        assert!(all.covers(&within(9)) && exact.covers(&within(1)) && !exact.covers(&within(9)));
        assert!(!all.covers(&binding("t")), "outside the flow it covers nothing");
    }

    async fn a_wide_question_can_be_granted_for_the_call_that_asked_alone(bed: Bed) {
        let store = bed.open().await;
        let approvals = store.approvals();
        let question = approvals.ask(wide(1)).await.unwrap();
        assert_eq!(approvals.asked(&within(1), true, 20).await.unwrap().unwrap().id, question.id);
        assert_eq!(approvals.asked(&within(1), false, 20).await, Ok(None), "the call alone was not asked for");
        let granted = approvals.answer(&ALL, &question.id, once(), 20).await.unwrap();
        assert_eq!((granted.state, granted.uses_left, granted.wide), (ApprovalState::Granted, 1, None));
        assert_eq!(approvals.take(&within(2), 21).await, Ok(None), "other arguments are another call");
        assert!(approvals.take(&within(1), 21).await.unwrap().is_some());
        assert_eq!(approvals.take(&within(1), 21).await, Ok(None));
        let again = approvals.answer(&ALL, &question.id, once(), 22).await;
        assert!(matches!(again, Err(AnswerFault::Answered { .. })), "{again:?}");
    }

    async fn nothing_is_granted_alone_that_is_asked_for_alone_too_or_needs_other_eyes(bed: Bed) {
        let store = bed.open().await;
        let approvals = store.approvals();
        let alone = approvals.ask(asked(within(1))).await.unwrap();
        let question = approvals.ask(wide(1)).await.unwrap();
        let answer = approvals.answer(&ALL, &question.id, once(), 20).await;
        assert_eq!(answer, Err(AnswerFault::AskedAlone { id: question.id.clone() }));
        for id in [&alone.id, &question.id] {
            assert_eq!(approvals.get(&ALL, id, 20).await.unwrap().unwrap().state, ApprovalState::Pending);
        }
        let eyes = approvals.ask(NewApproval { four_eyes: true, ..wide(7) }).await.unwrap();
        assert_eq!(eyes.id, question.id, "one question for one binding, which now needs four eyes");
        let answer = approvals.answer(&ALL, &eyes.id, once(), 20).await;
        assert!(matches!(answer, Err(AnswerFault::FourEyes { .. } | AnswerFault::AskedAlone { .. })), "{answer:?}");
        let late = approvals.answer(&ALL, "appr_none", once(), 20).await;
        assert!(matches!(late, Err(AnswerFault::Unknown { .. })), "{late:?}");
    }
}
