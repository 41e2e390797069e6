//! Every change of a task can be undone while the task is as the change left it, and the undo undone.

use std::sync::Arc;

use serde_json::{Value, json, value::to_raw_value};
use toolgate_core::{Kind, Lang};
use toolgate_spine::{BookSettings, Books, Call, Outcome, Spine, UndoProblem};
use toolgate_store::{Location, Store};

use crate::world::{World, user_named};

async fn with_books(world: &World) -> Arc<Spine> {
    Spine::with_books(
        World::house(&world.store),
        Books::open(world.store.clone(), BookSettings::default()).await.unwrap(),
    )
}

/// Makes a change and gives its receipt.
async fn change(spine: &Spine, tool: &str, arguments: Value) -> (Value, String) {
    let arguments = to_raw_value(&arguments).unwrap();
    let call = Call::of(Kind::Tool, tool, Some(&arguments), Lang::En);
    match spine.call(&Arc::new(user_named("ann")), call).await {
        Outcome::Answered(bytes) => {
            let result: Value = serde_json::from_slice(&bytes).unwrap();
            let receipt = result["_meta"]["toolgate/receipt"].as_str().unwrap().to_owned();
            (result["structuredContent"]["task_id"].clone(), receipt)
        }
        other => panic!("{other:?}"),
    }
}

async fn undo(spine: &Spine, receipt: &str) -> Result<String, UndoProblem> {
    spine.undo(&Arc::new(user_named("ann")), receipt, Lang::En).await.map(|done| done.receipt)
}

on_both! {
    async fn every_change_is_undone_and_done_again(world: World) {
        let spine = with_books(&world).await;
        let tasks = async || world.good("ann", "list_tasks", json!({})).await["tasks"].clone();
        let (id, added) = change(&spine, "add_task", json!({"title": "milk", "description": "two"})).await;
        let milk = tasks().await;
        let again = undo(&spine, &added).await.unwrap();
        assert_eq!(tasks().await, json!([]));
        let added = undo(&spine, &again).await.unwrap();
        assert_eq!(tasks().await, milk, "with its id");

        for (tool, arguments) in [
            ("complete_task", json!({"task_id": id})),
            ("update_task", json!({"task_id": id, "title": "bread", "description": ""})),
            ("delete_task", json!({"task_id": id})),
        ] {
            let (_, done) = change(&spine, tool, arguments).await;
            let changed = tasks().await;
            assert_ne!(changed, milk, "{tool}");
            let again = undo(&spine, &done).await.unwrap();
            assert_eq!(tasks().await, milk, "{tool}");
            let done = undo(&spine, &again).await.unwrap();
            assert_eq!(tasks().await, changed, "{tool} done again");
            undo(&spine, &done).await.unwrap();
        }
        change(&spine, "complete_task", json!({"task_id": id})).await;
        let refused = undo(&spine, &added).await;
        assert!(matches!(refused, Err(UndoProblem::Conflict(_))), "it was changed since: {refused:?}");
        let (_, twice) = change(&spine, "complete_task", json!({"task_id": id})).await;
        let nothing = undo(&spine, &twice).await;
        assert!(matches!(nothing, Err(UndoProblem::Refused(_))), "it changed nothing: {nothing:?}");
        assert_eq!(tasks().await[0]["completed"], true);
    }

    async fn an_undo_that_the_store_did_not_take_can_be_tried_again(world: World) {
        let folder = tempfile::tempdir().unwrap();
        let receipts = Store::open(&Location::Sqlite(folder.path().join("receipts.db"))).await.unwrap();
        let books = Books::open(receipts.clone(), BookSettings::default()).await.unwrap();
        let spine = Spine::with_books(World::house(&world.store), books);
        let (_, added) = change(&spine, "add_task", json!({"title": "milk"})).await;
        world.store.close().await;
        for _ in 0..2 {
            let refused = undo(&spine, &added).await;
            assert!(matches!(refused, Err(UndoProblem::Conflict(_))), "nothing was done: {refused:?}");
        }
        receipts.close().await;
    }

    async fn changes_made_at_the_same_time_are_each_undone(world: World) {
        let spine = with_books(&world).await;
        for round in 0..25 {
            let (id, _) = change(&spine, "add_task", json!({"title": "milk"})).await;
            let made = async |tool: &'static str, arguments: Value| {
                let spine = Arc::clone(&spine);
                tokio::spawn(async move { change(&spine, tool, arguments).await.1 }).await.unwrap()
            };
            let (one, two, three) = tokio::join!(
                made("complete_task", json!({"task_id": id})),
                made("update_task", json!({"task_id": id, "title": "bread"})),
                made("update_task", json!({"task_id": id, "description": "two"})),
            );
            let mut left = vec![one, two, three];
            // only the last change can be undone, then the one before
            for _ in 0..3 {
                let mut kept = Vec::new();
                for receipt in left {
                    if undo(&spine, &receipt).await.is_err() {
                        kept.push(receipt);
                    }
                }
                left = kept;
            }
            assert_eq!(left, Vec::<String>::new(), "round {round}");
            let listed = world.good("ann", "list_tasks", json!({"status": "pending"})).await;
            assert_eq!(listed["tasks"][0], json!({"id": id, "title": "milk", "description": null, "completed": false}));
        }
    }
}
