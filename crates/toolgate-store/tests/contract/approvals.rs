//! Asking and answering.

use toolgate_store::{
    Answer, AnswerFault, Approval, ApprovalFilter, ApprovalState, AskFault, Binding, Change, NewApproval, Paging,
    Scope, Store, Wide,
};

use crate::{
    bed::{Bed, next},
    flows::flow,
};

const ALL: Scope = Scope::Everything;

pub(crate) fn binding(tool: &str) -> Binding {
    Binding {
        asked_by: "agent:ann/helper".to_owned(),
        tenant: None,
        flow: None,
        tool: tool.to_owned(),
        tool_digest: [1; 32],
        arguments_digest: [2; 32],
        rulebook_digest: [3; 32],
    }
}

pub(crate) fn asked(binding: Binding) -> NewApproval {
    NewApproval {
        binding,
        owner: "user:ann".to_owned(),
        shown: r#"{"path":"a.txt"}"#.to_owned(),
        four_eyes: false,
        asked_at: 10,
        expires: 500,
        wide: None,
    }
}

pub(crate) fn yes(by: &str) -> Answer {
    Answer::Grant { by: by.to_owned(), uses: 1, until: 800 }
}

fn no(by: &str) -> Answer {
    Answer::Deny { by: by.to_owned(), reason: Some("not today".to_owned()) }
}

/// Asked for and granted in full at time 11.
pub(crate) async fn granted(store: &Store, new: NewApproval) -> Approval {
    let (uses, until) = new.wide.map_or((1, 800), |wide| (wide.uses, wide.until));
    let id = store.approvals().ask(new).await.unwrap().id;
    let answer = Answer::Grant { by: "user:ann".to_owned(), uses, until };
    store.approvals().answer(&ALL, &id, answer, 11).await.unwrap()
}

