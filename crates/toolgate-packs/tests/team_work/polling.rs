//! The wait for something to do: woken by what comes, whoever sends it and wherever; never by luck.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::task::JoinHandle;
use toolgate_core::Caller;
use toolgate_store::{
    Store,
    team::{NewConversation, NewDelegation, NewMessage, Purpose},
};

use crate::world::World;

/// Somebody who waits for a minute, which no test here takes.
fn waiting(world: &World, who: &Caller) -> JoinHandle<Value> {
    let (world, who) = (world.clone(), who.clone());
    tokio::spawn(async move { world.good(&who, "get_next_action", json!({"timeout_seconds": 60})).await })
}

/// Waits on: nothing has come that would end it.
async fn waits(poll: &mut JoinHandle<Value>) {
    assert!(tokio::time::timeout(Duration::from_millis(200), poll).await.is_err(), "it waits");
}

fn to_ann() -> NewMessage {
    NewMessage { to: Some("ann".into()), content: "hi".into(), task: None, conversation: None }
}

fn talk(with: &str) -> NewConversation {
    NewConversation { participant: with.into(), purpose: None, task: None, max_turns: 5, first: "hi".into() }
}

on_both! {
    async fn what_comes_in_wakes_who_waits_and_nobody_else(world: World) {
        let (ann, bob) = (world.in_chat("ann").await, world.in_chat("bob").await);
        let team = world.store.team();
        let (mut poll, mut other) = (waiting(&world, &ann), waiting(&world, &bob));
        waits(&mut poll).await;
        team.conversations("p", "hana").send(&to_ann(), world.now()).await.unwrap();
        assert_eq!(poll.await.unwrap()["action"], "get_pending_messages");
        waits(&mut other).await;
        other.abort();
    }

    async fn conversations_their_ends_and_delegations_are_seen_by_who_waits_as_by_who_does_not(world: World) {
        let (ann, bob) = (world.in_chat("ann").await, world.in_chat("bob").await);
        let team = world.store.team();
        let mut poll = waiting(&world, &bob);
        waits(&mut poll).await;
        let (begun, _) = team.conversations("p", "ann").start(&talk("bob"), world.now()).await.unwrap();
        assert_eq!(poll.await.unwrap()["action"], "conversation_request");
        world.good(&bob, "get_pending_messages", json!({})).await;
        let mut poll = waiting(&world, &bob);
        waits(&mut poll).await;
        team.conversations("p", "ann").end(&begun.id, world.now()).await.unwrap();
        assert_eq!(poll.await.unwrap()["action"], "conversation_ended");
        let mut poll = waiting(&world, &ann);
        waits(&mut poll).await;
        let new = NewDelegation { task: None, target: "bob".into(), purpose: "ask".into(), context: None };
        team.delegations("p", "ann").add(&new, world.now()).await.unwrap();
        assert_eq!(poll.await.unwrap()["action"], "start_conversation");
    }

    async fn what_another_process_writes_is_heard_too(world: World) {
        let ann = world.in_chat("ann").await;
        let elsewhere = Store::open(&world.location).await.unwrap();
        let mut poll = waiting(&world, &ann);
        waits(&mut poll).await;
        elsewhere.team().conversations("p", "hana").send(&to_ann(), world.now()).await.unwrap();
        assert_eq!(poll.await.unwrap()["action"], "get_pending_messages");
        elsewhere.close().await;
    }

    async fn the_end_of_the_wait_says_so_and_so_does_no_wait_at_all(world: World) {
        let ann = world.in_chat("ann").await;
        let at_once = world.next(&ann).await;
        let after = world.good(&ann, "get_next_action", json!({"timeout_seconds": 1})).await;
        assert_eq!(
            (&at_once["action"], &after),
            (&json!("wait_for_messages"), &at_once),
            "the same, waited for or not"
        );
        assert!(
            world.bad(&ann, "get_next_action", json!({"timeout_seconds": 121})).await.contains("timeout_seconds"),
            "not for ever"
        );
    }

    async fn many_messages_at_once_wake_everybody_they_are_for(world: World) {
        let team = world.store.team();
        let agents = ["ann", "bob", "eve", "boss"];
        let mut polls = Vec::new();
        for agent in agents {
            let who = world.in_chat(agent).await;
            polls.extend((0..8).map(|_| waiting(&world, &who)));
        }
        for agent in agents {
            let new = NewMessage { to: Some(agent.into()), ..to_ann() };
            team.conversations("p", "hana").send(&new, world.now()).await.unwrap();
        }
        for poll in polls {
            assert_eq!(poll.await.unwrap()["action"], "get_pending_messages");
        }
    }

    async fn a_request_is_taken_up_once_however_many_wait_for_it(world: World) {
        let bob = world.in_chat("bob").await;
        let polls: Vec<_> = (0..6).map(|_| waiting(&world, &bob)).collect();
        world.store.team().conversations("p", "ann").start(&talk("bob"), world.now()).await.unwrap();
        let mut actions = Vec::new();
        for poll in polls {
            actions.push(poll.await.unwrap()["action"].as_str().unwrap().to_owned());
        }
        assert_eq!(actions.iter().filter(|action| *action == "conversation_request").count(), 1, "{actions:?}");
        assert_eq!(
            actions.iter().filter(|action| *action == "get_pending_messages").count(),
            5,
            "the others have the message"
        );
    }

    async fn a_quiet_session_is_told_to_log_out_while_it_still_counts(world: World) {
        let ann = world.in_chat("ann").await;
        world.later(9);
        assert_eq!(world.action(&ann).await, "wait_for_messages", "asking what to do is not doing something");
        world.clock.fetch_add(55_000, std::sync::atomic::Ordering::SeqCst);
        assert_eq!(world.action(&ann).await, "logout");
    }

    async fn who_must_go_is_told_so_at_once(world: World) {
        let ann = world.in_chat("ann").await;
        let session = world.live("ann", Purpose::Chat).await.unwrap();
        let mut poll = waiting(&world, &ann);
        waits(&mut poll).await;
        world.store.team().sessions().terminate(&session.id).await.unwrap();
        assert_eq!(poll.await.unwrap()["action"], "exit");
        let bob = world.in_chat("bob").await;
        let session = world.live("bob", Purpose::Chat).await.unwrap();
        let mut poll = waiting(&world, &bob);
        waits(&mut poll).await;
        world.store.team().sessions().end(&session.id, world.now()).await.unwrap();
        assert_eq!(poll.await.unwrap()["action"], "exit");
    }

    async fn a_model_that_was_not_reported_comes_first(world: World) {
        let new = toolgate_store::team::NewSession {
            token_hash: [255; 32],
            agent: "ann".into(),
            project: "p".into(),
            purpose: Purpose::Chat,
            task: None,
        };
        world.store.team().sessions().open(new, world.now()).await.unwrap().unwrap();
        let ann = crate::world::caller("ann", toolgate_core::caller::Purpose::Chat);
        assert_eq!(world.action(&ann).await, "report_model");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn postgres_that_goes_away_and_comes_back_ends_no_wait() {
    World::on_postgres(async |world: World| {
        let ann = world.in_chat("ann").await;
        let mut poll = waiting(&world, &ann);
        waits(&mut poll).await;
        let database = world.database.clone().unwrap();
        database.go_away();
        assert!(world.store.ping().await.is_err(), "it is gone");
        waits(&mut poll).await;
        database.come_back();
        let hana = world.store.team().conversations("p", "hana");
        // the connections are found again at their own pace
        while hana.send(&to_ann(), world.now()).await.is_err() {}
        assert_eq!(poll.await.unwrap()["action"], "get_pending_messages");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sqlite_a_wait_ends_with_its_caller() {
    World::on_sqlite(async |world: World| {
        let bob = world.in_chat("bob").await;
        let mut poll = waiting(&world, &bob);
        waits(&mut poll).await;
        poll.abort();
        assert!(poll.await.unwrap_err().is_cancelled());
        world.store.team().conversations("p", "ann").start(&talk("bob"), world.now()).await.unwrap();
        assert_eq!(world.action(&bob).await, "conversation_request", "nobody who is gone took it up");
    })
    .await;
}
