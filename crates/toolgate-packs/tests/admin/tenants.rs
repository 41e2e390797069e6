//! Tenants and users: the operator's.

use serde_json::{Value, json};

use crate::world::{World, operator};

on_both! {
    async fn a_tenant_is_created_once_with_a_configured_plan(world: World) {
        let made = world.good(&operator(), "admin_create_tenant", json!({"id": "acme", "owner": "ada"})).await;
        assert_eq!(made["changes"][0]["after"]["plan"], "starter", "the lowest");
        assert_eq!(made["changes"][0]["after"]["name"], "acme");
        assert_eq!(world.bad(&operator(), "admin_create_tenant", json!({"id": "acme"})).await.0, "conflict");
        let (code, error) = world.bad(&operator(), "admin_create_tenant", json!({"id": "beta", "plan": "gold"})).await;
        assert_eq!((code.as_str(), error.contains("starter, professional, enterprise")), ("validation", true));
        for id in ["no spaces", ".", "..", "-:@"] {
            assert_eq!(world.bad(&operator(), "admin_create_tenant", json!({ "id": id })).await.0, "validation", "{id}");
        }
        let listed = world.good(&operator(), "admin_list_tenants", json!({})).await;
        assert_eq!((listed["tenants"].as_array().unwrap().len(), &listed["next"]), (1, &Value::Null));
    }

    async fn a_tenant_changes_name_and_plan(world: World) {
        world.two_tenants().await;
        world.change(&operator(), "admin_change_tenant", json!({"tenant": "acme", "name": "Acme Inc."})).await;
        world.change(&operator(), "admin_change_tenant", json!({"tenant": "acme", "plan": "enterprise"})).await;
        let shown = world.good(&operator(), "admin_get_tenant", json!({"tenant": "acme"})).await;
        assert_eq!((&shown["tenant"]["name"], &shown["tenant"]["plan"]), (&json!("Acme Inc."), &json!("enterprise")));
        assert_eq!(world.bad(&operator(), "admin_change_tenant", json!({"tenant": "acme"})).await.0, "validation");
        assert_eq!(world.bad(&operator(), "admin_change_tenant", json!({"tenant": "gone", "plan": "starter"})).await.0, "not_found");
    }

    async fn a_removed_tenant_takes_what_is_its_own_and_comes_back_with_it(world: World) {
        world.two_tenants().await;
        world.change(&operator(), "admin_set_override", json!({"tenant": "acme", "tool_name": "add_task", "is_enabled": false})).await;
        let before = world.good(&operator(), "admin_list_members", json!({"tenant": "acme"})).await;
        let receipt = world.change(&operator(), "admin_remove_tenant", json!({"tenant": "acme"})).await;
        assert_eq!(world.bad(&operator(), "admin_get_tenant", json!({"tenant": "acme"})).await.0, "not_found");
        assert!(world.store.users().get("ada").await.unwrap().is_some(), "a person outlives a tenant");
        world.undo(&operator(), &receipt).await.unwrap();
        assert_eq!(world.good(&operator(), "admin_list_members", json!({"tenant": "acme"})).await, before);
        assert_eq!(world.standing("acme", "add_task").await, (false, "tenant_override".into()));
    }

    async fn users_are_added_shown_changed_and_removed(world: World) {
        world.two_tenants().await;
        world.change(&operator(), "admin_add_user", json!({"user": "eve", "name": "Eve"})).await;
        assert_eq!(world.bad(&operator(), "admin_add_user", json!({"user": "eve"})).await.0, "conflict");
        world.change(&operator(), "admin_change_user", json!({"user": "eve", "name": null, "email": "eve@acme.example"})).await;
        world.change(&operator(), "admin_set_member", json!({"tenant": "acme", "user": "eve", "role": "member"})).await;
        let shown = world.good(&operator(), "admin_get_user", json!({"user": "eve"})).await;
        assert_eq!((&shown["user"]["name"], &shown["user"]["email"]), (&Value::Null, &json!("eve@acme.example")));
        assert_eq!((&shown["memberships"][0]["tenant"], &shown["memberships"][0]["role"]), (&json!("acme"), &json!("member")));
        let receipt = world.change(&operator(), "admin_remove_user", json!({"user": "eve"})).await;
        assert_eq!(world.bad(&operator(), "admin_get_user", json!({"user": "eve"})).await.0, "not_found");
        assert_eq!(world.store.tenants().member("acme", "eve").await.unwrap(), None);
        world.undo(&operator(), &receipt).await.unwrap();
        assert_eq!(world.good(&operator(), "admin_get_user", json!({"user": "eve"})).await, shown);
        let listed = world.good(&operator(), "admin_list_users", json!({"limit": 500})).await;
        assert_eq!(listed["users"].as_array().unwrap().len(), 4);
    }
}
