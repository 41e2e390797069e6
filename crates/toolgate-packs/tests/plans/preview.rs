//! Previews say what would be, and change nothing.

use serde_json::json;

use crate::world::{World, ann};

on_both! {
    async fn every_step_is_shown_and_the_world_stays_as_it_is(world: World) {
        world.good(&ann(), "stage.put", json!({"key": "k", "value": 0})).await;
        let plan = world.propose(json!([
            {"id": "one", "tool": "stage.put", "arguments": {"key": "a", "value": 1}},
            {"tool": "stage.sign", "arguments": {"key": "b", "value": 2, "pin": "1234"}},
            {"tool": "stage.put", "arguments": {"key": "c", "value": {"$from": "one"}}},
        ])).await;
        let before = (world.stage.values(), world.stage.runs(), world.show(&plan).await);
        let preview = world.good(&ann(), "plan.preview", json!({ "plan": plan })).await;
        assert_eq!((world.stage.values(), world.stage.runs(), world.show(&plan).await), before);
        assert!(world.receipts(&plan).await.is_empty() && world.approvals().await.is_empty());

        let kinds: Vec<_> = preview["steps"].as_array().unwrap().iter().map(|step| &step["preview"]).collect();
        assert_eq!(kinds, ["native", "static", "not_yet_known"]);
        assert_eq!(preview["steps"][0]["result"], json!({"would_put": "a"}));
        assert_eq!(preview["steps"][2]["waits_for"], json!([1]));
        assert_eq!(preview["steps"][2]["arguments"]["value"], json!({"$from": "one"}));
        assert_eq!((&preview["needs_approval"], &preview["steps"][1]["needs_approval"]), (&json!(true), &json!(true)));
        assert_eq!(preview["steps"][0]["needs_approval"], false);
        assert!(!preview.to_string().contains("1234"), "what is secret by fact stays so: {preview}");
    }

    async fn a_step_that_would_be_refused_says_why(world: World) {
        let plan = world.propose(json!([{"tool": "stage.put", "arguments": {"key": "a", "value": 1}}])).await;
        world.change(r#"@id("closed") @message("Closed.") @hides("no")
            forbid (principal, action in Action::"call", resource == Tool::"stage.put");"#, |_| {});
        let preview = world.good(&ann(), "plan.preview", json!({ "plan": plan })).await;
        assert_eq!((&preview["steps"][0]["preview"], &preview["steps"][0]["reason"]["message"]), (&json!("refused"), &json!("Closed.")));
    }
}
