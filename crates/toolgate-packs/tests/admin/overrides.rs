//! A tenant's switches, and what they make of its tools.

use serde_json::{Value, json};

use crate::world::{World, ada, ann, operator};

on_both! {
    async fn the_cascade_says_what_decided(world: World) {
        world.two_tenants().await;
        let standing = async |tool: &str| world.standing("acme", tool).await;
        assert_eq!(standing("add_task").await, (true, "default".into()));
        assert_eq!(standing("update_task").await, (false, "default".into()), "off by default");
        assert_eq!(standing("delete_task").await, (false, "plan_restriction".into()));
        assert_eq!(standing("complete_task").await, (false, "global_disabled".into()));
        for tool in ["add_task", "update_task", "delete_task", "complete_task"] {
            let on = tool != "add_task";
            world.change(&ann(), "admin_set_override", json!({"tool_name": tool, "is_enabled": on})).await;
        }
        assert_eq!(standing("add_task").await, (false, "tenant_override".into()));
        assert_eq!(standing("update_task").await, (true, "tenant_override".into()));
        assert_eq!(standing("delete_task").await, (false, "plan_restriction".into()), "no switch lifts a plan");
        assert_eq!(standing("complete_task").await, (false, "global_disabled".into()), "nor a disable");
        world.change(&operator(), "admin_change_tenant", json!({"tenant": "acme", "plan": "professional"})).await;
        assert_eq!(standing("delete_task").await, (true, "tenant_override".into()));
        assert_eq!(world.standing("beta", "add_task").await, (true, "default".into()), "another tenant's are its own");
        assert_eq!(standing("admin_create_tenant").await, (false, "default".into()), "never a member's");
    }

    async fn an_override_that_lifts_nothing_says_so(world: World) {
        world.two_tenants().await;
        let on = async |tool: &str| world.good(&ann(), "admin_set_override", json!({"tool_name": tool, "is_enabled": true})).await;
        assert!(on("delete_task").await["warnings"][0].as_str().unwrap().contains("needs the plan"));
        assert!(on("complete_task").await["warnings"][0].as_str().unwrap().contains("disabled for everybody"));
        assert_eq!(on("update_task").await.get("warnings"), None);
    }

    async fn the_summary_counts_what_the_list_shows(world: World) {
        world.two_tenants().await;
        world.change(&ann(), "admin_set_override", json!({"tool_name": "add_task", "is_enabled": false})).await;
        let listed = world.good(&ann(), "admin_list_tools", json!({})).await;
        let rows = listed["tools"].as_array().unwrap();
        let count = |check: &dyn Fn(&Value) -> bool| rows.iter().filter(|row| check(row)).count();
        let summary = world.good(&ann(), "admin_get_summary", json!({})).await;
        assert_eq!(summary["total_tools"], rows.len());
        assert_eq!(summary["enabled_tools"], count(&|row| row["is_enabled"] == true));
        assert_eq!(summary["plan_restricted_tools"], 1);
        assert_eq!(summary["overridden_tools"], 1);
        let todo = summary["by_category"].as_array().unwrap().iter().find(|row| row["category"] == "todo").unwrap();
        assert_eq!((&todo["total"], &todo["enabled"]), (&json!(5), &json!(1)));
    }

    async fn an_override_has_one_row_that_says_who_and_why(world: World) {
        world.two_tenants().await;
        let off = json!({"tool_name": "add_task", "is_enabled": false, "reason": "not here"});
        world.change(&ann(), "admin_set_override", off.clone()).await;
        let row = world.good(&ada(), "admin_list_overrides", json!({})).await["overrides"][0].clone();
        assert_eq!((&row["is_enabled"], &row["reason"], &row["changed_by"]), (&json!(false), &json!("not here"), &json!("user:ann")));
        let again = world.good(&ada(), "admin_set_override", off).await;
        assert_eq!(again, json!({"changed": false, "dry_run": false, "changes": []}), "the same again changes nothing");
        let on = world.good(&ada(), "admin_set_override", json!({"tool_name": "add_task", "is_enabled": true})).await;
        assert_eq!(on["changes"][0]["before"], row);
        assert_eq!((&on["changes"][0]["after"]["is_enabled"], &on["changes"][0]["after"]["reason"]), (&json!(true), &Value::Null));
        world.change(&ada(), "admin_remove_override", json!({"tool_name": "add_task"})).await;
        assert_eq!(world.good(&ada(), "admin_list_overrides", json!({})).await["count"], 0);
        let (code, error) = world.bad(&ada(), "admin_remove_override", json!({"tool_name": "add_task"})).await;
        assert_eq!((code.as_str(), error.as_str()), ("not_found", "Tenant 'acme' has no override of 'add_task'."));
    }

    async fn a_dry_run_shows_the_change_and_makes_none(world: World) {
        world.two_tenants().await;
        let dry = json!({"tool_name": "add_task", "is_enabled": false, "dryRun": true});
        let shown = world.good(&ann(), "admin_set_override", dry).await;
        assert_eq!((&shown["changed"], &shown["dry_run"]), (&json!(false), &json!(true)));
        assert_eq!((&shown["changes"][0]["before"], &shown["changes"][0]["after"]["is_enabled"]), (&Value::Null, &json!(false)));
        assert_eq!(world.store.tenants().overrides("acme").await.unwrap(), []);
    }

    async fn many_who_switch_at_once_are_all_heard(world: World) {
        world.two_tenants().await;
        let switching = (0..16).map(|number| {
            let world = world.clone();
            let reason = format!("reason {number}");
            tokio::spawn(async move {
                let arguments = json!({"tool_name": "add_task", "is_enabled": true, "reason": reason});
                world.good(&ann(), "admin_set_override", arguments).await["changes"][0]["before"]["reason"].clone()
            })
        });
        let mut before = Vec::new();
        for switched in switching.collect::<Vec<_>>() {
            before.push(switched.await.unwrap().to_string());
        }
        before.sort_unstable();
        before.dedup();
        assert_eq!(before.len(), 16, "each saw another one's change, and one saw none: {before:?}");
    }
}
