//! An undo that goes wrong, before its effect, after it, or with its answer lost: it is never done twice, and what is not known
//! is said.

use serde_json::{Value, json};
use toolgate_store::{Receipt, ReceiptFilter, ReceiptState, Scope, UndoKind};

use crate::{
    stage::UndoFault,
    world::{World, ann, user},
};

/// A call that can be undone, by its own source or by another tool; gives its receipt.
async fn done(world: &World, tool: &str) -> String {
    let result = world.result(&ann(), tool, json!({"key": "a", "value": 1})).await;
    result["_meta"]["toolgate/receipt"].as_str().unwrap().to_owned()
}

async fn undo(world: &World, receipt: &str) -> Value {
    world.result(&ann(), "undo", json!({ "receipt": receipt })).await
}

async fn receipt(world: &World, id: &str) -> Receipt {
    world.store.receipts().get(&Scope::Everything, id).await.unwrap().unwrap()
}

/// What undos left behind.
async fn undos_of(world: &World, undone: &str) -> Vec<Receipt> {
    let page = world.store.receipts().list(&Scope::Everything, &ReceiptFilter::default(), &Default::default()).await;
    page.unwrap().items.into_iter().filter(|receipt| receipt.undoes.as_deref() == Some(undone)).collect()
}

on_both! {
    async fn an_undo_that_may_have_taken_effect_is_unknown_and_not_tried_again(world: World) {
        for tool in ["stage.put", "stage.set"] {
            for fault in [UndoFault::Failed, UndoFault::Rejected, UndoFault::Lost] {
                let made = done(&world, tool).await;
                *world.stage.undo_fault.lock().unwrap() = Some(fault);
                let failed = undo(&world, &made).await;
                assert_eq!(failed["isError"], true, "{tool} {fault:?}");
                assert!(failed["structuredContent"]["failed"][0]["reason"].as_str().unwrap().contains("is not known"), "{failed}");
                assert_eq!(receipt(&world, &made).await.state, ReceiptState::Unknown, "{tool} {fault:?}");
                let left = undos_of(&world, &made).await;
                assert_eq!((left.len(), left[0].state), (1, ReceiptState::Unknown), "it leaves a receipt as any call");
                *world.stage.undo_fault.lock().unwrap() = None;
                let (values, runs) = (world.stage.values(), world.stage.runs().len());
                assert_eq!(undo(&world, &made).await["isError"], true);
                assert_eq!((world.stage.values(), world.stage.runs().len()), (values, runs), "twice is harmless");
            }
        }
    }

    async fn an_undo_that_changed_nothing_can_be_tried_again(world: World) {
        for tool in ["stage.put", "stage.set"] {
            let made = done(&world, tool).await;
            *world.stage.undo_fault.lock().unwrap() = Some(UndoFault::Before);
            assert_eq!(undo(&world, &made).await["isError"], true);
            assert_eq!((receipt(&world, &made).await.state, world.stage.values()), (ReceiptState::Done, json!({"a": 1})));
            *world.stage.undo_fault.lock().unwrap() = None;
            let undone = undo(&world, &made).await;
            let own = undos_of(&world, &made).await;
            assert_eq!(undone["_meta"]["toolgate/receipt"], json!(own[0].id), "its answer names its own receipt");
            assert_eq!(undone["structuredContent"], json!({"undone": [made], "receipts": [own[0].id], "failed": []}));
            assert_eq!(receipt(&world, &made).await.undone_by.as_deref(), Some(own[0].id.as_str()));
            assert_eq!(world.stage.values(), json!({}));
            assert_ne!(own[0].undo.kind, UndoKind::Native, "the stage does not say how to do it again");
        }
    }

    async fn an_undo_that_takes_too_long_goes_on_to_its_end(world: World) {
        for tool in ["stage.put", "stage.set"] {
            world.change("", |_| {});
            let made = done(&world, tool).await;
            world.change("", |offer| {
                if ["stage.put", "stage.drop"].contains(&offer.name.as_str()) {
                    offer.facts.limits.timeout_ms = Some(20);
                }
            });
            *world.stage.undo_fault.lock().unwrap() = Some(UndoFault::Slow);
            let failed = undo(&world, &made).await;
            assert!(failed["structuredContent"]["failed"][0]["reason"].as_str().unwrap().contains("20 ms"), "{failed}");
            assert_eq!((receipt(&world, &made).await.state, world.stage.values()), (ReceiptState::Unknown, json!({"a": 1})));
            world.stage.let_through.add_permits(1);
            while world.stage.values() != json!({}) {
                tokio::task::yield_now().await;
            }
            *world.stage.undo_fault.lock().unwrap() = None;
        }
    }

    async fn an_undo_is_counted_and_keeps_to_the_limits_of_its_tool(world: World) {
        let made = done(&world, "stage.put").await;
        world.change("", |offer| {
            if offer.name == "stage.put" {
                offer.facts.limits.per_minute = Some(1);
            }
        });
        let other = world.result(&ann(), "stage.put", json!({"key": "b", "value": 1})).await;
        assert_eq!(other["isError"], false);
        let limited = undo(&world, &made).await;
        assert!(limited["structuredContent"]["failed"][0]["reason"].as_str().unwrap().contains("too often"), "{limited}");
        assert_eq!((receipt(&world, &made).await.state, world.stage.values()), (ReceiptState::Done, json!({"a": 1, "b": 1})));
        world.change("", |_| {});
        let before = world.spine.recorder().metrics();
        undo(&world, &made).await;
        let counted = |metrics: &str| {
            let line = metrics.lines().find(|line| line.starts_with("toolgate_calls_total{tool=\"stage.put\",outcome=\"answered\"}"));
            line.unwrap().rsplit(' ').next().unwrap().parse::<u64>().unwrap()
        };
        assert_eq!(counted(&world.spine.recorder().metrics()), counted(&before) + 1);
        let others = world.bad(&user("bob"), "undo", json!({ "receipt": made })).await;
        assert_eq!(others["undone"], json!([]));
    }
}
