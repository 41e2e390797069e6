//! `events.log`: appended with our time, for its caller and flow, without credentials.

use serde_json::{Value, json};
use toolgate_core::{Caller, caller::Flow};
use toolgate_spine::Outcome;

use crate::world::{World, user_named};

on_both! {
    async fn an_event_is_appended_for_its_caller_and_flow(world: World) {
        assert_eq!(world.good("events.log", json!({"name": "first"})).await, json!({"ok": true}));
        assert!(world.last_is_final(), "what was said can't be unsaid");
        let flow = Caller { flow: Some(Flow { id: "flow-1".into(), allowlist: None }), ..user_named("ann") };
        let payload = json!({"documents": 3, "access_token": "abc", "header": "Bearer abc123DEF456", "text": "nul \u{0}",
            "note": "it is AKIAIOSFODNN7EXAMPLE", "pin": 1234, "max_tokens": 100});
        let call = world.call(&flow, "events.log", json!({"name": "second", "payload": payload}), false).await;
        assert!(matches!(call, Outcome::Answered(_)), "{call:?}");
        let events = world.store.events("user:ann").newest(10).await.unwrap();
        assert_eq!(events.iter().map(|event| event.name.as_str()).collect::<Vec<_>>(), ["second", "first"]);
        assert_eq!((events[0].flow.as_deref(), events[1].flow.as_deref()), (Some("flow-1"), None));
        let kept: Value = serde_json::from_str(&events[0].payload).unwrap();
        assert_eq!(kept, json!({"documents": 3, "access_token": "[redacted]", "header": "Bearer [redacted]", "text": "nul \u{0}",
            "note": "it is [redacted]", "pin": "[redacted]", "max_tokens": 100}));
        assert!(events[0].at >= events[1].at && events[1].at > 1_700_000_000_000);
        assert_eq!(world.store.events("user:bob").newest(10).await.unwrap(), []);
    }

    async fn an_event_without_a_name_is_refused(world: World) {
        for arguments in [
            json!({}), json!({"name": ""}), json!({"name": " "}), json!({"name": "a\nb"}), json!({"name": "x".repeat(201)}),
            json!({"name": "a", "payload": "text"}), json!({"name": "a", "payload": [1]}),
        ] {
            assert_eq!(world.bad("events.log", arguments.clone()).await, "INVALID_INPUT", "{arguments}");
        }
        assert_eq!(world.store.events("user:ann").newest(10).await.unwrap(), []);
    }

    async fn a_store_that_is_gone_is_a_failure_that_says_nothing_of_it(world: World) {
        world.store.close().await;
        assert_eq!(world.bad("events.log", json!({"name": "e"})).await, "INTERNAL");
        assert_eq!(world.bad("vault.list", json!({})).await, "INTERNAL");
        assert_eq!(world.bad("rag.retrieve", json!({"query": "x"})).await, "INTERNAL");
    }
}
