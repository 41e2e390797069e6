//! Taking back: what was before comes back, if nobody changed it since and whoever asks may change it.

use serde_json::json;
use toolgate_core::caller::Role;
use toolgate_spine::UndoProblem;

use crate::world::{World, ada, ann, bob, of, operator};

on_both! {
    async fn a_switch_is_taken_back_and_the_taking_back_too(world: World) {
        world.two_tenants().await;
        world.change(&ann(), "admin_set_override", json!({"tool_name": "add_task", "is_enabled": false, "reason": "first"})).await;
        let before = world.store.tenants().overrides("acme").await.unwrap();
        let second = world.change(&ann(), "admin_set_override", json!({"tool_name": "add_task", "is_enabled": true})).await;
        world.undo(&ann(), &second).await.unwrap();
        assert_eq!(world.store.tenants().overrides("acme").await.unwrap(), before, "as it was, to the word");
        assert!(matches!(world.undo(&ann(), &second).await, Err(UndoProblem::Refused(_))), "once");
    }

    async fn what_somebody_changed_since_is_a_conflict(world: World) {
        world.two_tenants().await;
        let first = world.change(&ann(), "admin_set_override", json!({"tool_name": "add_task", "is_enabled": false})).await;
        world.change(&ada(), "admin_set_override", json!({"tool_name": "add_task", "is_enabled": false, "reason": "mine"})).await;
        match world.undo(&ann(), &first).await {
            Err(UndoProblem::Conflict(why)) => assert!(why.contains("changed since"), "{why}"),
            other => panic!("{other:?}"),
        }
        assert_eq!(world.store.tenants().overrides("acme").await.unwrap()[0].reason.as_deref(), Some("mine"));
    }

    async fn a_member_comes_back_with_role_and_date(world: World) {
        world.two_tenants().await;
        let before = world.store.tenants().member("acme", "ann").await.unwrap();
        let gone = world.change(&ada(), "admin_remove_member", json!({"user": "ann"})).await;
        assert_eq!(world.store.tenants().member("acme", "ann").await.unwrap(), None);
        world.undo(&ada(), &gone).await.unwrap();
        assert_eq!(world.store.tenants().member("acme", "ann").await.unwrap(), before);
    }

    async fn the_way_back_does_not_unseat_the_last_owner(world: World) {
        world.two_tenants().await;
        let made = world.change(&ada(), "admin_set_member", json!({"user": "ann", "role": "owner"})).await;
        world.change(&operator(), "admin_remove_member", json!({"tenant": "acme", "user": "ada"})).await;
        match world.undo(&ada(), &made).await {
            Err(UndoProblem::Conflict(why)) => assert!(why.contains("last owner"), "{why}"),
            other => panic!("{other:?}"),
        }
    }

    async fn who_came_to_be_known_stays_known_and_what_came_since_is_not_swept_away(world: World) {
        world.two_tenants().await;
        let seated = world.change(&ann(), "admin_set_member", json!({"user": "mel", "role": "member"})).await;
        world.change(&bob(), "admin_set_member", json!({"user": "mel", "role": "member"})).await;
        world.undo(&ann(), &seated).await.unwrap();
        assert_eq!(world.store.tenants().member("acme", "mel").await.unwrap(), None);
        assert!(world.store.tenants().member("beta", "mel").await.unwrap().is_some(), "Beta keeps its member");

        let known = world.change(&operator(), "admin_add_user", json!({"user": "eve"})).await;
        let made = world.change(&operator(), "admin_create_tenant", json!({"id": "new"})).await;
        world.change(&operator(), "admin_set_member", json!({"tenant": "new", "user": "eve", "role": "member"})).await;
        for receipt in [known, made] {
            match world.undo(&operator(), &receipt).await {
                Err(UndoProblem::Conflict(why)) => assert!(why.contains("since"), "{why}"),
                other => panic!("{other:?}"),
            }
        }
        assert!(world.store.tenants().member("new", "eve").await.unwrap().is_some());
    }

    async fn who_may_no_longer_change_it_can_not_take_it_back(world: World) {
        world.two_tenants().await;
        let done = world.change(&ann(), "admin_set_override", json!({"tool_name": "add_task", "is_enabled": false})).await;
        for caller in [of("acme", "ann", Role::Member), of("beta", "ann", Role::Admin)] {
            assert!(world.undo(&caller, &done).await.is_err());
        }
        let seated = world.change(&ada(), "admin_set_member", json!({"user": "mel", "role": "owner"})).await;
        match world.undo(&of("acme", "ada", Role::Admin), &seated).await {
            Err(UndoProblem::Conflict(why)) => assert!(why.contains("by an owner"), "{why}"),
            other => panic!("{other:?}"),
        }
        assert_eq!(world.store.tenants().overrides("acme").await.unwrap().len(), 1);
    }

    async fn what_changed_nothing_leaves_nothing_to_take_back(world: World) {
        world.two_tenants().await;
        let on = json!({"tool_name": "add_task", "is_enabled": true});
        world.change(&ann(), "admin_set_override", on.clone()).await;
        let result = world.bytes(&ann(), "admin_set_override", on).await;
        let result: serde_json::Value = serde_json::from_slice(&result).unwrap();
        let receipt = result["_meta"]["toolgate/receipt"].as_str().unwrap();
        assert!(matches!(world.undo(&ann(), receipt).await, Err(UndoProblem::Refused(_))));
    }
}