on_both! {
    async fn an_approval_is_asked_for_granted_and_read(bed: Bed) {
        let store = bed.open().await;
        let approvals = store.approvals();
        let pending = approvals.ask(asked(binding("vault.move"))).await.unwrap();
        assert!(pending.id.starts_with("appr_") && pending.id.len() == 37, "{}", pending.id);
        let expected = Approval {
            id: pending.id.clone(),
            state: ApprovalState::Pending,
            binding: binding("vault.move"),
            owner: "user:ann".into(),
            shown: r#"{"path":"a.txt"}"#.into(),
            four_eyes: false,
            asked_at: 10,
            expires: 500,
            answered_by: None,
            answered_at: None,
            reason: None,
            uses_left: 0,
            wide: None,
        };
        assert_eq!(pending, expected);
        assert_eq!(approvals.get(&ALL, &pending.id, 20).await, Ok(Some(expected.clone())));
        assert_eq!(approvals.get(&ALL, "appr_none", 20).await, Ok(None));

        let yes = approvals.answer(&ALL, &pending.id, yes("user:ann"), 20).await.unwrap();
        let expected = Approval {
            state: ApprovalState::Granted,
            expires: 800,
            answered_by: Some("user:ann".into()),
            answered_at: Some(20),
            uses_left: 1,
            ..expected
        };
        assert_eq!(yes, expected);
        assert_eq!(approvals.get(&ALL, &pending.id, 20).await, Ok(Some(expected)));

        let other = approvals.ask(asked(binding("vault.copy"))).await.unwrap();
        let denied = approvals.answer(&ALL, &other.id, no("user:ann"), 30).await.unwrap();
        assert_eq!((denied.state, denied.reason.as_deref()), (ApprovalState::Denied, Some("not today")));
        assert_eq!((denied.uses_left, denied.expires, denied.answered_at), (0, 500, Some(30)));
        assert_eq!(approvals.get(&ALL, &other.id, 9_999).await, Ok(Some(denied)), "what was denied does not expire");
    }

    async fn who_asks_again_gets_the_same_one_while_it_lives(bed: Bed) {
        let store = bed.open().await;
        let approvals = store.approvals();
        let again = async |at: i64| {
            let new = NewApproval { asked_at: at, expires: at + 490, ..asked(binding("t")) };
            approvals.ask(new).await.unwrap()
        };
        let first = again(10).await;
        assert_eq!(again(20).await, first);
        approvals.answer(&ALL, &first.id, yes("user:ann"), 20).await.unwrap();
        let granted = again(30).await;
        assert_eq!((&granted.id, granted.state), (&first.id, ApprovalState::Granted));

        assert!(approvals.take(&first.binding, 30).await.unwrap().is_some());
        let second = again(40).await;
        assert!(second.id != first.id && second.state == ApprovalState::Pending, "a spent one is over");
        approvals.answer(&ALL, &second.id, no("user:ann"), 40).await.unwrap();
        let third = again(50).await;
        assert!(third.id != second.id, "a denied one is over");
        let fourth = again(third.expires).await;
        assert!(fourth.id != third.id, "an expired one is over");
        assert_eq!(approvals.get(&ALL, &third.id, 0).await.unwrap().unwrap().state, ApprovalState::Expired);
        approvals.answer(&ALL, &fourth.id, yes("user:ann"), fourth.asked_at).await.unwrap();
    }

    async fn many_who_ask_at_once_get_one_approval(bed: Bed) {
        let stores = [bed.open().await, bed.open().await];
        let old = stores[0].approvals().ask(asked(binding("t"))).await.unwrap();
        let asks = (0..64_usize).map(|n| {
            let approvals = stores[n % 2].approvals();
            let new = NewApproval { asked_at: 500, expires: 900, ..asked(binding("t")) };
            tokio::spawn(async move { approvals.ask(new).await.unwrap().id })
        });
        let mut ids = std::collections::HashSet::new();
        for ask in asks.collect::<Vec<_>>() {
            ids.insert(ask.await.unwrap());
        }
        assert_eq!(ids.len(), 1);
        assert!(!ids.contains(&old.id));
        let all = stores[0].approvals().list(&ALL, &Default::default(), 500, &Paging::default()).await.unwrap();
        assert_eq!(all.items.len(), 2);
    }

    async fn a_question_becomes_one_for_four_eyes_but_never_ceases_to_be(bed: Bed) {
        let approvals = bed.open().await.approvals();
        let first = approvals.ask(asked(binding("t"))).await.unwrap();
        let stricter = approvals.ask(NewApproval { four_eyes: true, ..asked(binding("t")) }).await.unwrap();
        assert_eq!((&stricter.id, stricter.four_eyes), (&first.id, true));
        assert!(approvals.ask(asked(binding("t"))).await.unwrap().four_eyes);
    }

    async fn what_can_not_be_asked_is_refused(bed: Bed) {
        let store = bed.open().await;
        let approvals = store.approvals();
        let late = NewApproval { expires: 10, ..asked(binding("t")) };
        assert_eq!(approvals.ask(late).await, Err(AskFault::NoTime));
        let wide = |uses, until| NewApproval { wide: Some(Wide { uses, until }), ..asked(binding("t")) };
        assert_eq!(approvals.ask(wide(5, 900)).await, Err(AskFault::WideWithoutFlow));
        assert_eq!(approvals.ask(wide(0, 900)).await, Err(AskFault::WideOfNothing));
        assert_eq!(approvals.ask(wide(5, 10)).await, Err(AskFault::WideOfNothing));

        let open = store.flows().open(flow("user:ann", 0)).await.unwrap();
        let within = |at| {
            let binding = Binding { flow: Some(open.id.clone()), ..binding("t") };
            NewApproval { asked_at: at, expires: at + 100, ..asked(binding) }
        };
        let over = Err(AskFault::FlowIsOver { flow: open.id.clone() });
        assert_eq!(approvals.ask(within(1_000)).await, over, "expired");
        approvals.ask(within(10)).await.unwrap();
        store.flows().close(&ALL, &open.id, 20).await.unwrap();
        assert_eq!(approvals.ask(within(20)).await, over, "closed");
        let token = NewApproval { binding: Binding { flow: Some("of a token".into()), ..binding("t") }, ..within(20) };
        approvals.ask(token).await.unwrap();
    }

    async fn the_first_answer_counts(bed: Bed) {
        let stores = [bed.open().await, bed.open().await];
        let id = stores[0].approvals().ask(asked(binding("t"))).await.unwrap().id;
        let answers = (0..32_usize).map(|n| {
            let (approvals, id) = (stores[n % 2].approvals(), id.clone());
            let answer = if n % 4 < 2 { yes(&format!("user:{n}")) } else { no(&format!("user:{n}")) };
            tokio::spawn(async move { approvals.answer(&ALL, &id, answer, 20).await })
        });
        let (mut counted, mut late) = (Vec::new(), Vec::new());
        for answer in answers.collect::<Vec<_>>() {
            match answer.await.unwrap() {
                Ok(approval) => counted.push(approval),
                Err(fault) => late.push(fault),
            }
        }
        assert_eq!((counted.len(), late.len()), (1, 31));
        let state = counted[0].state;
        assert!(late.iter().all(|fault| *fault == AnswerFault::Answered { id: id.clone(), state }), "{late:?}");
        assert_eq!(stores[1].approvals().get(&ALL, &id, 20).await.unwrap().as_ref(), counted.first());
    }

    async fn an_answer_that_comes_too_late_does_not_count(bed: Bed) {
        let store = bed.open().await;
        let approvals = store.approvals();
        let id = approvals.ask(asked(binding("t"))).await.unwrap().id;
        for answer in [yes("user:ann"), no("user:ann")] {
            let late = approvals.answer(&ALL, &id, answer.clone(), 500).await;
            assert_eq!(late, Err(AnswerFault::Expired { id: id.clone() }));
            let lost = approvals.answer(&ALL, "appr_none", answer, 20).await;
            assert_eq!(lost, Err(AnswerFault::Unknown { id: "appr_none".into() }));
        }
        assert_eq!(approvals.get(&ALL, &id, 499).await.unwrap().unwrap().state, ApprovalState::Pending);
        assert_eq!(approvals.get(&ALL, &id, 500).await.unwrap().unwrap().state, ApprovalState::Expired);

        let open = store.flows().open(flow("user:ann", 0)).await.unwrap();
        let binding = Binding { flow: Some(open.id.clone()), ..binding("t") };
        let brief = approvals.ask(NewApproval { expires: 5_000, ..asked(binding) }).await.unwrap().id;
        let ended = Err(AnswerFault::Ended { id: brief.clone() });
        assert_eq!(approvals.answer(&ALL, &brief, yes("user:ann"), 1_000).await, ended, "its flow has expired");
        assert_eq!(approvals.get(&ALL, &brief, 1_000).await.unwrap().unwrap().state, ApprovalState::Ended);
        store.flows().close(&ALL, &open.id, 20).await.unwrap();
        assert_eq!(approvals.answer(&ALL, &brief, no("user:ann"), 21).await, ended, "its flow is closed");
    }

    async fn four_eyes_are_neither_the_askers_nor_the_owners(bed: Bed) {
        let approvals = bed.open().await.approvals();
        let id = approvals.ask(NewApproval { four_eyes: true, ..asked(binding("t")) }).await.unwrap().id;
        for by in ["agent:ann/helper", "user:ann"] {
            let refused = approvals.answer(&ALL, &id, yes(by), 20).await.unwrap_err();
            assert_eq!(refused, AnswerFault::FourEyes { id: id.clone() });
            assert!(refused.to_string().contains("four eyes"), "{refused}");
        }
        assert_eq!(approvals.answer(&ALL, &id, yes("user:bob"), 20).await.unwrap().state, ApprovalState::Granted);
        let other = approvals.ask(NewApproval { four_eyes: true, ..asked(binding("u")) }).await.unwrap().id;
        let denied = approvals.answer(&ALL, &other, no("user:ann"), 20).await.unwrap();
        assert_eq!(denied.state, ApprovalState::Denied, "to deny only narrows");
    }

    async fn a_grant_is_never_wider_than_what_was_asked(bed: Bed) {
        let store = bed.open().await;
        let approvals = store.approvals();
        let grant = |uses, until| Answer::Grant { by: "user:ann".into(), uses, until };
        let id = approvals.ask(asked(binding("t"))).await.unwrap().id;
        for uses in [0, 2, u32::MAX] {
            let refused = approvals.answer(&ALL, &id, grant(uses, 800), 20).await;
            assert_eq!(refused, Err(AnswerFault::TooWide { id: id.clone(), uses: 1, until: None }));
        }
        for until in [20, 19, i64::MIN] {
            let refused = approvals.answer(&ALL, &id, grant(1, until), 20).await;
            assert_eq!(refused, Err(AnswerFault::Over { id: id.clone() }));
        }
        let wide = NewApproval {
            wide: Some(Wide { uses: 5, until: 900 }),
            ..asked(Binding { flow: Some("f".into()), ..binding("t") })
        };
        let id = approvals.ask(wide).await.unwrap().id;
        for (uses, until) in [(6, 900), (5, 901), (0, 900), (u32::MAX, i64::MAX)] {
            let refused = approvals.answer(&ALL, &id, grant(uses, until), 20).await;
            assert_eq!(refused, Err(AnswerFault::TooWide { id: id.clone(), uses: 5, until: Some(900) }));
        }
        let narrower = approvals.answer(&ALL, &id, grant(3, 700), 20).await.unwrap();
        assert_eq!((narrower.uses_left, narrower.expires), (3, 700));
        assert_eq!(narrower.wide, Some(Wide { uses: 5, until: 900 }));
    }

    async fn approvals_are_seen_by_who_asked_who_owns_and_their_tenant_alone(bed: Bed) {
        let approvals = bed.open().await.approvals();
        let new = asked(Binding { tenant: Some("a".into()), ..binding("t") });
        let approval = approvals.ask(new).await.unwrap();
        let list = async |scope: &Scope| {
            approvals.list(scope, &Default::default(), 20, &Paging::default()).await.unwrap().items
        };
        for scope in [
            Scope::principal(Some("a"), "user:bob"),
            Scope::principal(Some("b"), "user:ann"),
            Scope::principal(None, "user:ann"),
            Scope::Tenant(Some("b".into())),
            Scope::Tenant(None),
        ] {
            assert_eq!(approvals.get(&scope, &approval.id, 20).await, Ok(None), "{scope:?}");
            assert_eq!(list(&scope).await, [], "{scope:?}");
            for answer in [yes("user:ann"), no("user:ann")] {
                let refused = approvals.answer(&scope, &approval.id, answer, 20).await;
                assert_eq!(refused, Err(AnswerFault::Unknown { id: approval.id.clone() }), "{scope:?}");
            }
        }
        for scope in [
            Scope::principal(Some("a"), "user:ann"),
            Scope::principal(Some("a"), "agent:ann/helper"),
            Scope::Tenant(Some("a".into())),
            ALL,
        ] {
            assert_eq!(approvals.get(&scope, &approval.id, 20).await, Ok(Some(approval.clone())), "{scope:?}");
            assert_eq!(list(&scope).await.len(), 1, "{scope:?}");
        }
        let asker = Scope::principal(Some("a"), "agent:ann/helper");
        let refused = approvals.answer(&asker, &approval.id, yes("agent:ann/helper"), 20).await;
        assert_eq!(refused, Err(AnswerFault::NotOwner { id: approval.id.clone() }), "who asks does not grant");
        approvals.answer(&Scope::principal(Some("a"), "user:ann"), &approval.id, yes("user:ann"), 20).await.unwrap();
        let other = approvals.ask(asked(Binding { tenant: Some("a".into()), ..binding("u") })).await.unwrap();
        let withdrawn = approvals.answer(&asker, &other.id, no("agent:ann/helper"), 20).await.unwrap();
        assert_eq!(withdrawn.state, ApprovalState::Denied);
    }

    async fn approvals_are_listed_newest_first_by_what_they_are_now(bed: Bed) {
        let store = bed.open().await;
        let approvals = store.approvals();
        for n in 0..6_u8 {
            let binding = Binding {
                arguments_digest: [n; 32],
                asked_by: format!("agent:{}", n % 2),
                flow: Some(format!("f{}", n % 3)),
                ..binding("t")
            };
            let new = asked(binding);
            let at = i64::from(n);
            let owner = format!("user:{}", n / 3);
            approvals.ask(NewApproval { asked_at: at, expires: 100 + at, owner, ..new }).await.unwrap();
        }
        let list = async |filter: ApprovalFilter, now: i64| {
            let page = approvals.list(&ALL, &filter, now, &Paging::default()).await.unwrap();
            page.items.iter().map(|one| one.asked_at).collect::<Vec<_>>()
        };
        let by = |text: &str| Some(text.to_owned());
        let any = ApprovalFilter::default;
        assert_eq!(list(any(), 10).await, [5, 4, 3, 2, 1, 0]);
        assert_eq!(list(ApprovalFilter { asked_by: by("agent:1"), ..any() }, 10).await, [5, 3, 1]);
        assert_eq!(list(ApprovalFilter { flow: by("f0"), ..any() }, 10).await, [3, 0]);
        assert_eq!(list(ApprovalFilter { owner: by("user:1"), flow: by("f0"), ..any() }, 10).await, [3]);
        let state = |state| ApprovalFilter { state: Some(state), ..any() };
        assert_eq!(list(state(ApprovalState::Pending), 103).await, [5, 4], "four have expired by then");
        assert_eq!(list(state(ApprovalState::Expired), 103).await, [3, 2, 1, 0]);
        assert_eq!(list(state(ApprovalState::Granted), 10).await, [0_i64; 0]);

        store.flows().close(&ALL, "f1", 10).await.unwrap_err();
        assert_eq!(list(state(ApprovalState::Pending), 10).await, [5, 4, 3, 2, 1, 0], "no such flow, so nothing ended");

        let first = approvals.list(&ALL, &any(), 10, &Paging { limit: 4, after: None }).await.unwrap();
        assert_eq!(first.items.len(), 4);
        let second = approvals.list(&ALL, &any(), 10, &Paging { limit: 4, after: first.next }).await.unwrap();
        assert_eq!(second.items.iter().map(|one| one.asked_at).collect::<Vec<_>>(), [1, 0]);
        assert_eq!(second.next, None);
    }

    async fn an_answer_wakes_who_waits_on_any_replica(bed: Bed) {
        let (here, there) = (bed.open().await, bed.open().await);
        let (mut near, mut far) = (here.changes(), there.changes());
        let approvals = here.approvals();
        let id = approvals.ask(asked(binding("t"))).await.unwrap().id;
        approvals.answer(&ALL, "appr_none", yes("user:ann"), 20).await.unwrap_err();
        approvals.answer(&ALL, &id, yes("user:ann"), 500).await.unwrap_err();
        approvals.answer(&ALL, &id, yes("user:ann"), 20).await.unwrap();
        let other = approvals.ask(asked(binding("u"))).await.unwrap().id;
        approvals.answer(&ALL, &other, no("user:ann"), 20).await.unwrap();
        assert_eq!(next(&mut near).await, Change::Approval { id: id.clone() }, "only an answer that counts");
        assert_eq!(next(&mut near).await, Change::Approval { id: other });
        // SQLite knows only that someone wrote.
        let expected = if bed.is_postgres() { Change::Approval { id: id.clone() } } else { Change::Resync };
        assert_eq!(next(&mut far).await, expected);
        let seen = there.approvals().get(&ALL, &id, 20).await.unwrap().unwrap();
        assert_eq!(seen.state, ApprovalState::Granted);
    }
}
