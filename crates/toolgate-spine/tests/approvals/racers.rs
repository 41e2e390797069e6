//! Many race for each yes, on two replicas over one PostgreSQL: each is used once.

use std::sync::Arc;

use toolgate_spine::Outcome;
use toolgate_store::{Location, Paging, ReceiptFilter, Scope};

use crate::world::{World, ann};

#[path = "../../../toolgate/tests/command/bed/database.rs"]
mod database;

/// Half a minute on two cores that do nothing else: 64,000 calls, each looked up and put on record.
const APPROVALS: usize = 1_000;
const RACERS: usize = 64;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_approval_runs_once_however_many_race_on_two_replicas() {
    let database = database::Database::create();
    let location: Location = database.url().parse().unwrap();
    let worlds = [Arc::new(World::at(&location).await), Arc::new(World::at(&location).await)];
    let ann = ann();
    let asks = (0..RACERS).map(|racer| {
        let (world, ann) = (Arc::clone(&worlds[racer % 2]), Arc::clone(&ann));
        tokio::spawn(async move {
            let mut ids = Vec::new();
            for number in (racer..APPROVALS).step_by(RACERS) {
                ids.push((number, world.approved(&ann, &format!("{{\"number\":{number}}}")).await));
            }
            ids
        })
    });
    let mut ids = Vec::new();
    for ask in asks.collect::<Vec<_>>() {
        ids.extend(ask.await.unwrap());
    }
    ids.sort();
    let ids = Arc::new(ids);
    // all in the same order, so that they are at the same ones at the same time
    let racers = (0..RACERS).map(|racer| {
        let (world, ann, ids) = (Arc::clone(&worlds[racer % 2]), Arc::clone(&ann), Arc::clone(&ids));
        tokio::spawn(async move {
            let mut won = Vec::new();
            for (number, id) in ids.iter() {
                match world.call(&ann, &format!("{{\"number\":{number}}}"), Some(id)).await {
                    Outcome::Answered(_) => won.push(*number),
                    Outcome::Denied { denial, .. } => assert_eq!(denial.code, "approval_spent"),
                    // seen between two looks: granted, and taken by another
                    Outcome::NeedsApproval { .. } => {}
                    outcome => panic!("{outcome:?}"),
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
    assert_eq!(won, (0..APPROVALS).collect::<Vec<_>>(), "each answered one caller");
    assert_eq!(worlds.iter().map(|world| world.ran()).sum::<usize>(), APPROVALS, "and ran once");
    assert!(worlds.iter().all(|world| world.ran() > 0), "on both replicas");
    let mut asked: Vec<_> = ids.iter().map(|(_, id)| id.clone()).collect();
    asked.sort_unstable();
    assert_eq!(on_receipts(&worlds[0]).await, asked, "each left one receipt");
}

/// The approvals that receipts name.
async fn on_receipts(world: &World) -> Vec<String> {
    let (mut named, mut paging) = (Vec::new(), Paging::default());
    loop {
        let receipts = world.books.store().receipts();
        let page = receipts.list(&Scope::Everything, &ReceiptFilter::default(), &paging).await.unwrap();
        named.extend(page.items.into_iter().map(|receipt| receipt.approval.unwrap()));
        match page.next {
            Some(mark) => paging.after = Some(mark),
            None => break,
        }
    }
    named.sort_unstable();
    named
}
