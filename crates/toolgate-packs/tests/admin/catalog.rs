//! What is said of tools for everybody. That the gate follows it is the command's to test.

use serde_json::{Value, json};

use crate::world::{World, ann, operator};

on_both! {
    async fn every_registered_tool_is_a_row(world: World) {
        world.two_tenants().await;
        let listed = world.good(&ann(), "admin_list_catalog", json!({})).await;
        assert_eq!(listed["count"], 32);
        let row = world.good(&ann(), "admin_get_catalog_tool", json!({"tool_name": "delete_task"})).await["tool"].clone();
        assert_eq!((&row["display_name"], &row["group"]), (&json!("delete_task"), &json!("todo")));
        assert_eq!((&row["min_plan"], &row["changed_by"]), (&json!("professional"), &Value::Null));
        let own = world.good(&ann(), "admin_get_catalog_tool", json!({"tool_name": "admin_export"})).await["tool"].clone();
        assert_eq!((&own["display_name"], &own["min_plan"]), (&json!("All that was set"), &json!("starter")));
        assert_eq!(world.bad(&ann(), "admin_get_catalog_tool", json!({"tool_name": "nothing"})).await.0, "not_found");
    }

    async fn words_on_a_tool_are_set_one_by_one_and_taken_back(world: World) {
        let set = async |more: Value| {
            let mut arguments = json!({"tool_name": "add_task"});
            arguments.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            world.good(&operator(), "admin_set_catalog_tool", arguments).await["changes"][0]["after"].clone()
        };
        assert_eq!(set(json!({"display_name": "Add"})).await["display_name"], "Add");
        let both = set(json!({"min_plan": "enterprise", "enabled_by_default": false, "reason": "paid"})).await;
        assert_eq!((&both["display_name"], &both["min_plan"], &both["enabled_by_default"]), (&json!("Add"), &json!("enterprise"), &json!(false)));
        let less = set(json!({"min_plan": null})).await;
        assert_eq!((&less["min_plan"], &less["display_name"], &less["reason"]), (&Value::Null, &json!("Add"), &json!("paid")));
        world.change(&operator(), "admin_disable_tool", json!({"tool_name": "add_task"})).await;
        world.change(&operator(), "admin_reset_catalog_tool", json!({"tool_name": "add_task"})).await;
        assert_eq!(world.store.catalog().list().await.unwrap(), []);
        assert_eq!(world.bad(&operator(), "admin_set_catalog_tool", json!({"tool_name": "add_task"})).await.0, "validation");
        let gold = json!({"tool_name": "add_task", "min_plan": "gold"});
        assert_eq!(world.bad(&operator(), "admin_set_catalog_tool", gold).await.0, "validation");
    }

    async fn a_disable_is_ended_by_an_enable_unless_the_configuration_made_it(world: World) {
        world.change(&operator(), "admin_disable_tool", json!({"tool_name": "add_task", "reason": "broken"})).await;
        let disabled = world.good(&operator(), "admin_list_disabled_tools", json!({})).await;
        assert_eq!(disabled, json!({"count": 2, "disabled_tools": ["add_task", "complete_task"]}));
        world.change(&operator(), "admin_enable_tool", json!({"tool_name": "add_task"})).await;
        let again = world.good(&operator(), "admin_enable_tool", json!({"tool_name": "add_task"})).await;
        assert_eq!(again["changed"], false);
        let (code, error) = world.bad(&operator(), "admin_enable_tool", json!({"tool_name": "complete_task"})).await;
        assert_eq!((code.as_str(), error.contains("disabled_tools")), ("conflict", true), "{error}");
    }
}
