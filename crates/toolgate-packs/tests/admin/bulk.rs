//! Many at once: the difference, all or nothing, and back out again.

use serde_json::{Value, json};

use crate::world::{World, operator};

fn rows() -> Value {
    json!({
        "catalog": [
            {"tool_name": "add_task", "group": "planning", "disabled": true},
            {"tool_name": "list_tasks", "min_plan": "professional", "reason": "paid"},
        ],
        "overrides": [
            {"tenant": "acme", "tool_name": "add_task", "is_enabled": false, "reason": "why"},
            {"tenant": "beta", "tool_name": "update_task", "is_enabled": true},
        ],
    })
}

on_both! {
    async fn an_import_is_the_difference_and_an_export_brings_it_back(world: World) {
        world.two_tenants().await;
        let mut dry = rows();
        dry["dryRun"] = json!(true);
        let shown = world.good(&operator(), "admin_import", dry).await;
        assert_eq!((shown["changes"].as_array().unwrap().len(), &shown["dry_run"]), (4, &json!(true)));
        assert_eq!(world.good(&operator(), "admin_export", json!({})).await, json!({"catalog": [], "overrides": []}));
        let receipt = world.change(&operator(), "admin_import", rows()).await;
        let exported = world.good(&operator(), "admin_export", json!({})).await;
        assert_eq!(exported["overrides"][1], json!({"tenant": "beta", "tool_name": "update_task", "is_enabled": true, "reason": null}));
        let again = world.good(&operator(), "admin_import", exported).await;
        assert_eq!(again, json!({"changed": false, "dry_run": false, "changes": []}), "what is there already is no difference");
        world.undo(&operator(), &receipt).await.unwrap();
        assert_eq!(world.good(&operator(), "admin_export", json!({})).await, json!({"catalog": [], "overrides": []}));
    }

    async fn a_row_that_says_nothing_takes_away(world: World) {
        world.two_tenants().await;
        world.change(&operator(), "admin_import", rows()).await;
        let away = json!({
            "catalog": [{"tool_name": "add_task"}],
            "overrides": [{"tenant": "acme", "tool_name": "add_task"}],
        });
        let done = world.good(&operator(), "admin_import", away).await;
        let gone = done["changes"].as_array().unwrap().iter().filter(|change| change["after"].is_null()).count();
        assert_eq!(gone, 2);
        let left = world.good(&operator(), "admin_export", json!({})).await;
        assert_eq!((left["catalog"].as_array().unwrap().len(), left["overrides"].as_array().unwrap().len()), (1, 1));
    }

    async fn one_wrong_row_leaves_all_undone_and_is_named(world: World) {
        world.two_tenants().await;
        for (list, row, place) in [
            ("overrides", json!({"tenant": "gone", "tool_name": "add_task", "is_enabled": true}), "overrides/2"),
            ("overrides", json!({"tenant": "acme", "tool_name": "add_task", "is_enabled": true}), "overrides/2"),
            ("overrides", json!({"tenant": "acme", "tool_name": "add_task", "is_enabled": 1}), "overrides/2"),
            ("catalog", json!({"tool_name": "delete_task", "min_plan": "gold"}), "catalog/2"),
        ] {
            let mut wrong = rows();
            wrong[list].as_array_mut().unwrap().push(row.clone());
            let (code, error) = world.bad(&operator(), "admin_import", wrong).await;
            assert_eq!((code.as_str(), error.contains(place)), ("validation", true), "{row}: {error}");
        }
        assert_eq!(world.good(&operator(), "admin_export", json!({})).await, json!({"catalog": [], "overrides": []}));
    }

    async fn rows_about_tools_that_are_gone_are_kept_where_they_restrict_and_else_left_out(world: World) {
        world.two_tenants().await;
        let restricting = json!({
            "catalog": [
                {"tool_name": "create_coach", "disabled": true, "enabled_by_default": true},
                {"tool_name": "coach.list", "enabled_by_default": false, "group": "coaches"},
                {"tool_name": "plan_meal", "min_plan": "professional"},
            ],
            "overrides": [{"tenant": "acme", "tool_name": "nothing", "is_enabled": false}],
        });
        let done = world.good(&operator(), "admin_import", restricting).await;
        assert_eq!(done["changes"].as_array().unwrap().len(), 4);
        let warnings = done["warnings"].to_string();
        for named in ["catalog/0", "'create_coach'", "catalog/1", "catalog/2", "overrides/0", "'nothing'"] {
            assert!(warnings.contains(named), "a name may be mistyped: {warnings}");
        }
        let kept = world.good(&operator(), "admin_export", json!({})).await;
        let row = |number: usize| kept["catalog"].as_array().unwrap()[number].clone();
        assert_eq!((&row(0)["tool_name"], &row(0)["enabled_by_default"]), (&json!("coach.list"), &json!(false)));
        assert_eq!((&row(1)["tool_name"], &row(1)["disabled"], &row(1)["enabled_by_default"]), (&json!("create_coach"), &json!(true), &Value::Null));
        assert_eq!((&row(2)["tool_name"], &row(2)["min_plan"]), (&json!("plan_meal"), &json!("professional")));
        assert_eq!((&kept["overrides"][0]["tool_name"], &kept["overrides"][0]["is_enabled"]), (&json!("nothing"), &json!(false)));
        let widening = json!({
            "catalog": [
                {"tool_name": "add_coach", "enabled_by_default": true},
                {"tool_name": "drop_coach", "group": "coaches"},
                {"tool_name": "no name at all", "disabled": true},
            ],
            "overrides": [{"tenant": "acme", "tool_name": "anything", "is_enabled": true}],
        });
        let done = world.good(&operator(), "admin_import", widening).await;
        assert_eq!((&done["changed"], done["warnings"].as_array().unwrap().len()), (&json!(false), 4), "{done}");
        assert_eq!(world.good(&operator(), "admin_export", json!({})).await, kept);
    }

    async fn rows_that_were_left_out_do_not_silence_other_warnings(world: World) {
        world.two_tenants().await;
        let mut rows: Vec<Value> = (0..250).map(|n| json!({"tenant": "acme", "tool_name": format!("gone_{n}"), "is_enabled": true})).collect();
        rows.push(json!({"tenant": "acme", "tool_name": "complete_task", "is_enabled": true}));
        rows.push(json!({"tenant": "beta", "tool_name": "admin_import", "is_enabled": true}));
        let done = world.good(&operator(), "admin_import", json!({ "overrides": rows })).await;
        let warnings: Vec<&str> = done["warnings"].as_array().unwrap().iter().map(|text| text.as_str().unwrap()).collect();
        assert!(warnings.len() < 120, "{} warnings", warnings.len());
        assert!(warnings.iter().any(|text| text.contains("150 more")), "{warnings:?}");
        assert!(warnings.iter().any(|text| text.contains("'complete_task' stays off")), "{warnings:?}");
        assert!(warnings.iter().any(|text| text.contains("'admin_import' stays off for tenant 'beta'")), "{warnings:?}");
    }

    async fn a_thousand_are_one_step(world: World) {
        for number in 0..10 {
            world.change(&operator(), "admin_create_tenant", json!({"id": format!("t{number}")})).await;
        }
        let tools = world.good(&operator(), "admin_list_catalog", json!({})).await;
        let names: Vec<&Value> = tools["tools"].as_array().unwrap().iter().map(|row| &row["tool_name"]).collect();
        let row = |tenant: usize, tool: &Value| json!({"tenant": format!("t{tenant}"), "tool_name": tool, "is_enabled": false});
        let all: Vec<Value> = (0..10).flat_map(|tenant| names.iter().map(move |tool| row(tenant, tool))).collect();
        let done = world.good(&operator(), "admin_import", json!({ "overrides": all })).await;
        assert_eq!(done["changes"].as_array().unwrap().len(), 10 * names.len());
    }
}
