use toolgate_store::{
    Change,
    team::{ConversationState, DelegationStatus, NewConversation, NewDelegation, NewMessage, TalkFault},
};

use crate::{
    bed::{Bed, next},
    team_stage::Stage,
};

use ConversationState::{Active, Ended, Expired, Pending, Terminating};

const MINUTE: i64 = 60_000;

fn to(whom: &str, content: &str) -> NewMessage {
    NewMessage { to: Some(whom.into()), content: content.into(), task: None, conversation: None }
}

fn talk(whom: &str, turns: i64) -> NewConversation {
    NewConversation { participant: whom.into(), purpose: None, task: None, max_turns: turns, first: "hello".into() }
}

fn within(talk: &str, whom: &str) -> NewMessage {
    NewMessage { conversation: Some(talk.into()), ..to(whom, "more") }
}

on_both! {
    async fn what_comes_in_is_numbered_read_once_and_answered(bed: Bed) {
        let stage = Stage::new(&bed).await;
        let team = stage.team();
        let (ann, bob) = (team.conversations("p", "ann"), team.conversations("p", "bob"));
        let desk = team.desk("p", "bob");
        assert_eq!(desk.state().await, Ok(Default::default()));
        assert_eq!(desk.unanswered().await, Ok(None));
        for n in 0..25 {
            assert_eq!(ann.send(&to("bob", &format!("m{n}")), 100 + n).await.unwrap().number, Some(n + 1));
        }
        team.conversations("q", "ann").send(&to("bob", "elsewhere"), 1).await.unwrap();
        let state = desk.state().await.unwrap();
        assert_eq!((state.received, state.read, state.sent), (25, 0, 0));
        assert!(team.waiting("bob", "p").await.unwrap().unread);
        let first = desk.pending(0, 10).await.unwrap();
        assert_eq!(
            first.iter().map(|m| m.content.as_str()).collect::<Vec<_>>(),
            (0..10).map(|n| format!("m{n}")).collect::<Vec<_>>()
        );
        desk.read_up_to(10).await.unwrap();
        desk.read_up_to(3).await.unwrap();
        assert_eq!(desk.state().await.unwrap().read, 10, "never back");
        desk.read_up_to(99).await.unwrap();
        assert_eq!(desk.state().await.unwrap().read, 10, "and never past what is there");
        desk.read_up_to(25).await.unwrap();
        assert!(!team.waiting("bob", "p").await.unwrap().unread);
        assert_eq!(desk.unanswered().await.unwrap().unwrap().content, "m24", "read, and still to be answered");
        bob.send(&to("other", "aside"), 200).await.unwrap();
        assert!(desk.unanswered().await.unwrap().is_some(), "said to somebody else");
        bob.send(&to("ann", "yes"), 201).await.unwrap();
        assert_eq!(desk.unanswered().await, Ok(None));
        let history = desk.history(25, 3).await.unwrap();
        assert_eq!(history.iter().map(|m| m.content.as_str()).collect::<Vec<_>>(), ["m24", "aside", "yes"]);
        assert_eq!(desk.state().await.unwrap().sent, 2);
        let noted = bob.send(&NewMessage { to: None, ..to("", "to myself") }, 202).await.unwrap();
        assert_eq!((noted.receiver, noted.number), (None, None));
    }

    async fn messages_that_come_at_once_are_all_there_in_the_order_of_their_numbers(bed: Bed) {
        let stage = Stage::new(&bed).await;
        let stores = [stage.store.clone(), bed.open().await];
        let mut racers = Vec::new();
        for n in 0..40_usize {
            let team = stores[n % 2].team();
            let (from, whom) = (["ann", "bob"][n / 2 % 2], ["bob", "ann"][n / 2 % 2]);
            racers.push(tokio::spawn(
                async move { team.conversations("p", from).send(&to(whom, "x"), 5).await.unwrap() },
            ));
        }
        for racer in racers {
            racer.await.unwrap();
        }
        for agent in ["ann", "bob"] {
            let desk = stage.team().desk("p", agent);
            let numbers: Vec<_> = desk.pending(0, 100).await.unwrap().into_iter().map(|m| m.number.unwrap()).collect();
            assert_eq!(numbers, (1..=20).collect::<Vec<_>>());
            let state = desk.state().await.unwrap();
            assert_eq!((state.received, state.sent), (20, 20));
        }
    }

    async fn a_conversation_is_taken_up_by_the_other_ended_by_one_and_over_once_the_other_knows(bed: Bed) {
        let stage = Stage::new(&bed).await;
        let team = stage.team();
        let (ann, bob) = (team.conversations("p", "ann"), team.conversations("p", "bob"));
        let (talk, first) = ann.start(&talk("bob", 10), 1_000).await.unwrap();
        assert_eq!((talk.state, talk.turns, first.turn), (Pending, 1, Some(1)));
        assert!(
            matches!(bob.send(&within(&talk.id, "ann"), 1_001).await, Err(TalkFault::NotOpen { state: Pending, .. })),
            "not before it takes it up"
        );
        assert_eq!(ann.send(&within(&talk.id, "bob"), 1_002).await.unwrap().turn, Some(2), "who began it may go on");
        assert_eq!(ann.accept(&talk.id, 1_003).await, Ok(None), "not by who began it");
        assert_eq!(team.conversations("p", "other").accept(&talk.id, 1_003).await, Ok(None));
        assert_eq!(bob.accept(&talk.id, 1_003).await.unwrap().unwrap().state, Active);
        assert_eq!(bob.accept(&talk.id, 1_003).await, Ok(None), "once");
        bob.send(&within(&talk.id, "ann"), 1_004).await.unwrap();
        assert!(
            matches!(bob.send(&within(&talk.id, "other"), 1_004).await, Err(TalkFault::NotOpen { .. })),
            "not to a third"
        );
        assert!(matches!(team.conversations("p", "other").end(&talk.id, 1_005).await, Err(TalkFault::Unknown { .. })));
        assert_eq!(ann.end(&talk.id, 1_005).await.unwrap().state, Terminating);
        assert_eq!(ann.open().await, Ok(vec![]), "who ended it knows");
        assert_eq!(ann.tell(&talk.id, 1_006).await, Ok(None), "and does not use up what the other is to hear");
        assert_eq!(bob.open().await.unwrap().len(), 1);
        assert_eq!(bob.tell(&talk.id, 1_006).await.unwrap().unwrap().state, Ended);
        assert_eq!(bob.tell(&talk.id, 1_006).await, Ok(None));
        assert_eq!(bob.open().await, Ok(vec![]));
        assert!(matches!(ann.end(&talk.id, 1_007).await, Err(TalkFault::NotOpen { state: Ended, .. })));
        assert_eq!(
            bob.messages(&talk.id, 2).await.unwrap().unwrap().iter().map(|m| m.turn.unwrap()).collect::<Vec<_>>(),
            [2, 3]
        );
        assert_eq!(team.conversations("p", "other").messages(&talk.id, 2).await, Ok(None));
        assert_eq!(team.conversations("q", "ann").get(&talk.id).await, Ok(None));
    }

    async fn the_last_turn_ends_a_conversation_and_the_other_is_told(bed: Bed) {
        let stage = Stage::new(&bed).await;
        let team = stage.team();
        let (ann, bob) = (team.conversations("p", "ann"), team.conversations("p", "bob"));
        let (talk, _) = ann.start(&talk("bob", 3), 1_000).await.unwrap();
        bob.accept(&talk.id, 1_001).await.unwrap();
        bob.send(&within(&talk.id, "ann"), 1_002).await.unwrap();
        assert_eq!(ann.send(&within(&talk.id, "bob"), 1_003).await.unwrap().turn, Some(3));
        let over = ann.get(&talk.id).await.unwrap().unwrap();
        assert_eq!((over.state, over.ended_by.as_deref()), (Terminating, Some("ann")));
        assert!(ann.send(&within(&talk.id, "bob"), 1_004).await.is_err());
        assert_eq!(team.desk("p", "bob").state().await.unwrap().received, 2, "what was refused reached nobody");
        assert_eq!(bob.tell(&talk.id, 1_005).await.unwrap().unwrap().state, Ended);
    }

    async fn two_agents_have_one_conversation_at_a_time_however_many_begin_one(bed: Bed) {
        let stage = Stage::new(&bed).await;
        let stores = [stage.store.clone(), bed.open().await];
        let racers: Vec<_> = (0..8_usize)
            .map(|n| {
                let team = stores[n % 2].team();
                let (from, whom) = (["ann", "bob"][n / 2 % 2], ["bob", "ann"][n / 2 % 2]);
                tokio::spawn(async move { team.conversations("p", from).start(&talk(whom, 5), 1_000).await })
            })
            .collect();
        let mut begun = 0;
        for racer in racers {
            match racer.await.unwrap() {
                Ok(_) => begun += 1,
                Err(TalkFault::Exists { .. }) => {}
                Err(other) => panic!("{other}"),
            }
        }
        assert_eq!(begun, 1);
        let desks = [
            stage.team().desk("p", "ann").state().await.unwrap(),
            stage.team().desk("p", "bob").state().await.unwrap(),
        ];
        assert_eq!(desks[0].received + desks[1].received, 1, "what was not begun was not said");
        stage.team().conversations("p", "ann").start(&talk("boss", 5), 1_000).await.unwrap();
        stage.team().conversations("q", "ann").start(&talk("bob", 5), 1_000).await.unwrap();
    }

    async fn what_nobody_takes_up_or_goes_on_with_expires_and_both_are_told(bed: Bed) {
        let stage = Stage::new(&bed).await;
        let team = stage.team();
        let (ann, bob) = (team.conversations("p", "ann"), team.conversations("p", "bob"));
        let (first, _) = ann.start(&talk("bob", 5), 0).await.unwrap();
        assert_eq!(bob.tell(&first.id, 5 * MINUTE - 1).await, Ok(None), "not over yet");
        assert_eq!(bob.accept(&first.id, 5 * MINUTE).await, Ok(None));
        assert!(ann.send(&within(&first.id, "bob"), 5 * MINUTE).await.is_err());
        let (second, _) = bob.start(&talk("ann", 5), 5 * MINUTE).await.unwrap();
        assert_eq!(ann.tell(&first.id, 5 * MINUTE).await.unwrap().unwrap().state, Expired);
        assert_eq!(bob.tell(&first.id, 5 * MINUTE).await.unwrap().unwrap().state, Expired, "each of them");
        ann.accept(&second.id, 6 * MINUTE).await.unwrap().unwrap();
        bob.send(&within(&second.id, "ann"), 15 * MINUTE).await.unwrap();
        assert!(ann.send(&within(&second.id, "bob"), 25 * MINUTE).await.is_err(), "ten minutes after the last word");
        assert_eq!(ann.tell(&second.id, 25 * MINUTE).await.unwrap().unwrap().state, Expired);
    }

    async fn an_agent_that_is_gone_ends_what_it_was_in(bed: Bed) {
        let stage = Stage::new(&bed).await;
        let team = stage.team();
        let ann = team.conversations("p", "ann");
        let (one, _) = ann.start(&talk("bob", 5), 10).await.unwrap();
        let (two, _) = team.conversations("p", "boss").start(&talk("ann", 5), 10).await.unwrap();
        ann.end_all(20).await.unwrap();
        for (who, talk) in [("bob", one), ("boss", two)] {
            assert_eq!(team.conversations("p", who).tell(&talk.id, 30).await.unwrap().unwrap().state, Ended);
        }
    }

    async fn a_delegation_is_its_agents_alone_and_ends_once(bed: Bed) {
        let stage = Stage::new(&bed).await;
        let team = stage.team();
        let delegations = team.delegations("p", "ann");
        let new = NewDelegation { task: None, target: "bob".into(), purpose: "ask".into(), context: None };
        let made = delegations.add(&new, 10).await.unwrap();
        assert!(team.waiting("ann", "p").await.unwrap().delegation);
        let elsewhere = [team.delegations("p", "bob"), team.delegations("q", "ann")];
        for other in elsewhere {
            assert_eq!(other.get(&made.id).await, Ok(None));
            assert!(
                other
                    .finish(&made.id, DelegationStatus::Completed, None, 20)
                    .await
                    .unwrap_err()
                    .to_string()
                    .starts_with("Delegation not found")
            );
            assert_eq!(other.take(&made, 20).await, Ok(None));
        }
        let taken = delegations.take(&made, 20).await.unwrap().unwrap();
        assert_eq!((taken.status, taken.taken_at), (DelegationStatus::Processing, Some(20)));
        assert_eq!(delegations.take(&made, 20).await, Ok(None), "once");
        assert!(team.waiting("ann", "p").await.unwrap().delegation, "somebody must finish it");
        let done = delegations.finish(&made.id, DelegationStatus::Completed, Some("agreed"), 30).await.unwrap();
        assert_eq!((done.status, done.result.as_deref()), (DelegationStatus::Completed, Some("agreed")));
        assert_eq!(delegations.open().await, Ok(vec![]));
        let again = delegations.finish(&made.id, DelegationStatus::Failed, None, 40).await.unwrap_err();
        assert_eq!(again.to_string(), "Invalid delegation status transition from completed to failed");
    }

    async fn news_name_who_they_are_for(bed: Bed) {
        let stage = Stage::new(&bed).await;
        let team = stage.team();
        let mut heard = stage.store.changes();
        let news = |agent: &str| Change::Team { project: "p".into(), agents: vec![agent.into()] };
        let (ann, bob) = (team.conversations("p", "ann"), team.conversations("p", "bob"));
        ann.send(&to("boss", "hi"), 1).await.unwrap();
        assert_eq!(next(&mut heard).await, news("boss"));
        let (talk, _) = ann.start(&talk("bob", 5), 1).await.unwrap();
        assert_eq!(next(&mut heard).await, news("bob"));
        bob.send(&within(&talk.id, "ann"), 2).await.unwrap_err();
        bob.accept(&talk.id, 2).await.unwrap();
        bob.end(&talk.id, 3).await.unwrap();
        assert_eq!(next(&mut heard).await, news("ann"), "what did not happen is not told");
        let new = NewDelegation { task: None, target: "bob".into(), purpose: "ask".into(), context: None };
        team.delegations("p", "ann").add(&new, 10).await.unwrap();
        assert_eq!(next(&mut heard).await, news("ann"));
    }
}
