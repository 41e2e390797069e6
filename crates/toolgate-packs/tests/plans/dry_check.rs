//! A call that can't work, as its own tool says, is put to nobody and uses up no approval.

use serde_json::json;
use toolgate_spine::Outcome;
use toolgate_store::ApprovalState;

use crate::world::{World, ann};

on_both! {
    async fn a_call_whose_dry_run_fails_asks_nobody_and_spends_nothing(world: World) {
        let sign = json!({"key": "a", "value": 1});
        let lock = json!({"key": "locked", "value": true});
        let locked = world.result(&ann(), "stage.put", lock).await["_meta"]["toolgate/receipt"].clone();
        let refused = world.bad(&ann(), "stage.sign", sign.clone()).await;
        assert_eq!(refused, json!({"error": "it is locked"}), "in the tool's own words");
        assert_eq!(world.approvals().await.len(), 0);

        world.good(&ann(), "undo", json!({ "receipt": locked })).await;
        let asked = match world.outcome(&ann(), "stage.sign", sign.clone()).await {
            Outcome::NeedsApproval { approval, .. } => approval.unwrap().id,
            other => panic!("{other:?}"),
        };
        world.grant(&asked).await;
        let lock = json!({"key": "locked", "value": true});
        let locked = world.result(&ann(), "stage.put", lock).await["_meta"]["toolgate/receipt"].clone();
        world.bad(&ann(), "stage.sign", sign.clone()).await;
        assert_eq!(world.approvals().await[0].state, ApprovalState::Granted);
        world.good(&ann(), "undo", json!({ "receipt": locked })).await;
        world.good(&ann(), "stage.sign", sign).await;
        assert_eq!(world.approvals().await[0].state, ApprovalState::Spent);
    }
}
